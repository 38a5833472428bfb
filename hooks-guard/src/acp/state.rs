//! The open requests and the sessions of one connection. In: requests, responses and cancellations.
//! Out: which of them belong together.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use serde_json::Value;
use tokio::sync::oneshot;

use super::approved::{ApprovedChanges, WholeChange};
use super::decide::{DecisionRecord, RecordKey, RequestOutcome};
use super::message::MessageId;
use super::options::PermissionOptions;
use super::tool_calls::{ToolCallKey, ToolCalls};

/// Maximum number of open requests of one side.
const MAX_OPEN_REQUESTS: usize = 10_000;
/// Maximum number of requests of the agent that wait for an answer of a person.
const MAX_HELD_REQUESTS: usize = 64;
/// Maximum number of sessions whose directory is known.
const MAX_SESSIONS: usize = 1_000;
/// Maximum number of allowed tool calls whose end is awaited.
const MAX_ALLOWED_CALLS: usize = 1_000;

/// State of one connection.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Requests of the agent that have no decision yet.
    held: HashMap<MessageId, HeldRequest>,
    /// Requests of the agent that the client has.
    from_agent: HashMap<MessageId, Option<PassedRequest>>,
    /// Requests of the client that the agent has.
    from_client: HashMap<MessageId, ClientRequest>,
    /// Requests of the proxy that the client has.
    own: HashMap<String, oneshot::Sender<Value>>,
    sessions: SessionDirectories,
    /// Allowed tool calls that the agent has not ended yet; the oldest are forgotten.
    allowed_calls: VecDeque<AllowedCall>,
    /// Tool calls that the agent has described, and that have not ended.
    pub(super) tool_calls: ToolCalls,
    /// Approved changes of files that the client has not written yet.
    pub(super) approved_changes: ApprovedChanges,
    /// Name in the agent's response to `initialize`.
    pub(super) agent_name: Option<String>,
    /// `true` if the agent has chosen version 2 of the protocol.
    pub(super) is_version_2: bool,
}

/// A request of the agent that has no decision yet.
#[derive(Debug)]
pub(super) struct HeldRequest {
    pub(super) session_id: String,
    pub(super) is_permission: bool,
    /// Dropped when the request is cancelled.
    _cancel: oneshot::Sender<()>,
}

/// A request of the agent that the client answers.
#[derive(Debug)]
pub(super) struct PassedRequest {
    pub(super) record: DecisionRecord,
    /// The options of a permission request.
    pub(super) options: Option<PermissionOptions>,
    /// The change of a file that a permission request shows.
    pub(super) change: Option<WholeChange>,
}

/// A tool call that the agent may run.
#[derive(Debug)]
struct AllowedCall {
    call: ToolCallKey,
    record: RecordKey,
}

/// A request of the client whose response the proxy reads.
#[derive(Clone, Debug)]
pub(super) enum ClientRequest {
    Initialize,
    /// Creates a session in this directory.
    NewSession(PathBuf),
    Other,
}

/// Reason why a request has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The id belongs to an open request.
    DuplicateId,
    /// There are too many open requests.
    TooMany,
}

impl Full {
    pub(super) fn problem(self) -> &'static str {
        match self {
            Self::DuplicateId => "the id belongs to an open request",
            Self::TooMany => "too many open requests; wait for responses",
        }
    }
}

impl State {
    /// Holds a request of the agent until it has a decision. Returns the receiver that ends when
    /// the request is cancelled.
    pub(super) fn hold(
        &mut self,
        id: &MessageId,
        session_id: &str,
        is_permission: bool,
    ) -> Result<oneshot::Receiver<()>, Full> {
        self.check_agent_id(id)?;
        if self.held.len() >= MAX_HELD_REQUESTS {
            return Err(Full::TooMany);
        }
        let (cancel, cancelled) = oneshot::channel();
        let held = HeldRequest {
            session_id: session_id.to_owned(),
            is_permission,
            _cancel: cancel,
        };
        self.held.insert(id.clone(), held);
        Ok(cancelled)
    }

    /// Returns the number of held requests, and of open requests of the agent and of the client.
    #[cfg(any(test, fuzzing))]
    pub(super) fn open_requests(&self) -> [usize; 3] {
        let Self {
            held,
            from_agent,
            from_client,
            ..
        } = self;
        [held.len(), from_agent.len(), from_client.len()]
    }

    /// Takes a held request; `None` if it was cancelled.
    pub(super) fn release(&mut self, id: &MessageId) -> Option<HeldRequest> {
        self.held.remove(id)
    }

    /// Takes the held requests of a session; of all sessions without one.
    pub(super) fn release_session(
        &mut self,
        session: Option<&str>,
    ) -> Vec<(MessageId, HeldRequest)> {
        let is_of = |held: &HeldRequest| session.is_none_or(|id| held.session_id == id);
        self.held.extract_if(|_, held| is_of(held)).collect()
    }

    /// Registers a request of the agent that is passed to the client.
    pub(super) fn pass(
        &mut self,
        id: &MessageId,
        passed: Option<PassedRequest>,
    ) -> Result<(), Full> {
        self.check_agent_id(id)?;
        self.from_agent.insert(id.clone(), passed);
        Ok(())
    }

    fn check_agent_id(&self, id: &MessageId) -> Result<(), Full> {
        let is_own = matches!(id, MessageId::Text(text) if self.own.contains_key(text));
        if is_own || self.held.contains_key(id) || self.from_agent.contains_key(id) {
            return Err(Full::DuplicateId);
        }
        match self.from_agent.len() < MAX_OPEN_REQUESTS {
            true => Ok(()),
            false => Err(Full::TooMany),
        }
    }

    /// Takes a request of the agent that the client answers; `None` if there is none.
    pub(super) fn answered_by_client(&mut self, id: &MessageId) -> Option<Option<PassedRequest>> {
        self.from_agent.remove(id)
    }

    /// Registers a request of the client that is passed to the agent.
    pub(super) fn request_of_client(
        &mut self,
        id: &MessageId,
        request: ClientRequest,
    ) -> Result<(), Full> {
        if self.from_client.contains_key(id) {
            return Err(Full::DuplicateId);
        }
        if self.from_client.len() >= MAX_OPEN_REQUESTS {
            return Err(Full::TooMany);
        }
        self.from_client.insert(id.clone(), request);
        Ok(())
    }

    /// Takes a request of the client that the agent answers; `None` if there is none.
    pub(super) fn answered_by_agent(&mut self, id: &MessageId) -> Option<ClientRequest> {
        self.from_client.remove(id)
    }

    /// Registers a request of the proxy. Returns the receiver of its response.
    pub(super) fn own_request(&mut self, id: String) -> oneshot::Receiver<Value> {
        let (send, receive) = oneshot::channel();
        self.own.insert(id, send);
        receive
    }

    /// Takes a request of the proxy; `None` if it was cancelled.
    pub(super) fn take_own(&mut self, id: &str) -> Option<oneshot::Sender<Value>> {
        self.own.remove(id)
    }

    /// Adds an allowed tool call of a permission request, whose end the agent may report.
    pub(super) fn add_allowed_call(&mut self, record: &DecisionRecord) {
        let (Some(session_id), Some(call_id)) =
            (&record.request.session_id, &record.request.call_id)
        else {
            return;
        };
        let call = ToolCallKey {
            session_id: session_id.clone(),
            call_id: call_id.clone(),
        };
        let record = record.key.clone();
        self.allowed_calls.push_back(AllowedCall { call, record });
        if self.allowed_calls.len() > MAX_ALLOWED_CALLS {
            self.allowed_calls.pop_front();
        }
    }

    /// Forgets a tool call that has ended, and takes the decisions about it.
    pub(super) fn end_call(&mut self, call: &ToolCallKey) -> Vec<RecordKey> {
        self.tool_calls.forget(call);
        let mut ended = Vec::new();
        self.allowed_calls.retain(|allowed| {
            let is_ended = allowed.call == *call;
            if is_ended {
                ended.push(allowed.record.clone());
            }
            !is_ended
        });
        ended
    }

    /// Records the directory of a session.
    pub(super) fn add_session(&mut self, id: &str, cwd: PathBuf) {
        self.sessions.add(id, cwd);
    }

    /// Returns the directory of a session.
    pub(super) fn directory(&self, session: &str) -> Option<PathBuf> {
        self.sessions.directories.get(session).cloned()
    }
}

impl PassedRequest {
    /// Returns the answer of the client's user to a permission request; `None` if there is none.
    pub(super) fn answer(
        options: &PermissionOptions,
        response: Option<&Value>,
    ) -> Option<RequestOutcome> {
        let outcome = &response?["outcome"];
        match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
            (Some("selected"), Some(id)) if options.allows(id) => {
                Some(RequestOutcome::AllowedByUser)
            }
            (Some("selected"), Some(_)) => Some(RequestOutcome::DeniedByUser),
            (Some("cancelled"), _) => Some(RequestOutcome::Cancelled),
            _ => None,
        }
    }
}

/// Directories of the sessions; the oldest are forgotten.
#[derive(Debug, Default)]
struct SessionDirectories {
    directories: HashMap<String, PathBuf>,
    order: VecDeque<String>,
}

impl SessionDirectories {
    fn add(&mut self, id: &str, cwd: PathBuf) {
        if self.directories.insert(id.to_owned(), cwd).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > MAX_SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.directories.remove(&oldest);
        }
    }
}
