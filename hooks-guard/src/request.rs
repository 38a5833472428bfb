//! What somebody wants to do, and what was decided about it.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::classify::{Classification, Crud, Decision, Method, TerminalInput};

/// The longest name of an agent, a session, a call or a tool, in characters. They are in indexes,
/// into which PostgreSQL takes no more than 2700 bytes: 4 for a character.
pub(crate) const MOST_NAME: usize = 500;
/// The longest path of a directory, in characters.
pub(crate) const MOST_PATH: usize = 4_096;

/// A request for permission: a shell command, or access to files by a tool that is not a shell.
///
/// In JSON the body of `POST /api/hooks/permission-request`; whatever goes beyond the command and
/// its context is additive, and may be left out.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The command, of 1 to 10 000 characters; for access to files, a line that says in words
    /// what would happen, such as `Write src/main.rs`.
    #[cfg_attr(
        feature = "http",
        schema(min_length = 1, max_length = 10000, pattern = r"\S")
    )]
    pub command: String,
    /// Where the command belongs, such as `git`: at most 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(max_length = 100))]
    pub context: Option<String>,
    /// The agent that asks, by its name on the command line, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's session, as it calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The directory in which the command would run, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub cwd: Option<PathBuf>,
    /// The agent's own name for this call of a tool, if it has one: tells what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Whether the agent asks its user itself where it is told to: nobody else is asked then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asks_itself: bool,
    /// Whether somebody has to agree also where it only reads, unless a rule allows it: who asks
    /// knows that the classifier does not know the language well.
    #[serde(default, skip_serializing_if = "is_false")]
    pub confirm: bool,
    /// The agent's permission mode as the agent calls it, such as `auto`: decides which requests
    /// are left to the agent. None is the same as `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(max_length = 500))]
    pub permission_mode: Option<String>,
    /// The least terminal input that the agent could use to run other commands, because it has a
    /// tool that types into a running program without asking: a command that takes as much has to
    /// be approved. None if the agent has no such tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types_into_programs: Option<TerminalInput>,
    /// What a tool that is no shell wants with which files; without it, the command is one of a
    /// shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileAccess>,
    /// The host that a command wants to reach; `command` says so in words then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkAccess>,
}

impl PermissionRequest {
    /// A shell command of which nothing else is known.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }

    /// Returns whether the agent could type commands into a program that the command starts.
    pub(crate) fn can_type_into(&self, found: &Classification) -> bool {
        self.types_into_programs
            .is_some_and(|least| found.terminal_input >= least)
    }
}

/// Access to files by a tool that is not a shell.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAccess {
    /// The tool, as the agent calls it.
    pub tool: String,
    /// What it does to them.
    pub effect: Crud,
    /// The files, as the agent gives them: absolute, or relative to the request's directory.
    #[cfg_attr(feature = "http", schema(value_type = Vec<String>))]
    pub paths: Vec<PathBuf>,
    /// SHA-256 of everything the tool is given, in hexadecimal: an approval holds for this
    /// alone. Without it, an approval holds for whatever the tool does to these files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_hash: Option<String>,
}

/// Access to the network that an agent asks for, apart from the command that needs it.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkAccess {
    /// The host as the agent names it: a name or an address, of at most 500 characters.
    #[cfg_attr(feature = "http", schema(max_length = 500))]
    pub host: String,
    /// The port, if the agent names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The command that needs the access, if it is known. A rule allows the access only if the
    /// command itself would be allowed: the model writes the text that names the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(max_length = 10000))]
    pub command: Option<String>,
}

impl NetworkAccess {
    /// Reads a target such as `https://example.com:443`, with or without scheme and port. A text
    /// that is not a target becomes the host as it is, which no rule for hosts matches.
    #[must_use]
    pub fn of_target(target: &str) -> Self {
        let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
        let port = |text: &str| text.parse().ok();
        let (host, port) = match rest.rsplit_once(':') {
            // An IPv6 address without a port has colons of its own.
            Some((host, number)) if !host.contains(':') || host.ends_with(']') => {
                match port(number) {
                    Some(port) => (host, Some(port)),
                    None => (rest, None),
                }
            }
            _ => (rest, None),
        };
        let host: String = host.chars().take(MOST_NAME).collect();
        Self {
            host: host.to_lowercase(),
            port,
            command: None,
        }
    }
}

impl fmt::Display for NetworkAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "network access to {}", self.host)?;
        match self.port {
            Some(port) => write!(f, " port {port}"),
            None => Ok(()),
        }
    }
}

/// A part of a command and its effect. Positions count characters.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPart {
    /// Where it begins.
    pub start: u32,
    /// Where it ends: the first character behind it.
    pub end: u32,
    /// What it does.
    pub effect: Crud,
    /// Whether the class of the whole command is due to it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decided: bool,
}

/// Decision about a [`PermissionRequest`].
///
/// In JSON the answer of `POST /api/hooks/permission-request`; `id`, `secret`, `denied`, `approved`,
/// `left_to_agent`, `hidden_code` and `rule` are additive.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ruling {
    /// Whether the request requires confirmation.
    pub decision: Decision,
    /// The strongest effect.
    pub classification: Crud,
    /// Why, in one sentence.
    pub reasoning: String,
    /// How likely the class is right, 0 to 1.
    pub confidence: f64,
    /// Why, at length, for people.
    pub explanation: String,
    /// How the class was determined.
    pub classification_method: Method,
    /// When it was decided.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub timestamp: Timestamp,
    /// Under which number the audit trail has it; none where it has no trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// What has to be presented to report that the command ran: only who asked has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Whether a rule or a hook forbids it: nobody can agree to it then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub denied: bool,
    /// Whether somebody has approved it before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub approved: bool,
    /// Whether the decision is left to the agent, as the setting for its permission mode says. The
    /// guard asks neither the operator nor, through the agent, its user.
    #[serde(default, skip_serializing_if = "is_false")]
    pub left_to_agent: bool,
    /// Whether text runs that the trail hides as a secret: the operator, who does not see it, cannot
    /// approve the command. An agent that asks its user itself shows all of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden_code: bool,
    /// Whether the classification took longer than it may; known to the service alone.
    #[serde(skip)]
    pub timed_out: bool,
    /// The rule that decided, if one did: its place, such as `guard.toml:12`; or the hook, as
    /// `hook: nightly.js`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(value: &bool) -> bool {
    !value
}
