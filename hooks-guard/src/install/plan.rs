//! What is registered with which agent.

use std::time::Duration;

use serde_json::{Value, json};

use crate::protocol::{AFTERWARDS, Agent, PATIENCE, Tool, names};

/// What is put into a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) agent: Agent,
    /// Keys of the document that have to be there.
    pub(crate) root: Vec<(String, Value)>,
    /// The entries, by event.
    pub(crate) entries: Vec<(String, Value)>,
}

impl Plan {
    pub(crate) fn new(agent: Agent, binary: &str) -> Self {
        let (before, after) = (PATIENCE.as_secs(), AFTERWARDS.as_secs());
        let line = |time| command_line(agent, binary, time);
        let shells = matcher(agent, is_shell);
        let files = matcher(agent, |tool| !is_shell(tool));
        let all = matcher(agent, |_| true);
        let exactly = format!("^({all})$");
        let entries = match agent {
            Agent::ClaudeCode => {
                let hook = |time: Duration, block: bool| {
                    let mut hook = json!({"type": "command", "command": binary,
                        "args": arguments(agent, time), "timeout": time.as_secs()});
                    if block {
                        hook["onFailure"] = "block".into();
                    }
                    json!({"matcher": all, "hooks": [hook]})
                };
                vec![
                    ("PreToolUse", hook(PATIENCE, true)),
                    ("PostToolUse", hook(AFTERWARDS, false)),
                    ("PostToolUseFailure", hook(AFTERWARDS, false)),
                ]
            }
            Agent::Codex => {
                let hook = |time: Duration| {
                    json!({"matcher": exactly, "hooks": [{"type": "command",
                        "command": line(time), "timeout": time.as_secs(),
                        "statusMessage": "hooks-guard"}]})
                };
                vec![
                    ("PreToolUse", hook(PATIENCE)),
                    ("PermissionRequest", hook(PATIENCE)),
                    ("PostToolUse", hook(AFTERWARDS)),
                ]
            }
            Agent::Gemini => {
                // It counts in milliseconds.
                let hook = |time: Duration| {
                    json!({"matcher": exactly, "hooks": [{"type": "command",
                        "command": line(time), "name": "hooks-guard",
                        "timeout": time.as_secs() * 1000}]})
                };
                vec![
                    ("BeforeTool", hook(PATIENCE)),
                    ("AfterTool", hook(AFTERWARDS)),
                ]
            }
            Agent::Cursor => vec![
                // A matcher is compared with the command there: none, so that all match.
                (
                    "beforeShellExecution",
                    json!({"command": line(PATIENCE), "timeout": before,
                    "failClosed": true}),
                ),
                (
                    "preToolUse",
                    json!({"command": line(PATIENCE), "matcher": files,
                    "timeout": before, "failClosed": true}),
                ),
                (
                    "afterShellExecution",
                    json!({"command": line(AFTERWARDS), "timeout": after}),
                ),
                (
                    "afterFileEdit",
                    json!({"command": line(AFTERWARDS), "timeout": after}),
                ),
            ],
            Agent::Copilot => {
                let hook = |time: Duration, matcher: &str| {
                    json!({"type": "command", "bash": line(time),
                        "powershell": powershell_line(agent, binary, time),
                        "matcher": matcher, "timeoutSec": time.as_secs()})
                };
                vec![
                    ("preToolUse", hook(PATIENCE, &format!("{shells}|{files}"))),
                    (
                        "postToolUse",
                        hook(AFTERWARDS, &format!("{shells}|{files}")),
                    ),
                ]
            }
            Agent::VsCode => {
                let hook = |time: Duration| json!({"type": "command", "command": line(time), "timeout": time.as_secs()});
                vec![
                    ("PreToolUse", hook(PATIENCE)),
                    ("PostToolUse", hook(AFTERWARDS)),
                ]
            }
            // A plugin: nothing is put into a document.
            Agent::OpenCode => Vec::new(),
        };
        let root = match agent {
            Agent::Cursor | Agent::Copilot => vec![("version".to_owned(), json!(1))],
            _ => Vec::new(),
        };
        Self {
            agent,
            root,
            entries: entries
                .into_iter()
                .map(|(event, entry)| (event.to_owned(), entry))
                .collect(),
        }
    }
}

/// What the user has to do still.
pub(super) fn to_do(agent: Agent) -> Vec<String> {
    let to_do: &[&str] = match agent {
        Agent::ClaudeCode => &[
            "Claude Code from 2.1.295 blocks a tool when the hook fails; update if yours is older.",
        ],
        Agent::Codex => &[
            "Codex skips a hook until you trust it: run `/hooks` in Codex, and trust the three of hooks-guard.",
            "Codex asks by its own policy: set `approval_policy = \"untrusted\"` in its config.toml so that it asks before it changes anything.",
        ],
        Agent::Gemini => &["Restart Gemini CLI; `/hooks` lists what it runs."],
        Agent::Cursor => &["Restart Cursor; its settings list the hooks that it runs."],
        Agent::Copilot => &[
            "VS Code reads this file too, and is answered in its own words: `install vscode` is not needed beside it.",
        ],
        Agent::VsCode => &[
            "Copilot CLI reads this file too, and is answered in its own words: `install copilot` is not needed beside it.",
        ],
        Agent::OpenCode => &["Restart opencode: plugins are read when it starts."],
    };
    to_do.iter().map(|&text| text.to_owned()).collect()
}

fn is_shell(tool: Tool) -> bool {
    matches!(tool, Tool::Shell | Tool::PowerShell)
}

fn matcher(agent: Agent, which: impl Fn(Tool) -> bool) -> String {
    let names = names(agent).filter(|&(_, tool)| which(tool));
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    names.join("|")
}

pub(super) fn arguments(agent: Agent, time: Duration) -> [String; 4] {
    let time = time.as_secs().to_string();
    ["hook".into(), agent.name().into(), "--timeout".into(), time]
}

/// The command that an agent gives to a POSIX shell.
fn command_line(agent: Agent, binary: &str, time: Duration) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    let binary = match binary.chars().all(plain) {
        true => binary.to_owned(),
        false => format!("'{}'", binary.replace('\'', r"'\''")),
    };
    format!("{binary} {}", arguments(agent, time).join(" "))
}

fn powershell_line(agent: Agent, binary: &str, time: Duration) -> String {
    let binary = binary.replace('\'', "''");
    format!("& '{binary}' {}", arguments(agent, time).join(" "))
}
