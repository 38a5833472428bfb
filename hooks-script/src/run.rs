//! What a run of a hook comes to.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::Map;
use serde::{Deserialize, Serialize};

use crate::outbox::OutboundRequest;

/// The stage in which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Stage {
    /// Before the action: the hook may change the message, or stop it.
    Pre,
    /// After the action is done: what the hook returns is ignored.
    Post,
}

impl TryFrom<String> for Stage {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let found = [Stage::Pre, Stage::Post];
        let found = found.into_iter().find(|stage| stage.to_string() == name);
        found.ok_or_else(|| format!("unknown stage `{name}`; it is `pre` or `post`"))
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
    /// How it ended.
    pub verdict: Verdict,
    /// What it used of [`Limits::fuel`](crate::Limits::fuel), without what it took to read the
    /// context. The same for the same hook, input, clock and seed, everywhere.
    pub fuel: u64,
    /// What it wrote to the console.
    pub console: Vec<ConsoleLine>,
    /// Lines that it wrote beyond what is kept.
    pub console_dropped: usize,
    /// What it asks to be sent, once somebody has looked at the consent again
    /// ([`OutboxSender`](crate::OutboxSender)); nothing of a run that failed.
    pub outbox: Vec<OutboundRequest>,
    /// SHA-256 of the source of the hook, in hexadecimal digits.
    pub code_hash: Arc<str>,
    /// The most that it used of [`Limits::heap`](crate::Limits::heap), in bytes.
    pub memory_bytes: usize,
    /// SHA-256 of the memory that it left behind, before the reset; only where
    /// [`hash_memory`](crate::ScriptEngineBuilder::hash_memory) asks for it.
    pub memory_hash: Option<String>,
    /// How long it took, without the wait for a worker.
    pub duration: Duration,
    /// Whether the hook did anything: the context had been read.
    pub(crate) began: bool,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The hook returned. Before the action, this is the new message; after the action, the map is
    /// empty.
    Out(Map),
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
    /// Its message.
    pub message: String,
    /// Where it was made, a line each.
    pub stack: String,
}

/// Why a run failed. A failure is never an approval; the caller decides what it means.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The hook threw something that is no `HookStopException`.
    #[error("threw {class}: {message}")]
    Thrown {
        /// The name of the class, or `throw` for what is no object.
        class: String,
        /// What it says.
        message: String,
        /// Where it was made, a line each.
        stack: String,
        /// The same, as a place in the source.
        position: Option<Position>,
    },
    /// The hook did not return `{out}` with an object in it.
    #[error("{0}")]
    BadReturn(String),
    /// It used up its fuel.
    #[error("used up its fuel of {0}")]
    Fuel(u64),
    /// It took too long.
    #[error("took longer than {} ms", .0.as_millis())]
    Wall(Duration),
    /// It asked for more memory than there is.
    #[error("needs more than its heap of {0} bytes")]
    Heap(usize),
    /// It called too deep.
    #[error("needs more than its stack of {0} bytes")]
    Stack(usize),
    /// It returned too much.
    #[error("returned {bytes} bytes; at most {limit} are allowed")]
    Output {
        /// What it returned, as JSON.
        bytes: usize,
        /// What it may return.
        limit: usize,
    },
    /// It left too many continuations of promises.
    #[error("ran more than {0} continuations of promises")]
    Jobs(u32),
    /// The context is too large to be given to a hook; it did not run.
    #[error("the context has {bytes} bytes; at most {limit} are allowed")]
    Input {
        /// What it has, as JSON.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },
    /// The message is nested deeper than what a hook returns can be; it did not run.
    #[error("the message has more than {0} levels; the hook did not run")]
    Depth(usize),
    /// The context takes too long to be read; the hook did not run.
    #[error("the context takes more than {0} of fuel to be read; the hook did not run")]
    Reading(u64),
    /// No worker was free before the time was over; the hook did not run.
    #[error("no worker was free before the time was over")]
    NoWorker,
    /// The engine itself failed; the instance is thrown away.
    #[error("the script engine failed: {0}")]
    Engine(String),
}

impl Failure {
    /// Whether the hook just did not run, and nothing went wrong.
    pub(crate) fn is_no_run(&self) -> bool {
        matches!(
            self,
            Failure::Input { .. } | Failure::Depth(_) | Failure::Reading(_) | Failure::NoWorker
        )
    }

    /// The kind, as logs and the command line spell it.
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

    /// Whether a limit ended the run, and not the hook itself, nor the engine.
    pub fn is_limit(&self) -> bool {
        !NO_LIMITS.contains(&self.kind())
    }
}

/// The kinds of failure that are no limits. What they say may be the hook's own words, or hold
/// some of them; of the limits the host speaks.
pub(crate) const NO_LIMITS: [&str; 3] = ["thrown", "bad_return", "engine"];

/// A position in the source of a hook. Both numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in bytes.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A line of the console.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleLine {
    /// Which function it was written with.
    pub level: ConsoleLevel,
    /// What it says, cut off at [`Limits::console_line`](crate::Limits::console_line).
    pub text: String,
}

/// `level: text`.
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
