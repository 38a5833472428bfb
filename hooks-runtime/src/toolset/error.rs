//! Errors of tool calls.

use std::error::Error;

use crate::transform::TransformError;

/// Error of a tool: any error, by `?`, or a text, by `.into()`.
pub type ToolFailure = Box<dyn Error + Send + Sync>;

/// Reason for which a tool call has no output. The tool has run only for [`Failed`](Self::Failed),
/// [`Output`](Self::Output) and [`Withheld`](Self::Withheld).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The set has no tool of this name.
    #[error("unknown tool `{name}`; the tools are {}", listed(.known))]
    Unknown {
        /// Name in the call.
        name: String,
        /// Names of the set's tools.
        known: Vec<&'static str>,
    },
    /// The input does not have the tool's type.
    #[error("the input of tool `{tool}` does not fit{}: {source}; send what the tool takes", place(.path))]
    Input {
        /// The name of the tool.
        tool: &'static str,
        /// Path in the input: `places[0].city`, or empty for the whole of it.
        path: String,
        /// Cause.
        source: serde_json::Error,
    },
    /// A hook refused the call.
    #[error("the call of tool `{tool}` was refused: {reason}")]
    Rejected {
        /// The name of the tool.
        tool: &'static str,
        /// The hook's reason.
        reason: String,
    },
    /// The tool failed.
    #[error("tool `{tool}` failed: {source}")]
    Failed {
        /// The name of the tool.
        tool: &'static str,
        /// The tool's own error.
        source: ToolFailure,
    },
    /// A hook of the results denied the output, or failed.
    #[error("the output of tool `{tool}` was withheld: {source}")]
    Withheld {
        /// The name of the tool.
        tool: &'static str,
        /// Cause.
        source: TransformError,
    },
    /// The output of the tool, or of a hook in its place, cannot be serialised as JSON.
    #[error("the output of tool `{tool}` is not JSON: {source}; check its `Serialize`")]
    Output {
        /// The name of the tool.
        tool: &'static str,
        /// Cause.
        source: serde_json::Error,
    },
}

fn listed(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn place(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(" at `{path}`")
    }
}
