//! The registries that a call passes besides the typed set, as a host would open them to
//! its plugins.
//!
//! | dispatch | registry | asks or tells |
//! |---|---|---|
//! | `session:start` | [`HookRegistry`] | may the session begin? |
//! | PRE | [`HookEngine`](hooks_runtime::HookEngine) | may this call be made? |
//! | classifiers | [`PhaseRegistry`](hooks_runtime::PhaseRegistry) | what would its command do, and is that for this place? |
//! | `tool:pre` | [`HookRegistry`] | what is to change in it, who is to be told what, may it run? |
//! | `tool:post` | [`HookRegistry`] | what came of a call that succeeded |
//! | `error:tool` | [`HookRegistry`] | what came of one that failed, or met a limit |
//! | POST | [`HookEngine`](hooks_runtime::HookEngine) | the record of it |
//! | `user:notification` | [`HookRegistry`] | what the user is told by another hook: may it be put otherwise, or kept back? |
//! | `session:end` | [`HookRegistry`] | how many calls there were, and what became of them |
//!
//! [`engine`], [`classifiers`] and [`events`] hold the hooks, [`approval`] who answers where one asks. What the
//! hooks of an event answer is applied by a [`Coordinator`]: it injects into the
//! [`Conversation`](hooks_runtime::Conversation) that a model would be given, has the question
//! put, and says whether the event may happen. A call runs only after answers that say so: a
//! `HALT`, a word that is not known, an error, a missing answer of the user are all a no. The
//! recorded agent is not there to be stopped by a `HALT`, so that its next call is asked about
//! as well; a hook that halts goes on doing so for as long as its reason lasts.

mod approval;
mod classifiers;
mod dispatch;
mod engine;
mod events;
mod payload;
mod place;
mod view;

use std::time::Duration;

use hooks_runtime::engine::EngineError;
use hooks_runtime::{Coordinator, HookRegistry, Map, Phase, RegisterOptions};
use serde_json::Value;

pub(crate) use approval::Approve;
pub(crate) use classifiers::Class;
pub(crate) use dispatch::Emitted;
pub(crate) use engine::{Aftermath, Grounds};

use self::classifiers::{Classifiers, Judged};
use self::dispatch::{Answered, Heard};
use self::engine::{Governor, verdict};
use self::view::View;
use crate::explain::{
    CLASSIFIERS, CLASSIFIERS_AGAIN, ERROR_TOOL, POST, PRE, Section, TOOL_POST, TOOL_PRE,
};
use crate::guarded::Passing;
use crate::hooks::Refusal;
use crate::progress::Progress;
use crate::report::{Record, Status};
use crate::scripts::Scripts;

/// What a session is guarded with.
#[derive(Debug)]
pub(crate) struct Settings<'a> {
    /// Its name, by which hooks and records tell it from others.
    pub(crate) session: &'a str,
    pub(crate) grounds: Grounds,
    /// How long a call may take.
    pub(crate) time: Duration,
    pub(crate) approve: Approve,
    /// Hooks besides those of this example.
    pub(crate) scripts: &'a Scripts,
    /// The bar that makes room for questions.
    pub(crate) progress: &'a Progress,
}

/// Hooks before and after each call.
#[derive(Debug)]
pub(crate) struct Registries {
    governor: Governor,
    classifiers: Classifiers,
    events: HookRegistry,
    coordinator: Coordinator,
    view: View,
    heard: Heard,
    emitted: Vec<Emitted>,
}

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OpenError {
    #[error("the hook engine cannot be made: {0}")]
    Engine(#[from] EngineError),
    #[error("{what} is refused by {hook}: {reason}")]
    Refused {
        what: &'static str,
        hook: String,
        reason: String,
    },
    #[error("the hook engine did not take the intent of the session")]
    NotSelected,
}

impl Registries {
    /// The registries with the hooks of this example. Makes the engine's storage folder.
    pub(crate) async fn guarding(settings: Settings<'_>) -> Result<Self, OpenError> {
        let events = HookRegistry::new();
        // For hooks that serve several sessions.
        let session = ("session_id".to_owned(), settings.session.into());
        events.set_default_fields(Map::from_iter([session]));
        if settings.scripts.register(&events) {
            // Behind them, and before all who sign.
            let options = RegisterOptions::new().priority(-15);
            events.register(TOOL_PRE, payload::unsign, options);
        }
        events::register(&events, settings.time);
        let heard = Heard::default();
        let coordinator = Coordinator::builder()
            .session(settings.session)
            .injection_size_limit(INJECTION_LIMIT)
            .display(heard.clone());
        Ok(Self {
            governor: Governor::open(settings.session, settings.grounds).await?,
            classifiers: Classifiers::new(),
            events,
            coordinator: settings
                .approve
                .provide(coordinator, settings.progress)
                .build(),
            view: View::default(),
            heard,
            emitted: Vec::new(),
        })
    }

    /// What the engine has gathered.
    pub(crate) fn aftermath(&self) -> Aftermath {
        self.governor.aftermath()
    }

    /// The events that were emitted, in their order.
    pub(crate) fn emitted(&self) -> &[Emitted] {
        &self.emitted
    }

    /// Begins the session, if no hook is against it; what hooks say about it.
    pub(crate) async fn start(&mut self, calls: usize) -> Result<Vec<String>, OpenError> {
        let data = Map::from_iter([("calls".to_owned(), calls.into())]);
        let answered = self.emit(HookRegistry::SESSION_START, data, None).await;
        match answered.verdict() {
            Ok(_) => Ok(answered.told),
            Err(Refusal { hook, reason }) => Err(OpenError::Refused {
                what: "the session",
                hook,
                reason,
            }),
        }
    }

    /// Ends the session; what hooks say about it. What they deny has no effect.
    pub(crate) async fn end(&mut self, summary: &impl serde::Serialize) -> Vec<String> {
        let data = match serde_json::to_value(summary) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let answered = self.emit(HookRegistry::SESSION_END, data, None).await;
        if let Some(session) = self.coordinator.session() {
            self.coordinator.end_session(session);
        }
        answered.told
    }

    /// The agent makes a call, after it has read what it was told.
    pub(crate) fn begin_turn(&mut self, call: &str) {
        self.view.begin_turn(call);
    }

    /// Asks the PRE hooks of the engine about the call.
    pub(crate) async fn pre(&self, passing: &mut Passing) -> Result<(), Refusal> {
        let request = self.governor.request(&passing.draft.call);
        let (answer, report) = self.governor.engine.pre_tool_use_reported(&request).await;
        let by = report.stopped_by().map_or(PRE, |entry| &entry.name);
        let action = match &answer {
            Ok(response) => response.action.to_string(),
            Err(_) => "an error".to_owned(),
        };
        let verdict = verdict(by, answer);
        passing.explain(|| Section::reported(PRE, outcome(&action, &verdict), &report));
        verdict
    }

    /// Asks the classifiers what the call would do, and whether it may.
    pub(crate) async fn classify(&self, passing: &mut Passing) -> Result<(), Refusal> {
        passing.class = self.judge(CLASSIFIERS, passing).await?;
        Ok(())
    }

    async fn judge(
        &self,
        title: &'static str,
        passing: &mut Passing,
    ) -> Result<Option<Class>, Refusal> {
        let Judged {
            verdict,
            action,
            report,
        } = self.classifiers.judge(&passing.draft.call).await;
        let call = passing.draft.call.clone();
        passing.explain(|| {
            Section::reported(title, outcome(&action, &verdict), &report)
                .telling(&self.classifiers.drawing(&call))
        });
        verdict
    }

    /// Emits `tool:pre`, takes over what its hooks changed, and keeps what they say. What they
    /// changed is judged again, and may not delete: nobody was asked about that.
    pub(crate) async fn tool_pre(&mut self, passing: &mut Passing) -> Result<(), Refusal> {
        let data = payload::announcing(&passing.draft.call, passing.class.as_ref());
        let answered = self.emit(TOOL_PRE, data, Some(passing)).await;
        passing.approval = answered.approval();
        let before = passing.draft.call.clone();
        let verdict = answered
            .verdict()
            .and_then(|data| adopt(data, &answered.by, passing));
        let outcome = outcome(&answered.action, &verdict);
        hear(TOOL_PRE, outcome, answered, passing);
        verdict?;
        if passing.draft.call == before {
            return Ok(());
        }
        passing.class = self.judge(CLASSIFIERS_AGAIN, passing).await?;
        match &passing.class {
            Some(class) if class.deletes() => Err(Refusal {
                hook: TOOL_PRE.to_owned(),
                reason: format!(
                    "nobody was asked about what its hooks made of the call: {}",
                    class.reasoning
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Gives the agent the result of a call that ran, and emits `tool:post`, or `error:tool`
    /// where it did not succeed. What hooks change or deny has no effect on a call that is
    /// over; what they say has.
    pub(crate) async fn tool_post(&mut self, record: &Record, passing: &mut Passing) {
        self.view.end_turn(record);
        let event = match record.status {
            Status::Succeeded => TOOL_POST,
            _ => ERROR_TOOL,
        };
        let data = payload::concluding(&passing.draft.call, record);
        let answered = self.emit(event, data, Some(passing)).await;
        let outcome = answered.action.clone();
        hear(event, outcome, answered, passing);
    }

    /// Gives the agent the reason why a call did not run.
    pub(crate) fn refused(&mut self, record: &Record) {
        self.view.end_turn(record);
    }

    /// Tells the POST hooks of the engine; their faults are nobody's but theirs.
    pub(crate) async fn post(&self, record: &Record, passing: &mut Passing) {
        let result = self.governor.result(&passing.draft.call, record);
        let id = record.number.to_string();
        let engine = &self.governor.engine;
        let report = engine.post_tool_use_reported(&result, Some(&id)).await;
        passing.explain(|| Section::reported(POST, "all are told".to_owned(), &report));
    }

    /// What a model would read before its next call.
    pub(crate) fn explain_view(&self) -> Section {
        self.view.explain()
    }

    /// The names of the hooks behind each title, in execution order.
    pub(crate) fn names(&self, title: &str) -> Vec<String> {
        match title {
            PRE => self.governor.ids(Phase::Pre),
            POST => self.governor.ids(Phase::Post),
            CLASSIFIERS => {
                let hooks = self.classifiers.hooks().into_iter();
                hooks.map(|hook| hook.id).collect()
            }
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

/// The most characters that a hook may put before the agent at once.
const INJECTION_LIMIT: usize = 4000;

/// Makes of the draft what the data of `tool:pre` are now.
fn adopt(data: &Map, by: &str, passing: &mut Passing) -> Result<(), Refusal> {
    if !payload::keeps_class(data, passing.class.as_ref()) {
        return Err(Refusal {
            hook: TOOL_PRE.to_owned(),
            reason: "its hooks changed the class of the command, which is not theirs to say"
                .to_owned(),
        });
    }
    let draft = &mut passing.draft;
    match payload::call(data) {
        Ok(call) if call == draft.call => Ok(()),
        Ok(call) => {
            draft.call = call;
            draft.changes.extend(payload::changes(data, by));
            Ok(())
        }
        Err(problem) => Err(Refusal {
            hook: TOOL_PRE.to_owned(),
            reason: format!("its hooks left nothing that could run: {problem}"),
        }),
    }
}

/// Keeps what became of an event, and what its hooks say.
fn hear(title: &'static str, outcome: String, answered: Answered, passing: &mut Passing) {
    let Answered { told, report, .. } = answered;
    passing.explain(|| Section::reported(title, outcome, &report).telling(&told));
    passing.told.extend(told);
}

fn outcome<T>(action: &str, verdict: &Result<T, Refusal>) -> String {
    match verdict {
        Ok(_) => action.to_owned(),
        Err(Refusal { hook, reason }) => format!("{action}; refused by {hook}: {reason}"),
    }
}

#[cfg(test)]
mod tests;
