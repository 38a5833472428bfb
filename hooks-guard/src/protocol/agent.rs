//! The supported agents. In: a name, or the environment of a hook. Out: the agent, and whether a
//! user is at the keyboard.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::agents;
use super::description::{AgentDescription, FailureRules, RegistrationFormat, UnattendedVariable};
use crate::classify::{Shells, TerminalInput};

/// A supported coding agent.
#[non_exhaustive]
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
    /// Qwen Code.
    QwenCode,
    /// Factory Droid.
    Droid,
    /// Google's Antigravity CLI.
    Antigravity,
    /// xAI's Grok CLI.
    Grok,
    /// Crush.
    Crush,
    /// OpenHands.
    OpenHands,
    /// Goose.
    Goose,
    /// Windsurf.
    Windsurf,
    /// Kiro CLI.
    Kiro,
    /// Cline.
    Cline,
    /// Pi, through an extension that calls the binary.
    Pi,
    /// Kimi Code.
    KimiCode,
    /// Kilo Code, through a plugin that calls the binary.
    KiloCode,
    /// Letta Code.
    LettaCode,
    /// Auggie, the command line of Augment Code.
    Auggie,
    /// Mistral Vibe.
    MistralVibe,
}

impl Agent {
    /// All agents.
    pub const ALL: [Agent; 23] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Gemini,
        Agent::Cursor,
        Agent::Copilot,
        Agent::VsCode,
        Agent::OpenCode,
        Agent::QwenCode,
        Agent::Droid,
        Agent::Antigravity,
        Agent::Grok,
        Agent::Crush,
        Agent::OpenHands,
        Agent::Goose,
        Agent::Windsurf,
        Agent::Kiro,
        Agent::Cline,
        Agent::Pi,
        Agent::KimiCode,
        Agent::KiloCode,
        Agent::LettaCode,
        Agent::Auggie,
        Agent::MistralVibe,
    ];

    /// Returns the agent's description.
    pub(crate) const fn description(self) -> &'static AgentDescription {
        match self {
            Agent::ClaudeCode => &agents::CLAUDE_CODE,
            Agent::Codex => &agents::CODEX,
            Agent::Gemini => &agents::GEMINI,
            Agent::Cursor => &agents::CURSOR,
            Agent::Copilot => &agents::COPILOT,
            Agent::VsCode => &agents::VSCODE,
            Agent::OpenCode => &agents::OPENCODE,
            Agent::QwenCode => &agents::QWEN_CODE,
            Agent::Droid => &agents::DROID,
            Agent::Antigravity => &agents::ANTIGRAVITY,
            Agent::Grok => &agents::GROK,
            Agent::Crush => &agents::CRUSH,
            Agent::OpenHands => &agents::OPENHANDS,
            Agent::Goose => &agents::GOOSE,
            Agent::Windsurf => &agents::WINDSURF,
            Agent::Kiro => &agents::KIRO,
            Agent::Cline => &agents::CLINE,
            Agent::Pi => &agents::PI,
            Agent::KimiCode => &agents::KIMI_CODE,
            Agent::KiloCode => &agents::KILO_CODE,
            Agent::LettaCode => &agents::LETTA_CODE,
            Agent::Auggie => &agents::AUGGIE,
            Agent::MistralVibe => &agents::MISTRAL_VIBE,
        }
    }

    /// Returns the agent's name on the command line and in the audit trail.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns the agent's other names on the command line.
    #[must_use]
    pub const fn aliases(self) -> &'static [&'static str] {
        self.description().aliases
    }

    /// Returns the minimum of terminal input with which the agent could run other commands through
    /// a tool that types into a running program without calling the hook, such as Codex's
    /// `write_stdin` and Copilot's `write_bash`; `None` if it has no such tool.
    #[must_use]
    pub const fn types_into_programs(self) -> Option<TerminalInput> {
        self.description().types_into_programs
    }

    /// Returns the shells that may read a command of the agent; [`Shells::ALL`] if they are not
    /// known.
    #[must_use]
    pub const fn shells(self) -> Shells {
        self.description().shells
    }

    /// Returns `true` if the agent reports a call that its hook denied as one that ran and failed, with
    /// the hook's reason as the error.
    #[must_use]
    pub const fn reports_denied_calls(self) -> bool {
        self.description().reports_denied_calls
    }

    /// Returns the agent's display name.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.description().title
    }

    /// Returns the name of the agent's program in the search path.
    #[cfg(feature = "cli")]
    #[must_use]
    pub const fn program(self) -> &'static str {
        self.description().program
    }

    /// Returns the versions of the agent that were tried with the guard; empty if the guard follows
    /// the agent's documentation.
    #[must_use]
    pub const fn tested_versions(self) -> &'static [&'static str] {
        self.description().tested_versions
    }

    /// Returns `true` if `install` can register the hook; otherwise, the user registers it by hand.
    #[must_use]
    pub const fn is_installable(self) -> bool {
        !matches!(
            self.description().registration,
            RegistrationFormat::ByHand(_)
        )
    }

    /// Returns what the agent does if the hook fails, with the entry that `install` registers.
    #[must_use]
    pub const fn failure_rules(self) -> FailureRules {
        self.description().failures
    }
}

/// Returns `true` if the agent's environment shows that no user is at the keyboard, so that a
/// prompt of the agent would be denied without being seen.
///
/// `variable` returns the value of an environment variable of the hook's process. Only Claude Code
/// sets such a variable; for other agents this is `false`.
#[must_use]
pub fn is_unattended(agent: Agent, variable: impl Fn(&str) -> Option<String>) -> bool {
    let mut variables = agent.description().unattended.iter();
    variables.any(|rule| match *rule {
        UnattendedVariable::Is(name, value) => variable(name).is_some_and(|is| is == value),
        UnattendedVariable::IsNot(name, value) => variable(name).is_some_and(|is| is != value),
    })
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error returned when a name is not that of a supported agent.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown agent `{name}`; use {}", names())]
pub struct UnknownAgent {
    /// The name.
    pub name: String,
}

/// Returns the names of all agents, for a message.
fn names() -> String {
    let names = Agent::ALL.map(|agent| format!("`{agent}`"));
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        let is = |agent: &Agent| agent.name() == name || agent.aliases().contains(&name);
        let known = Agent::ALL.into_iter().find(is);
        known.ok_or_else(|| UnknownAgent {
            name: name.to_owned(),
        })
    }
}
