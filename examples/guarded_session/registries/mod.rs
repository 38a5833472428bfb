//! Registries that a call passes besides the typed set, as a host would offer them to plugins.
//!
//! | Dispatch | Registry | Purpose |
//! |---|---|---|
//! | `session:start` | [`HookRegistry`] | allows or denies the session |
//! | PRE | [`HookEngine`](hooks_runtime::HookEngine) | allows or refuses the call |
//! | classifiers | [`PhaseRegistry`](hooks_runtime::PhaseRegistry) | determine the effects of its command, and refuse some of them |
//! | `tool:pre` | [`HookRegistry`] | changes the call, sends messages, allows or denies the call |
//! | `tool:post` | [`HookRegistry`] | receives the result of a call that succeeded |
//! | `error:tool` | [`HookRegistry`] | receives the result of a call that failed or exceeded a limit |
//! | POST | [`HookEngine`](hooks_runtime::HookEngine) | records the call |
//! | `user:notification` | [`HookRegistry`] | rewrites or suppresses another hook's message to the user |
//! | `session:end` | [`HookRegistry`] | receives the number of calls and their results |
//!
//! [`engine`], [`classifiers`] and [`events`] contain the hooks; [`approval`] selects the source of
//! answers. A [`Coordinator`] applies the results of an event: it injects messages into the
//! [`Conversation`](hooks_runtime::Conversation) of a model, asks questions, and returns if the
//! event may happen. A call runs only if every result allows it: a `HALT`, an unknown action, an
//! error and a missing answer all refuse it. The recorded agent cannot be stopped by a `HALT`, so
//! its next call is dispatched too; a hook that halts must keep halting for as long as its reason
//! lasts.

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

/// Settings of a guarded session.
#[derive(Debug)]
pub(crate) struct Settings<'a> {
    /// Name of the session for hooks and records.
    pub(crate) session: &'a str,
    pub(crate) grounds: Grounds,
    /// Timeout of a call.
    pub(crate) time: Duration,
    pub(crate) approve: Approve,
    /// Additional hooks.
    pub(crate) scripts: &'a Scripts,
    /// Progress bar, hidden during questions.
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

/// Reason why a session cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OpenError {
    #[error("cannot create the hook engine: {0}")]
    Engine(#[from] EngineError),
    #[error("{hook} refused {what}: {reason}")]
    Refused {
        what: &'static str,
        hook: String,
        reason: String,
    },
    #[error("the hook engine did not select the intent of the session")]
    NotSelected,
}

impl Registries {
    /// Creates the registries with the hooks of this example, and the engine's storage folder.
    pub(crate) async fn guarding(settings: Settings<'_>) -> Result<Self, OpenError> {
        let events = HookRegistry::new();
        // Distinguishes sessions for hooks that serve several.
        let session = ("session_id".to_owned(), settings.session.into());
        events.set_default_fields(Map::from_iter([session]));
        if settings.scripts.register(&events) {
            // After the scripts, and before all hooks that sign changes.
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

    /// Returns the additional lines of the summary.
    pub(crate) fn aftermath(&self) -> Aftermath {
        self.governor.aftermath()
    }

    /// Returns the emitted events in order.
    pub(crate) fn emitted(&self) -> &[Emitted] {
        &self.emitted
    }

    /// Starts the session unless a hook denies it. Returns the messages of hooks.
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

    /// Ends the session and returns the messages of hooks. A denial has no effect.
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

    /// Starts the agent's turn: it has read its messages and makes a call.
    pub(crate) fn begin_turn(&mut self, call: &str) {
        self.view.begin_turn(call);
    }

    /// Dispatches the call to the PRE hooks of the engine.
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

    /// Dispatches the call to the classifiers.
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

    /// Emits `tool:pre`, adopts the changes of its hooks, and keeps their messages. A changed call
    /// is classified again and must not delete, because the user did not approve that.
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
                    "the user has not approved the call as changed by its hooks: {}",
                    class.reasoning
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Adds the result of a call to the conversation, and emits `tool:post`, or `error:tool` if the
    /// call did not succeed. Changes and denials by hooks have no effect on a finished call; their
    /// messages are kept.
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

    /// Adds the reason for a refusal to the conversation.
    pub(crate) fn refused(&mut self, record: &Record) {
        self.view.end_turn(record);
    }

    /// Dispatches the result to the POST hooks of the engine; their failures have no effect on the
    /// call.
    pub(crate) async fn post(&self, record: &Record, passing: &mut Passing) {
        let result = self.governor.result(&passing.draft.call, record);
        let id = record.number.to_string();
        let engine = &self.governor.engine;
        let report = engine.post_tool_use_reported(&result, Some(&id)).await;
        passing.explain(|| Section::reported(POST, "all hooks ran".to_owned(), &report));
    }

    /// Returns the messages that a model would receive before its next call.
    pub(crate) fn explain_view(&self) -> Section {
        self.view.explain()
    }

    /// Returns the names of the hooks in the dispatch `title`, in execution order.
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

/// Maximum number of characters that a hook may inject at once.
const INJECTION_LIMIT: usize = 4000;

/// Updates the draft from the data of `tool:pre`.
fn adopt(data: &Map, by: &str, passing: &mut Passing) -> Result<(), Refusal> {
    if !payload::keeps_class(data, passing.class.as_ref()) {
        return Err(Refusal {
            hook: TOOL_PRE.to_owned(),
            reason:
                "its hooks changed the class of the command, which only the classifiers may set"
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
            reason: format!("its hooks left an invalid call: {problem}"),
        }),
    }
}

/// Stores the result of an event and the messages of its hooks.
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
