//! Errors of the engine and of its hooks.

use std::path::PathBuf;

/// A destructive call cannot be traced to an intent. A PRE run returns it as its `Err`.
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
    /// The call's intent is not a valid id.
    #[error("`{intent}` is not an id of an intent; it has to match `{pattern}`")]
    Invalid {
        /// The value in the call.
        intent: String,
        /// Pattern of ids.
        pattern: String,
    },
}

/// A file is not as the agent last saw it. A PRE run returns it as its `Err`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConcurrencyError {
    /// The file has changed, or is gone.
    #[error("`{path}` has changed since it was read; read it again before writing to it")]
    Stale {
        /// Path relative to the workspace.
        path: String,
        /// Hash of the content that the agent saw.
        expected: String,
        /// Hash of the current content; `None` if there is no file.
        found: Option<String>,
    },
    /// The file was never read, although reading is required.
    #[error("`{path}` exists and has not been read; read it before writing to it")]
    NotRead {
        /// Path relative to the workspace.
        path: String,
    },
    /// The file cannot be read.
    #[error("`{path}` cannot be compared with what was read; make it readable")]
    Unreadable {
        /// Path relative to the workspace.
        path: String,
        /// Cause.
        source: std::io::Error,
    },
}

/// The engine cannot be built, or an intent cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A folder or a file of the engine is not usable.
    #[error("`{}` is not usable; {remedy}", path.display())]
    Path {
        /// The folder or the file.
        path: PathBuf,
        /// Remedy.
        remedy: &'static str,
        /// Cause.
        source: std::io::Error,
    },
    /// The file of intents has the wrong format.
    #[error("`{}` holds no intents; write a JSON list, or one JSON object a line", path.display())]
    Intents {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: serde_json::Error,
    },
    /// A glob of an intent's scope is invalid.
    #[error("`{glob}`, in the scope of `{intent}`, is not a glob; write one such as `src/**`")]
    Glob {
        /// The intent.
        intent: String,
        /// The glob.
        glob: String,
        /// Cause.
        source: globset::Error,
    },
    /// A glob of an intent's scope is valid, but matches no file.
    #[error("`{glob}`, in the scope of `{intent}`, matches no file; {remedy}")]
    DeadGlob {
        /// The intent.
        intent: String,
        /// The glob.
        glob: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// Two intents share one id.
    #[error("there are two intents `{0}`; give each an id of its own")]
    TwoIntents(String),
    /// A pattern is not a regular expression.
    #[error("`{pattern}` is not a regular expression; write one such as `^REQ-[0-9]+$`")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Cause.
        source: regex::Error,
    },
    /// A call selected an intent that does not exist, or whose status does not allow work.
    #[error("intent `{0}` cannot be selected; select one that is pending or active")]
    NotSelectable(String),
    /// A call completes an intent that is not the session's, or whose status does not allow work.
    #[error("intent `{0}` is not completed; complete the one that is selected, while it may act")]
    NotCompletable(String),
    /// A threshold at which the circuit breaker would halt every call, or could not count.
    #[error("a circuit breaker cannot halt the call number {0}; give it 2 or more")]
    Threshold(u32),
    /// A relative path needs a workspace.
    #[error("a relative path begins at the workspace, and there is none; name one")]
    NoWorkspace,
    /// The workspace is the storage, or inside it; the engine would own every file of the
    /// workspace.
    #[error("`{}` holds the workspace; name a storage below it, or elsewhere", .0.display())]
    StorageHoldsWorkspace(PathBuf),
    /// The builder got both intents and a file of intents.
    #[error("intents come from the program or from a file; leave one of them out")]
    TwoSources,
}
