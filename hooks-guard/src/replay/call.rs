//! Calls in transcripts. In: the findings of a reader. Out: calls with their results. Plain data.

use std::collections::VecDeque;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::protocol::Agent;
use crate::request::McpTool;

/// Maximum number of calls without a result that are held. A transcript with more has lost results.
const MAX_OPEN: usize = 1_000;

/// A tool call in a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptCall {
    /// The agent.
    pub agent: Agent,
    /// The agent's id of the session.
    pub session: String,
    /// The agent's id of the call.
    pub id: Option<String>,
    /// Time of the call.
    pub at: Option<Timestamp>,
    /// Directory in which the agent worked.
    pub cwd: Option<PathBuf>,
    /// Permission mode by the agent's name, if the transcript has it.
    pub mode: Option<String>,
    /// The tool, by the name that the agent sends to its hook.
    pub tool: String,
    /// Arguments of the tool, as the agent sends them to its hook.
    pub arguments: Value,
    /// The tool of an MCP server, if the transcript names server and tool apart.
    pub mcp: Option<McpTool>,
    /// Result of the call.
    pub result: CallResult,
    /// Decision of the agent or its user, if the transcript shows it.
    pub permission: ClientPermission,
}

impl TranscriptCall {
    /// Returns a call without its circumstances.
    pub(super) fn new(agent: Agent, session: &str, tool: &str) -> Self {
        Self {
            agent,
            session: session.to_owned(),
            id: None,
            at: None,
            cwd: None,
            mode: None,
            tool: tool.to_owned(),
            arguments: Value::Null,
            mcp: None,
            result: CallResult::default(),
            permission: ClientPermission::default(),
        }
    }
}

/// Result of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallResult {
    /// The transcript has no result.
    #[default]
    Unknown,
    /// The tool ran.
    Ran,
    /// The tool ran and failed.
    Failed,
    /// The tool did not run.
    NotRun,
}

impl CallResult {
    /// Returns `true` if the tool ran, with success or without.
    #[must_use]
    pub fn ran(self) -> bool {
        matches!(self, Self::Ran | Self::Failed)
    }
}

/// Decision of the agent or its user about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientPermission {
    /// The transcript does not show it.
    #[default]
    Unknown,
    /// The agent did not ask its user.
    NotAsked,
    /// The user approved the call in the agent's prompt.
    Approved,
    /// The user rejected the call in the agent's prompt.
    Rejected,
    /// The agent refused the call itself.
    Refused,
}

/// Calls of one transcript, each held until its result is read.
#[derive(Debug, Default)]
pub(super) struct CallBuffer {
    open: VecDeque<TranscriptCall>,
    complete: VecDeque<TranscriptCall>,
}

impl CallBuffer {
    /// Adds a call whose result follows.
    pub(super) fn start(&mut self, call: TranscriptCall) {
        if self.open.len() == MAX_OPEN {
            self.complete.extend(self.open.pop_front());
        }
        self.open.push_back(call);
    }

    /// Adds a call with its result.
    pub(super) fn add(&mut self, call: TranscriptCall) {
        self.complete.push_back(call);
    }

    /// Returns the call with this id that waits for its result.
    pub(super) fn waiting(&mut self, id: &str) -> Option<&mut TranscriptCall> {
        let mut open = self.open.iter_mut().rev();
        open.find(|call| call.id.as_deref() == Some(id))
    }

    /// Completes the call with this id.
    pub(super) fn finish(&mut self, id: &str, result: CallResult, permission: ClientPermission) {
        let place = (self.open.iter()).rposition(|call| call.id.as_deref() == Some(id));
        if let Some(mut call) = place.and_then(|place| self.open.remove(place)) {
            call.result = result;
            if permission != ClientPermission::Unknown {
                call.permission = permission;
            }
            self.complete.push_back(call);
        }
    }

    /// Completes every call; the transcript has no more results.
    pub(super) fn close(&mut self) {
        self.complete.append(&mut self.open);
    }

    /// Returns the next complete call.
    pub(super) fn next(&mut self) -> Option<TranscriptCall> {
        self.complete.pop_front()
    }
}
