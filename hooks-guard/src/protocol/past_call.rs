//! The input of a hook for a tool call of the past. In: a call, as a transcript has it. Out: the
//! input that the agent sends to its hook before such a call.
//!
//! [`read`](super::read) parses the input, so that a call of the past takes the path of a call of the
//! hook.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::agent::Agent;
use super::description::{HookKind, ToolLocation};
use crate::request::McpTool;

/// A tool call that an agent made earlier.
#[derive(Clone, Copy, Debug)]
pub struct PastCall<'a> {
    /// The tool, by the name that the agent sends to its hook.
    pub tool: &'a str,
    /// Arguments of the tool.
    pub arguments: &'a Value,
    /// The tool of an MCP server, if the transcript names server and tool apart.
    pub mcp: Option<&'a McpTool>,
    /// The agent's id of the session.
    pub session: &'a str,
    /// The agent's id of the call.
    pub id: Option<&'a str>,
    /// Directory of the call.
    pub cwd: Option<&'a Path>,
    /// Permission mode by the agent's name.
    pub mode: Option<&'a str>,
}

/// Returns the input that an agent sends to its hook before a tool call; `None` for an agent whose
/// input has another form for each tool.
#[must_use]
pub fn past_input(agent: Agent, call: &PastCall<'_>) -> Option<Value> {
    let description = agent.description();
    let event = description.events.iter();
    let event = event
        .copied()
        .find(|event| event.kind == HookKind::BeforeTool)?;
    let mut input = Map::new();
    if let Some(field) = description.input.fields.first() {
        input.insert((*field).to_owned(), event.name.into());
    }
    let cwd = call.cwd.and_then(Path::to_str);
    input.extend(cwd.map(|cwd| ("cwd".to_owned(), cwd.into())));
    match event.tool {
        ToolLocation::Fields => {
            // The field `toolName` tells Copilot CLI from VS Code.
            let [tool, arguments] = match agent {
                Agent::Copilot => ["toolName", "toolArgs"],
                _ => ["tool_name", "tool_input"],
            };
            input.insert("session_id".to_owned(), call.session.into());
            input.insert(tool.to_owned(), call.tool.into());
            input.insert(arguments.to_owned(), call.arguments.clone());
            let texts = [("tool_use_id", call.id), ("permission_mode", call.mode)];
            for (field, text) in texts {
                input.extend(text.map(|text| (field.to_owned(), text.into())));
            }
            // Gemini CLI.
            input.extend(call.mcp.map(|tool| {
                let context = json!({"server_name": tool.server, "tool_name": tool.tool});
                ("mcp_context".to_owned(), context)
            }));
        }
        ToolLocation::Call {
            object,
            name,
            arguments,
            id,
        } => {
            let mut tool = Map::new();
            tool.insert(name.to_owned(), call.tool.into());
            tool.insert(arguments.to_owned(), call.arguments.clone());
            if let (Some(field), Some(id)) = (id, call.id) {
                tool.insert(field.to_owned(), id.into());
            }
            input.insert("taskId".to_owned(), call.session.into());
            input.insert(object.to_owned(), tool.into());
        }
        ToolLocation::Plugin => {
            let names = json!({"tool": call.tool, "sessionID": call.session, "callID": call.id});
            input.insert("input".to_owned(), names);
            input.insert("output".to_owned(), json!({"args": call.arguments}));
        }
        ToolLocation::Extension => {
            let event = json!({
                "type": event.name,
                "toolName": call.tool,
                "input": call.arguments,
                "toolCallId": call.id,
            });
            input.insert("event".to_owned(), event);
            let session = json!({"sessionId": call.session, "cwd": cwd, "hasUI": true});
            input.insert("ctx".to_owned(), session);
        }
        ToolLocation::Top(_) | ToolLocation::Within { .. } | ToolLocation::Permission => {
            return None;
        }
    }
    Some(input.into())
}
