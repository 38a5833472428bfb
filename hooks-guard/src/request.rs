//! The data types of requests and decisions. In: nothing; plain data. Out: [`PermissionRequest`]
//! and [`PermissionDecision`], with their parts.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::changes::FileChanges;
use crate::classify::{Classification, Crud, Decision, Method, TerminalInput};

/// Maximum length of a name of an agent, a session, a call or a tool, in characters. Names are
/// indexed, and PostgreSQL allows at most 2700 bytes in an index entry: 4 per character.
pub(crate) const MAX_NAME_CHARS: usize = 500;
/// Maximum length of a directory's path, in characters.
pub(crate) const MAX_PATH_CHARS: usize = 4_096;

/// A request for permission: a shell command, or access to files by a tool that is not a shell.
///
/// In JSON, the body of `POST /api/hooks/permission-request`; all fields except the command and its
/// context are optional additions.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The command, of 1 to 10 000 characters; for access to files, a line that describes the
    /// action, such as `Write src/main.rs`.
    #[cfg_attr(
        feature = "http",
        schema(min_length = 1, max_length = 10000, pattern = r"\S")
    )]
    pub command: String,
    /// Context of the command, such as `git`: at most 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(max_length = 100))]
    pub context: Option<String>,
    /// The requesting agent, by its name on the command line, such as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's id of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The absolute path of the directory in which the command would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub cwd: Option<PathBuf>,
    /// The agent's id of this tool call, if it has one; identifies the call when its result is
    /// reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// `true` if the agent asks its own user when the hook answers `ask`; the operator is not asked
    /// then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asks_itself: bool,
    /// `true` if a read needs confirmation, too, unless a rule allows it; set by clients whose
    /// shell language the classifier does not know well.
    #[serde(default, skip_serializing_if = "is_false")]
    pub confirm: bool,
    /// The agent's permission mode by the agent's name, such as `auto`; determines which requests
    /// are left to the agent. `None` counts as `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(max_length = 500))]
    pub permission_mode: Option<String>,
    /// The minimum of terminal input with which the agent could run other commands, because it has
    /// a tool that types into a running program without asking: a command that accepts as much
    /// needs approval. `None` if the agent has no such tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types_into_programs: Option<TerminalInput>,
    /// The file access of a tool that is not a shell; without it, the request is a shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileAccess>,
    /// The host that a command connects to; `command` describes the access then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkAccess>,
    /// The tool of an MCP server; `command` describes the call then, unless the tool runs a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpCall>,
    /// The tool of the agent that runs no command and names no file; `command` describes the call then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<AgentTool>,
    /// The changes that the tool in `file` would make. They are shown with the question if the
    /// operator has to answer it, and are not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<FileChanges>,
    /// Names of the variables with which the command starts that hold secrets; `None` if they are
    /// unknown. Used if the caller proves that it is a process of the same user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_variables: Option<Vec<String>>,
    /// Sources that the classifier may read in `cwd`, besides the text of the command. Not part of the
    /// JSON: only the process that receives a request knows where it comes from.
    #[serde(skip)]
    #[cfg_attr(feature = "http", schema(ignore))]
    pub sight: Sight,
}

/// Sources that the classifier may read, besides the text of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sight {
    /// Nothing: the text alone decides.
    #[default]
    Text,
    /// Files: the command would run on this machine, as the user of this process.
    Files,
    /// Files, and the variables of this process: the command would inherit them.
    FilesAndVariables,
}

impl PermissionRequest {
    /// Creates a request with only a shell command.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }

    /// Returns `true` if `command` is a shell command, and no description of another request.
    pub(crate) fn is_command(&self) -> bool {
        self.file.is_none()
            && self.network.is_none()
            && self.tool.is_none()
            && self.described_mcp_call().is_none()
    }

    /// Returns the call of a tool of an MCP server that `command` describes, unless the tool runs a
    /// command.
    pub(crate) fn described_mcp_call(&self) -> Option<&McpCall> {
        self.mcp.as_ref().filter(|call| !call.runs_command)
    }

    /// Returns `true` if the agent could type commands into a program that the command starts.
    pub(crate) fn can_type_into(&self, found: &Classification) -> bool {
        self.types_into_programs
            .is_some_and(|least| found.terminal_input >= least)
    }
}

/// Access to files by a tool that is not a shell.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAccess {
    /// The tool, by the agent's name.
    pub tool: String,
    /// Effect on the files.
    pub effect: Crud,
    /// The files, as the agent names them: absolute, or relative to the request's directory.
    #[cfg_attr(feature = "http", schema(value_type = Vec<String>))]
    pub paths: Vec<PathBuf>,
    /// SHA-256 of all arguments of the tool, in hexadecimal: an approval applies to these arguments
    /// only. Without it, an approval applies to every use of the tool on these files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_hash: Option<String>,
}

/// Access to the network that an agent requests, separate from the command that needs it.
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
    /// command itself would be allowed, because the model writes the text that names the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(max_length = 10000))]
    pub command: Option<String>,
}

impl NetworkAccess {
    /// Parses a target such as `https://example.com:443`, with or without scheme and port. A text
    /// that is not a target becomes the host unchanged, which no rule for hosts matches.
    #[must_use]
    pub fn from_target(target: &str) -> Self {
        let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
        let port = |text: &str| text.parse().ok();
        let (host, port) = match rest.rsplit_once(':') {
            // An IPv6 address without a port contains colons.
            Some((host, number)) if !host.contains(':') || host.ends_with(']') => {
                match port(number) {
                    Some(port) => (host, Some(port)),
                    None => (rest, None),
                }
            }
            _ => (rest, None),
        };
        let host: String = host.chars().take(MAX_NAME_CHARS).collect();
        Self {
            host: host.to_lowercase(),
            port,
            command: None,
        }
    }

    /// Returns `true` if a command in the trail describes a network access.
    pub(crate) fn is_described_by(command: &str) -> bool {
        command.starts_with(NETWORK_ACCESS)
    }
}

/// Start of the description of a network access.
const NETWORK_ACCESS: &str = "network access to ";

impl fmt::Display for NetworkAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NETWORK_ACCESS}{}", self.host)?;
        match self.port {
            Some(port) => write!(f, " port {port}"),
            None => Ok(()),
        }
    }
}

/// A tool of an agent that runs no command and names no file, such as one that makes a prompt run later.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTool {
    /// The tool, by the agent's name, of at most 500 characters.
    #[cfg_attr(feature = "http", schema(max_length = 500))]
    pub name: String,
    /// The effect of the tool; `None` if the tool is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<AgentToolEffect>,
    /// SHA-256 of all arguments, in hexadecimal: an approval applies to these arguments only.
    pub input_hash: String,
}

/// Effect of a tool of an agent.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentToolEffect {
    /// The tool fetches these addresses.
    Fetches(Vec<String>),
    /// The tool does something that needs approval: a phrase such as "makes a prompt that runs later", of
    /// at most 500 characters.
    Does(String),
}

/// A call of a tool of an MCP server.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpCall {
    /// The server and the tool. Some agents join both names without a clear boundary; then every way
    /// to read the name is listed. A rule that allows the call has to match all of them, a rule that
    /// asks or denies one.
    #[cfg_attr(feature = "http", schema(min_items = 1, max_items = 500))]
    pub tools: Vec<McpTool>,
    /// `true` if the arguments have a `command` text, which is classified as a shell command.
    #[serde(default, skip_serializing_if = "is_false")]
    pub runs_command: bool,
    /// SHA-256 of all arguments, in hexadecimal: an approval applies to these arguments only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_hash: Option<String>,
}

/// A tool of an MCP server.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpTool {
    /// The server, by the agent's name for it.
    #[cfg_attr(feature = "http", schema(max_length = 500))]
    pub server: String,
    /// The tool, by the server's name for it.
    #[cfg_attr(feature = "http", schema(max_length = 500))]
    pub tool: String,
}

/// Start of the description of a call of a tool of an MCP server.
const MCP_TOOL: &str = "MCP tool ";

impl McpTool {
    /// Returns the description of a call of this tool, without its arguments.
    pub(crate) fn description(&self) -> String {
        Self::description_of(&format!("{}/{}", self.server, self.tool))
    }

    /// Returns the description of a call of a tool with this name.
    pub(crate) fn description_of(name: &str) -> String {
        format!("{MCP_TOOL}{name}")
    }

    /// Returns the name of the tool in a command in the trail that describes a call of a tool of an
    /// MCP server: `SERVER/TOOL`, or the agent's name.
    pub(crate) fn described_name(command: &str) -> Option<&str> {
        let rest = command.strip_prefix(MCP_TOOL)?;
        Some(rest.split_once(" {").map_or(rest, |(name, _)| name))
    }
}

/// A part of a command and its effect. Positions count characters.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPart {
    /// Start position.
    pub start: u32,
    /// End position: that of the first character after the part.
    pub end: u32,
    /// Effect of the part.
    pub effect: Crud,
    /// `true` if the part determines the class of the whole command.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decided: bool,
}

/// Decision about a [`PermissionRequest`].
///
/// In JSON, the response to `POST /api/hooks/permission-request`; `id`, `secret`, `denied`,
/// `approved`, `left_to_agent`, `names_tool`, `hidden_code` and `rule` are additions.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "http", schema(as = Ruling))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermissionDecision {
    /// Whether the request requires confirmation.
    pub decision: Decision,
    /// The strongest effect.
    pub classification: Crud,
    /// The reason, in one sentence.
    pub reasoning: String,
    /// Probability that the class is correct, 0 to 1.
    pub confidence: f64,
    /// Detailed explanation, for people.
    pub explanation: String,
    /// How the class was determined.
    pub classification_method: Method,
    /// Time of the decision.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub timestamp: Timestamp,
    /// Id in the audit trail; `None` without a trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Secret for reporting that the command ran; known only to the requesting client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// `true` if a rule, a hook or the setting for MCP tools that no rule names denies the request; it
    /// cannot be approved then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub denied: bool,
    /// `true` if the request was approved earlier.
    #[serde(default, skip_serializing_if = "is_false")]
    pub approved: bool,
    /// `true` if the decision is left to the agent because of the setting for its permission mode, or
    /// because no rule names the MCP tool. The guard asks neither the operator nor, through the
    /// agent, its user.
    #[serde(default, skip_serializing_if = "is_false")]
    pub left_to_agent: bool,
    /// `true` if the rule that allows the request names its MCP tool.
    #[serde(default, skip_serializing_if = "is_false")]
    pub names_tool: bool,
    /// `true` if text runs that the trail hides as a secret: the operator cannot see it, and so
    /// cannot approve the command. An agent with its own prompt shows the whole command.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden_code: bool,
    /// `true` if the classification exceeded its time limit; used only by the service.
    #[serde(skip)]
    pub timed_out: bool,
    /// The rule that decided, if one did: its place, such as `guard.toml:12`; or the hook, as
    /// `hook: nightly.js`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl PermissionDecision {
    /// Returns the class and the reasoning as one text.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("{}: {}", self.classification, self.reasoning)
    }

    /// Appends a clause to the reasoning.
    pub fn add_clause(&mut self, clause: impl fmt::Display) {
        self.reasoning = format!("{}; {clause}", self.reasoning);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(value: &bool) -> bool {
    !value
}
