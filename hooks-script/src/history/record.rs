//! Record of one run, as stored in the history.

use std::fmt;
use std::time::Duration;

use hooks_runtime::Map;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::text::{self, mask};
use crate::fields::ContextData;
use crate::hook::ScriptHook;
use crate::run::{Failure, NO_LIMITS, Run, RunResult, Stage};
use crate::scope::Scope;

/// Record of a run: hook, scope, outcome and cost. It never contains the input, the output or the
/// console lines of the hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// Sequence number in the history; 0 before the record is stored.
    pub id: u64,
    /// End of the run, stored to the microsecond.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub time: Timestamp,
    /// Origin of the hook: the `source` of its manifest.
    pub source: String,
    /// SHA-256 of the hook's source.
    pub version: String,
    /// Display name of the hook.
    pub name: String,
    /// Name of the action that the run preceded or followed, as given by the host.
    pub action: String,
    /// User and place of the run.
    pub scope: Scope,
    /// Stage: before or after the action.
    pub stage: Stage,
    /// Outcome of the run.
    pub outcome: RunOutcome,
    /// Duration of the run without the wait for a worker, stored to the microsecond.
    pub duration: Duration,
    /// Fuel used of [`Limits::fuel`](crate::Limits::fuel).
    pub fuel: u64,
    /// Peak memory used of [`Limits::heap`](crate::Limits::heap), in bytes.
    pub memory_bytes: u64,
    /// `true` if the class name comes from the hook's source or from the engine. Not stored.
    #[serde(skip)]
    pub(super) is_class_known: bool,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
#[non_exhaustive]
pub enum RunOutcome {
    /// The hook returned.
    Success,
    /// The hook threw a `HookStopException`: a rejection before the action, a note after it.
    Stopped {
        /// Name of the thrown class, which serves as the category.
        class: String,
        /// Message of the exception.
        message: String,
        /// Stack trace, one frame per line.
        trace: String,
    },
    /// The hook threw another exception, or exceeded a limit.
    Failure {
        /// [`Failure::kind`]. A hook cannot choose it.
        kind: String,
        /// Name of the thrown class; for all other failures, the kind.
        class: String,
        /// Message of the failure.
        message: String,
        /// Stack trace, one frame per line.
        trace: String,
    },
    /// The hook did not run, or its run was cancelled.
    Skipped {
        /// Reason.
        reason: String,
    },
}

/// Kind of a [`RunOutcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// [`RunOutcome::Success`].
    Success,
    /// [`RunOutcome::Stopped`].
    Stopped,
    /// [`RunOutcome::Failure`].
    Failure,
    /// [`RunOutcome::Skipped`].
    Skipped,
}

impl RunRecord {
    /// Returns the record of a run. Parts of `message` and `data` that occur in an exception are
    /// removed: texts of eight and more characters; shorter texts of four and more characters if
    /// they occur as a whole; and words of three and more characters that are not in the hook's
    /// source, unless the engine throws the exception's class. The name of the class is kept if it
    /// occurs in the source.
    pub fn of(
        hook: &ScriptHook,
        stage: Stage,
        run: &Run,
        message: &Map,
        data: &ContextData,
    ) -> Self {
        let without_input = |text: &str, source: Option<&str>| {
            let given = message.iter().chain(data.values().flatten());
            text::replace_inputs(&text::truncate_to_limit(text), source, given)
        };
        let without = |text: &str| without_input(text, None);
        // Messages of the engine contain words that are not in the source.
        let masked_text = |class: &str, text: &str| {
            let source = (!ScriptHook::is_engine_class(class)).then(|| hook.source());
            without_input(text, source)
        };
        let mut is_class_known = false;
        let mut name = |class: &str| {
            is_class_known = hook.has_class(class);
            if is_class_known {
                class.to_owned()
            } else {
                without(class)
            }
        };
        let outcome = match &run.result {
            RunResult::Returned(_) | RunResult::Unchanged => RunOutcome::Success,
            RunResult::Stop(stop) => RunOutcome::Stopped {
                class: name(&stop.class),
                message: masked_text(&stop.class, &stop.message),
                trace: without(&stop.stack),
            },
            RunResult::Failed(Failure::Thrown {
                class,
                message,
                stack,
                ..
            }) => RunOutcome::Failure {
                kind: "thrown".to_owned(),
                class: name(class),
                message: masked_text(class, message),
                trace: without(stack),
            },
            RunResult::Failed(failure) if failure.did_not_run() => RunOutcome::Skipped {
                reason: failure.to_string(),
            },
            RunResult::Failed(failure) => RunOutcome::Failure {
                kind: failure.kind().to_owned(),
                class: failure.kind().to_owned(),
                message: match failure.is_limit() {
                    true => failure.to_string(),
                    false => without(&failure.to_string()),
                },
                trace: String::new(),
            },
        };
        RunRecord {
            duration: run.duration,
            fuel: run.fuel,
            memory_bytes: run.memory_bytes as u64,
            is_class_known,
            ..RunRecord::new(hook, stage, outcome)
        }
    }

    /// Logs through `tracing` the exception with its trace, or the reason why the hook did not run.
    pub(crate) fn log(&self) {
        let RunRecord {
            source,
            action,
            stage,
            ..
        } = self;
        let shown = |class: &str| {
            if self.is_class_known {
                class.to_owned()
            } else {
                mask(class)
            }
        };
        let text_for_log = |text: &str| match self.outcome.may_quote_hook() {
            true => mask(text),
            false => text.to_owned(),
        };
        match &self.outcome {
            RunOutcome::Success => {}
            RunOutcome::Skipped { reason } => tracing::warn!(
                target: "hooks_script",
                source, action, %stage, "a hook did not run: {reason}"
            ),
            RunOutcome::Stopped {
                class,
                message,
                trace,
            } => tracing::info!(
                target: "hooks_script",
                source, action, %stage, class = shown(class), trace = mask(trace),
                "a hook stopped: {}", text_for_log(message)
            ),
            RunOutcome::Failure {
                kind,
                class,
                message,
                trace,
            } => tracing::warn!(
                target: "hooks_script",
                source, action, %stage, kind, class = shown(class), trace = mask(trace),
                "a hook failed: {}", text_for_log(message)
            ),
        }
    }

    /// Creates the record of a run that did not happen.
    pub fn skipped(hook: &ScriptHook, stage: Stage, reason: impl Into<String>) -> Self {
        RunRecord::new(
            hook,
            stage,
            RunOutcome::Skipped {
                reason: reason.into(),
            },
        )
    }

    fn new(hook: &ScriptHook, stage: Stage, outcome: RunOutcome) -> Self {
        RunRecord {
            id: 0,
            time: Timestamp::now(),
            source: hook.manifest().source().to_owned(),
            version: hook.code_hash().to_string(),
            name: hook.manifest().name().to_owned(),
            action: String::new(),
            scope: Scope::everything(),
            stage,
            outcome,
            duration: Duration::ZERO,
            fuel: 0,
            memory_bytes: 0,
            is_class_known: false,
        }
    }

    /// Sets the name of the action.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        self
    }

    /// Sets the user and place of the run.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the end of the run. Default: now.
    #[must_use]
    pub fn at(mut self, time: Timestamp) -> Self {
        self.time = time;
        self
    }
}

impl RunOutcome {
    /// Returns the kind of the outcome.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            RunOutcome::Success => OutcomeKind::Success,
            RunOutcome::Stopped { .. } => OutcomeKind::Stopped,
            RunOutcome::Failure { .. } => OutcomeKind::Failure,
            RunOutcome::Skipped { .. } => OutcomeKind::Skipped,
        }
    }

    /// Returns `true` if the text may come from the hook rather than from the host.
    pub(super) fn may_quote_hook(&self) -> bool {
        match self {
            RunOutcome::Stopped { .. } => true,
            RunOutcome::Failure { kind, .. } => NO_LIMITS.contains(&&**kind),
            RunOutcome::Success | RunOutcome::Skipped { .. } => false,
        }
    }

    /// Returns the class of a stop or a failure.
    pub fn class(&self) -> Option<&str> {
        match self {
            RunOutcome::Stopped { class, .. } | RunOutcome::Failure { class, .. } => Some(class),
            RunOutcome::Success | RunOutcome::Skipped { .. } => None,
        }
    }
}

impl OutcomeKind {
    /// Returns the word that stores and metrics use for the outcome.
    pub fn as_str(self) -> &'static str {
        match self {
            OutcomeKind::Success => "success",
            OutcomeKind::Stopped => "stopped",
            OutcomeKind::Failure => "failure",
            OutcomeKind::Skipped => "skipped",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
