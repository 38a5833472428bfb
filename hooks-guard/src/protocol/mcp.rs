//! Calls of tools of MCP servers. In: the name of a tool that is not one of the agent's own, and the
//! input of the hook. Out: the server and the tool, or every way to read the name.
//!
//! | Agent | Name of a tool | Server and tool |
//! |---|---|---|
//! | Claude Code, Codex, Qwen Code | `mcp__SERVER__TOOL` | Claude Code names the server in `mcp_server.name` |
//! | Gemini CLI, VS Code | `mcp_SERVER_TOOL` | Gemini CLI names both in `mcp_context` |
//! | Copilot CLI | `SERVER-TOOL` | |
//! | opencode, Kilo Code | `SERVER_TOOL` | |
//! | Factory Droid | `SERVER___TOOL` | |
//! | Grok CLI, Goose | `SERVER__TOOL` | |
//! | Auggie | `TOOL_SERVER` | `is_mcp_tool` is `false` for another tool; the input of `execute-tool` names both |

use hooks_runtime::display::shorten;
use serde_json::Value;

use super::agent::Agent;
use super::description::{McpCaller, McpNaming};
use super::error::Problem;
use super::input::{self, JsonObject};
use crate::classify::MAX_COMMAND_CHARS;
use crate::request::McpTool;

/// Returns the tool, or every way to read its name; empty if the name is not that of a tool of a
/// server.
pub(super) fn tools(
    agent: Agent,
    name: &str,
    object: &JsonObject,
) -> Result<Vec<McpTool>, Problem> {
    if object.get("is_mcp_tool") == Some(&Value::Bool(false)) {
        return Ok(Vec::new());
    }
    Ok(match named(object)? {
        Some(tool) => vec![tool],
        None => readings(agent, name, server(object)?.as_deref()),
    })
}

/// Returns the tool of a server that a tool of the agent calls, if its arguments name one.
pub(super) fn called(agent: Agent, name: &str, arguments: &JsonObject) -> Option<McpTool> {
    let caller = caller(agent, name)?;
    let text = |field| arguments.get(field).and_then(Value::as_str);
    let named = |field| text(field).filter(|text| !text.is_empty());
    Some(McpTool {
        server: named(caller.server)?.to_owned(),
        tool: named(caller.name)?.to_owned(),
    })
}

fn caller(agent: Agent, name: &str) -> Option<McpCaller> {
    let caller = agent.description().mcp_names?.caller?;
    (caller.tool == name).then_some(caller)
}

/// Returns the arguments of the tool, which Grok and the tools that call others wrap.
pub(super) fn tool_arguments(agent: Agent, name: &str, arguments: JsonObject) -> JsonObject {
    let naming = agent.description().mcp_names;
    if let Some(caller) = caller(agent, name) {
        return match arguments.get(caller.arguments) {
            Some(Value::Object(inner)) => inner.clone(),
            _ => arguments,
        };
    }
    let is_wrapped = naming.is_some_and(|naming| naming.wraps_arguments)
        && arguments.len() == 2
        && arguments.get("tool_name").and_then(Value::as_str) == Some(name);
    match arguments.get("tool_input") {
        Some(Value::Object(inner)) if is_wrapped => inner.clone(),
        _ => arguments,
    }
}

/// Returns the texts with which agents join the names of a server and a tool.
pub(crate) fn separators() -> impl Iterator<Item = &'static str> {
    let agents = Agent::ALL.into_iter();
    let namings = agents.filter_map(|agent| agent.description().mcp_names);
    let namings = namings.chain([McpNaming::COMMON]);
    namings.map(|naming| naming.separator)
}

/// Describes a call on one line of at most the length of a command, with its arguments.
pub(super) fn line(tools: &[McpTool], name: &str, arguments: &JsonObject) -> String {
    call_line(
        &match tools {
            [one] => one.description(),
            _ => McpTool::description_of(name),
        },
        arguments,
    )
}

/// Describes a call of a tool on one line of at most the length of a command, with its arguments.
pub(super) fn call_line(name: &str, arguments: &JsonObject) -> String {
    let arguments = serde_json::to_string(arguments).unwrap_or_default();
    shorten(&format!("{name} {arguments}"), MAX_COMMAND_CHARS)
}

/// Returns the server and the tool in Gemini CLI's `mcp_context`.
fn named(object: &JsonObject) -> Result<Option<McpTool>, Problem> {
    let Some(context) = inner(object, "mcp_context")? else {
        return Ok(None);
    };
    let server = input::name(context, &["server_name"])?;
    let tool = input::name(context, &["tool_name"])?;
    Ok(server.zip(tool).map(|(server, tool)| McpTool {
        server: server.to_owned(),
        tool: tool.to_owned(),
    }))
}

/// Returns the server in Claude Code's `mcp_server`, in the spelling of the tool's name.
fn server(object: &JsonObject) -> Result<Option<String>, Problem> {
    let Some(server) = inner(object, "mcp_server")? else {
        return Ok(None);
    };
    let plain = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
        true => c,
        false => '_',
    };
    let name = input::name(server, &["name"])?;
    Ok(name.map(|name| name.chars().map(plain).collect()))
}

fn inner<'a>(
    object: &'a JsonObject,
    field: &'static str,
) -> Result<Option<&'a JsonObject>, Problem> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(inner)) => Ok(Some(inner)),
        Some(_) => Err(Problem::Type {
            field,
            wanted: "an object",
        }),
    }
}

/// Returns every way to split a name into a server and a tool. `server` is the server, if the agent
/// names it.
fn readings(agent: Agent, name: &str, server: Option<&str>) -> Vec<McpTool> {
    let namings = [Some(McpNaming::COMMON), agent.description().mcp_names];
    let mut namings = namings.into_iter().flatten();
    let split = namings.find_map(
        |McpNaming {
             prefix,
             separator,
             tool_first,
             ..
         }| {
            let rest = name.strip_prefix(prefix)?;
            Some((rest, separator, tool_first))
        },
    );
    let Some((rest, separator, tool_first)) = split else {
        return Vec::new();
    };
    let tool = |(at, _): (usize, char)| {
        let (first, last) = (&rest[..at], rest[at..].strip_prefix(separator)?);
        let (server, tool) = match tool_first {
            true => (last, first),
            false => (first, last),
        };
        (!server.is_empty() && !tool.is_empty()).then(|| McpTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
        })
    };
    let mut tools: Vec<McpTool> = rest.char_indices().filter_map(tool).collect();
    if let Some(at) = tools
        .iter()
        .position(|tool| Some(tool.server.as_str()) == server)
    {
        tools = vec![tools.swap_remove(at)];
    }
    tools
}
