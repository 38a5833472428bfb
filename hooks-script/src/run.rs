//! Result of a run: verdict, cost, console lines and outbox.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::Map;
use serde::{Deserialize, Serialize};

use crate::outbox::OutboundRequest;
use crate::position::Position;

/// The stage in which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Stage {
    /// Before the action: the hook may change the message or stop the action.
    Pre,
    /// After the action: the return value of the hook is ignored.
    Post,
}

impl TryFrom<String> for Stage {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let found = [Stage::Pre, Stage::Post];
        let found = found.into_iter().find(|stage| stage.to_string() == name);
        found.ok_or_else(|| format!("unknown stage `{name}`; use `pre` or `post`"))
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Pre => "pre",
            Stage::Post => "post",
        })
    }
}

/// A completed run of a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Outcome of the run.
    pub result: RunResult,
    /// Fuel used of [`Limits::fuel`](crate::Limits::fuel), without the fuel for reading the
    /// context. It is deterministic for a given hook, input, clock and seed, on every machine.
    pub fuel: u64,
    /// Console lines.
    pub console: Vec<ConsoleLine>,
    /// Number of console lines beyond the limit, which were dropped.
    pub console_dropped: usize,
    /// Outbound requests to send after another check of the consent
    /// (`OutboxSender`); empty if the run failed.
    pub outbox: Vec<OutboundRequest>,
    /// SHA-256 of the hook's source, in hexadecimal digits.
    pub code_hash: Arc<str>,
    /// Peak memory used of [`Limits::heap`](crate::Limits::heap), in bytes.
    pub memory_bytes: usize,
    /// SHA-256 of the memory after the run, before the reset. `None` unless
    /// [`hash_memory`](crate::ScriptEngineBuilder::hash_memory) is set.
    pub memory_hash: Option<String>,
    /// Duration without the wait for a worker.
    pub duration: Duration,
    /// `true` if the hook started: its context had been read.
    pub(crate) began: bool,
    /// `true` if the hook returned a value, or nothing, rather than being ended by an exception or
    /// a limit. The value may be invalid.
    pub(crate) has_returned: bool,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunResult {
    /// The hook returned `{out}`. Before the action, this is the new message; after the action, the
    /// map is empty.
    Returned(Map),
    /// The hook returned nothing (`undefined`) before the action. The message is unchanged.
    Unchanged,
    /// The hook threw a `HookStopException`. Before the action, this stops the stack and rejects
    /// the action; after the action, it is an annotation.
    Stop(Stop),
    /// The hook failed. The message is unchanged.
    Failed(Failure),
}

/// The exception with which a hook stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stop {
    /// The name of the exception's class.
    pub class: String,
    /// Message of the exception.
    pub message: String,
    /// Stack trace, one frame per line.
    pub stack: String,
}

/// Reason why a run has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The hook threw an exception that is not a `HookStopException`.
    #[error("threw {class}: {message}")]
    Thrown {
        /// Name of the class, or `throw` for a value that is not an object.
        class: String,
        /// Message of the exception.
        message: String,
        /// Stack trace, one frame per line.
        stack: String,
        /// Position of the first frame in the source.
        position: Option<Position>,
    },
    /// The hook returned something other than `{out}` with an object in it, and other than
    /// `undefined`, or awaits a promise that never settles.
    #[error("{0}")]
    BadReturn(String),
    /// The hook used up its fuel.
    #[error("exceeded its fuel limit of {0}")]
    Fuel(u64),
    /// The run timed out.
    #[error("timed out after {} ms", .0.as_millis())]
    Wall(Duration),
    /// The hook exceeded the memory limit.
    #[error("exceeded its heap limit of {0} bytes")]
    Heap(usize),
    /// The hook exceeded the stack limit.
    #[error("exceeded its stack limit of {0} bytes")]
    Stack(usize),
    /// The returned value is too large.
    #[error("returned {bytes} bytes; at most {limit} are allowed")]
    Output {
        /// Size of the returned value, as JSON.
        bytes: usize,
        /// Maximum size.
        limit: usize,
    },
    /// The hook left too many promise continuations.
    #[error("ran more than {0} promise continuations")]
    Jobs(u32),
    /// The context is too large; the hook did not run.
    #[error("the context has {bytes} bytes; at most {limit} are allowed")]
    Input {
        /// Size of the context, as JSON.
        bytes: usize,
        /// Maximum size.
        limit: usize,
    },
    /// The message is nested deeper than a returned value may be; the hook did not run.
    #[error("the message is nested deeper than {0} levels; the hook did not run")]
    Depth(usize),
    /// Reading the context takes too much fuel; the hook did not run.
    #[error("reading the context takes more than {0} fuel; the hook did not run")]
    Reading(u64),
    /// No worker was free before the timeout; the hook did not run.
    #[error("no worker was free before the timeout")]
    NoWorker,
    /// The engine itself failed; its instance is discarded.
    #[error("the script engine failed: {0}")]
    Engine(String),
}

impl Failure {
    /// Returns `true` if the hook did not run, although nothing failed.
    pub(crate) fn did_not_run(&self) -> bool {
        matches!(
            self,
            Failure::Input { .. } | Failure::Depth(_) | Failure::Reading(_) | Failure::NoWorker
        )
    }

    /// Returns the kind of failure, as spelled in logs and in the output of the command line.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Thrown { .. } => "thrown",
            Failure::BadReturn(_) => "bad_return",
            Failure::Fuel(_) => "fuel",
            Failure::Wall(_) => "wall",
            Failure::Heap(_) => "heap",
            Failure::Stack(_) => "stack",
            Failure::Output { .. } => "output",
            Failure::Jobs(_) => "jobs",
            Failure::Input { .. } | Failure::Depth(_) | Failure::Reading(_) => "input",
            Failure::NoWorker | Failure::Engine(_) => "engine",
        }
    }

    /// Returns `true` if a limit ended the run, rather than the hook or the engine.
    pub fn is_limit(&self) -> bool {
        !NO_LIMITS.contains(&self.kind())
    }
}

/// Kinds of failure that are not limits. Their messages may contain text of the hook; messages
/// about limits are the host's.
pub(crate) const NO_LIMITS: [&str; 3] = ["thrown", "bad_return", "engine"];

/// A line written to the console.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleLine {
    /// Console function that wrote the line.
    pub level: ConsoleLevel,
    /// Text, truncated at [`Limits::console_line`](crate::Limits::console_line).
    pub text: String,
}

/// Formats as `level: text`.
impl fmt::Display for ConsoleLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level, self.text)
    }
}

/// The console function that wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConsoleLevel {
    /// `console.log`.
    Log,
    /// `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`.
    Error,
    /// `console.debug`.
    Debug,
}

impl fmt::Display for ConsoleLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConsoleLevel::Log => "log",
            ConsoleLevel::Info => "info",
            ConsoleLevel::Warn => "warn",
            ConsoleLevel::Error => "error",
            ConsoleLevel::Debug => "debug",
        })
    }
}
