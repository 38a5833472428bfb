//! Parses the input of a hook. In: the bytes that an agent sends. Out: an event, or an error.

use std::path::Path;

use serde_json::Value;

use super::agent::Agent;
use super::description::{AgentEvent, HookKind, ReplyFormat, ToolKind, ToolLocation};
use super::error::{Problem, ProtocolError};
use super::input::{self, JsonObject};
use super::mcp;
use super::model::{
    AgentDenial, AgentHook, AgentPrompt, DecisionRequest, HookEvent, MAX_TEXT_CHARS, ToolRun,
    directory,
};
use super::outcome::outcome;
use super::own_tools::{self, OwnTool};
use super::tools;
use crate::request::{
    AgentTool, AgentToolEffect, MAX_NAME_CHARS, MAX_PATH_CHARS, McpCall, NetworkAccess,
    PermissionRequest,
};
use crate::shell_word::{is_variable_name, single_quoted};

/// Parses the input that an agent sends to its hook.
///
/// # Errors
/// If the input is too long, not a JSON object, or lacks a required field;
/// [`failure_reply`](super::failure_reply) turns the error into a denial.
pub fn read(agent: Agent, input: &[u8]) -> Result<HookEvent, ProtocolError> {
    read_in(agent, input, None)
}

/// Parses the input as [`read`] does. `directory` is the directory of the hook's process, in which
/// Cline runs its commands; its input names the root of the repository only.
///
/// # Errors
/// As for [`read`].
pub fn read_in(
    agent: Agent,
    input: &[u8],
    directory: Option<&Path>,
) -> Result<HookEvent, ProtocolError> {
    let unread = |problem| ProtocolError {
        problem,
        hook: None,
    };
    let mut object = input::object(input).map_err(unread)?;
    if agent.description().runs_in_hook_directory
        && let Some(directory) = directory.and_then(Path::to_str)
    {
        let cwd = object.entry("cwd").or_insert(Value::Null);
        if cwd.is_null() {
            *cwd = directory.into();
        }
    }
    let called = called_hook(agent, &object).map_err(unread)?;
    event(&called, &object).map_err(|problem| ProtocolError {
        problem,
        hook: Some(called.hook),
    })
}

/// The called hook and its event.
struct CalledHook {
    hook: AgentHook,
    event: AgentEvent,
    /// Normalized name of the event.
    name: String,
}

fn called_hook(agent: Agent, object: &JsonObject) -> Result<CalledHook, Problem> {
    let agent = sender(agent, object);
    let naming = agent.description().input;
    let name = match event_name(object, naming.fields)? {
        Some(name) => name,
        None => {
            let name = (naming.unnamed)(object).map_err(|field| Problem::Missing { field })?;
            tools::plain(name)
        }
    };
    let found = find_event(agent, &name);
    let is_before = name.starts_with("pre") || name.starts_with("before");
    if found.is_none() && is_before && agent.description().denies_unknown_events {
        let event = name.chars().take(100).collect();
        return Err(Problem::UnknownEvent { event });
    }
    let event = found.unwrap_or(AgentEvent::of_kind("", HookKind::Other));
    let hook = AgentHook {
        agent,
        kind: event.kind,
        form: event.reply.unwrap_or(agent.description().reply),
    };
    Ok(CalledHook { hook, event, name })
}

/// Returns the normalized name of the event. If several fields name it, they must name the same event;
/// Grok sends `PreToolUse` in one field and `pre_tool_use` in another.
fn event_name(object: &JsonObject, fields: &[&'static str]) -> Result<Option<String>, Problem> {
    let mut found: Option<(&'static str, String)> = None;
    for &second in fields {
        let Some(name) = input::text(object, second)?.map(tools::plain) else {
            continue;
        };
        match &found {
            Some((first, other)) if *other != name => {
                return Err(Problem::Contradiction { first, second });
            }
            _ => found = Some((second, name)),
        }
    }
    Ok(found.map(|(_, name)| name))
}

/// Returns the agent that sent the input: VS Code reads the settings of Claude Code and Copilot,
/// Copilot those of VS Code, and Grok those of Claude Code and Cursor.
fn sender(agent: Agent, object: &JsonObject) -> Agent {
    let vscode = object.contains_key("hookEventName") && object.contains_key("tool_name");
    let copilot = object.contains_key("toolName") && !object.contains_key("tool_name");
    // Grok sends the fields of Claude Code, too.
    let grok = object.contains_key("toolName") && object.contains_key("workspaceRoot");
    match agent {
        Agent::ClaudeCode | Agent::Cursor if grok => Agent::Grok,
        Agent::ClaudeCode | Agent::Copilot if vscode => Agent::VsCode,
        Agent::VsCode if copilot => Agent::Copilot,
        _ => agent,
    }
}

/// Returns the event with this normalized name: that of the agent, or one of another agent, for
/// which the agent is not known to show a prompt.
fn find_event(agent: Agent, name: &str) -> Option<AgentEvent> {
    let of = |agent: Agent| {
        let mut events = agent.description().events.iter();
        events
            .find(|event| tools::plain(event.name) == name)
            .copied()
    };
    let has_shared_fields =
        |event: &AgentEvent| matches!(event.tool, ToolLocation::Fields | ToolLocation::Top(_));
    let foreign = || {
        let mut events = Agent::ALL.into_iter().filter_map(of);
        events
            .find(has_shared_fields)
            .map(AgentEvent::without_prompt)
    };
    of(agent).or_else(foreign)
}

fn event(called: &CalledHook, object: &JsonObject) -> Result<HookEvent, Problem> {
    let hook = called.hook;
    let nothing = |why: String| Ok(HookEvent::Nothing { hook, why });
    if hook.kind == HookKind::Other {
        return nothing("this event needs no decision".into());
    }
    let ToolCall {
        name,
        arguments,
        names,
        id,
    } = tool_call(called, object)?;
    let raw = arguments.as_ref().and_then(|given| given.as_ref().ok());
    let called_tool = raw.and_then(|raw| mcp::called(hook.agent, &name, raw));
    let inner = |arguments| mcp::tool_arguments(hook.agent, &name, arguments);
    let arguments = arguments.map(|arguments| arguments.map(inner));
    let given = arguments.as_ref().and_then(|given| given.as_ref().ok());
    let listed = match given {
        Some(given) if only_views(&name, given) => Some(ToolKind::Reads),
        _ => tools::tool(&name),
    };
    if hook.agent == Agent::OpenHands && given.is_some_and(waits_for_output) {
        return nothing("the agent reads more output of a command that runs".into());
    }
    let own = match listed {
        None if called_tool.is_none() => own_tools::own_tool(hook.agent, &name),
        _ => None,
    };
    // The `command` of such a tool may be another word: Letta Code's `memory` has `create`.
    let tool = match own {
        Some(OwnTool::Asks(_)) => None,
        _ => listed.or_else(|| unlisted_shell(arguments.as_ref())),
    };
    let own = own.filter(|_| tool.is_none());
    let mcp_tools = match (called_tool, listed, own) {
        (Some(tool), ..) => vec![tool],
        (None, None, None) => mcp::tools(hook.agent, &name, object)?,
        _ => Vec::new(),
    };
    let is_own = tool.is_none() && mcp_tools.is_empty();
    let effect = match own {
        Some(OwnTool::Asks(does)) => Some(AgentToolEffect::Does(does.to_owned())),
        Some(fetches @ (OwnTool::Fetches | OwnTool::FetchesOrReads)) => {
            let addresses = given.map(own_tools::addresses).unwrap_or_default();
            let is_decided = fetches == OwnTool::Fetches || !addresses.is_empty();
            is_decided.then_some(AgentToolEffect::Fetches(addresses))
        }
        Some(OwnTool::Agents) => {
            let does = given.and_then(own_tools::agents_elsewhere);
            does.map(|does| AgentToolEffect::Does(does.to_owned()))
        }
        Some(OwnTool::Nothing) | None => None,
    };
    let is_decided = effect.is_some() || own.is_none() && own_tools::is_complete(hook.agent);
    if is_own && !is_decided {
        let name: String = name.chars().take(100).collect();
        return nothing(format!("the tool `{name}` is not checked"));
    }
    if called.event.tool == ToolLocation::Permission
        && input::text(object, "effect")? == Some("deny")
    {
        return nothing("the agent denies it already".into());
    }
    let arguments = match arguments {
        Some(arguments) => arguments?,
        None if tool.is_none_or(ToolKind::reads) => JsonObject::new(),
        None => {
            return Err(Problem::Missing {
                field: "tool_input",
            });
        }
    };
    let mut request = request(hook, &name, tool, &arguments, object, names)?;
    request.call_id = request.call_id.or(id);
    if is_own {
        request.command = mcp::call_line(&name, &arguments);
        request.tool = Some(AgentTool {
            name: name.chars().take(MAX_NAME_CHARS).collect(),
            effect,
            input_hash: input::hash(&arguments),
        });
    } else if tool.is_none() {
        request.command = mcp::line(&mcp_tools, &name, &arguments);
    }
    request.mcp = (!mcp_tools.is_empty()).then(|| McpCall {
        tools: mcp_tools,
        runs_command: tool.is_some(),
        input_hash: Some(input::hash(&arguments)),
    });
    if hook.kind == HookKind::AfterTool {
        return Ok(match outcome(hook, &called.name, object) {
            Some(outcome) => HookEvent::Ran(ToolRun {
                hook,
                request,
                outcome,
            }),
            None => HookEvent::Nothing {
                hook,
                why: "the tool did not run".into(),
            },
        });
    }
    if hook.kind == HookKind::Refused {
        let reason = input::text(object, "reason")?.unwrap_or_default();
        return Ok(HookEvent::Refused(AgentDenial {
            hook,
            request,
            reason: reason.chars().take(MAX_TEXT_CHARS).collect(),
        }));
    }
    request.confirm = tool == Some(ToolKind::PowerShell);
    request.types_into_programs = hook.agent.types_into_programs();
    request.network = network(hook, &arguments)?;
    if let Some(network) = &mut request.network {
        let line = network.to_string();
        network.command = Some(std::mem::replace(&mut request.command, line));
    }
    let mode = permission_mode(object)?;
    // In this mode a model decides, except about a command in a slash command that has
    // `allowed-tools`: Claude Code 2.1.332 runs it.
    let decides = |mode: &&str| hook.kind != HookKind::BeforeSkillCommand || *mode != "auto";
    request.permission_mode = mode.filter(decides).map(str::to_owned);
    Ok(HookEvent::Ask(DecisionRequest {
        hook,
        request,
        prompt: prompt(called, mode, object),
        unlisted_tool: listed.is_none(),
        arguments,
    }))
}

/// Returns `true` for a call of OpenHands' terminal that runs and types nothing.
fn waits_for_output(arguments: &JsonObject) -> bool {
    let field = |name: &str| arguments.get(name);
    field("command").and_then(Value::as_str) == Some("")
        && field("is_input").and_then(Value::as_bool) == Some(false)
        && field("reset").and_then(Value::as_bool) != Some(true)
}

/// Returns `true` for a call of OpenHands' editor that only views a file.
fn only_views(name: &str, arguments: &JsonObject) -> bool {
    matches!(&*tools::plain(name), "fileeditor" | "planningfileeditor")
        && arguments.get("command").and_then(Value::as_str) == Some("view")
}

/// Returns the shell tool for a tool that is not in the table but has a `command` text in its
/// input.
fn unlisted_shell(arguments: Option<&Result<JsonObject, Problem>>) -> Option<ToolKind> {
    let arguments = arguments?.as_ref().ok()?;
    let command = arguments.get("command")?.as_str()?;
    (!command.trim().is_empty()).then_some(ToolKind::Shell)
}

/// Words before the target in the description of a request for network access, in any case.
const NETWORK_ACCESS: &str = "network-access";

/// Returns the network access that Codex requests at its `PermissionRequest`. The command is in its
/// usual field and does not name the host.
fn network(hook: AgentHook, arguments: &JsonObject) -> Result<Option<NetworkAccess>, Problem> {
    if hook.form != ReplyFormat::Codex || hook.kind != HookKind::Prompt {
        return Ok(None);
    }
    let description = input::text(arguments, "description")?.unwrap_or_default();
    let (what, target) = (description.trim_start())
        .split_at_checked(NETWORK_ACCESS.len())
        .unwrap_or_default();
    let is_network = what.replace(' ', "-").eq_ignore_ascii_case(NETWORK_ACCESS);
    Ok(is_network.then(|| NetworkAccess::from_target(target.trim())))
}

/// A tool call.
struct ToolCall<'a> {
    name: String,
    arguments: Option<Result<JsonObject, Problem>>,
    /// The object with the ids of the session and the call.
    names: &'a JsonObject,
    /// The id of the call, if it is elsewhere.
    id: Option<String>,
}

fn tool_call<'a>(called: &CalledHook, object: &'a JsonObject) -> Result<ToolCall<'a>, Problem> {
    let inner = |field: &'static str| match object.get(field) {
        Some(Value::Object(inner)) => Ok(inner),
        None => Err(Problem::Missing { field }),
        Some(_) => Err(Problem::Type {
            field,
            wanted: "an object",
        }),
    };
    match called.event.tool {
        ToolLocation::Top(tool) => Ok(ToolCall {
            name: tool.to_owned(),
            arguments: Some(Ok(object.clone())),
            names: object,
            id: None,
        }),
        ToolLocation::Fields => {
            let name = input::name(object, &["tool_name", "toolName"])?;
            let name = name.ok_or(Problem::Missing { field: "tool_name" })?;
            let fields = ["tool_input", "toolInput", "toolArgs"];
            let mut given = fields
                .into_iter()
                .filter_map(|field| Some((field, object.get(field)?)))
                .filter(|(_, value)| !value.is_null());
            let arguments = given.next();
            if let (Some((first, one)), Some((second, other))) = (arguments, given.next())
                && one != other
            {
                return Err(Problem::Contradiction { first, second });
            }
            Ok(ToolCall {
                name: name.to_owned(),
                arguments: arguments.map(|(field, value)| input::arguments(value, field)),
                names: object,
                id: None,
            })
        }
        ToolLocation::Within {
            object: field,
            tool,
        } => Ok(ToolCall {
            name: tool.to_owned(),
            arguments: Some(Ok(inner(field)?.clone())),
            names: object,
            id: None,
        }),
        ToolLocation::Call {
            object: field,
            name,
            arguments,
            id,
        } => {
            let call = inner(field)?;
            let tool = input::name(call, &[name])?.ok_or(Problem::Missing { field: name })?;
            let given = call.get(arguments).filter(|value| !value.is_null());
            let given = given.map(|value| input::arguments(value, arguments));
            let id = match id {
                Some(id) => input::name(call, &[id])?.map(str::to_owned),
                None => None,
            };
            Ok(ToolCall {
                name: tool.to_owned(),
                arguments: given.map(|given| given.map(with_lists)),
                names: object,
                id,
            })
        }
        ToolLocation::Plugin => {
            let names = inner("input")?;
            let name = input::name(names, &["tool"])?.ok_or(Problem::Missing { field: "tool" })?;
            let arguments = match called.hook.kind {
                // After the tool, opencode sends its arguments with the call.
                HookKind::AfterTool => names.get("args"),
                _ => inner("output")?.get("args"),
            };
            Ok(ToolCall {
                name: name.to_owned(),
                arguments: arguments.map(|value| input::arguments(value, "args")),
                names,
                id: None,
            })
        }
        ToolLocation::Extension => {
            let event = inner("event")?;
            let name = input::name(event, &["toolName"])?;
            let name = name.ok_or(Problem::Missing { field: "toolName" })?;
            let arguments = event.get("input").filter(|value| !value.is_null());
            let arguments = arguments.map(|value| input::arguments(value, "input"));
            Ok(ToolCall {
                name: name.to_owned(),
                arguments: arguments.map(|given| match tools::tool(name) {
                    Some(_) => given.map(with_opened_paths),
                    None => given,
                }),
                names: inner("ctx")?,
                id: input::name(event, &["toolCallId"])?.map(str::to_owned),
            })
        }
        ToolLocation::Permission => {
            let action = input::name(object, &["action"])?;
            let action = action.ok_or(Problem::Missing { field: "action" })?;
            let field = match tools::tool(action) {
                Some(ToolKind::Shell | ToolKind::PowerShell) => "command",
                Some(ToolKind::Patch) => "patch",
                _ => "path",
            };
            let resource = match object.get("resource") {
                None | Some(Value::Null) => None,
                Some(value) => Some(match value {
                    Value::String(_) => {
                        Ok(JsonObject::from_iter([(field.to_owned(), value.clone())]))
                    }
                    _ => Err(Problem::Type {
                        field: "resource",
                        wanted: "a text",
                    }),
                }),
            };
            Ok(ToolCall {
                name: action.to_owned(),
                arguments: resource,
                names: object,
                id: None,
            })
        }
    }
}

fn request(
    hook: AgentHook,
    name: &str,
    tool: Option<ToolKind>,
    arguments: &JsonObject,
    object: &JsonObject,
    names: &JsonObject,
) -> Result<PermissionRequest, Problem> {
    let session = [
        "session_id",
        "sessionId",
        "sessionID",
        "conversation_id",
        "conversationId",
        "trajectory_id",
        "taskId",
    ];
    let call = ["tool_use_id", "toolUseId", "callID", "toolCallId"];
    let mut request = PermissionRequest {
        agent: Some(hook.agent.name().to_owned()),
        session_id: match input::name(names, &session)? {
            // Letta Code names its agent, which lives longer than a session.
            None if hook.agent == Agent::LettaCode => input::name(names, &["agent_id"])?,
            id => id,
        }
        .map(str::to_owned),
        call_id: match input::name(names, &call)? {
            // Kimi Code. Qwen Code has another value in it.
            None => input::name(names, &["tool_call_id"])?,
            id => id,
        }
        .map(str::to_owned),
        cwd: match input::cwd(object)? {
            // Pi names it in the object with the session.
            None => input::cwd(names)?,
            cwd => cwd,
        },
        ..PermissionRequest::default()
    };
    match tool {
        // The tool of an MCP server, which the caller describes.
        None => {}
        Some(tool @ (ToolKind::Shell | ToolKind::PowerShell)) => {
            let command = in_shell(command(arguments)?, arguments)?;
            request.command = match tool {
                ToolKind::PowerShell => {
                    format!("pwsh -Command {}", single_quoted(&command))
                }
                _ => with_variables(command, arguments)?,
            };
            let below = [
                "working_directory",
                "working_dir",
                "workdir",
                "dir_path",
                "cwd",
                "Cwd",
                "directory",
            ];
            // If the arguments are the whole input, the directory has already been read.
            if arguments != object {
                let below = input::text_of_spellings(arguments, &below)?;
                request.cwd = directory(request.cwd, below);
            }
        }
        Some(tool) => {
            let file = tools::access(name, tool, arguments, request.cwd.as_deref())?;
            request.command = tools::line(&file);
            request.file = Some(file);
        }
    }
    if let Some(cwd) = &request.cwd
        && cwd.as_os_str().len() > MAX_PATH_CHARS
        && cwd.to_string_lossy().chars().count() > MAX_PATH_CHARS
    {
        return Err(Problem::LongField {
            field: "cwd",
            most: MAX_PATH_CHARS,
        });
    }
    Ok(request)
}

/// Returns the command of a shell tool; several commands run one after another.
fn command(arguments: &JsonObject) -> Result<String, Problem> {
    let spellings = ["command", "cmd", "CommandLine", "command_line"];
    if let Some(command) = input::text_of_spellings(arguments, &spellings)? {
        return with_words(command, arguments);
    }
    let (field, wanted) = ("commands", "a list of texts");
    let one = |command: &Value| match command {
        Value::String(command) => Ok(command.clone()),
        Value::Object(parts) => {
            let program = input::text(parts, "command")?;
            with_words(program.ok_or(Problem::Type { field, wanted })?, parts)
        }
        _ => Err(Problem::Type { field, wanted }),
    };
    match arguments.get(field) {
        None | Some(Value::Null) => Err(Problem::Missing { field: "command" }),
        Some(Value::Array(commands)) if !commands.is_empty() => {
            let commands: Result<Vec<_>, _> = commands.iter().map(one).collect();
            Ok(commands?.join("\n"))
        }
        Some(Value::Array(_)) => Err(Problem::Type { field, wanted }),
        Some(command) => one(command),
    }
}

/// Returns a command as it is read by the shell in the field `shell`, which Letta Code runs instead of
/// the user's.
fn in_shell(command: String, arguments: &JsonObject) -> Result<String, Problem> {
    Ok(match input::text(arguments, "shell")?.map(str::trim) {
        None | Some("") => command,
        Some(shell) => format!("{} -c {}", single_quoted(shell), single_quoted(&command)),
    })
}

/// Returns a command after the variables of its field `env`, which Mistral Vibe sets for a process.
fn with_variables(command: String, arguments: &JsonObject) -> Result<String, Problem> {
    let (field, wanted) = ("env", "an object of texts");
    let Some(Value::Object(variables)) = arguments.get(field) else {
        return Ok(command);
    };
    let mut line = String::new();
    for (name, value) in variables {
        let value = value.as_str().filter(|_| is_variable_name(name));
        let value = value.ok_or(Problem::Type { field, wanted })?;
        line.push_str(&format!("export {name}={}; ", single_quoted(value)));
    }
    line.push_str(&command);
    Ok(line)
}

/// Returns a command with the words of its field `args`, which Cline runs without a shell.
fn with_words(command: &str, object: &JsonObject) -> Result<String, Problem> {
    let (field, wanted) = ("args", "a list of texts");
    let words = match object.get(field) {
        Some(Value::Array(words)) => words,
        _ => return Ok(command.to_owned()),
    };
    let mut line = command.to_owned();
    for word in words {
        let word = word.as_str().ok_or(Problem::Type { field, wanted })?;
        line.push(' ');
        line.push_str(&single_quoted(word));
    }
    Ok(line)
}

/// Arguments of Cline with lists.
const LISTS: &[&str] = &[
    "commands",
    "args",
    "files",
    "file_paths",
    "paths",
    "queries",
];

/// Parses the lists among the arguments, which Cline encodes as JSON texts.
fn with_lists(mut arguments: JsonObject) -> JsonObject {
    for &field in LISTS {
        let Some(Value::String(text)) = arguments.get(field) else {
            continue;
        };
        if text.starts_with(['[', '{'])
            && let Ok(list @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text)
        {
            arguments.insert(field.to_owned(), list);
        }
    }
    arguments
}

/// Returns arguments with the paths that the tools of Pi 1.6.0 open: without one `@` at the start, and
/// with plain spaces.
fn with_opened_paths(mut arguments: JsonObject) -> JsonObject {
    const SPACES: &[char] = &['\u{a0}', '\u{202f}', '\u{205f}', '\u{3000}'];
    let is_space = |c: char| SPACES.contains(&c) || ('\u{2000}'..='\u{200a}').contains(&c);
    for &field in tools::PATHS {
        if let Some(Value::String(path)) = arguments.get_mut(field) {
            let plain: String = path
                .chars()
                .map(|c| if is_space(c) { ' ' } else { c })
                .collect();
            *path = plain.strip_prefix('@').unwrap_or(&plain).to_owned();
        }
    }
    arguments
}

/// Returns the agent's permission mode, by the agent's name for it.
fn permission_mode(object: &JsonObject) -> Result<Option<&str>, Problem> {
    input::name(object, &["permission_mode", "permissionMode"])
}

/// Returns `true` if Pi can show a dialog in this session.
fn has_dialogs(object: &JsonObject) -> bool {
    let has = object.get("ctx").and_then(|ctx| ctx.get("hasUI"));
    has.and_then(Value::as_bool) == Some(true)
}

/// Returns whether the agent shows a prompt if the hook asks, in this mode.
fn prompt(called: &CalledHook, mode: Option<&str>, object: &JsonObject) -> AgentPrompt {
    let modes = called.hook.agent.description().prompting_modes;
    match mode {
        Some(mode) if !modes.contains(&mode) => AgentPrompt::Unavailable,
        _ if called.event.tool == ToolLocation::Extension && !has_dialogs(object) => {
            AgentPrompt::Unattended
        }
        _ if called.event.prompts => AgentPrompt::Shown,
        _ => AgentPrompt::Unavailable,
    }
}
