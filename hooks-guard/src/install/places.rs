//! Places of agents' settings. In: home directories and an agent. Out: the paths of its settings
//! files.

use std::path::{Path, PathBuf};

use crate::protocol::Agent;

/// The settings to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    /// The user's settings, for all projects.
    User,
    /// The settings of the project in this directory.
    Project(PathBuf),
}

/// Directories of the user's agent settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// The user's home directory.
    pub home: PathBuf,
    /// Claude Code's directory, such as `~/.claude`.
    pub claude: PathBuf,
    /// Codex's directory, such as `~/.codex`.
    pub codex: PathBuf,
    /// Copilot CLI's directory, such as `~/.copilot`.
    pub copilot: PathBuf,
    /// The directory for configurations, such as `~/.config`.
    pub config: PathBuf,
}

impl Homes {
    /// Returns the directories below a home directory, or those that the variables
    /// `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `COPILOT_HOME` and `XDG_CONFIG_HOME` set to an absolute
    /// path.
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

    /// Returns the file in which the hook is registered.
    #[must_use]
    pub fn settings(&self, agent: Agent, place: &SettingsScope) -> PathBuf {
        match place {
            SettingsScope::User => match agent {
                Agent::ClaudeCode => self.claude.join("settings.json"),
                Agent::Codex => self.codex.join("hooks.json"),
                Agent::Gemini => self.home.join(".gemini/settings.json"),
                Agent::Cursor => self.home.join(".cursor/hooks.json"),
                Agent::Copilot => self.copilot.join("hooks/hooks-guard.json"),
                // VS Code always uses this directory; no variable moves it.
                Agent::VsCode => self.home.join(".copilot/hooks/hooks-guard-vscode.json"),
                Agent::OpenCode => self.config.join("opencode/plugins/hooks-guard.js"),
            },
            SettingsScope::Project(directory) => directory.join(match agent {
                // Not the shared settings: the binary's path is specific to one machine.
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

    /// Returns a directory that exists if the user has the agent.
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

/// Returns every path at which an agent's settings can be, existing or not: files and directories.
/// Their content decides when the agent asks.
#[must_use]
pub fn settings_files(homes: &Homes, project: Option<&Path>) -> Vec<PathBuf> {
    // Claude Code's own list of permissions and trusted projects.
    let mut files = vec![homes.home.join(".claude.json")];
    for agent in Agent::ALL {
        files.push(homes.settings(agent, &SettingsScope::User));
        if let Some(project) = project {
            files.push(homes.settings(agent, &SettingsScope::Project(project.to_owned())));
        }
        files.extend(others(agent, homes, project));
    }
    // By their bytes: paths are compared part by part; `ls -la` −8 % instructions.
    files.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    files.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
    files
}

/// Returns further places of an agent's settings.
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
