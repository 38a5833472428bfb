//! The errors of the engine and of its hooks.

use std::path::PathBuf;

/// A call that changes something cannot be traced to an intent. A PRE run ends with it
/// as its `Err`.
///
/// ```
/// use hooks_runtime::engine::{EngineContext, Traceability, TraceabilityError};
/// use hooks_runtime::{PhaseRegistry, RegisterOptions, ToolRequest, ToolResult};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry: PhaseRegistry<ToolRequest, ToolResult> = PhaseRegistry::new();
/// registry.register_pre(Traceability::new(&EngineContext::default()), RegisterOptions::new());
///
/// let error = registry.execute_pre(&ToolRequest::new("write_to_file")).await.unwrap_err();
/// assert!(matches!(error.downcast_ref(), Some(TraceabilityError::Missing { .. })));
/// # });
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceabilityError {
    /// The call names no intent.
    #[error("`{tool}` is destructive and names no intent; give the call the id of one")]
    Missing {
        /// The tool.
        tool: String,
    },
    /// What it names is no id of an intent.
    #[error("`{intent}` is no id of an intent; it has to match `{pattern}`")]
    Invalid {
        /// What the call names.
        intent: String,
        /// What ids look like.
        pattern: String,
    },
}

/// A file is not what the agent last saw. A PRE run ends with it as its `Err`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConcurrencyError {
    /// It has changed, or is gone.
    #[error("`{path}` has changed since it was read; read it again before writing to it")]
    Stale {
        /// The file, from the workspace on.
        path: String,
        /// The hash of what the agent saw.
        expected: String,
        /// The hash of what is there; `None` if nothing is.
        found: Option<String>,
    },
    /// It was never read, where that is required.
    #[error("`{path}` exists and has not been read; read it before writing to it")]
    NotRead {
        /// The file, from the workspace on.
        path: String,
    },
    /// It cannot be read.
    #[error("`{path}` cannot be compared with what was read; make it readable")]
    Unreadable {
        /// The file, from the workspace on.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// The engine cannot be built, or its intents not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A folder or a file of the engine's is not usable.
    #[error("`{}` is not usable; {remedy}", path.display())]
    Path {
        /// The folder or the file.
        path: PathBuf,
        /// What would help.
        remedy: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// The intents are not in the form that they must have.
    #[error("`{}` holds no intents; write a JSON list, or one JSON object a line", path.display())]
    Intents {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A glob of an intent's scope is none.
    #[error("`{glob}`, in the scope of `{intent}`, is no glob; write one such as `src/**`")]
    Glob {
        /// The intent.
        intent: String,
        /// What is no glob.
        glob: String,
        /// Why.
        source: globset::Error,
    },
    /// A glob of an intent's scope is one, and can match no file.
    #[error("`{glob}`, in the scope of `{intent}`, matches no file; {remedy}")]
    DeadGlob {
        /// The intent.
        intent: String,
        /// What matches nothing.
        glob: String,
        /// What would help.
        remedy: &'static str,
    },
    /// Two intents have one id.
    #[error("there are two intents `{0}`; give each an id of its own")]
    TwoIntents(String),
    /// A pattern is no regular expression.
    #[error("`{pattern}` is no regular expression; write one such as `^REQ-[0-9]+$`")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        source: regex::Error,
    },
    /// A call selected an intent that is not there, or may not be worked on.
    #[error("intent `{0}` cannot be selected; select one that is pending or active")]
    NotSelectable(String),
    /// A call is said to complete an intent that is not the one of the session, or that may not
    /// be worked on.
    #[error("intent `{0}` is not completed; complete the one that is selected, while it may act")]
    NotCompletable(String),
    /// A circuit breaker that would halt every call, or could not count.
    #[error("a circuit breaker cannot halt the call number {0}; give it 2 or more")]
    Threshold(u32),
    /// A relative path has nothing to begin at.
    #[error("a relative path begins at the workspace, and there is none; name one")]
    NoWorkspace,
    /// The workspace is the storage, or lies in it; every file of it would be the engine's.
    #[error("`{}` holds the workspace; name a storage below it, or elsewhere", .0.display())]
    StorageHoldsWorkspace(PathBuf),
    /// Intents were given, and a file of them as well.
    #[error("intents come from the program or from a file; leave one of them out")]
    TwoSources,
}
