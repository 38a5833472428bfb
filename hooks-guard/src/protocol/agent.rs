//! The supported agents. In: a name, or the environment of a hook. Out: the agent, and whether a
//! user is at the keyboard.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::classify::TerminalInput;

/// A supported coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI and the cloud agent.
    Copilot,
    /// The agent in Visual Studio Code.
    VsCode,
    /// opencode, through a plugin that calls the binary.
    OpenCode,
}

impl Agent {
    /// All agents.
    pub const ALL: [Agent; 7] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Gemini,
        Agent::Cursor,
        Agent::Copilot,
        Agent::VsCode,
        Agent::OpenCode,
    ];

    /// Returns the agent's name on the command line and in the audit trail.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Cursor => "cursor",
            Agent::Copilot => "copilot",
            Agent::VsCode => "vscode",
            Agent::OpenCode => "opencode",
        }
    }

    /// Returns the minimum of terminal input with which the agent could run other commands through
    /// a tool that types into a running program without calling the hook, such as Codex's
    /// `write_stdin` and Copilot's `write_bash`; `None` if it has no such tool.
    #[must_use]
    pub fn types_into_programs(self) -> Option<TerminalInput> {
        match self {
            // Its commands run with `PAGER=cat` and `GIT_PAGER=cat`.
            Agent::Codex => Some(TerminalInput::Commands),
            Agent::Copilot | Agent::VsCode => Some(TerminalInput::Pager),
            Agent::ClaudeCode | Agent::Gemini | Agent::Cursor | Agent::OpenCode => None,
        }
    }

    /// Returns the agent's display name.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Gemini => "Gemini CLI",
            Agent::Cursor => "Cursor",
            Agent::Copilot => "Copilot CLI",
            Agent::VsCode => "VS Code",
            Agent::OpenCode => "opencode",
        }
    }
}

/// Returns `true` if the agent's environment shows that no user is at the keyboard, so that a
/// prompt of the agent would be denied without being seen.
///
/// `variable` returns the value of an environment variable of the hook's process. Only Claude Code
/// sets such a variable; for other agents this is `false`.
#[must_use]
pub fn is_unattended(agent: Agent, variable: impl Fn(&str) -> Option<String>) -> bool {
    if agent != Agent::ClaudeCode {
        return false;
    }
    let attended = variable("CLAUDE_CODE_SESSION_ATTENDED");
    // `claude -p`; the SDKs have other names, and their hosts may show a prompt.
    let prints = variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|name| name == "sdk-cli");
    prints || attended.is_some_and(|attended| attended != "1")
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error returned when a name is not that of a supported agent.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown agent `{name}`; use `claude-code`, `codex`, `gemini`, `cursor`, \
     `copilot`, `vscode` or `opencode`"
)]
pub struct UnknownAgent {
    /// The name.
    pub name: String,
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        if name == "claude" {
            return Ok(Agent::ClaudeCode);
        }
        let known = Agent::ALL.into_iter().find(|agent| agent.name() == name);
        known.ok_or_else(|| UnknownAgent {
            name: name.to_owned(),
        })
    }
}
