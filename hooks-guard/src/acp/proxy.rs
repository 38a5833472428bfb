//! Passes the messages of a client and an agent on. In: their streams and a gate. Out: the same
//! messages, without the requests of the agent that the gate denies.
//!
//! Each side has one task that reads, and one that writes. A request of the agent that needs a
//! decision is decided before the next message of the agent is read, so allowed requests keep their
//! order. A request that waits for a person is held aside, and the next messages pass it.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_runtime::display::{escape, shorten};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::oneshot;

use super::agents::reads_errors;
use super::approved::WholeChange;
use super::decide::{
    DecidedRequest, DecisionRecord, OperatorDecision, RequestDecision, RequestGate, RequestOutcome,
};
use super::lines::{Line, MAX_LINE_BYTES, Outbox, outbox, read_line};
use super::message::{
    self, BrokenMessage, Envelope, MessageId, code, error_reply, is_blank, result_reply,
};
use super::options;
use super::requests::{self, AgentRequest, RequestKind, needs_decision, shortened};
use super::state::{ClientRequest, Full, HeldRequest, PassedRequest, State};
use super::tool_calls::ToolCallKey;
use crate::protocol::MAX_INPUT_BYTES;
use crate::random::random;
use crate::request::MAX_PATH_CHARS;

/// Maximum length of a reason in a response, in characters.
const MAX_REASON_CHARS: usize = 4_000;

/// The proxy of one connection.
#[derive(Debug)]
pub struct Proxy<G> {
    shared: Arc<Shared<G>>,
}

#[derive(Debug)]
struct Shared<G> {
    gate: Arc<G>,
    state: Mutex<State>,
    to_agent: Outbox,
    to_client: Outbox,
    /// Start of the ids of the proxy's own requests, which no side can guess.
    id_prefix: String,
}

/// The tasks of a proxy. Each future ends with its stream.
#[derive(Debug)]
pub struct ProxyTasks<A, B, C, D> {
    /// Reads the agent. Ends when the agent closes its output.
    pub read_agent: A,
    /// Reads the client. Ends when the client closes its output.
    pub read_client: B,
    /// Writes to the agent. Ends when the client has closed its output, or the agent its input.
    pub write_agent: C,
    /// Writes to the client. Ends when the agent has closed its output, or the client its input.
    pub write_client: D,
}

impl<G: RequestGate> Proxy<G> {
    /// Creates a proxy that asks `gate`, and its tasks.
    pub fn new<AR, AW, CR, CW>(
        gate: Arc<G>,
        (from_agent, to_agent): (AR, AW),
        (from_client, to_client): (CR, CW),
    ) -> (
        Self,
        ProxyTasks<
            impl Future<Output = ()> + Send + use<G, AR, AW, CR, CW>,
            impl Future<Output = ()> + Send + use<G, AR, AW, CR, CW>,
            impl Future<Output = io::Result<()>> + Send + use<G, AR, AW, CR, CW>,
            impl Future<Output = io::Result<()>> + Send + use<G, AR, AW, CR, CW>,
        >,
    )
    where
        AR: AsyncBufRead + Unpin + Send + 'static,
        AW: AsyncWrite + Unpin + Send + 'static,
        CR: AsyncBufRead + Unpin + Send + 'static,
        CW: AsyncWrite + Unpin + Send + 'static,
    {
        let (to_agent, agent_writer) = outbox(to_agent);
        let (to_client, client_writer) = outbox(to_client);
        let shared = Arc::new(Shared {
            gate,
            state: Mutex::default(),
            to_agent,
            to_client,
            id_prefix: format!("hooks-guard-{}-", random::<16>()),
        });
        let proxy = Self {
            shared: Arc::clone(&shared),
        };
        let tasks = ProxyTasks {
            read_agent: read_agent(Arc::clone(&shared), from_agent),
            read_client: read_client(shared, from_client),
            write_agent: agent_writer.run(),
            write_client: client_writer.run(),
        };
        (proxy, tasks)
    }

    /// Returns the number of held requests, and of open requests of the agent and of the client.
    #[cfg(any(test, fuzzing))]
    pub(super) fn open_requests(&self) -> [usize; 3] {
        self.shared.state().open_requests()
    }

    /// Cancels the held requests, and closes the agent's input.
    pub async fn close_agent(&self, reason: &str) {
        self.shared.cancel(None, reason).await;
        self.shared.to_agent.close().await;
    }
}

/// A side of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Agent,
    Client,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Client => "client",
        })
    }
}

/// Who allowed a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllowedBy {
    /// The rules or the classifier.
    Guard,
    Operator,
}

async fn read_agent<G: RequestGate>(shared: Arc<Shared<G>>, mut from: impl AsyncBufRead + Unpin) {
    while let Some(line) = shared.next(Side::Agent, &mut from).await {
        shared.from_agent(line).await;
    }
    shared.to_client.close().await;
}

async fn read_client<G: RequestGate>(shared: Arc<Shared<G>>, mut from: impl AsyncBufRead + Unpin) {
    while let Some(line) = shared.next(Side::Client, &mut from).await {
        shared.from_client(line).await;
    }
    shared
        .cancel(None, "the client has closed the connection")
        .await;
    shared.to_agent.close().await;
}

impl<G: RequestGate> requests::Connection for Shared<G> {
    fn directory(&self, session: &str) -> Option<PathBuf> {
        self.state().directory(session)
    }

    fn complete(&self, session: &str, call: &mut Map<String, Value>) -> bool {
        let Some(id) = call.get("toolCallId").and_then(Value::as_str) else {
            return false;
        };
        let key = ToolCallKey {
            session_id: shortened(session),
            call_id: shortened(id),
        };
        self.state().tool_calls.complete(&key, call)
    }
}

impl<G: RequestGate> Shared<G> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to(&self, side: Side) -> &Outbox {
        match side {
            Side::Agent => &self.to_agent,
            Side::Client => &self.to_client,
        }
    }

    /// Returns the next line of a side that is a message; `None` at the end.
    async fn next(&self, side: Side, from: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
        loop {
            let line = read_line(from, MAX_LINE_BYTES).await;
            let line = line.unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot read the {side}");
                Line::End
            });
            let problem = match line {
                Line::Whole(line) if is_blank(&line) => continue,
                Line::Whole(line) => return Some(line),
                Line::End => return None,
                Line::Unfinished => BrokenMessage::new(
                    code::PARSE_ERROR,
                    "the stream ended inside a message; end each message with a line break",
                ),
                Line::TooLong => BrokenMessage::new(
                    code::INVALID_REQUEST,
                    format!("the message is longer than {MAX_LINE_BYTES} bytes"),
                ),
            };
            self.reject(side, problem).await;
        }
    }

    /// Reports a broken message to its sender. If it is a response, the other side gets an error in
    /// its place.
    async fn reject(&self, from: Side, broken: BrokenMessage) {
        tracing::warn!(problem = %escape(&broken.problem), "broken message of the {from}");
        self.to(from).reply(broken.reply()).await;
        let Some(id) = broken.id.filter(|_| broken.is_response) else {
            return;
        };
        let (is_open, receiver) = match from {
            Side::Agent => (
                self.state().answered_by_agent(&id).is_some(),
                &self.to_client,
            ),
            Side::Client => (
                self.state().answered_by_client(&id).is_some(),
                &self.to_agent,
            ),
        };
        if is_open {
            let error = error_reply(Some(&id), code::INTERNAL_ERROR, "the response is broken");
            receiver.reply(error).await;
        }
        if let MessageId::Text(id) = &id {
            // Dropping the sender ends the question without an approval.
            drop(self.state().take_own(id));
        }
    }

    /// Handles a message of the agent.
    async fn from_agent(self: &Arc<Self>, line: Vec<u8>) {
        let envelope = match message::read(&line) {
            Ok(envelope) => envelope,
            Err(broken) => return self.reject(Side::Agent, broken).await,
        };
        match envelope {
            Envelope::Request { id, method } if needs_decision(&method) => {
                self.decide(id, &method, line).await;
            }
            Envelope::Request { id, .. } => {
                let passed = self.state().pass(&id, None);
                match passed {
                    Ok(()) => {
                        self.to_client.pass(line).await;
                    }
                    Err(full) => self.reject_full(Side::Agent, id, full).await,
                }
            }
            Envelope::Notification { method } if needs_decision(&method) => {
                let problem = format!("`{method}` without an id");
                let broken = BrokenMessage::new(code::INVALID_REQUEST, problem);
                self.reject(Side::Agent, broken).await;
            }
            Envelope::Notification { method } => {
                if method == CANCEL_REQUEST && self.cancel_request(&line).await {
                    return;
                }
                if method == SESSION_UPDATE {
                    self.read_update(&line).await;
                }
                self.to_client.pass(line).await;
            }
            Envelope::Response { id, is_error } => {
                let request = id.and_then(|id| self.state().answered_by_agent(&id));
                if !is_error && let Some(request) = request {
                    self.read_response(request, &line);
                }
                self.to_client.pass(line).await;
            }
        }
    }

    /// Rejects a request that has no place.
    async fn reject_full(&self, from: Side, id: MessageId, full: Full) {
        // An error with the id of an open request would answer that request.
        let id = Some(id).filter(|_| full == Full::TooMany);
        let broken = BrokenMessage::new(code::INVALID_REQUEST, full.problem());
        self.reject(from, BrokenMessage { id, ..broken }).await;
    }

    /// Reads facts from a response of the agent.
    fn read_response(&self, request: ClientRequest, line: &[u8]) {
        if matches!(request, ClientRequest::Other) || line.len() > MAX_INPUT_BYTES {
            return;
        }
        let Ok(Some(result)) = message::result(line) else {
            return;
        };
        let mut state = self.state();
        match request {
            ClientRequest::Initialize => {
                let name = ["agentInfo", "info"].map(|key| result[key]["name"].as_str());
                let name = name
                    .into_iter()
                    .flatten()
                    .find(|name| !name.trim().is_empty());
                state.agent_name = name.map(|name| shorten(&escape(name), 100));
                state.is_version_2 = result["protocolVersion"].as_u64() == Some(2);
            }
            ClientRequest::NewSession(cwd) => {
                if let Some(session) = result["sessionId"].as_str() {
                    state.add_session(session, cwd);
                }
            }
            ClientRequest::Other => {}
        }
    }

    /// Remembers the tool call that a `session/update` of the agent describes, and reports its run if
    /// the update ends an allowed call.
    async fn read_update(&self, line: &[u8]) {
        if line.len() > MAX_INPUT_BYTES {
            return;
        }
        let Ok(UpdateMessage { params }) = message::parse(line) else {
            return;
        };
        let update = params.update;
        let call = ToolCallKey {
            session_id: shortened(&params.session_id),
            call_id: shortened(&update.tool_call_id),
        };
        let has_run = match update.status.as_deref() {
            Some("completed" | "failed") => true,
            Some("cancelled") => false,
            _ => {
                let is_new = update.session_update == "tool_call";
                let fields = update.fields;
                return self.state().tool_calls.describe(call, is_new, fields);
            }
        };
        let ended = self.state().end_call(&call);
        for key in ended.into_iter().filter(|_| has_run) {
            self.gate.report_run(key).await;
        }
    }

    /// Handles a message of the client.
    async fn from_client(self: &Arc<Self>, line: Vec<u8>) {
        let envelope = match message::read(&line) {
            Ok(envelope) => envelope,
            Err(broken) => return self.reject(Side::Client, broken).await,
        };
        match envelope {
            Envelope::Request { id, method } => {
                let request = self.read_request(&method, &line);
                let registered = self.state().request_of_client(&id, request);
                match registered {
                    Ok(()) => {
                        self.to_agent.pass(line).await;
                    }
                    Err(full) => self.reject_full(Side::Client, id, full).await,
                }
            }
            Envelope::Notification { method } => {
                if method == CANCEL_SESSION
                    && let Ok(Some(params)) = message::params(&line)
                    && let Some(session) = params["sessionId"].as_str()
                {
                    self.cancel(Some(session), "the turn was cancelled").await;
                }
                self.to_agent.pass(line).await;
            }
            Envelope::Response { id, is_error } => {
                if let Some(MessageId::Text(id)) = &id
                    && id.starts_with(&self.id_prefix)
                {
                    let sender = self.state().take_own(id);
                    let result = message::result(&line).ok().flatten();
                    // The receiver is gone if the request was cancelled; an error drops the sender.
                    if let (Some(sender), Some(result), false) = (sender, result, is_error) {
                        let _ = sender.send(result);
                    }
                    return;
                }
                let passed = id
                    .and_then(|id| self.state().answered_by_client(&id))
                    .flatten();
                if let Some(passed) = passed {
                    self.read_answer(passed, is_error, &line).await;
                }
                self.to_agent.pass(line).await;
            }
        }
    }

    /// Reports the response of the client to a request of the agent.
    async fn read_answer(&self, passed: PassedRequest, is_error: bool, line: &[u8]) {
        let PassedRequest {
            record,
            options,
            change,
        } = passed;
        let Some(options) = options else {
            if !is_error {
                self.gate.report_run(record.key).await;
            }
            return;
        };
        let result = message::result(line).ok().flatten();
        let Some(outcome) = PassedRequest::answer(&options, result.as_ref()) else {
            return;
        };
        if outcome == RequestOutcome::AllowedByUser {
            let mut state = self.state();
            state.add_allowed_call(&record);
            if let Some(change) = change {
                state.approved_changes.add(change);
            }
        }
        self.gate.report(record, outcome).await;
    }

    /// Reads facts from a request of the client.
    fn read_request(&self, method: &str, line: &[u8]) -> ClientRequest {
        let is_new = match method {
            "initialize" => return ClientRequest::Initialize,
            "session/new" | "session/fork" => true,
            "session/load" | "session/resume" => false,
            _ => return ClientRequest::Other,
        };
        if line.len() > MAX_INPUT_BYTES {
            return ClientRequest::Other;
        }
        let Ok(Some(params)) = message::params(line) else {
            return ClientRequest::Other;
        };
        let is_valid =
            |cwd: &&str| Path::new(cwd).is_absolute() && cwd.chars().count() <= MAX_PATH_CHARS;
        let Some(cwd) = params["cwd"].as_str().filter(is_valid) else {
            return ClientRequest::Other;
        };
        if is_new {
            return ClientRequest::NewSession(cwd.into());
        }
        if let Some(session) = params["sessionId"].as_str() {
            self.state().add_session(session, cwd.into());
        }
        ClientRequest::Other
    }

    /// Cancels the held requests of a session, or all.
    async fn cancel(&self, session: Option<&str>, reason: &str) {
        let released = {
            let mut state = self.state();
            if let Some(session) = session {
                state.approved_changes.forget(session);
            }
            state.release_session(session)
        };
        for (id, held) in released {
            self.reply_cancelled(&id, &held, reason).await;
        }
    }

    /// Cancels the held request that a `$/cancel_request` of the agent names. Returns `false` if the
    /// client has the request.
    async fn cancel_request(&self, line: &[u8]) -> bool {
        let params = message::params(line).ok().flatten().unwrap_or_default();
        let id = params.get("requestId").cloned().unwrap_or_default();
        let Ok(id) = serde_json::from_value::<MessageId>(id) else {
            return false;
        };
        let released = self.state().release(&id);
        let Some(held) = released else {
            return false;
        };
        self.reply_cancelled(&id, &held, "the agent has cancelled the request")
            .await;
        true
    }

    async fn reply_cancelled(&self, id: &MessageId, held: &HeldRequest, reason: &str) {
        let reply = match held.is_permission {
            true => result_reply(id, &options::cancelled(reason)),
            false => error_reply(Some(id), code::CANCELLED, reason),
        };
        self.to_agent.reply(reply).await;
    }

    /// Decides about a request of the agent.
    async fn decide(self: &Arc<Self>, id: MessageId, method: &str, line: Vec<u8>) {
        let read = match line.len() > MAX_INPUT_BYTES {
            true => {
                let problem = format!("the request is longer than {MAX_INPUT_BYTES} bytes");
                Err(BrokenMessage::new(code::INVALID_REQUEST, problem))
            }
            false => message::params(&line)
                .and_then(|params| requests::read(&id, method, params, self.as_ref())),
        };
        let mut request = match read {
            Ok(request) => request,
            Err(broken) => {
                let id = Some(id);
                return self
                    .reject(Side::Agent, BrokenMessage { id, ..broken })
                    .await;
            }
        };
        let is_permission = matches!(request.kind, RequestKind::Permission(_));
        let session = request.session_id.clone();
        let held = self.state().hold(&id, &session, is_permission);
        let mut cancelled = match held {
            Ok(cancelled) => cancelled,
            Err(full) => return self.reject_full(Side::Agent, id, full).await,
        };
        self.find_approval(&mut request).await;
        let agent = self.state().agent_name.clone();
        let decided = Arc::clone(&self.gate).decide(request.clone(), agent);
        let decided = tokio::select! {
            _ = &mut cancelled => return,
            decided = decided => decided,
        };
        let DecidedRequest { answer, record } = decided;
        let change = match &answer {
            RequestDecision::Allow(_) | RequestDecision::Deny(_) => None,
            // A person may approve the change.
            _ if is_permission => read_change(&request, WholeChange::of_permission).await,
            _ => None,
        };
        let request = OpenRequest {
            id,
            line,
            request,
            record,
            change,
        };
        match answer {
            RequestDecision::Allow(reason) => self.allow(request, &reason, AllowedBy::Guard).await,
            RequestDecision::Deny(reason) => self.deny(request, &reason).await,
            RequestDecision::Undecided => self.pass_on(request).await,
            RequestDecision::AskClient(_) if is_permission => self.pass_on(request).await,
            RequestDecision::AskClient(reason) => {
                let shared = Arc::clone(self);
                tokio::spawn(async move { shared.ask_client(request, &reason, cancelled).await });
            }
            RequestDecision::AskOperator(answer) => {
                let shared = Arc::clone(self);
                tokio::spawn(async move { shared.ask_operator(request, answer, cancelled).await });
            }
        }
    }

    /// Marks a request to write a file if a person has approved this change with a request for
    /// permission.
    async fn find_approval(&self, request: &mut AgentRequest) {
        if !matches!(request.kind, RequestKind::File) || self.state().approved_changes.is_empty() {
            return;
        }
        if let Some(write) = read_change(request, WholeChange::of_write).await {
            request.is_approved = self.state().approved_changes.take(&write);
        }
    }

    async fn report(&self, record: Option<DecisionRecord>, outcome: RequestOutcome) {
        if let Some(record) = record {
            self.gate.report(record, outcome).await;
        }
    }

    /// Passes an allowed request to the client, or answers a permission request.
    async fn allow(&self, request: OpenRequest, reason: &str, by: AllowedBy) {
        let selected = match &request.request.kind {
            RequestKind::Permission(options) => options.allow_once(),
            RequestKind::Terminal | RequestKind::File => None,
        };
        let Some(option) = selected else {
            // The agent offers no such option, or the client runs the request.
            return self.pass_on(request).await;
        };
        let released = self.state().release(&request.id);
        if released.is_some() {
            if let Some(record) = &request.record {
                self.state().add_allowed_call(record);
            }
            if let (AllowedBy::Operator, Some(change)) = (by, request.change) {
                self.state().approved_changes.add(change);
            }
            let reason = shorten(reason, MAX_REASON_CHARS);
            let result = options::selected(option, &reason);
            self.to_agent
                .reply(result_reply(&request.id, &result))
                .await;
        }
    }

    /// Answers a denied request.
    async fn deny(&self, request: OpenRequest, reason: &str) {
        let released = self.state().release(&request.id);
        if released.is_none() {
            return;
        }
        let reason = shorten(reason, MAX_REASON_CHARS);
        tracing::info!(reason = %escape(&reason), "denied");
        let by_error = reads_errors(self.state().agent_name.as_deref());
        let reply = match &request.request.kind {
            RequestKind::Permission(offered) if !by_error => {
                // Without an option that rejects, `cancelled` is the only result that allows nothing.
                let result = match offered.reject() {
                    Some(option) => options::selected(option, &reason),
                    None => options::cancelled(&reason),
                };
                result_reply(&request.id, &result)
            }
            RequestKind::Permission(_) | RequestKind::Terminal | RequestKind::File => {
                error_reply(Some(&request.id), code::DENIED, &reason)
            }
        };
        self.to_agent.reply(reply).await;
    }

    /// Passes a request to the client as it is.
    async fn pass_on(&self, request: OpenRequest) {
        let OpenRequest {
            id,
            line,
            request,
            record,
            change,
        } = request;
        let options = match request.kind {
            RequestKind::Permission(options) => Some(options),
            RequestKind::Terminal | RequestKind::File => None,
        };
        let passed = {
            let mut state = self.state();
            let passed = record.map(|record| PassedRequest {
                record,
                options,
                change,
            });
            // A cancelled request has its response already.
            state.release(&id).map(|_| state.pass(&id, passed))
        };
        match passed {
            Some(Ok(())) => {
                self.to_client.pass(line).await;
            }
            Some(Err(full)) => {
                let reply = error_reply(Some(&id), code::INTERNAL_ERROR, full.problem());
                self.to_agent.reply(reply).await;
            }
            None => {}
        }
    }

    /// Waits for the operator's answer to a request.
    async fn ask_operator(
        &self,
        request: OpenRequest,
        answer: OperatorDecision,
        cancelled: oneshot::Receiver<()>,
    ) {
        let answer = tokio::select! {
            _ = cancelled => return self.report(request.record, RequestOutcome::Cancelled).await,
            answer = answer => answer,
        };
        match answer {
            Ok(reason) => self.allow(request, &reason, AllowedBy::Operator).await,
            Err(reason) => self.deny(request, &reason).await,
        }
    }

    /// Asks the user of the client about a request that the client would run.
    async fn ask_client(
        &self,
        mut request: OpenRequest,
        reason: &str,
        cancelled: oneshot::Receiver<()>,
    ) {
        let own_id = format!("{}{}", self.id_prefix, random::<8>());
        let is_version_2 = self.state().is_version_2;
        let question = question(&own_id, &request, reason, is_version_2);
        let answer = self.state().own_request(own_id.clone());
        self.to_client.reply(message::line(&question)).await;
        let answer = tokio::select! {
            _ = cancelled => {
                self.state().take_own(&own_id);
                let params = json!({ "requestId": own_id });
                let cancel =
                    json!({ "jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": params });
                self.to_client.reply(message::line(&cancel)).await;
                return self.report(request.record, RequestOutcome::Cancelled).await;
            }
            answer = answer => answer,
        };
        let outcome = answer.as_ref().map(|result| &result["outcome"]);
        let selected = outcome.map(|outcome| {
            let is_selected = outcome["outcome"] == "selected";
            outcome["optionId"].as_str().filter(|_| is_selected)
        });
        let (outcome, why) = match selected {
            Ok(Some(ALLOW)) => {
                let record = request.record.clone();
                self.report(record, RequestOutcome::AllowedByUser).await;
                return self.pass_on(request).await;
            }
            Ok(Some(_)) => (RequestOutcome::DeniedByUser, "denied by the user"),
            Ok(None) => (RequestOutcome::Cancelled, "the user cancelled the question"),
            Err(_) => (
                RequestOutcome::Cancelled,
                "the client did not answer the question",
            ),
        };
        self.report(request.record.take(), outcome).await;
        self.deny(request, &format!("{reason}; {why}")).await;
    }
}

/// Reads the change that a request shows, and the file that it changes.
async fn read_change(
    request: &AgentRequest,
    read: fn(&AgentRequest) -> Option<WholeChange>,
) -> Option<WholeChange> {
    if request.edits.is_empty() {
        return None;
    }
    let request = request.clone();
    // An error means that the task has panicked: the person is asked about the write, too.
    let change = tokio::task::spawn_blocking(move || read(&request)).await;
    change.ok().flatten()
}

/// The fields of a `session/update` that tell the state of a tool call.
#[derive(Deserialize)]
struct UpdateMessage<'a> {
    #[serde(borrow)]
    params: UpdateParams<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateParams<'a> {
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    update: CallUpdate<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallUpdate<'a> {
    #[serde(default)]
    session_update: Cow<'a, str>,
    tool_call_id: Cow<'a, str>,
    status: Option<Cow<'a, str>>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// A request of the agent with its decision.
struct OpenRequest {
    id: MessageId,
    line: Vec<u8>,
    request: AgentRequest,
    record: Option<DecisionRecord>,
    /// The change of a file that a permission request shows.
    change: Option<WholeChange>,
}

const CANCEL_REQUEST: &str = "$/cancel_request";
const CANCEL_SESSION: &str = "session/cancel";
const SESSION_UPDATE: &str = "session/update";
/// Id of the option of the proxy's own question that allows the request.
const ALLOW: &str = "hooks-guard-allow-once";
const REJECT: &str = "hooks-guard-reject-once";

/// Returns the question about a request to the user of the client.
fn question(id: &str, open: &OpenRequest, reason: &str, is_version_2: bool) -> Value {
    let request = &open.request;
    let decided = open.record.as_ref().map(|record| &record.request);
    let asked = decided.or(request.readings.first());
    let command = asked.map_or("", |asked| asked.command.as_str());
    let cwd = asked.and_then(|asked| asked.cwd.as_deref());
    let title = format!("`{}`", shorten(&escape(command), 500));
    let reason = format!(
        "hooks-guard: {}",
        shorten(&escape(reason), MAX_REASON_CHARS)
    );
    let options = json!([
        { "optionId": ALLOW, "name": "Allow once", "kind": "allow_once" },
        { "optionId": REJECT, "name": "Reject", "kind": "reject_once" },
    ]);
    let kind = match (&request.kind, asked.and_then(|asked| asked.file.as_ref())) {
        (RequestKind::Terminal, _) => "execute",
        (_, Some(file)) if file.effect == crate::classify::Crud::Read => "read",
        _ => "edit",
    };
    let mut call = json!({
        "toolCallId": id,
        "title": title,
        "kind": kind,
        "status": "pending",
        "content": [{ "type": "content", "content": { "type": "text", "text": reason } }],
    });
    if matches!(request.kind, RequestKind::Terminal) {
        call["rawInput"] = json!({ "command": command, "cwd": cwd });
    }
    let params = match is_version_2 {
        false => json!({ "sessionId": request.session_id, "toolCall": call, "options": options }),
        true => json!({
            "sessionId": request.session_id,
            "title": title,
            "description": reason,
            "subject": { "type": "tool_call", "toolCall": call },
            "options": options,
        }),
    };
    let method = "session/request_permission";
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
