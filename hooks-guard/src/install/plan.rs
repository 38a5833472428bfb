//! The entries to register with each agent. In: an agent and the hook's command line. Out: the
//! entries by event, and notes for the user.

use std::ffi::OsStr;
use std::time::Duration;

use serde_json::{Value, json};

use super::version::{claude_ignores_lateness, claude_is_unknown};
use crate::protocol::{AFTER_TOOL_TIMEOUT, Agent, BEFORE_TOOL_TIMEOUT, ToolKind, names};

/// The entries for a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) agent: Agent,
    /// Required keys at the top level of the document.
    pub(crate) root: Vec<(String, Value)>,
    /// The entries, by event.
    pub(crate) entries: Vec<(String, Value)>,
}

/// Command line of an installed hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookCall<'a> {
    /// Absolute path of the program.
    pub(crate) binary: &'a str,
    /// Absolute path of the configuration.
    pub(crate) config: &'a str,
    /// The trail: the absolute path of its file, or a URL. `None` if the configuration names it.
    pub(crate) database: Option<&'a str>,
    /// `true` if the agent runs without a user at the keyboard.
    pub(crate) unattended: bool,
}

impl Plan {
    pub(crate) fn new(agent: Agent, call: HookCall<'_>) -> Self {
        let (before, after) = (BEFORE_TOOL_TIMEOUT.as_secs(), AFTER_TOOL_TIMEOUT.as_secs());
        let line = |time| {
            let line = command_line(agent, call, time);
            // Only a hook before a tool can deny.
            match time == BEFORE_TOOL_TIMEOUT {
                true => format!("{line} {OR_DENY}"),
                false => line,
            }
        };
        let shells = matcher(agent, is_shell);
        let files = matcher(agent, |tool| !is_shell(tool));
        let all = matcher(agent, |_| true);
        let exactly = format!("^({all})$");
        let entries = match agent {
            Agent::ClaudeCode => {
                // Match all tools: an unknown tool may have a `command`, too.
                let hook = |time: Duration| {
                    let mut hook = json!({"type": "command", "command": line(time),
                        "timeout": time.as_secs()});
                    if time == BEFORE_TOOL_TIMEOUT {
                        hook["onFailure"] = "block".into();
                    }
                    json!({"matcher": "*", "hooks": [hook]})
                };
                vec![
                    ("PreToolUse", hook(BEFORE_TOOL_TIMEOUT)),
                    ("PreSkillShellCommand", hook(BEFORE_TOOL_TIMEOUT)),
                    ("PermissionDenied", hook(AFTER_TOOL_TIMEOUT)),
                    ("PostToolUse", hook(AFTER_TOOL_TIMEOUT)),
                    ("PostToolUseFailure", hook(AFTER_TOOL_TIMEOUT)),
                ]
            }
            Agent::Codex => {
                let hook = |time: Duration| {
                    json!({"matcher": exactly, "hooks": [{"type": "command",
                        "command": line(time), "timeout": time.as_secs(),
                        "statusMessage": "hooks-guard"}]})
                };
                vec![
                    ("PreToolUse", hook(BEFORE_TOOL_TIMEOUT)),
                    ("PermissionRequest", hook(BEFORE_TOOL_TIMEOUT)),
                    ("PostToolUse", hook(AFTER_TOOL_TIMEOUT)),
                ]
            }
            Agent::Gemini => {
                // Gemini counts in milliseconds.
                let hook = |time: Duration| {
                    json!({"matcher": exactly, "hooks": [{"type": "command",
                        "command": line(time), "name": "hooks-guard",
                        "timeout": time.as_secs() * 1000}]})
                };
                vec![
                    ("BeforeTool", hook(BEFORE_TOOL_TIMEOUT)),
                    ("AfterTool", hook(AFTER_TOOL_TIMEOUT)),
                ]
            }
            Agent::Cursor => vec![
                // Cursor compares this matcher with the command; omit it to match all.
                (
                    "beforeShellExecution",
                    json!({"command": line(BEFORE_TOOL_TIMEOUT), "timeout": before,
                    "failClosed": true}),
                ),
                (
                    "preToolUse",
                    json!({"command": line(BEFORE_TOOL_TIMEOUT), "matcher": files,
                    "timeout": before, "failClosed": true}),
                ),
                (
                    "afterShellExecution",
                    json!({"command": line(AFTER_TOOL_TIMEOUT), "timeout": after}),
                ),
                (
                    "afterFileEdit",
                    json!({"command": line(AFTER_TOOL_TIMEOUT), "timeout": after}),
                ),
            ],
            Agent::Copilot => {
                let hook = |time: Duration, matcher: &str| {
                    json!({"type": "command", "bash": line(time),
                        "powershell": powershell_line(agent, call, time),
                        "matcher": matcher, "timeoutSec": time.as_secs()})
                };
                vec![
                    (
                        "preToolUse",
                        hook(BEFORE_TOOL_TIMEOUT, &format!("{shells}|{files}")),
                    ),
                    (
                        "postToolUse",
                        hook(AFTER_TOOL_TIMEOUT, &format!("{shells}|{files}")),
                    ),
                ]
            }
            Agent::VsCode => {
                let hook = |time: Duration| json!({"type": "command", "command": line(time), "timeout": time.as_secs()});
                vec![
                    ("PreToolUse", hook(BEFORE_TOOL_TIMEOUT)),
                    ("PostToolUse", hook(AFTER_TOOL_TIMEOUT)),
                ]
            }
            // opencode uses a plugin, so there are no entries for a document.
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

/// Returns steps left to the user and notes, one sentence each.
pub(super) fn to_do(agent: Agent, path: Option<&OsStr>) -> Vec<String> {
    let to_do: &[&str] = match agent {
        Agent::ClaudeCode => {
            let late = claude_ignores_lateness(path)
                .map(|late| format!("{late}; update it to 2.1.295 or later."))
                .or_else(|| claude_is_unknown(path).then(|| CLAUDE_UNKNOWN.to_owned()));
            return late.into_iter().collect();
        }
        Agent::Codex => &[
            "Codex has no prompt for hooks. Requests that need approval are denied unless a rule \
             allows them or you approve them while `hooks-guard serve` runs.",
        ],
        Agent::Gemini => &["Restart Gemini CLI; `/hooks` lists its hooks."],
        Agent::Cursor => &["Restart Cursor; its settings list its hooks."],
        Agent::Copilot => &[
            "VS Code reads this file, too, and gets replies in its own format; `install vscode` \
             is not needed.",
        ],
        Agent::VsCode => &[
            "Copilot CLI reads this file, too, and gets replies in its own format; `install \
             copilot` is not needed.",
        ],
        Agent::OpenCode => &["Restart opencode: it reads plugins when it starts."],
    };
    to_do.iter().map(|&text| text.to_owned()).collect()
}

/// Note if the version of Claude Code cannot be read.
const CLAUDE_UNKNOWN: &str = "The version of Claude Code could not be determined. Versions before \
                              2.1.295 run the tool if the hook times out.";

/// Step left to the user if Codex's `config.toml` cannot be changed.
pub(super) const TRUST_BY_HAND: &str = "Codex silently skips the hooks until you trust them, and \
                                        its `config.toml` could not be changed. Run `/hooks` in \
                                        Codex and trust the three hooks of hooks-guard. \
                                        `hooks-guard doctor` checks whether they are trusted.";

/// Note if opencode's directory already has a `.npmrc`.
pub(super) const LONG_START: &str = "Without a network, opencode waits more than a minute at its \
                                     first start. To shorten this, add `fetch-retries=0` to the \
                                     `.npmrc` beside its settings.";

/// Denies if the hook cannot be run, is killed, or exits with a status other than 0: most agents
/// would run the tool then. Every agent treats status 2 as a denial.
const OR_DENY: &str = "|| { echo 'hooks-guard failed: refused' >&2; exit 2; }";

fn is_shell(tool: ToolKind) -> bool {
    matches!(tool, ToolKind::Shell | ToolKind::PowerShell)
}

fn matcher(agent: Agent, which: impl Fn(ToolKind) -> bool) -> String {
    let names = names(agent).filter(|&(_, tool)| which(tool));
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    names.join("|")
}

pub(super) fn arguments(agent: Agent, call: HookCall<'_>, time: Duration) -> Vec<String> {
    let mut arguments = vec![
        "hook".to_owned(),
        agent.name().to_owned(),
        "--timeout".to_owned(),
        time.as_secs().to_string(),
    ];
    arguments.extend(call.unattended.then(|| "--unattended".to_owned()));
    // Pass the paths explicitly: a project can set environment variables.
    arguments.extend(["--config".to_owned(), call.config.to_owned()]);
    if let Some(database) = call.database {
        arguments.extend(["--database".to_owned(), database.to_owned()]);
    }
    arguments
}

/// Returns the command line for the POSIX shell of an agent.
fn command_line(agent: Agent, call: HookCall<'_>, time: Duration) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:".contains(c);
    let quoted = |word: &str| match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let arguments = arguments(agent, call, time);
    let words = std::iter::once(call.binary).chain(arguments.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn powershell_line(agent: Agent, call: HookCall<'_>, time: Duration) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "''"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-".contains(c);
    let arguments = arguments(agent, call, time);
    let arguments = arguments.iter().map(|word| match word.chars().all(plain) {
        true => word.clone(),
        false => quoted(word),
    });
    let arguments: Vec<String> = arguments.collect();
    format!("& {} {}", quoted(call.binary), arguments.join(" "))
}
