//! What is registered with which agent, and where.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::protocol::{AFTERWARDS, Agent, PATIENCE, Tool, names};

/// Whose settings are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The user's, for all projects.
    User,
    /// Those of the project in this directory.
    Project(PathBuf),
}

/// The directories in which agents keep the user's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// The user's home.
    pub home: PathBuf,
    /// Claude Code's, such as `~/.claude`.
    pub claude: PathBuf,
    /// Codex's, such as `~/.codex`.
    pub codex: PathBuf,
    /// For settings, such as `~/.config`.
    pub config: PathBuf,
}

impl Homes {
    /// The directories below a home, unless variables (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`,
    /// `XDG_CONFIG_HOME`) say otherwise with an absolute path.
    pub fn new(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let or = |name: &str, below: &str| {
            let given = variable(name).filter(|path| path.is_absolute());
            given.unwrap_or_else(|| home.join(below))
        };
        Self {
            home: home.to_owned(),
            claude: or("CLAUDE_CONFIG_DIR", ".claude"),
            codex: or("CODEX_HOME", ".codex"),
            config: or("XDG_CONFIG_HOME", ".config"),
        }
    }

    /// The file in which the hook is registered.
    #[must_use]
    pub fn settings(&self, agent: Agent, place: &Place) -> PathBuf {
        match place {
            Place::User => match agent {
                Agent::ClaudeCode => self.claude.join("settings.json"),
                Agent::Codex => self.codex.join("hooks.json"),
                Agent::Gemini => self.home.join(".gemini/settings.json"),
                Agent::Cursor => self.home.join(".cursor/hooks.json"),
                Agent::Copilot => self.home.join(".copilot/hooks/hooks-guard.json"),
                Agent::VsCode => self.home.join(".copilot/hooks/hooks-guard-vscode.json"),
                Agent::OpenCode => self.config.join("opencode/plugins/hooks-guard.js"),
            },
            Place::Project(directory) => directory.join(match agent {
                // Not the shared one: the path of the binary is one machine's.
                Agent::ClaudeCode => ".claude/settings.local.json",
                Agent::Codex => ".codex/hooks.json",
                Agent::Gemini => ".gemini/settings.json",
                Agent::Cursor => ".cursor/hooks.json",
                Agent::Copilot => ".github/hooks/hooks-guard.json",
                Agent::VsCode => ".github/hooks/hooks-guard-vscode.json",
                Agent::OpenCode => ".opencode/plugins/hooks-guard.js",
            }),
        }
    }

    /// The directory that is there if the user has the agent.
    pub(crate) fn sign(&self, agent: Agent) -> PathBuf {
        match agent {
            Agent::ClaudeCode => self.claude.clone(),
            Agent::Codex => self.codex.clone(),
            Agent::Gemini => self.home.join(".gemini"),
            Agent::Cursor => self.home.join(".cursor"),
            Agent::Copilot => self.home.join(".copilot"),
            Agent::VsCode => self.home.join(".vscode"),
            Agent::OpenCode => self.config.join("opencode"),
        }
    }
}

/// Every file in which an agent's settings can be: what is written there decides what the agent
/// asks about. Files and directories, whether or not they are there.
#[must_use]
pub fn settings_files(homes: &Homes, project: Option<&Path>) -> Vec<PathBuf> {
    // Claude Code's own memory of what it may do, and of which projects it trusts.
    let mut files = vec![homes.home.join(".claude.json")];
    for agent in Agent::ALL {
        files.push(homes.settings(agent, &Place::User));
        if let Some(project) = project {
            files.push(homes.settings(agent, &Place::Project(project.to_owned())));
        }
        files.extend(others(agent, homes, project));
    }
    files.sort();
    files.dedup();
    files
}

/// Where else an agent's settings can be.
pub(crate) fn others(agent: Agent, homes: &Homes, project: Option<&Path>) -> Vec<PathBuf> {
    let user: &[&str] = match agent {
        Agent::ClaudeCode => &["settings.json", "settings.local.json", "plugins", "hooks"],
        Agent::Codex => &[
            "hooks.json",
            "config.toml",
            "requirements.toml",
            "plugins",
            "rules",
        ],
        Agent::Gemini => &[".gemini/settings.json", ".gemini/trustedFolders.json"],
        Agent::Cursor => &[
            ".cursor/hooks.json",
            ".cursor/hooks",
            ".cursor/cli-config.json",
        ],
        Agent::Copilot => &[
            ".copilot/hooks",
            ".copilot/config.json",
            ".copilot/settings.json",
        ],
        Agent::VsCode => &[".config/Code/User/settings.json", ".copilot/hooks"],
        Agent::OpenCode => &[
            "opencode/opencode.json",
            "opencode/opencode.jsonc",
            "opencode/plugin",
            "opencode/plugins",
        ],
    };
    let base = match agent {
        Agent::ClaudeCode => &homes.claude,
        Agent::Codex => &homes.codex,
        Agent::OpenCode => &homes.config,
        _ => &homes.home,
    };
    let machine: &[&str] = match agent {
        Agent::ClaudeCode => &["/etc/claude-code/managed-settings.json"],
        Agent::Codex => &["/etc/codex/config.toml", "/etc/codex/requirements.toml"],
        Agent::Gemini => &["/etc/gemini-cli/settings.json"],
        Agent::Cursor => &["/etc/cursor/hooks.json"],
        Agent::Copilot => &["/etc/github-copilot/policy.d"],
        Agent::VsCode | Agent::OpenCode => &[],
    };
    let own: &[&str] = match agent {
        Agent::ClaudeCode => &[".claude/settings.json", ".claude/settings.local.json"],
        Agent::Codex => &[".codex"],
        Agent::Gemini => &[".gemini/settings.json"],
        Agent::Cursor => &[".cursor/hooks.json", ".cursor/hooks", ".cursor/cli.json"],
        Agent::Copilot => &[".github/hooks"],
        Agent::VsCode => &[".github/hooks", ".vscode/settings.json"],
        Agent::OpenCode => &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/plugin",
            ".opencode/plugins",
            ".opencode/opencode.json",
        ],
    };
    let below = user.iter().map(|path| base.join(path));
    let machine = machine.iter().map(PathBuf::from);
    let own = own.iter().filter_map(|path| Some(project?.join(path)));
    below.chain(machine).chain(own).collect()
}

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
