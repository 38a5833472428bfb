//! Data types of the hook protocols. In: nothing; plain data. Out: events, questions and answers,
//! with the hook that they belong to.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::agent::Agent;
use super::description::{HookKind, ReplyFormat};
use crate::classify::Decision;
use crate::request::{PermissionDecision, PermissionRequest};

/// Maximum length of a text in a reply, in characters.
pub const MAX_TEXT_CHARS: usize = 4_000;

/// An event that an agent reports by calling its hook.
#[derive(Clone, Debug, PartialEq)]
pub enum HookEvent {
    /// The agent is about to use a tool.
    Ask(DecisionRequest),
    /// A tool ran.
    Ran(ToolRun),
    /// The agent itself denied a tool call.
    Refused(AgentDenial),
    /// There is nothing to decide: [`empty_reply`](super::empty_reply) is the reply.
    Nothing {
        /// The hook that was called.
        hook: AgentHook,
        /// Reason why there is nothing to decide, such as ``the tool `WebFetch` is not checked``.
        why: String,
    },
}

impl HookEvent {
    /// Returns the hook that was called.
    #[must_use]
    pub fn hook(&self) -> AgentHook {
        match self {
            Self::Ask(DecisionRequest { hook, .. })
            | Self::Ran(ToolRun { hook, .. })
            | Self::Refused(AgentDenial { hook, .. })
            | Self::Nothing { hook, .. } => *hook,
        }
    }

    /// Returns the directory of the tool call, if the event names one.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        let request = match self {
            Self::Ask(question) => &question.request,
            Self::Ran(ran) => &ran.request,
            Self::Refused(refused) => &refused.request,
            Self::Nothing { .. } => return None,
        };
        request.cwd.as_deref()
    }
}

/// A hook of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentHook {
    /// The agent that sent the input.
    pub agent: Agent,
    /// When the agent calls the hook.
    pub kind: HookKind,
    pub(crate) form: ReplyFormat,
}

/// Reaction of the agent to [`AgentDecision::Ask`]: with or without a prompt for its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentPrompt {
    /// The agent shows its prompt, or has it open already.
    Shown,
    /// The agent has no prompt for this hook, or none in its current mode. An [`AgentDecision::Ask`]
    /// becomes a denial unless the operator approves.
    Unavailable,
    /// The agent has a prompt, but no user is at the keyboard to answer it. An [`AgentDecision::Ask`]
    /// becomes a denial unless the operator approves.
    Unattended,
}

/// A request to decide about a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRequest {
    /// The hook that was called.
    pub hook: AgentHook,
    /// The request. A command for PowerShell is given as `pwsh -Command '…'`.
    pub request: PermissionRequest,
    /// Prompt of the agent.
    pub prompt: AgentPrompt,
    /// `true` if the tool is missing in the table of tools: it is a tool of an MCP server, or was
    /// classified by its `command` text. Such a tool may do more than run the command, so a decision
    /// allows it only by a rule that names the tool; the operator may allow it.
    pub unlisted_tool: bool,
    /// Input of the tool, for [`edits`](Self::edits).
    pub(super) arguments: Map<String, Value>,
}

impl DecisionRequest {
    /// Returns `true` if no prompt of the agent reaches a user, so that the operator has to answer,
    /// and the request is denied if no service runs.
    #[must_use]
    pub fn unattended(&self) -> bool {
        self.prompt != AgentPrompt::Shown
    }

    /// Records that no user is at the keyboard, so that the agent's prompt reaches no one.
    pub fn set_unattended(&mut self) {
        if self.prompt == AgentPrompt::Shown {
            self.prompt = AgentPrompt::Unattended;
        }
    }
}

/// The agent itself denied a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDenial {
    /// The hook that was called.
    pub hook: AgentHook,
    /// The denied request. Its `session_id` and `call_id` identify the decision.
    pub request: PermissionRequest,
    /// The agent's reason, in at most [`MAX_TEXT_CHARS`] characters.
    pub reason: String,
}

/// A tool ran.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// The hook that was called.
    pub hook: AgentHook,
    /// The request. Its `session_id` and `call_id` identify the decision; for agents without a
    /// `call_id` (Cursor, Gemini, Copilot), its command and directory do.
    pub request: PermissionRequest,
    /// Result of the tool.
    pub outcome: ToolOutcome,
}

/// Result of a tool that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutcome {
    /// `true` if it succeeded; `None` if the agent does not report this.
    pub succeeded: Option<bool>,
    /// Exit status, if the agent reports it.
    pub exit_status: Option<i64>,
    /// The agent's error message, in at most [`MAX_TEXT_CHARS`] characters.
    pub error: Option<String>,
}

/// Answer for the agent, with the displayed reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentDecision {
    /// The tool may run.
    Allow(String),
    /// The tool needs confirmation.
    Ask(String),
    /// The tool must not run.
    Deny(String),
    /// No decision: the agent behaves as without the hook.
    Nothing,
}

/// End of the reason of a denied request, for the agent's model: a model often tries the same in
/// another way.
pub const DENIED: &str =
    "denied by hooks-guard; do not retry it in another form, ask the user instead";

impl AgentDecision {
    /// Converts a decision to the answer to a question.
    ///
    /// Access to files or to the network that no rule allows is left to the agent instead of
    /// allowed, and so is a tool that is not in the table of tools. PowerShell, of which the
    /// classifier knows only the verbs, needs confirmation unless a rule or an approval allows it.
    #[must_use]
    pub fn of(question: &DecisionRequest, permission: &PermissionDecision) -> Self {
        let reason = permission.reason();
        if permission.denied {
            return AgentDecision::Deny(format!("{reason}; {DENIED}"));
        }
        if permission.left_to_agent {
            return AgentDecision::Nothing;
        }
        let request = &question.request;
        let is_described = request.described_mcp_call().is_some() || request.tool.is_some();
        match permission.decision {
            Decision::AutoAllowed if permission.names_tool => AgentDecision::Allow(reason),
            Decision::AutoAllowed if permission.approved && is_described => {
                AgentDecision::Allow(reason)
            }
            Decision::AutoAllowed if question.unlisted_tool => AgentDecision::Nothing,
            Decision::AutoAllowed if permission.rule.is_some() => AgentDecision::Allow(reason),
            Decision::AutoAllowed if request.file.is_some() || request.network.is_some() => {
                AgentDecision::Nothing
            }
            Decision::AutoAllowed if permission.approved || !request.confirm => {
                AgentDecision::Allow(reason)
            }
            _ => AgentDecision::Ask(reason),
        }
    }
}

/// Resolves a directory that may be relative to another.
pub(crate) fn directory(base: Option<PathBuf>, below: Option<&str>) -> Option<PathBuf> {
    let below = below.filter(|below| !below.is_empty());
    match (base, below) {
        (Some(base), Some(below)) => Some(base.join(below)),
        (Some(base), None) => Some(base),
        (None, below) => below.map(PathBuf::from).filter(|path| path.is_absolute()),
    }
}
