//! The files from which coding agents read hooks, settings, extensions, plugins and commands. In:
//! nothing; plain data. Out: one table for all known clients.
//!
//! The table is the only place that names these files. The built-in protections protect each of them
//! in every folder, `install` and `doctor` find the settings of an agent in it.

use std::fmt;

use super::Agent;

/// A known client, and the files that it reads.
#[derive(Debug)]
pub struct AgentClient {
    /// Name for display.
    pub title: &'static str,
    /// The agent, if the guard serves the client.
    pub agent: Option<Agent>,
    /// Source of the entries without a source of their own.
    pub source: Source,
    /// The files and directories.
    pub files: &'static [ClientFile],
}

/// A file or directory from which a client reads hooks, settings, extensions, plugins or commands:
/// its content can switch the client's hooks off, or run code.
#[derive(Clone, Copy, Debug)]
pub struct ClientFile {
    /// Start of the path.
    pub place: FilePlace,
    /// Path with `/` between components. `*` matches within one component. A final `/` names a
    /// directory with everything below.
    pub path: &'static str,
    /// Source of the entry, if it is not that of the client.
    pub source: Option<Source>,
}

/// Start of the path of a [`ClientFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// A project: any directory in which the client may start, or a parent of it.
    Project,
    /// The home directory, or the directory to which a variable moves the client's settings.
    User,
    /// Both the home directory and a project.
    Both,
    /// The root: the path is absolute.
    Machine,
}

impl FilePlace {
    /// Returns `true` if the file may be in a project.
    #[must_use]
    pub fn is_in_project(self) -> bool {
        matches!(self, Self::Project | Self::Both)
    }

    /// Returns `true` if the file may be below the home directory.
    #[must_use]
    pub fn is_of_user(self) -> bool {
        matches!(self, Self::User | Self::Both)
    }
}

/// How it is known that a client reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The published client of this version was run, and its hooks or tools changed with the file.
    Run(&'static str),
    /// The code of the published client of this version reads the file.
    Code(&'static str),
    /// The client's documentation names the file.
    Documentation,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(version) => write!(f, "{version} was run"),
            Self::Code(version) => write!(f, "code of {version}"),
            Self::Documentation => f.write_str("documentation"),
        }
    }
}

impl ClientFile {
    const fn new(place: FilePlace, path: &'static str) -> Self {
        Self {
            place,
            path,
            source: None,
        }
    }

    /// The entry with a source of its own.
    const fn seen(self, source: Source) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Returns the path without the `/` at the end of a directory.
    #[must_use]
    pub fn trimmed_path(&self) -> &'static str {
        self.path.strip_suffix('/').unwrap_or(self.path)
    }

    /// Returns `true` if everything below the path is meant, too.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.path.ends_with('/')
    }
}

const fn both(path: &'static str) -> ClientFile {
    ClientFile::new(FilePlace::Both, path)
}

const fn project(path: &'static str) -> ClientFile {
    ClientFile::new(FilePlace::Project, path)
}

const fn user(path: &'static str) -> ClientFile {
    ClientFile::new(FilePlace::User, path)
}

const fn machine(path: &'static str) -> ClientFile {
    ClientFile::new(FilePlace::Machine, path)
}

/// Every known client. The order is that of [`Agent::ALL`], then the clients that the guard does not
/// serve.
pub const CLIENTS: &[AgentClient] = &[
    AgentClient {
        title: Agent::ClaudeCode.title(),
        agent: Some(Agent::ClaudeCode),
        source: Source::Code("2.1.332"),
        files: &[
            both(".claude/settings.json").seen(Source::Run("2.1.332")),
            both(".claude/settings.local.json").seen(Source::Run("2.1.332")),
            // Editors and people keep further files of this form.
            both(".claude/settings*.json").seen(Source::Documentation),
            both(".claude/hooks/"),
            both(".claude/plugins/"),
            both(".claude/commands/"),
            both(".claude/agents/"),
            // The head of a skill or agent may have hooks.
            both(".claude/skills/"),
            both(".claude/workflows/"),
            both(".claude.json"),
            project(".mcp.json"),
            machine("/etc/claude-code/"),
            machine("/etc/claude-code/managed-settings.d/"),
            machine("/Library/Application Support/ClaudeCode/"),
        ],
    },
    AgentClient {
        title: Agent::Codex.title(),
        agent: Some(Agent::Codex),
        source: Source::Code("0.171.0"),
        files: &[
            both(".codex/config.toml").seen(Source::Run("0.171.0")),
            both(".codex/hooks.json").seen(Source::Run("0.169.0")),
            both(".codex/requirements.toml"),
            both(".codex/rules/"),
            both(".codex/plugins/"),
            // Profiles, agents, skills and prompts.
            both(".codex/"),
            machine("/etc/codex/"),
        ],
    },
    AgentClient {
        title: Agent::Gemini.title(),
        agent: Some(Agent::Gemini),
        source: Source::Code("0.61.0"),
        files: &[
            both(".gemini/settings.json").seen(Source::Run("0.61.0")),
            both(".gemini/.env"),
            both(".gemini/commands/"),
            both(".gemini/extensions/"),
            both(".gemini/agents/"),
            both(".gemini/skills/"),
            both(".gemini/policies/"),
            both(".gemini/hooks/").seen(Source::Documentation),
            // Container and profile of the sandbox.
            both(".gemini/sandbox*"),
            user(".gemini/trustedFolders.json"),
            user(".gemini/trusted_hooks.json"),
            machine("/etc/gemini-cli/"),
            machine("/Library/Application Support/GeminiCli/"),
        ],
    },
    AgentClient {
        title: Agent::Cursor.title(),
        agent: Some(Agent::Cursor),
        source: Source::Documentation,
        files: &[
            both(".cursor/hooks.json"),
            both(".cursor/hooks/"),
            both(".cursor/mcp.json"),
            both(".cursor/cli*.json"),
            both(".cursor/commands/"),
            both(".cursor/plugins/"),
            machine("/etc/cursor/"),
        ],
    },
    AgentClient {
        title: Agent::Copilot.title(),
        agent: Some(Agent::Copilot),
        source: Source::Documentation,
        files: &[
            project(".github/copilot/settings.json").seen(Source::Run("1.0.102")),
            project(".github/copilot/settings.local.json").seen(Source::Run("1.0.102")),
            project(".github/copilot/"),
            project(".github/hooks/"),
            project(".github/agents/").seen(Source::Code("1.0.102")),
            project(".github/extensions/").seen(Source::Code("1.0.102")),
            // In a trusted folder.
            project(".claude/settings.json").seen(Source::Run("1.0.102")),
            project(".claude/settings.local.json").seen(Source::Run("1.0.102")),
            project(".github/skills/").seen(Source::Code("1.0.102")),
            project(".github/mcp.json").seen(Source::Code("1.0.102")),
            project(".github/lsp.json").seen(Source::Code("1.0.102")),
            both(".copilot/").seen(Source::Run("1.0.102")),
            machine("/etc/github-copilot/"),
        ],
    },
    AgentClient {
        title: Agent::VsCode.title(),
        agent: Some(Agent::VsCode),
        source: Source::Documentation,
        files: &[
            project(".vscode/settings.json"),
            project(".vscode/tasks.json"),
            project(".vscode/mcp.json"),
            project(".github/hooks/"),
            user(".copilot/hooks/"),
            user(".config/Code/User/settings.json"),
            user("Library/Application Support/Code/User/settings.json"),
        ],
    },
    AgentClient {
        title: Agent::OpenCode.title(),
        agent: Some(Agent::OpenCode),
        source: Source::Documentation,
        files: &[
            project("opencode.json").seen(Source::Code("1.18.33")),
            project("opencode.jsonc").seen(Source::Code("1.18.33")),
            project(".opencode/").seen(Source::Code("1.18.33")),
            user(".config/opencode/").seen(Source::Run("1.18.33")),
            machine("/etc/opencode/"),
        ],
    },
    AgentClient {
        title: Agent::QwenCode.title(),
        agent: Some(Agent::QwenCode),
        source: Source::Code("0.24.4"),
        files: &[
            both(".qwen/settings.json").seen(Source::Run("0.24.4")),
            both(".qwen/.env"),
            both(".qwen/commands/"),
            both(".qwen/extensions/"),
            both(".qwen/agents/"),
            both(".qwen/skills/"),
            both(".qwen/sandbox*"),
            user(".qwen/trustedFolders.json"),
            machine("/etc/qwen-code/"),
            machine("/Library/Application Support/QwenCode/"),
        ],
    },
    AgentClient {
        title: Agent::Droid.title(),
        agent: Some(Agent::Droid),
        source: Source::Code("0.215.0"),
        files: &[
            both(".factory/hooks.json").seen(Source::Run("0.225")),
            both(".factory/settings.json"),
            both(".factory/settings.local.json"),
            both(".factory/config.json").seen(Source::Documentation),
            both(".factory/mcp.json"),
            both(".factory/hooks/"),
            both(".factory/droids/"),
            both(".factory/commands/"),
            both(".factory/skills/"),
            both(".factory/plugins/"),
            both(".factory/automations/"),
            // Droid runs these scripts in a new worktree.
            both(".factory/worktree-setups/"),
        ],
    },
    AgentClient {
        title: Agent::Antigravity.title(),
        agent: Some(Agent::Antigravity),
        source: Source::Documentation,
        files: &[
            both(".agents/hooks.json"),
            both(".agents/plugins/"),
            both(".agents/skills/"),
            user(".gemini/config/"),
            user(".gemini/settings.json"),
            user(".gemini/antigravity-cli/"),
        ],
    },
    AgentClient {
        title: Agent::Grok.title(),
        agent: Some(Agent::Grok),
        source: Source::Documentation,
        files: &[
            both(".grok/hooks/").seen(Source::Run("1.0.41")),
            both(".grok/settings.json"),
            both(".grok/config.toml"),
            both(".grok/plugins/"),
            both(".grok/skills/"),
            both(".grok/agents/"),
            both(".grok/commands/"),
            user(".grok/managed_config.toml"),
            user(".grok/requirements.toml"),
            user(".grok/trusted_folders.toml"),
            user(".grok/disabled-hooks"),
            machine("/etc/grok/"),
        ],
    },
    AgentClient {
        title: Agent::Crush.title(),
        agent: Some(Agent::Crush),
        source: Source::Documentation,
        files: &[
            project("crush.json"),
            project(".crush.json"),
            // Crush runs these files with its shell.
            project("crushrc"),
            project(".crushrc"),
            project(".crush/"),
            user(".config/crush/"),
            user(".local/share/crush/crush.json"),
        ],
    },
    AgentClient {
        title: Agent::OpenHands.title(),
        agent: Some(Agent::OpenHands),
        source: Source::Documentation,
        files: &[
            both(".openhands/hooks.json").seen(Source::Run("1.16.0")),
            both(".openhands/agents/").seen(Source::Code("1.16.0")),
            both(".agents/agents/").seen(Source::Code("1.16.0")),
            // Skills, whose commands run without the hook.
            both(".openhands/skills/").seen(Source::Code("1.16.0")),
            both(".openhands/microagents/").seen(Source::Code("1.16.0")),
            both(".agents/skills/").seen(Source::Run("1.16.0")),
            user(".openhands/mcp.json").seen(Source::Run("1.16.0")),
            both(".openhands/hooks/"),
            both(".openhands/setup.sh"),
            both(".openhands/pre-commit.sh"),
        ],
    },
    AgentClient {
        title: Agent::Goose.title(),
        agent: Some(Agent::Goose),
        source: Source::Code("1.52.0"),
        files: &[
            both(".agents/plugins/").seen(Source::Run("1.52.0")),
            both(".config/goose/settings.json").seen(Source::Run("1.52.0")),
            project(".config/goose/settings.local.json").seen(Source::Run("1.52.0")),
            // A recipe can have commands that run without a hook.
            both(".goose/recipes/"),
            both(".agents/recipes/"),
            user(".config/goose/"),
        ],
    },
    AgentClient {
        title: Agent::Windsurf.title(),
        agent: Some(Agent::Windsurf),
        source: Source::Documentation,
        files: &[
            project(".windsurf/hooks.json"),
            project(".windsurf/workflows/"),
            user(".codeium/windsurf/hooks.json"),
            user(".codeium/windsurf/mcp_config.json"),
            machine("/etc/windsurf/"),
        ],
    },
    AgentClient {
        title: Agent::Kiro.title(),
        agent: Some(Agent::Kiro),
        source: Source::Documentation,
        files: &[
            both(".kiro/agents/"),
            both(".kiro/hooks/"),
            both(".kiro/settings/"),
        ],
    },
    AgentClient {
        title: Agent::Cline.title(),
        agent: Some(Agent::Cline),
        source: Source::Documentation,
        files: &[
            project(".clinerules/hooks/").seen(Source::Code("3.0.65")),
            project(".clinerules/workflows/"),
            project(".cline/"),
            both(".cline/hooks/").seen(Source::Run("3.0.65")),
            both(".cline/plugins/"),
            user(".cline/"),
            user("Documents/Cline/"),
        ],
    },
    AgentClient {
        title: Agent::Pi.title(),
        agent: Some(Agent::Pi),
        source: Source::Code("1.6.0"),
        files: &[
            both(".pi/extensions/").seen(Source::Run("1.6.0")),
            both(".pi/settings.json").seen(Source::Run("1.6.0")),
            both(".pi/"),
            user(".pi/agent/").seen(Source::Run("1.6.0")),
        ],
    },
    AgentClient {
        title: Agent::MistralVibe.title(),
        agent: Some(Agent::MistralVibe),
        source: Source::Code("3.0.3"),
        files: &[
            both(".vibe/hooks.toml").seen(Source::Run("3.0.3")),
            both(".vibe/config.toml"),
            // Agents, plugins, prompts, skills and tools.
            both(".vibe/"),
            user(".vibe/trusted_folders.toml"),
        ],
    },
    AgentClient {
        title: Agent::LettaCode.title(),
        agent: Some(Agent::LettaCode),
        source: Source::Code("0.32.18"),
        files: &[
            both(".letta/settings.json").seen(Source::Run("0.32.18")),
            both(".letta/settings.local.json"),
            project(".commands/").seen(Source::Run("0.32.18")),
            // Mods, skills, sub-agents and the memory of agents.
            both(".letta/"),
        ],
    },
    AgentClient {
        title: Agent::Auggie.title(),
        agent: Some(Agent::Auggie),
        source: Source::Code("0.36.0"),
        files: &[
            user(".augment/settings.json").seen(Source::Run("0.36.0")),
            both(".augment/settings.json"),
            both(".augment/settings.local.json"),
            // Commands, skills, rules, sub-agents, plugins and the session of the service.
            both(".augment/"),
            machine("/etc/augment/"),
        ],
    },
    AgentClient {
        title: Agent::KimiCode.title(),
        agent: Some(Agent::KimiCode),
        source: Source::Code("2.1.0"),
        files: &[
            user(".kimi-code/config.toml").seen(Source::Run("2.1.0")),
            both(".kimi-code/"),
        ],
    },
    AgentClient {
        title: Agent::KiloCode.title(),
        agent: Some(Agent::KiloCode),
        source: Source::Code("7.7.9"),
        files: &[
            both(".kilo/"),
            both(".kilocode/"),
            project("kilo.json"),
            project("kilo.jsonc"),
            project("opencode.json"),
            project("opencode.jsonc"),
            user(".config/kilo/").seen(Source::Run("7.7.9")),
            machine("/etc/kilo/"),
            machine("/Library/Application Support/kilo/"),
        ],
    },
];

/// Returns the entry of an agent.
#[cfg(feature = "cli")]
pub(crate) fn client(agent: Agent) -> Option<&'static AgentClient> {
    CLIENTS.iter().find(|client| client.agent == Some(agent))
}
