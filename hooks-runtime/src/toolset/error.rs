//! Why a call has no output.

use std::error::Error;

/// What goes wrong in a tool: any error, by `?`, or a text, by `.into()`.
pub type ToolFailure = Box<dyn Error + Send + Sync>;

/// Why a call of a tool has no output. The tool has run only where it is
/// [`Failed`](Self::Failed) or [`Output`](Self::Output).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The set has no tool of this name.
    #[error("unknown tool `{name}`; the tools are {}", listed(.known))]
    Unknown {
        /// The name that was called.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The input is not what the tool takes.
    #[error("the input of tool `{tool}` does not fit{}: {source}; send what the tool takes", place(.path))]
    Input {
        /// The name of the tool.
        tool: &'static str,
        /// Where in the input: `places[0].city`, or nothing for the whole of it.
        path: String,
        /// What is wrong there.
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
    /// What the tool, or a hook in its place, answered cannot be written as JSON.
    #[error("the output of tool `{tool}` is no JSON: {source}; check its `Serialize`")]
    Output {
        /// The name of the tool.
        tool: &'static str,
        /// What is wrong with it.
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
