//! The registries that a call passes besides the typed set, as a host would open them to
//! its plugins.
//!
//! | dispatch | registry | asks or tells |
//! |---|---|---|
//! | PRE | [`PhaseRegistry`] | may this call, as the agent gave it, be made? |
//! | `tool:pre` | [`HookRegistry`] | what is to change in it, who is to be told what, may it run? |
//! | `tool:post` | [`HookRegistry`] | what came of it |
//! | POST | [`PhaseRegistry`] | the record of it |
//!
//! [`phases`] and [`events`] hold the hooks. A call runs only after answers that say so: a
//! `HALT`, a word that is not known, an error, a missing answer of the user are all a no.
//! The recorded agent is not there to be stopped by a `HALT`, so that its next call is asked
//! about as well; a hook that halts goes on doing so for as long as its reason lasts.

mod events;
mod payload;
mod phases;

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{
    Action, ApprovalDefault, Emission, EmitError, EmitOptions, HookRegistry, HookResponse, Phase,
    PhaseRegistry,
};

pub(crate) use phases::Aftermath;

use crate::explain::{POST, PRE, Section, TOOL_POST, TOOL_PRE};
use crate::guarded::Passing;
use crate::hooks::Refusal;
use crate::report::Record;
use crate::session::Call;

/// What the hooks know of the limits of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many calls the agent may make.
    pub(crate) calls: usize,
    /// How long one of them may take.
    pub(crate) time: Duration,
}

/// Hooks before and after each call.
#[derive(Debug)]
pub(crate) struct Registries {
    phases: PhaseRegistry<Call, Record>,
    events: HookRegistry,
    aftermath: Arc<Aftermath>,
}

impl Registries {
    /// The registries with the hooks of this example.
    pub(crate) fn guarding(limits: Limits) -> Self {
        let registries = Self {
            phases: PhaseRegistry::new(),
            events: HookRegistry::new(),
            aftermath: Arc::default(),
        };
        phases::register(&registries.phases, limits, &registries.aftermath);
        events::register(&registries.events, limits);
        registries
    }

    /// What the POST hooks have gathered.
    pub(crate) fn aftermath(&self) -> &Aftermath {
        &self.aftermath
    }

    /// Asks the PRE hooks about the call as the agent gave it.
    pub(crate) async fn pre(&self, passing: &mut Passing) -> Result<(), Refusal> {
        // A response does not name the hook that gave it; the report does.
        let (answer, report) = self.phases.execute_pre_reported(&passing.draft.call).await;
        let by = report.stopped_by().map_or(PRE, |entry| &entry.name);
        let (action, verdict) = match answer {
            Ok(response) if response.is_continue() => ("CONTINUE".to_owned(), Ok(())),
            Ok(response) => (response.action.to_string(), refuse(by, reason(response))),
            Err(error) => ("an error".to_owned(), refuse(by, error.to_string())),
        };
        passing.explain(|| Section::reported(PRE, outcome(&action, &verdict), &report));
        verdict
    }

    /// Emits `tool:pre`, takes over what its hooks changed, and keeps what they say.
    pub(crate) async fn tool_pre(&self, passing: &mut Passing) -> Result<(), Refusal> {
        let data = payload::announcing(&passing.draft.call);
        let emitted = self
            .events
            .emit_with(HookRegistry::TOOL_PRE, data, options(passing))
            .await;
        let (action, verdict) = match &emitted {
            Ok(emission) => (
                decision(emission),
                answer(emission).and_then(|()| adopt(emission, passing)),
            ),
            // Hooks are missing that might have said no.
            Err(error) => (
                "an error".to_owned(),
                refuse(failed(error), error.to_string()),
            ),
        };
        let outcome = outcome(&action, &verdict);
        hear(TOOL_PRE, outcome, &emitted, passing);
        verdict
    }

    /// Emits `tool:post`. What its hooks change or deny has no effect on a call that is over;
    /// what they say has.
    pub(crate) async fn tool_post(&self, record: &Record, passing: &mut Passing) {
        let data = payload::concluding(&passing.draft.call, record);
        let emitted = self
            .events
            .emit_with(HookRegistry::TOOL_POST, data, options(passing))
            .await;
        let outcome = match &emitted {
            Ok(emission) => decision(emission),
            Err(error) => format!("an error: {error}"),
        };
        hear(TOOL_POST, outcome, &emitted, passing);
    }

    /// Shows the record to the POST hooks; their faults are nobody's but theirs.
    pub(crate) async fn post(&self, record: &Record, passing: &mut Passing) {
        let id = record.number.to_string();
        let report = self.phases.execute_post_reported(record, Some(&id)).await;
        passing.explain(|| Section::reported(POST, "all are told".to_owned(), &report));
    }

    /// The names of the hooks behind each title, in execution order.
    pub(crate) fn names(&self, title: &str) -> Vec<String> {
        let ids = |phase| {
            let hooks = self.phases.registered_hooks(phase).into_iter();
            hooks.map(|hook| hook.id).collect()
        };
        match title {
            PRE => ids(Phase::Pre),
            POST => ids(Phase::Post),
            event => {
                let hooks = self.events.descriptors().into_iter();
                hooks
                    .filter(|hook| &*hook.event == event)
                    .map(|hook| hook.name.unwrap_or_else(|| hook.hook_type.to_owned()))
                    .collect()
            }
        }
    }
}

/// Whether an emission says that the call may run.
fn answer(emission: &Emission) -> Result<(), Refusal> {
    let by = emission.decided_by.as_deref().unwrap_or(TOOL_PRE);
    match emission.action {
        Action::Continue | Action::Modify | Action::InjectContext => Ok(()),
        Action::Deny => refuse(by, emission.reason().unwrap_or("it does not say why")),
        // In a replay nobody is there to be asked.
        Action::AskUser => match emission.decision() {
            Some(question) if question.approval_default == ApprovalDefault::Allow => Ok(()),
            question => {
                let prompt = question.and_then(|question| question.approval_prompt.as_deref());
                refuse(
                    by,
                    format!("nobody answers: {}", prompt.unwrap_or("may it run?")),
                )
            }
        },
    }
}

/// The action of an emission, and whose it is.
fn decision(emission: &Emission) -> String {
    match &emission.decided_by {
        Some(by) => format!("{} by {by}", emission.action),
        None => emission.action.to_string(),
    }
}

/// Makes of the draft what the data of `tool:pre` are now, whichever answer won.
fn adopt(emission: &Emission, passing: &mut Passing) -> Result<(), Refusal> {
    let draft = &mut passing.draft;
    match payload::call(&emission.data) {
        Ok(call) if call == draft.call => Ok(()),
        Ok(call) => {
            draft.call = call;
            draft.changes.extend(payload::changes(&emission.data));
            Ok(())
        }
        Err(problem) => refuse(
            TOOL_PRE,
            format!("its hooks left nothing that could run: {problem}"),
        ),
    }
}

/// Keeps what the hooks of an event say to the agent and the user.
fn hear(
    title: &'static str,
    outcome: String,
    emitted: &Result<Emission, EmitError>,
    passing: &mut Passing,
) {
    let emission = match emitted {
        Ok(emission) => Some(emission),
        Err(error) => error.emission(),
    };
    let mut told = Vec::new();
    if let Some(emission) = emission {
        for injection in &emission.injections {
            let hook = &injection.provenance.hook;
            told.push(format!("{hook} tells the agent: {}", injection.content));
        }
        for message in &emission.messages {
            told.push(format!("{} tells the user: {}", message.hook, message.text));
        }
    }
    passing.explain(|| {
        let report = emission.and_then(|emission| emission.report().cloned());
        Section::reported(title, outcome, &report.unwrap_or_default()).telling(&told)
    });
    passing.told.extend(told);
}

/// Reports are for the call that is to be explained.
fn options(passing: &Passing) -> EmitOptions {
    match passing.explanation {
        Some(_) => EmitOptions::new().report(),
        None => EmitOptions::new(),
    }
}

fn refuse(hook: &str, reason: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal {
        hook: hook.to_owned(),
        reason: reason.into(),
    })
}

fn reason(response: HookResponse) -> String {
    let reason = response.reason;
    let reason = reason.unwrap_or_else(|| "it does not say why".to_owned());
    match response.recovery_hint {
        Some(hint) => format!("{reason}; {hint}"),
        None => reason,
    }
}

/// The hook whose fault it is.
fn failed(error: &EmitError) -> &str {
    match error {
        EmitError::Hook { fault, .. } => &fault.hook,
        _ => TOOL_PRE,
    }
}

fn outcome(action: &str, verdict: &Result<(), Refusal>) -> String {
    match verdict {
        Ok(()) => action.to_owned(),
        Err(Refusal { hook, reason }) => format!("{action}; refused by {hook}: {reason}"),
    }
}

#[cfg(test)]
mod tests;
