//! What the hooks of the engine are given: a call of a tool, and what came of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Map;

/// One call that an agent wants to make, as PRE hooks see it.
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
    /// The name of the tool, as the agent spells it.
    pub tool: String,
    /// What the tool is given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map,
    /// The intent for which the call is made. The engine fills in none: a call without one
    /// belongs to no intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// The session of the agent, for what is written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The id of the call, for what is written down where POST is not told another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl ToolRequest {
    /// A call of this tool, without parameters.
    pub fn new(tool: impl Into<String>) -> Self {
        ToolRequest {
            tool: tool.into(),
            ..ToolRequest::default()
        }
    }

    /// Adds a parameter, in the place of one with the same name.
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

    /// Says for which intent the call is made.
    #[must_use]
    pub fn intent(mut self, id: impl Into<String>) -> Self {
        self.intent_id = Some(id.into());
        self
    }

    /// Names the session of the agent.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Names the call.
    #[must_use]
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// A parameter, if it is there and a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name).and_then(Value::as_str)
    }
}

/// What a call used up. The model's tokens and the cost are what the host was told; without
/// them a budget can only count calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the model.
    #[serde(default)]
    pub tokens: u64,
    /// The price, in millionths of the host's currency.
    #[serde(default)]
    pub cost_micros: u64,
}

impl Usage {
    /// This many tokens and millionths of the host's currency.
    pub fn new(tokens: u64, cost_micros: u64) -> Self {
        Usage {
            tokens,
            cost_micros,
        }
    }
}

/// What came of a call, as POST hooks see it.
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
    /// Whether the tool did what it was asked. `false` unless it is said.
    #[serde(default)]
    pub success: bool,
    /// What the tool said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The exit code, of a tool that ran a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that the call read or wrote, by their paths, each with the whole content that it
    /// read or left; `None` where only the path is known. Files that the parameters name need
    /// not be here: their content is then read from the workspace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Option<String>>,
    /// What kind of change it is, in the host's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation_class: Option<String>,
    /// What the call did, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it used up.
    #[serde(default)]
    pub usage: Usage,
}

impl ToolResult {
    /// The result of this call, which has not succeeded until that is said.
    pub fn of(request: ToolRequest) -> Self {
        ToolResult {
            request,
            ..ToolResult::default()
        }
    }

    /// Says that the tool did what it was asked, and what it said.
    #[must_use]
    pub fn succeeded(mut self, output: impl Into<String>) -> Self {
        self.success = true;
        self.output = Some(output.into());
        self
    }

    /// Says that the tool failed, and what it said.
    #[must_use]
    pub fn failed(mut self, output: impl Into<String>) -> Self {
        self.success = false;
        self.output = Some(output.into());
        self
    }

    /// Gives the exit code of the program that the tool ran.
    #[must_use]
    pub fn exit_code(mut self, code: i32) -> Self {
        self.exit_code = Some(code);
        self
    }

    /// Adds a file that was read or written, with the whole content that was read or left.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.files.insert(path.into(), Some(content.into()));
        self
    }

    /// Adds a file that was read or written, whose content is read from the workspace.
    #[must_use]
    pub fn touched(mut self, path: impl Into<String>) -> Self {
        self.files.entry(path.into()).or_default();
        self
    }

    /// Says what kind of change it is.
    #[must_use]
    pub fn mutation_class(mut self, class: impl Into<String>) -> Self {
        self.mutation_class = Some(class.into());
        self
    }

    /// Says what the call did, in one sentence.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Says what the call used up.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}
