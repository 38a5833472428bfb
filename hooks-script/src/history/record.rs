//! One run, as it is kept.

use std::fmt;
use std::time::Duration;

use hooks_runtime::Map;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::text::{self, mask};
use crate::fields::ContextData;
use crate::hook::ScriptHook;
use crate::run::{Failure, NO_LIMITS, Run, Stage, Verdict};
use crate::scope::Scope;

/// One run of a hook (`S-20`): who, where, how it ended and what it cost. Never what the hook
/// was given, returned or wrote to its console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// Grows with every record of a history; 0 until it is kept.
    pub id: u64,
    /// When the run was over, kept to the microsecond.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub time: Timestamp,
    /// Where the hook comes from, as its manifest says.
    pub source: String,
    /// Which version of it: SHA-256 of its source.
    pub version: String,
    /// What people call the hook.
    pub name: String,
    /// What the run was before or after, as the host calls it.
    pub action: String,
    /// For whom it ran, and where.
    pub scope: Scope,
    /// Before or after the action.
    pub stage: Stage,
    /// How it ended.
    pub outcome: RunOutcome,
    /// How long it took, without the wait for a worker, kept to the microsecond.
    pub duration: Duration,
    /// What it used of [`Limits::fuel`](crate::Limits::fuel).
    pub fuel: u64,
    /// The most that it used of [`Limits::heap`](crate::Limits::heap), in bytes.
    pub memory_bytes: u64,
    /// Whether the name of the class is nobody's but the author's. Not kept.
    #[serde(skip)]
    pub(super) is_class_known: bool,
}

/// How a run ended (`S-15` to `S-19`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
#[non_exhaustive]
pub enum RunOutcome {
    /// It returned.
    Success,
    /// It threw a `HookStopException`: before the action a rejection, after it a note.
    Stopped {
        /// The name of the class: the category (`S-19`).
        class: String,
        /// What it says.
        message: String,
        /// Where it was made, a line each.
        trace: String,
    },
    /// It threw something else, or reached a limit.
    Failure {
        /// [`Failure::kind`]. No hook can choose it.
        kind: String,
        /// The name of the class that was thrown; of every other failure its kind.
        class: String,
        /// What it says.
        message: String,
        /// Where it was made, a line each.
        trace: String,
    },
    /// It did not run, or nobody waited for its end.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// The four ways for a run to end (`S-20`).
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
    /// The record of a run: the hook, and what it was run with. What of `message` and `data`
    /// stands in an exception is taken out of it: texts of eight and more characters, shorter
    /// ones of four and more if they stand there as a whole, and, unless it is of a class that the
    /// engine throws, words of three and more that are not in the source of the hook. The name of its class stays as it
    /// is where it stands in the source, too (`S-19`).
    pub fn of(
        hook: &ScriptHook,
        stage: Stage,
        run: &Run,
        message: &Map,
        data: &ContextData,
    ) -> Self {
        let without_input = |text: &str, source: Option<&str>| {
            let given = message.iter().chain(data.values().flatten());
            text::without(&text::manageable(text), source, given)
        };
        let without = |text: &str| without_input(text, None);
        // The engine's own messages have words that are in no source.
        let said = |class: &str, text: &str| {
            let source = (!ScriptHook::is_of_the_engine(class)).then(|| hook.source());
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
        let outcome = match &run.verdict {
            Verdict::Out(_) => RunOutcome::Success,
            Verdict::Stop(stop) => RunOutcome::Stopped {
                class: name(&stop.class),
                message: said(&stop.class, &stop.message),
                trace: without(&stop.stack),
            },
            Verdict::Failed(Failure::Thrown {
                class,
                message,
                stack,
                ..
            }) => RunOutcome::Failure {
                kind: "thrown".to_owned(),
                class: name(class),
                message: said(class, message),
                trace: without(stack),
            },
            Verdict::Failed(failure) if failure.is_no_run() => RunOutcome::Skipped {
                reason: failure.to_string(),
            },
            Verdict::Failed(failure) => RunOutcome::Failure {
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

    /// Says through `tracing` what the hook threw, with its trace, or why it did not run (`S-15`
    /// to `S-17`).
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
        let said = |text: &str| match self.outcome.is_of_the_hook() {
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
                "a hook says stop: {}", said(message)
            ),
            RunOutcome::Failure {
                kind,
                class,
                message,
                trace,
            } => tracing::warn!(
                target: "hooks_script",
                source, action, %stage, kind, class = shown(class), trace = mask(trace),
                "a hook failed: {}", said(message)
            ),
        }
    }

    /// The record of a run that did not happen.
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

    /// What the run was before or after.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        self
    }

    /// For whom it ran, and where.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// When the run was over; now, unless given.
    #[must_use]
    pub fn at(mut self, time: Timestamp) -> Self {
        self.time = time;
        self
    }
}

impl RunOutcome {
    /// Which of the four ways it is.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            RunOutcome::Success => OutcomeKind::Success,
            RunOutcome::Stopped { .. } => OutcomeKind::Stopped,
            RunOutcome::Failure { .. } => OutcomeKind::Failure,
            RunOutcome::Skipped { .. } => OutcomeKind::Skipped,
        }
    }

    /// Whether its text may be the hook's own, and not only what the host says about it.
    pub(super) fn is_of_the_hook(&self) -> bool {
        match self {
            RunOutcome::Stopped { .. } => true,
            RunOutcome::Failure { kind, .. } => NO_LIMITS.contains(&&**kind),
            RunOutcome::Success | RunOutcome::Skipped { .. } => false,
        }
    }

    /// The class of a stop or a failure.
    pub fn class(&self) -> Option<&str> {
        match self {
            RunOutcome::Stopped { class, .. } | RunOutcome::Failure { class, .. } => Some(class),
            RunOutcome::Success | RunOutcome::Skipped { .. } => None,
        }
    }
}

impl OutcomeKind {
    /// The word for it, as stores and metrics spell it.
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
