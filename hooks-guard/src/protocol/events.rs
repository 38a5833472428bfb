//! From an input to an event.

use serde_json::Value;

use crate::request::{MOST_PATH, PermissionRequest};

use super::input::{self, Object};
use super::outcome::outcome;
use super::tools::{self, Tool};
use super::{
    Agent, Asks, Event, Form, Hook, Kind, Problem, ProtocolError, Question, Ran, directory,
};

/// What an agent says by calling its hook (P-01).
///
/// # Errors
/// When the input is too long, no JSON object, or lacks what counts; [`failed`](super::failed)
/// makes a refusal of it.
pub fn read(agent: Agent, input: &[u8]) -> Result<Event, ProtocolError> {
    let unread = |problem| ProtocolError {
        problem,
        hook: None,
    };
    let object = input::object(input).map_err(unread)?;
    let called = called(agent, &object).map_err(unread)?;
    event(&called, &object).map_err(|problem| ProtocolError {
        problem,
        hook: Some(called.hook),
    })
}

/// The hook, and where in the input the tool and what it is given are.
struct Called {
    hook: Hook,
    at: At,
    /// What the event is called, plainly.
    name: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// In `tool_name` and `tool_input`.
    Fields,
    /// The event is the tool, and its arguments are at the top.
    Top(&'static str),
    /// In `input` and `output.args` of opencode 1.
    Plugin,
    /// In `action` and `resource` of opencode 2.
    Permission,
}

fn called(agent: Agent, object: &Object) -> Result<Called, Problem> {
    if agent == Agent::OpenCode {
        return plugin(object);
    }
    let name = input::spelled(object, &["hook_event_name", "hookEventName"])?;
    let (agent, form) = whose(agent, object);
    let (kind, at, name) = match name {
        Some(name) => {
            let name = tools::plain(name);
            let (kind, at) = moment(&name);
            (kind, at, name)
        }
        None if form == Form::Copilot => (by_shape(object)?, At::Fields, String::new()),
        None => {
            return Err(Problem::Missing {
                field: "hook_event_name",
            });
        }
    };
    let hook = Hook { agent, kind, form };
    Ok(Called { hook, at, name })
}

/// Whose input it is: VS Code reads the settings of Claude Code and Copilot, and Copilot those of
/// VS Code.
fn whose(agent: Agent, object: &Object) -> (Agent, Form) {
    let vscode = object.contains_key("hookEventName") && object.contains_key("tool_name");
    let copilot = object.contains_key("toolName") && !object.contains_key("tool_name");
    match agent {
        Agent::ClaudeCode | Agent::Copilot if vscode => (Agent::VsCode, Form::Claude),
        Agent::VsCode if copilot => (Agent::Copilot, Form::Copilot),
        Agent::ClaudeCode | Agent::VsCode => (agent, Form::Claude),
        Agent::Codex => (agent, Form::Codex),
        Agent::Gemini => (agent, Form::Gemini),
        Agent::Cursor => (agent, Form::Cursor),
        Agent::Copilot => (agent, Form::Copilot),
        Agent::OpenCode => (agent, Form::OpenCode1),
    }
}

fn moment(name: &str) -> (Kind, At) {
    match name {
        "pretooluse" | "beforetool" => (Kind::BeforeTool, At::Fields),
        "permissionrequest" => (Kind::Prompt, At::Fields),
        "posttooluse" | "posttoolusefailure" | "aftertool" => (Kind::AfterTool, At::Fields),
        "beforeshellexecution" => (Kind::BeforeTool, At::Top("Shell")),
        "beforereadfile" => (Kind::BeforeTool, At::Top("Read")),
        "aftershellexecution" => (Kind::AfterTool, At::Top("Shell")),
        "afterfileedit" => (Kind::AfterTool, At::Top("Edit")),
        _ => (Kind::Other, At::Fields),
    }
}

/// Copilot does not say which of its events it is.
fn by_shape(object: &Object) -> Result<Kind, Problem> {
    let has = |field: &&str| object.contains_key(*field);
    if object.contains_key("toolName") {
        return Ok(if ["toolResult", "error"].iter().any(has) {
            Kind::AfterTool
        } else if has(&"toolInput") && !has(&"toolArgs") {
            Kind::Prompt
        } else {
            Kind::BeforeTool
        });
    }
    let others = [
        "prompt",
        "source",
        "reason",
        "stopReason",
        "error",
        "message",
    ];
    match others.iter().any(has) {
        true => Ok(Kind::Other),
        false => Err(Problem::Missing { field: "toolName" }),
    }
}

/// What the plugin of opencode sends.
fn plugin(object: &Object) -> Result<Called, Problem> {
    let name = input::text(object, "hook")?.map(tools::plain);
    let (form, kind, at) = match name.as_deref() {
        Some("toolexecutebefore") => (Form::OpenCode1, Kind::BeforeTool, At::Plugin),
        Some("toolexecuteafter") => (Form::OpenCode1, Kind::AfterTool, At::Plugin),
        Some("permissionevaluate") => (Form::OpenCode2, Kind::BeforeTool, At::Permission),
        Some(_) => (Form::OpenCode1, Kind::Other, At::Plugin),
        None if object.contains_key("action") => {
            (Form::OpenCode2, Kind::BeforeTool, At::Permission)
        }
        None if object.contains_key("input") => (Form::OpenCode1, Kind::BeforeTool, At::Plugin),
        None => return Err(Problem::Missing { field: "hook" }),
    };
    let hook = Hook {
        agent: Agent::OpenCode,
        kind,
        form,
    };
    let name = name.unwrap_or_default();
    Ok(Called { hook, at, name })
}

fn event(called: &Called, object: &Object) -> Result<Event, Problem> {
    let hook = called.hook;
    let nothing = |why: String| Ok(Event::Nothing { hook, why });
    if hook.kind == Kind::Other {
        return nothing("nothing is decided at this event".into());
    }
    let Used {
        name,
        arguments,
        names,
    } = used(called, object)?;
    let Some(tool) = tools::tool(&name) else {
        let name: String = name.chars().take(100).collect();
        return nothing(format!("the tool `{name}` is none that is judged"));
    };
    if called.at == At::Permission && input::text(object, "effect")? == Some("deny") {
        return nothing("the agent denies it already".into());
    }
    let arguments = match arguments {
        Some(arguments) => arguments?,
        None if tool == Tool::Reads => Object::new(),
        None => {
            return Err(Problem::Missing {
                field: "tool_input",
            });
        }
    };
    let mut request = request(hook, &name, tool, &arguments, object, names)?;
    if hook.kind == Kind::AfterTool {
        return Ok(match outcome(hook, &called.name, object) {
            Some(outcome) => Event::Ran(Ran {
                hook,
                request,
                outcome,
            }),
            None => Event::Nothing {
                hook,
                why: "the tool did not run".into(),
            },
        });
    }
    request.confirm = tool == Tool::PowerShell;
    Ok(Event::Ask(Question {
        hook,
        request,
        asks: asks(called, object)?,
    }))
}

/// A tool, and what it is given.
struct Used<'a> {
    name: String,
    arguments: Option<Result<Object, Problem>>,
    /// Where the names of the session and the call are.
    names: &'a Object,
}

fn used<'a>(called: &Called, object: &'a Object) -> Result<Used<'a>, Problem> {
    let inner = |field: &'static str| match object.get(field) {
        Some(Value::Object(inner)) => Ok(inner),
        None => Err(Problem::Missing { field }),
        Some(_) => Err(Problem::Type {
            field,
            wanted: "an object",
        }),
    };
    match called.at {
        At::Top(tool) => Ok(Used {
            name: tool.to_owned(),
            arguments: Some(Ok(object.clone())),
            names: object,
        }),
        At::Fields => {
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
            Ok(Used {
                name: name.to_owned(),
                arguments: arguments.map(|(field, value)| input::arguments(value, field)),
                names: object,
            })
        }
        At::Plugin => {
            let names = inner("input")?;
            let name = input::name(names, &["tool"])?.ok_or(Problem::Missing { field: "tool" })?;
            let arguments = match called.hook.kind {
                // Afterwards opencode gives them with the call.
                Kind::AfterTool => names.get("args"),
                _ => inner("output")?.get("args"),
            };
            Ok(Used {
                name: name.to_owned(),
                arguments: arguments.map(|value| input::arguments(value, "args")),
                names,
            })
        }
        At::Permission => {
            let action = input::name(object, &["action"])?;
            let action = action.ok_or(Problem::Missing { field: "action" })?;
            let field = match tools::tool(action) {
                Some(Tool::Shell | Tool::PowerShell) => "command",
                Some(Tool::Patch) => "patch",
                _ => "path",
            };
            let resource = match object.get("resource") {
                None | Some(Value::Null) => None,
                Some(value) => Some(match value {
                    Value::String(_) => Ok(Object::from_iter([(field.to_owned(), value.clone())])),
                    _ => Err(Problem::Type {
                        field: "resource",
                        wanted: "a text",
                    }),
                }),
            };
            Ok(Used {
                name: action.to_owned(),
                arguments: resource,
                names: object,
            })
        }
    }
}

fn request(
    hook: Hook,
    name: &str,
    tool: Tool,
    arguments: &Object,
    object: &Object,
    names: &Object,
) -> Result<PermissionRequest, Problem> {
    let session = ["session_id", "sessionId", "sessionID", "conversation_id"];
    let call = ["tool_use_id", "toolUseId", "callID", "toolCallId"];
    let mut request = PermissionRequest {
        agent: Some(hook.agent.name().to_owned()),
        session_id: input::name(names, &session)?.map(str::to_owned),
        call_id: input::name(names, &call)?.map(str::to_owned),
        cwd: input::cwd(object)?,
        ..PermissionRequest::default()
    };
    match tool {
        Tool::Shell | Tool::PowerShell => {
            let command = input::spelled(arguments, &["command", "cmd"])?;
            let command = command.ok_or(Problem::Missing { field: "command" })?;
            request.command = match tool {
                Tool::PowerShell => format!("pwsh -Command '{}'", command.replace('\'', r"'\''")),
                _ => command.to_owned(),
            };
            let below = [
                "working_directory",
                "workdir",
                "dir_path",
                "cwd",
                "directory",
            ];
            // Where the arguments are the whole input, the directory is read already.
            if arguments != object {
                let below = input::spelled(arguments, &below)?;
                request.cwd = directory(request.cwd, below);
            }
        }
        _ => {
            let file = tools::access(name, tool, arguments)?;
            request.command = tools::line(&file);
            request.file = Some(file);
        }
    }
    if let Some(cwd) = &request.cwd
        && cwd.as_os_str().len() > MOST_PATH
        && cwd.to_string_lossy().chars().count() > MOST_PATH
    {
        return Err(Problem::LongField {
            field: "cwd",
            most: MOST_PATH,
        });
    }
    Ok(request)
}

/// Whether the agent asks somebody if it is told to.
fn asks(called: &Called, object: &Object) -> Result<Asks, Problem> {
    let mode = input::spelled(object, &["permission_mode", "permissionMode"])?;
    // A mode that is not known may be one in which nobody is asked.
    let prompts = matches!(
        mode,
        None | Some("" | "default" | "acceptEdits" | "plan" | "auto" | "manual")
    );
    Ok(match (called.hook.form, called.hook.kind) {
        // Whatever its mode, the agent has no question there.
        (Form::OpenCode1, _) => Asks::Never,
        (Form::Cursor, _) if called.name != "beforeshellexecution" => Asks::Never,
        _ if !prompts => Asks::Never,
        (Form::Codex, Kind::BeforeTool) => Asks::Perhaps,
        _ => Asks::Always,
    })
}
