//! Decides a request as `hook` and `acp` do: by the running service, else in this process; and waits
//! for an operator's answer. In: a configuration and a request. Out: the decision and its source.
//!
//! A project can set variables in the environment of its agent, and another process can listen at
//! the service's address. A decision therefore depends on the configuration and the system's user
//! database only, and nothing is sent to a service that does not prove that it has the key.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(feature = "acp")]
use hooks_guard::audit::UserResponse;
use hooks_guard::audit::{AuditRecord, ExecutionResult, MAX_QUEUE_TIME};
use hooks_guard::changes::FileChanges;
use hooks_guard::classify::Decision;
use hooks_guard::client::{Client, ClientError};
use hooks_guard::gate::Gate;
use hooks_guard::proof::KeyError;
use hooks_guard::service::{PermissionService, ServiceError};
use hooks_guard::tool_call::{QuestionAnswer, QuestionService, RedeemError};
use hooks_guard::{PermissionDecision, PermissionRequest};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::calls::StoredCall;
use super::failure::CommandError;
use super::setup::{
    LoadedConfig, address, gate, gate_without_model, open_one_shot, runtime, service_listens_at,
};

/// Timeout of a decision of the service: two seconds for the classification, the rest for writing
/// the record.
const DECISION_TIMEOUT: Duration = Duration::from_secs(3);

/// Timeout of the handshake. The service needs neither its trail nor its rules for it, so only a
/// stopped service or an overloaded machine takes longer.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(600);

/// Timeout of a decision of this process with a trail on a server, from the start of the hook. Another
/// process, such as a stopped service, may have locked the trail.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(900);

/// Timeout of a decision of this process if the service failed later than [`LOCAL_TIMEOUT`].
const LATE_LOCAL_TIMEOUT: Duration = Duration::from_millis(500);

/// Timeout of a decision of this process with a trail in a file, besides the time in the queue of
/// hooks. The file reports locks of other programs itself, earlier; only an overloaded machine or a
/// disk that does not respond takes longer.
const FILE_TIMEOUT: Duration = Duration::from_secs(1);

/// Error if a trail on a server was not written within these timeouts.
const LOCKED: &str = "timeout while writing the audit trail; look for a process that has locked \
                      it, such as a stopped `hooks-guard serve`";

/// Error if a trail in a file was not written within these timeouts.
const OVERLOADED: &str = "timeout while writing the audit trail, because the machine or its disk \
                          is overloaded; try again, or start `hooks-guard serve`, which records \
                          for all hooks";

/// How long to retry while an operator's answer is pending and the service is unreachable; it may
/// be restarting.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Stack size, equal to that of a process's first thread.
pub(super) const STACK_BYTES: usize = 8 << 20;

/// A decision and where it was made.
pub(super) enum DecisionSource {
    /// Made by the service, which can be asked again.
    Service(Client, PermissionDecision),
    /// Made by this process; with the reason why the service's decision was not used, if a service
    /// is there.
    Local(PermissionDecision, Option<String>),
}

/// Decides one request within a deadline.
pub(super) struct DecisionContext<'a> {
    pub(super) loaded: &'a LoadedConfig,
    /// `true` if the trail does not exist yet: creating it takes longer, and no process can have
    /// locked it.
    is_new: bool,
    /// `true` if this process ends after the request, so that it need not close the trail.
    exits: bool,
    began: Instant,
    /// Deadline of the decision, or of the operator's answer.
    pub(super) deadline: Instant,
}

impl<'a> DecisionContext<'a> {
    pub(super) fn new(loaded: &'a LoadedConfig, began: Instant, deadline: Instant) -> Self {
        Self {
            is_new: loaded.trail_file().is_some_and(|file| !file.exists()),
            loaded,
            exits: true,
            began,
            deadline,
        }
    }

    /// Closes the trail after each use, for a process that decides further requests.
    #[cfg(feature = "acp")]
    pub(super) fn in_long_lived_process(self) -> Self {
        Self {
            exits: false,
            ..self
        }
    }

    /// Returns the decision of the service or, if there is no service, of this process. `missing`
    /// is the reason of a denial if this process decides, the request needs approval and the agent
    /// has no prompt.
    pub(super) async fn decide(
        &self,
        request: &PermissionRequest,
        missing: &str,
    ) -> Result<DecisionSource, String> {
        match self.decide_by_service(request).await {
            Ok((client, permission)) => Ok(DecisionSource::Service(client, permission)),
            Err(why) => self.decide_in_process(request, missing, why).await,
        }
    }

    /// Returns the decision of the service. An error holds the reason why it was not used, if a
    /// service is there.
    pub(super) async fn decide_by_service(
        &self,
        request: &PermissionRequest,
    ) -> Result<(Client, PermissionDecision), Option<String>> {
        match self.client() {
            Ok(Some(client)) => {
                let permission = self.decided_by(&client, request).await?;
                Ok((client, permission))
            }
            Ok(None) => {
                let place = address(&self.loaded.config);
                let unproved = ClientError::Unproved(place.to_string());
                let listens = Client::new(place).is_reachable(HANDSHAKE_TIMEOUT).await;
                Err(listens.then(|| unproved.to_string()))
            }
            Err(error) => Err(Some(error.to_string())),
        }
    }

    /// Returns the decision of this process. `why` is the reason why the service did not decide,
    /// if a service is there.
    pub(super) async fn decide_in_process(
        &self,
        request: &PermissionRequest,
        missing: &str,
        why: Option<String>,
    ) -> Result<DecisionSource, String> {
        let permission = self.decide_locally(request, missing).await;
        match (permission, why) {
            (Ok(permission), why) => Ok(DecisionSource::Local(permission, why)),
            (Err(error), Some(why)) => Err(format!("{error}; {why}")),
            (Err(error), None) => Err(error),
        }
    }

    /// Returns a client that requires proof of the key, or `None` if no service has created a key
    /// yet.
    fn client(&self) -> Result<Option<Client>, CommandError> {
        match self.loaded.client() {
            Ok(client) => Ok(Some(client.with_handshake_timeout(HANDSHAKE_TIMEOUT))),
            Err(CommandError::Key(KeyError::Missing(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the deadline of this process's own work with the trail.
    fn local_deadline(&self) -> Instant {
        if self.is_new {
            return self.deadline;
        }
        let (soon, now) = (self.began + LOCAL_TIMEOUT, Instant::now());
        if self.loaded.trail_file().is_some() {
            return self.deadline.min(now + MAX_QUEUE_TIME + FILE_TIMEOUT);
        }
        // A handshake that timed out still leaves enough time.
        let is_enough =
            soon.saturating_duration_since(now) >= (LOCAL_TIMEOUT - HANDSHAKE_TIMEOUT) / 2;
        let soon = if is_enough {
            soon
        } else {
            now + LATE_LOCAL_TIMEOUT
        };
        soon.min(self.deadline)
    }

    /// Returns the decision of the service. An error holds the reason why it was not used, if a
    /// service is there.
    ///
    /// A service that has proved that it has the key decides. A decision that lets the request run
    /// counts only if this process is not stricter, or if the operator has approved the request:
    /// the key alone does not open the gate.
    async fn decided_by(
        &self,
        client: &Client,
        request: &PermissionRequest,
    ) -> Result<PermissionDecision, Option<String>> {
        let body = serde_json::to_value(request);
        let body = body.map_err(|error| Some(error.to_string()))?;
        let failed = |error: ClientError| {
            tracing::debug!(%error, "the service does not decide");
            (!matches!(error, ClientError::Unreachable(_))).then(|| error.to_string())
        };
        let connected = client.connect().await.map_err(failed)?;
        // Evaluate in parallel with the service.
        let listen = Some(self.loaded.config.listen);
        let own = self.local_decisions(vec![request.clone()], listen);
        let limit = DECISION_TIMEOUT.min(self.remaining() / 2);
        let answer = connected.post("/api/hooks/permission-request", &body, limit);
        // The service or the request is faulty; this process decides, and its decision is at least
        // as strict.
        let permission: PermissionDecision = match answer.await {
            Ok(value) => serde_json::from_value(value)
                .map_err(|_| failed(ClientError::UnexpectedResponse))?,
            Err(error) => return Err(failed(error)),
        };
        if permission.approved || !permits(&permission) {
            return Ok(permission);
        }
        let own = match own.await {
            Ok(own) => own.map_err(|error| Some(error.to_string()))?,
            Err(_) => return Err(Some("hooks-guard panicked".to_owned())),
        };
        // A language model can only raise a class, so a decision without it never allows less.
        match own
            .iter()
            .flatten()
            .all(|own| strictness(own) <= strictness(&permission))
        {
            true => Ok(permission),
            false => Err(Some(format!(
                "the service allows this command, but the hook's own check does not; make sure \
                 that both use `{}` and its rules",
                self.loaded.file.display()
            ))),
        }
    }

    /// Evaluates requests by the tables and rules of this process, each once for each directory
    /// that `~` may mean. `listen` is the address of a service. A thread runs this in parallel with the service.
    fn local_decisions(
        &self,
        requests: Vec<PermissionRequest>,
        listen: Option<SocketAddr>,
    ) -> oneshot::Receiver<Result<Vec<Vec<PermissionDecision>>, CommandError>> {
        let own = self.loaded.places.home.clone();
        let homes: Vec<PathBuf> = std::iter::once(own).chain(self.other_home()).collect();
        let loaded = self.loaded.clone();
        let (send, receive) = oneshot::channel();
        let evaluate = move || -> Result<Vec<Vec<PermissionDecision>>, CommandError> {
            let runtime = runtime()?;
            let gates = homes
                .iter()
                .map(|home| gate_without_model(&loaded, home, listen));
            let gates = gates.collect::<Result<Vec<_>, _>>()?;
            let decisions = |request| {
                let by = |gate: &Gate| runtime.block_on(gate.decide(request)).permission;
                gates.iter().map(by).collect()
            };
            Ok(requests.iter().map(decisions).collect())
        };
        let evaluation = move || {
            // The receiver is dropped if the decisions are no longer needed.
            let _ = send.send(evaluate());
        };
        // If no thread starts, the sender is dropped, and the receiver gets an error.
        let _ = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(evaluation);
        receive
    }

    /// Returns the strictest of several readings of a request by the tables and rules of this
    /// process, with its decision; `None` without readings.
    #[cfg(feature = "acp")]
    pub(super) async fn strictest(
        &self,
        readings: Vec<PermissionRequest>,
    ) -> Result<Option<(PermissionRequest, PermissionDecision)>, CommandError> {
        if readings.is_empty() {
            return Ok(None);
        }
        let listen = service_listens_at(self.loaded).await;
        let decisions = self.local_decisions(readings.clone(), listen).await;
        let panicked = |_| CommandError::Other("hooks-guard panicked".to_owned());
        let decisions = decisions.map_err(panicked)??;
        let rank = |decision: &PermissionDecision| (strictness(decision), decision.classification);
        let mut found: Option<(PermissionRequest, PermissionDecision)> = None;
        for (reading, decisions) in readings.into_iter().zip(decisions) {
            for decision in decisions {
                let strictest = found.as_ref().map(|(_, strictest)| rank(strictest));
                if strictest.is_none_or(|strictest| rank(&decision) > strictest) {
                    found = Some((reading.clone(), decision));
                }
            }
        }
        Ok(found)
    }

    /// Returns the home directory of the agent's shell, if it differs from the user's. Requests are
    /// evaluated with both.
    fn other_home(&self) -> Option<PathBuf> {
        let home = std::env::var_os("HOME").map(PathBuf::from)?;
        (home.is_absolute() && home != self.loaded.places.home).then_some(home)
    }

    /// Returns the gate of this process: among those for each home directory, the strictest about
    /// this request.
    async fn gate(&self, request: &PermissionRequest) -> Result<Gate, CommandError> {
        let listen = service_listens_at(self.loaded).await;
        let gate = gate(self.loaded, None, listen)?;
        let Some(home) = self.other_home() else {
            return Ok(gate);
        };
        let other = gate_without_model(self.loaded, &home, listen)?;
        let by_other = strictness(&other.decide(request).await.permission);
        let by_own = strictness(&gate.decide(request).await.permission);
        Ok(if by_other > by_own { other } else { gate })
    }

    async fn decide_locally(
        &self,
        request: &PermissionRequest,
        missing: &str,
    ) -> Result<PermissionDecision, String> {
        let failed = |error: &dyn std::fmt::Display| format!("hooks-guard cannot decide: {error}");
        let gate = self.gate(request).await.map_err(|error| failed(&error))?;
        if request.mcp.is_some() {
            let decided = gate.decide(request).await;
            if decided.unknown_tool {
                return Ok(decided.permission);
            }
        }
        // An operator cannot answer a question of this process.
        let decide = |service: PermissionService| async move {
            let decided = service.request_without_operator(request.clone(), missing);
            decided.await
        };
        match self.with_trail(gate.clone(), decide).await {
            Ok(permission) => Ok(permission),
            Err(error) => {
                let denial = find_denial(&gate, request).await;
                denial.ok_or_else(|| failed(&error))
            }
        }
    }

    /// Opens the trail in this process for `work`, which must end before the local deadline.
    async fn with_trail<T, E, F>(
        &self,
        gate: Gate,
        work: impl FnOnce(PermissionService) -> F,
    ) -> Result<T, CommandError>
    where
        F: Future<Output = Result<T, E>>,
        CommandError: From<E>,
    {
        let done = async {
            let audit = open_one_shot(&self.loaded.config).await?;
            let ttl = self.loaded.config.approval_ttl();
            let done = work(PermissionService::new(gate, audit.clone(), ttl)).await;
            if self.exits {
                audit.leave_open();
            }
            Ok(done?)
        };
        let late = |_| {
            let is_file = self.loaded.trail_file().is_some();
            let why = if is_file { OVERLOADED } else { LOCKED };
            CommandError::Other(why.to_owned())
        };
        timeout_at(self.local_deadline(), done)
            .await
            .map_err(late)?
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Records that the agent or its user denied a request.
    pub(super) async fn record_denial(
        &self,
        request: PermissionRequest,
        reason: &str,
    ) -> Result<(), CommandError> {
        let record = |service: PermissionService| async move {
            service.record_agent_denial(request, reason).await
        };
        let listen = service_listens_at(self.loaded).await;
        self.with_trail(gate(self.loaded, None, listen)?, record)
            .await
    }

    /// Records the answer of a user whom the agent's editor has asked about a request. Returns
    /// `false` if the request has an answer already, or needed none.
    #[cfg(feature = "acp")]
    pub(super) async fn record_prompt_answer(
        &self,
        id: i64,
        secret: &str,
        response: UserResponse,
        by: &str,
        note: Option<&str>,
    ) -> Result<bool, CommandError> {
        let record = |service: PermissionService| async move {
            service
                .record_prompt_answer(id, secret, response, by, note)
                .await
        };
        self.with_trail(Gate::tables_only(), record).await
    }

    /// Records in the trail that a request ran that this process decided about.
    #[cfg(feature = "acp")]
    pub(super) async fn record_run(&self, id: i64, secret: &str) -> Result<(), CommandError> {
        let record = |service: PermissionService| async move {
            service
                .record_execution(id, secret, None, None)
                .await
                .map(drop)
        };
        self.with_trail(Gate::tables_only(), record).await
    }

    /// Reports to the service that a call ran. If the service is unreachable, this process records it,
    /// because the agent reports a call only once. Returns the record if another command ran than the
    /// decided one.
    pub(super) async fn report(
        &self,
        call: &StoredCall,
        ran: Option<&PermissionRequest>,
        status: Option<i32>,
    ) -> Result<Option<AuditRecord>, CommandError> {
        let (id, secret) = (call.id, &call.secret);
        let path = format!("/api/hooks/decisions/{id}/executed");
        let body = json!({ "secret": secret, "exit_status": status, "ran": ran });
        let error = match self.client() {
            Err(error) => error,
            Ok(None) => CommandError::Other(format!(
                "the service at {} has not created a key yet",
                address(&self.loaded.config)
            )),
            Ok(Some(client)) => {
                // Leave the rest of the time for the trail.
                let limit = DECISION_TIMEOUT.min(self.remaining() / 2);
                match client.post(&path, &body, limit).await {
                    Ok(record) => {
                        // The report is recorded even if the service has another version.
                        let record = serde_json::from_value::<AuditRecord>(record).ok();
                        return Ok(record.filter(|record| record.ran_command.is_some()));
                    }
                    Err(ClientError::Refused { code, .. }) if code == "ALREADY_EXECUTED" => {
                        return Ok(None);
                    }
                    // The service is reachable and rejects the report.
                    Err(error @ ClientError::Refused { status: ..500, .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => error.into(),
                }
            }
        };
        let both = |here| CommandError::Other(format!("{error}; {here}"));
        let record = |service: PermissionService| async move {
            service.record_execution(id, secret, status, ran).await
        };
        let done = self.with_trail(Gate::tables_only(), record).await;
        match done.map_err(both)? {
            done @ (ExecutionResult::Done(_) | ExecutionResult::Already(_)) => {
                Ok(done.other_command())
            }
            ExecutionResult::WrongSecret | ExecutionResult::Unknown => Err(error),
        }
    }

    /// Records in the trail that a call ran that this process decided about. Returns the record if
    /// another command ran than the decided one.
    pub(super) async fn record_locally(
        &self,
        ran: &PermissionRequest,
        status: Option<i32>,
    ) -> Result<Option<AuditRecord>, CommandError> {
        let record = |service: PermissionService| async move {
            let recorded = service.record_call_execution(ran, status).await?;
            Ok::<_, ServiceError>(recorded.other_command())
        };
        match ran.call_id.is_some() {
            true => self.with_trail(Gate::tables_only(), record).await,
            false => Ok(None),
        }
    }
}

/// Returns `true` if the agent may run a request without an approval: some agents run requests that
/// are left to them.
fn permits(permission: &PermissionDecision) -> bool {
    strictness(permission) < 2
}

/// Returns how strict a decision is, from 0 for an allow to 3 for a denial.
fn strictness(permission: &PermissionDecision) -> u8 {
    match permission {
        PermissionDecision { denied: true, .. } => 3,
        PermissionDecision {
            decision: Decision::AutoAllowed,
            ..
        } => 0,
        PermissionDecision {
            left_to_agent: true,
            ..
        } => 1,
        _ => 2,
    }
}

/// Returns the decision about a request if it is a denial: a denial holds even if it cannot be
/// recorded.
async fn find_denial(gate: &Gate, request: &PermissionRequest) -> Option<PermissionDecision> {
    let permission = gate.decide(request).await.permission;
    permission.denied.then_some(permission)
}

/// Returns `true` if the service is unreachable or shutting down; a question that was asked stays
/// pending.
fn is_unreachable(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable(_) | ClientError::UnexpectedResponse => true,
        ClientError::Refused { code, .. } => code == "SHUTTING_DOWN",
        _ => false,
    }
}

/// The running service, to which this process has sent a question.
pub(super) struct RemoteService {
    client: Client,
    /// Time of the first of consecutive failures to reach the service.
    unreachable_since: Mutex<Option<Instant>>,
}

impl RemoteService {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            unreachable_since: Mutex::new(None),
        }
    }

    /// Returns `true` until [`RECONNECT_TIMEOUT`] has passed since the first failure.
    fn retries(&self) -> bool {
        let since = self.unreachable_since.lock();
        let mut since = since.unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now).elapsed() < RECONNECT_TIMEOUT
    }

    fn set_reached(&self) {
        let since = self.unreachable_since.lock();
        *since.unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl QuestionService for RemoteService {
    async fn show_changes(&self, id: i64, secret: &str, changes: FileChanges, limit: Duration) {
        let path = format!("/api/hooks/decisions/{id}/changes");
        let body = json!({ "secret": secret, "changes": changes });
        if let Err(error) = self.client.post(&path, &body, limit).await {
            tracing::debug!(%error, "the question does not show its changes");
        }
    }

    async fn wait_for_answer(
        &self,
        id: i64,
        wait: u64,
        limit: Duration,
    ) -> Result<Option<QuestionAnswer>, String> {
        let path = format!("/api/hooks/decisions/{id}?wait={wait}");
        let record = match self.client.get(&path, limit).await {
            Ok(record) => record,
            Err(ClientError::Timeout(_)) => return Ok(None),
            Err(error) if is_unreachable(&error) && self.retries() => {
                sleep(Duration::from_millis(200)).await;
                return Ok(None);
            }
            Err(error) => return Err(error.to_string()),
        };
        self.set_reached();
        Ok(record["user_response"].as_str().map(|answer| match answer {
            "APPROVED" => QuestionAnswer::Approved,
            "TIMEOUT" => QuestionAnswer::Expired,
            _ => QuestionAnswer::Denied {
                note: record["answer_note"].as_str().map(str::to_owned),
            },
        }))
    }

    async fn redeem(&self, id: i64, secret: &str, limit: Duration) -> Result<(), RedeemError> {
        let path = format!("/api/hooks/decisions/{id}/redeem");
        let body = json!({ "secret": secret });
        match self.client.post(&path, &body, limit).await {
            Ok(_) => Ok(()),
            Err(ClientError::Refused { code, error, .. }) if code == "CHANGED" => {
                Err(RedeemError::Changed(error))
            }
            Err(error) => Err(RedeemError::Failed(error.to_string())),
        }
    }
}
