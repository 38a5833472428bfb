//! Input of the engine's hooks: a tool call, and its result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Map;

/// A tool call that an agent requests; input of PRE hooks.
///
/// ```
/// use hooks_runtime::ToolRequest;
///
/// let request = ToolRequest::new("write_to_file")
///     .param("path", "src/lib.rs")
///     .param("content", "")
///     .intent("REQ-12");
/// assert_eq!(request.text("path"), Some("src/lib.rs"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolRequest {
    /// Name of the tool, as the agent spells it.
    pub tool: String,
    /// Parameters of the tool.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map,
    /// Intent of the call. The engine sets no default: a call without one belongs to no intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// Session of the agent, for records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Id of the call, for records; POST may get another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl ToolRequest {
    /// Creates a call of this tool, without parameters.
    pub fn new(tool: impl Into<String>) -> Self {
        ToolRequest {
            tool: tool.into(),
            ..ToolRequest::default()
        }
    }

    /// Sets a parameter; replaces one with an equal name.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Sets all parameters.
    #[must_use]
    pub fn params(mut self, params: Map) -> Self {
        self.params = params;
        self
    }

    /// Sets the intent of the call.
    #[must_use]
    pub fn intent(mut self, id: impl Into<String>) -> Self {
        self.intent_id = Some(id.into());
        self
    }

    /// Sets the session of the agent.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the id of the call.
    #[must_use]
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Returns a parameter, if it exists and is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name).and_then(Value::as_str)
    }
}

/// Resources that a call used. The host reports the model's tokens and the cost; without them a
/// budget can only count calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallUsage {
    /// Tokens of the model.
    #[serde(default)]
    pub tokens: u64,
    /// Cost, in millionths of the host's currency.
    #[serde(default)]
    pub cost_micros: u64,
}

impl CallUsage {
    /// Creates a usage of this many tokens and millionths of the host's currency.
    pub fn new(tokens: u64, cost_micros: u64) -> Self {
        CallUsage {
            tokens,
            cost_micros,
        }
    }
}

/// Result of a call; input of POST hooks.
///
/// ```
/// use hooks_runtime::{ToolRequest, ToolResult};
///
/// let request = ToolRequest::new("read_file").param("path", "src/lib.rs").intent("REQ-12");
/// let result = ToolResult::of(request).succeeded("1 | fn main() {}");
/// assert!(result.success);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call.
    #[serde(flatten)]
    pub request: ToolRequest,
    /// `true` if the tool succeeded. `false` by default.
    #[serde(default)]
    pub success: bool,
    /// Output of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Exit code, if the tool ran a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that the call read or wrote, by path, each with the whole content read or written;
    /// `None` if only the path is known. Files that the parameters name may be omitted: their
    /// content is then read from the workspace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Option<String>>,
    /// Kind of the change, in the host's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation_class: Option<String>,
    /// Summary of the call in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Resources used.
    #[serde(default)]
    pub usage: CallUsage,
}

impl ToolResult {
    /// Creates the result of this call; `success` is `false` at first.
    pub fn of(request: ToolRequest) -> Self {
        ToolResult {
            request,
            ..ToolResult::default()
        }
    }

    /// Marks the call as successful, with the tool's output.
    #[must_use]
    pub fn succeeded(mut self, output: impl Into<String>) -> Self {
        self.success = true;
        self.output = Some(output.into());
        self
    }

    /// Marks the call as failed, with the tool's output.
    #[must_use]
    pub fn failed(mut self, output: impl Into<String>) -> Self {
        self.success = false;
        self.output = Some(output.into());
        self
    }

    /// Sets the exit code of the program that the tool ran.
    #[must_use]
    pub fn exit_code(mut self, code: i32) -> Self {
        self.exit_code = Some(code);
        self
    }

    /// Adds a file that was read or written, with its whole content.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.files.insert(path.into(), Some(content.into()));
        self
    }

    /// Adds a file that was read or written; its content is read from the workspace.
    #[must_use]
    pub fn touched(mut self, path: impl Into<String>) -> Self {
        self.files.entry(path.into()).or_default();
        self
    }

    /// Sets the kind of the change.
    #[must_use]
    pub fn mutation_class(mut self, class: impl Into<String>) -> Self {
        self.mutation_class = Some(class.into());
        self
    }

    /// Sets the summary in one sentence.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Sets the resources used.
    #[must_use]
    pub fn usage(mut self, usage: CallUsage) -> Self {
        self.usage = usage;
        self
    }
}
