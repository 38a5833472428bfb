//! The permission modes of agents. In: the mode and the agent of a request. Out: the requests that
//! need approval in this mode.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::protocol::Agent;

/// The requests that need approval in a permission mode of the agent, of those that the guard does
/// not allow. A denial by a rule or a hook applies in every mode.
///
/// A request that a rule, a built-in protection or a hook asks about needs approval with every value
/// except [`Nothing`](Self::Nothing). The values are ordered from the strictest to the weakest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// All requests: every change, and reads that are not allowed.
    #[default]
    Changes,
    /// All requests except edits of the project, which are left to the agent: a file tool creates or
    /// updates files inside the project, or a command only creates or updates files and folders that
    /// it names and that are inside the project, such as `mkdir`, `touch`, `cp`, `mv`, `sed -i` and
    /// redirections.
    Edits,
    /// All requests except creates and updates that need approval only because of their class;
    /// these are left to the agent. Deletions, and reads that are not allowed, need approval. So
    /// does a create or an update that
    ///
    /// - changes a file that is known to be outside the project, or runs in a directory outside;
    /// - runs code while it downloads something: `curl … | sh`;
    /// - reads something that needs approval, such as secrets, in one of its parts;
    /// - is not understood, or has a class with a confidence below 0.8;
    /// - starts a program that accepts typed commands, if the agent can type into programs.
    Deletions,
    /// Requests that a built-in protection asks about. All other requests that are not denied are
    /// left to the agent.
    Nothing,
}

impl fmt::Display for Confirm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changes => "changes",
            Self::Edits => "edits",
            Self::Deletions => "deletions",
            Self::Nothing => "nothing",
        })
    }
}

/// Requests that need approval, by the permission mode that the agent reports. A mode whose field is
/// `None` has its default.
///
/// If the agent reports no mode, that of `default` applies. In an unknown mode, [`Confirm::Changes`]
/// applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Modes {
    /// The agent asks its user by its own rules. Default: changes.
    pub default: Option<Confirm>,
    /// The agent applies edits without asking. Default: edits, because asking about them would
    /// cancel the mode that the user chose.
    #[serde(rename = "acceptEdits")]
    pub accept_edits: Option<Confirm>,
    /// The agent only plans. Default: changes.
    pub plan: Option<Confirm>,
    /// A model of Claude Code decides which commands run without asking. Default: deletions,
    /// because asking about every change would cancel the mode that the user chose.
    ///
    /// The gate applies this field to requests of Claude Code and to requests that name no agent.
    /// If another agent reports a mode `auto`, the gate applies [`Confirm::Changes`].
    pub auto: Option<Confirm>,
    /// The agent denies requests that it would ask about. Default: changes.
    #[serde(rename = "dontAsk")]
    pub dont_ask: Option<Confirm>,
    /// The agent never asks. Default: changes, because the agent would run every request that is
    /// left to it.
    #[serde(rename = "bypassPermissions")]
    pub bypass_permissions: Option<Confirm>,
}

impl Modes {
    /// The modes that have a setting, as agents report them.
    pub const NAMES: [&str; 6] = [
        "default",
        "acceptEdits",
        "plan",
        "auto",
        "dontAsk",
        "bypassPermissions",
    ];

    /// Returns the requests that need approval in a mode of an agent.
    #[must_use]
    pub fn confirm(&self, mode: Option<&str>, agent: Option<&str>) -> Confirm {
        let is_claude = |agent: &str| agent == Agent::ClaudeCode.name();
        let (configured, default) = match mode {
            None | Some("default") => (self.default, Confirm::Changes),
            Some("acceptEdits") => (self.accept_edits, Confirm::Edits),
            Some("plan") => (self.plan, Confirm::Changes),
            // Only in Claude Code does a model decide in this mode: Codex would run the command.
            Some("auto") if !agent.is_none_or(is_claude) => (None, Confirm::Changes),
            Some("auto") => (self.auto, Confirm::Deletions),
            Some("dontAsk") => (self.dont_ask, Confirm::Changes),
            Some("bypassPermissions") => (self.bypass_permissions, Confirm::Changes),
            // The user has no setting for an unknown mode.
            Some(_) => (None, Confirm::Changes),
        };
        configured.unwrap_or(default)
    }
}
