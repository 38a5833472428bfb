//! Where agents keep their settings.

use std::path::{Path, PathBuf};

use crate::protocol::Agent;

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
    /// Copilot CLI's, such as `~/.copilot`.
    pub copilot: PathBuf,
    /// For settings, such as `~/.config`.
    pub config: PathBuf,
}

impl Homes {
    /// The directories below a home, or those that the variables `CLAUDE_CONFIG_DIR`, `CODEX_HOME`,
    /// `COPILOT_HOME` and `XDG_CONFIG_HOME` name with an absolute path.
    pub fn new(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let or = |name: &str, below: &str| {
            let given = variable(name).filter(|path| path.is_absolute());
            given.unwrap_or_else(|| home.join(below))
        };
        Self {
            home: home.to_owned(),
            claude: or("CLAUDE_CONFIG_DIR", ".claude"),
            codex: or("CODEX_HOME", ".codex"),
            copilot: or("COPILOT_HOME", ".copilot"),
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
                Agent::Copilot => self.copilot.join("hooks/hooks-guard.json"),
                // VS Code has its own home for these files, which no variable moves.
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
            Agent::Copilot => self.copilot.clone(),
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
    // By their bytes: paths are compared part by part; `ls -la` −8 % instructions.
    files.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    files.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
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
        Agent::Copilot => &["hooks", "config.json", "settings.json"],
        Agent::VsCode => &[".config/Code/User/settings.json", ".copilot/hooks"],
        Agent::OpenCode => &[
            "opencode/opencode.json",
            "opencode/opencode.jsonc",
            "opencode/.npmrc",
            "opencode/plugin",
            "opencode/plugins",
        ],
    };
    let base = match agent {
        Agent::ClaudeCode => &homes.claude,
        Agent::Codex => &homes.codex,
        Agent::Copilot => &homes.copilot,
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
            ".opencode/.npmrc",
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
