//! The permission service: the gate, its audit trail, and people's answers. In: requests and
//! answers. Out: recorded decisions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::approval::ApprovalScope;
use crate::audit::{
    AnswerResult, AuditChange, AuditError, AuditRecord, AuditStore, CallId, ChangeStream,
    DecisionSelector, Execution, ExecutionResult, GrantResult, NewAnswer, NewDecision,
    QuestionLimits, RedeemResult, ReportedCommand, SCOPE_TIMEOUT, SessionScope, TooManyQuestions,
    UserResponse, with_deadline, with_timeout,
};
use crate::changes::{AttachResult, FileChanges, HeldChanges};
use crate::classify::{Crud, Decision, Parts};
use crate::dispatches::Dispatches;
use crate::gate::{Gate, GateDecision};
use crate::loss::Loss;
use crate::mask::{self, Masked};
use crate::random::random;
use crate::request::{PermissionDecision, PermissionRequest};
use crate::rules::RuleDecision;

pub use crate::audit::RememberScope;
pub use crate::dispatches::{Dispatch, HookRun, Runs, ScriptRuns, Step, StepRun};

/// Decides requests, records every decision before returning it, and stores the pending questions.
///
/// Cheap to clone; clones share their state.
#[derive(Clone, Debug)]
pub struct PermissionService {
    inner: Arc<ServiceInner>,
}

#[derive(Debug)]
struct ServiceInner {
    gate: Gate,
    audit: AuditStore,
    /// Reserved for the operator, whose reads do not queue behind others.
    reserved: AuditStore,
    ttl: Duration,
    limits: QuestionLimits,
    dispatches: Dispatches,
    /// Duration of the last classification, in microseconds.
    latency_us: AtomicU64,
    /// Changes of pending questions.
    changes: HeldChanges,
}

/// Recorded as the answerer of a request that the agent itself denied.
const BY_AGENT: &str = "agent";

/// Error returned when a request gets no decision.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// No classifier is registered.
    #[error("no classifier is registered; register one with the gate")]
    NoClassifier,
    /// The trail could not be written or read; a decision that is not recorded is not allowed.
    #[error("the audit trail failed: {0}")]
    Audit(#[from] AuditError),
    /// There are too many pending questions. Nothing was recorded.
    #[error("{0}; answer some, or wait until they expire")]
    TooManyQuestions(TooManyQuestions),
}

/// A person's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorAnswer {
    /// `true` to approve.
    pub approved: bool,
    /// How long the approval lasts.
    pub remember: RememberScope,
    /// A note to store with the answer.
    pub note: Option<String>,
    /// `true` to confirm that a deletion is allowed `always`; without effect on other answers.
    pub confirms_deletion: bool,
}

/// Result of a person's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum RespondResult {
    /// The answer was recorded.
    Answered(AnswerResult),
    /// The answer was not recorded: requests that touch the guard itself or programs that run
    /// later, and requests that are unknown until they run, need confirmation every time. Holds the
    /// reason; `None` if a rule requires it.
    NotRemembered(Option<String>),
    /// The answer was not recorded: it was for a session, but the request has none.
    NoSession,
    /// The answer was not recorded: a part that would run is hidden as a secret, so the operator
    /// cannot see what to approve.
    HiddenCode,
    /// The answer was not recorded: it would always allow a deletion, and does not
    /// [confirm](OperatorAnswer::confirms_deletion) it.
    DeletionNotConfirmed,
}

impl PermissionService {
    /// Creates a service that decides with `gate`, records in `audit`, and denies a question after
    /// `ttl`. Limits the number of pending questions to the [default](QuestionLimits::default).
    #[must_use]
    pub fn new(gate: Gate, audit: AuditStore, ttl: Duration) -> Self {
        Self::with_limits(gate, audit, ttl, QuestionLimits::default())
    }

    /// Creates a service as [`new`](Self::new) does, with other limits of pending questions.
    #[must_use]
    pub fn with_limits(
        gate: Gate,
        audit: AuditStore,
        ttl: Duration,
        limits: QuestionLimits,
    ) -> Self {
        Self {
            inner: Arc::new(ServiceInner {
                gate,
                reserved: audit.reserved(),
                audit,
                ttl,
                limits,
                dispatches: Dispatches::default(),
                latency_us: AtomicU64::new(0),
                changes: HeldChanges::default(),
            }),
        }
    }

    /// Returns the gate.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    /// Returns the audit trail.
    #[must_use]
    pub fn audit(&self) -> &AuditStore {
        &self.inner.audit
    }

    /// Returns the audit trail for the operator, whose reads do not queue behind others.
    #[must_use]
    pub fn reserved_audit(&self) -> &AuditStore {
        &self.inner.reserved
    }

    /// Returns the reports of this process's last hundred requests, newest first.
    #[must_use]
    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.inner.dispatches.last()
    }

    /// Returns the statistics of a slot of the gate since this process started.
    #[must_use]
    pub fn runs(&self, slot: &str) -> Runs {
        self.inner.dispatches.runs(slot).all
    }

    /// Returns the statistics of each hook of a slot, in execution order; empty before the first
    /// request.
    #[must_use]
    pub fn hook_runs(&self, slot: &str) -> Vec<Runs> {
        self.inner.dispatches.runs(slot).hooks
    }

    /// Returns the duration of the last classification, without its record; zero before the first.
    #[must_use]
    pub fn classification_latency(&self) -> Duration {
        Duration::from_micros(self.inner.latency_us.load(Ordering::Relaxed))
    }

    /// Decides a request. The decision is on disk when this returns, except that of a call of an MCP
    /// tool that no rule names and that is left to the agent: it is not recorded and has no id.
    ///
    /// A request that a person approved before is allowed: once, if the approval has not been used
    /// yet, or as long as the approval lasts; for equal command, directory, session and agent,
    /// while the files that determine the command's effect are unchanged.
    ///
    /// Dropping the future may leave a decision in the trail that was never returned.
    ///
    /// # Errors
    /// If no classifier is registered, or if the trail cannot be written.
    pub async fn request(
        &self,
        request: PermissionRequest,
    ) -> Result<PermissionDecision, ServiceError> {
        self.decide(request, None).await
    }

    /// Decides a request in a process in which no operator can be asked.
    ///
    /// As [`request`](Self::request), but a question that the agent does not ask its user either is
    /// recorded as denied by the guard, with `note` as the reason.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub async fn request_without_operator(
        &self,
        request: PermissionRequest,
        note: &str,
    ) -> Result<PermissionDecision, ServiceError> {
        self.decide(request, Some(note)).await
    }

    async fn decide(
        &self,
        request: PermissionRequest,
        without_operator: Option<&str>,
    ) -> Result<PermissionDecision, ServiceError> {
        let ServiceInner {
            gate,
            audit,
            ttl,
            limits,
            dispatches,
            latency_us,
            changes: held,
            reserved: _,
        } = &*self.inner;
        if !gate.has_classifier() {
            return Err(ServiceError::NoClassifier);
        }
        let mut request = with_stored_names(request);
        // Neither the gate nor the trail gets the changes.
        let (changes, is_file) = (request.changes.take(), request.file.is_some());
        let GateDecision {
            mut permission,
            response_time,
            parts,
            mut steps,
            may_be_remembered,
            command_parts,
            unknown_tool,
            error,
        } = gate.decide(&request).await;
        let took = u64::try_from(response_time.as_micros()).unwrap_or(u64::MAX);
        latency_us.store(took, Ordering::Relaxed);
        if unknown_tool {
            steps.push(Step::new("trail", StepRun::Skipped, Duration::ZERO));
            dispatches.push(Dispatch {
                at: permission.timestamp,
                id: None,
                decision: permission.decision,
                classification: permission.classification,
                denied: false,
                steps,
            });
            return Ok(permission);
        }
        let command_hash = command_hash(&request);
        let asks = permission.decision == Decision::RequiresConfirmation && !permission.denied;
        let began = Instant::now();
        let mut approvals = StepRun::Skipped;
        let mut granted = None;
        let mut scope = None;
        if asks {
            let mut asked = scope_of(&request, command_parts.clone()).await;
            if !may_be_remembered {
                asked.refuse("this command needs confirmation every time");
            }
            let found = audit.find_grant(command_hash, &request, &asked, may_be_remembered);
            approvals = StepRun::Ran;
            match found.await? {
                GrantResult::By(grant) => {
                    approvals = StepRun::Decided;
                    permission.decision = Decision::AutoAllowed;
                    permission.approved = true;
                    permission.add_clause(&grant);
                    granted = Some(grant.to_string());
                }
                GrantResult::Changed(why) => {
                    permission.add_clause(&why);
                    granted = Some(why);
                }
                GrantResult::No => {}
            }
            scope = (permission.decision == Decision::RequiresConfirmation).then_some(asked);
        }
        steps.push(Step::new("approvals", approvals, began.elapsed()).detail(granted));
        let asks = asks && permission.decision == Decision::RequiresConfirmation;
        if asks {
            let deadline = began + SCOPE_TIMEOUT;
            if let Some(loss) = loss_of(&request, command_parts.clone(), deadline).await {
                permission.add_clause(loss);
            }
        }
        // The operator is asked only if the agent does not ask its user.
        let asks_operator = asks && !request.asks_itself && !permission.left_to_agent;
        let refused = without_operator.filter(|_| asks_operator);
        let secret = random::<16>();
        let secret_hash: [u8; 32] = Sha256::digest(&secret).into();
        let began = Instant::now();
        let deadline = (asks_operator && refused.is_none()).then(|| permission.timestamp + *ttl);
        let new = NewDecision {
            deadline,
            answer: refused.map(|note| NewAnswer {
                response: UserResponse::Denied,
                by: "guard".to_owned(),
                note: Some(note.to_owned()),
                at: permission.timestamp,
            }),
            request,
            permission: permission.clone(),
            response_time,
            parts,
            command_parts: Some(command_parts),
            error,
            secret_hash: Some(secret_hash),
            command_hash,
            scope,
        };
        let recorded: Result<i64, ServiceError> = match deadline {
            None => audit.record(new).await.map_err(ServiceError::from),
            Some(_) => match audit.record_question(new, *limits).await {
                Ok(Ok(id)) => Ok(id),
                Ok(Err(many)) => Err(ServiceError::TooManyQuestions(many)),
                Err(error) => Err(error.into()),
            },
        };
        let (run, fault) = match &recorded {
            Ok(_) => (StepRun::Ran, None),
            Err(error) => (StepRun::Failed, Some(error.to_string())),
        };
        steps.push(Step::new("trail", run, began.elapsed()).detail(fault));
        dispatches.push(Dispatch {
            at: permission.timestamp,
            id: recorded.as_ref().ok().copied(),
            decision: permission.decision,
            classification: permission.classification,
            denied: permission.denied,
            steps,
        });
        let id = recorded?;
        if let Some(deadline) = deadline.filter(|_| is_file) {
            held.expect(id, secret_hash, deadline);
            if let Some(changes) = changes {
                self.hold_changes(id, &secret_hash, changes).await;
            }
        }
        permission.id = Some(id);
        permission.secret = Some(secret);
        Ok(permission)
    }

    /// Shows changes with a pending question about files, for a client with the decision's secret.
    /// Their secrets are masked. They are in memory only, until the question is answered.
    pub async fn attach_changes(
        &self,
        id: i64,
        secret: &str,
        changes: FileChanges,
    ) -> AttachResult {
        let secret_hash = Sha256::digest(secret).into();
        self.hold_changes(id, &secret_hash, changes).await
    }

    async fn hold_changes(
        &self,
        id: i64,
        secret_hash: &[u8; 32],
        changes: FileChanges,
    ) -> AttachResult {
        if let Err(refused) = self.inner.changes.check(id, secret_hash) {
            return refused;
        }
        // Masking a long text takes some time.
        let masked = tokio::task::spawn_blocking(move || changes.masked()).await;
        match masked {
            Ok(changes) => self.inner.changes.attach(id, secret_hash, changes),
            Err(error) => {
                tracing::error!(id, %error, "cannot mask the changes of a question");
                AttachResult::NotPending
            }
        }
    }

    /// Returns the changes of a question, if it is pending and its changes are known to this
    /// process.
    ///
    /// # Errors
    /// If the trail cannot be read.
    pub async fn changes(&self, id: i64) -> Result<Option<Arc<FileChanges>>, ServiceError> {
        let Some(changes) = self.inner.changes.get(id) else {
            return Ok(None);
        };
        let record = self.inner.reserved.decision(id).await?;
        let is_pending = record.is_some_and(|record| record.user_response.is_none());
        if !is_pending {
            self.inner.changes.remove(id);
        }
        Ok(is_pending.then_some(changes))
    }

    /// Returns the size of the changes of a question, if they are known to this process.
    #[cfg(feature = "http")]
    pub(crate) fn change_totals(&self, id: i64) -> Option<crate::changes::ChangeTotals> {
        self.inner.changes.totals(id)
    }

    /// Adds the size of its changes to the record of a pending question.
    pub(crate) fn add_changes(&self, record: &mut AuditRecord) {
        if record.deadline.is_none() {
            return;
        }
        match record.user_response {
            None => record.changes = self.inner.changes.totals(record.id),
            Some(_) => self.inner.changes.remove(record.id),
        }
    }

    /// Records a person's answer to a question; the first answer counts. The answer and the
    /// remembered approval are written together.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn respond(
        &self,
        id: i64,
        reply: OperatorAnswer,
        by: &str,
    ) -> Result<RespondResult, ServiceError> {
        let audit = &self.inner.reserved;
        if reply.approved
            && let Some(record) = audit.decision(id).await?
            && let Some(refused) = refusal(&record, &reply)
        {
            return Ok(refused);
        }
        let lasting = lasting(&reply);
        let answer = NewAnswer {
            response: match reply.approved {
                true => UserResponse::Approved,
                false => UserResponse::Denied,
            },
            by: by.to_owned(),
            note: reply.note.as_deref().map(mask::note),
            at: Timestamp::now(),
        };
        let answered = audit.answer_for(id, answer, lasting).await?;
        Ok(RespondResult::Answered(answered))
    }

    /// Checks a person's answer without recording it. Returns the open question, or the result that
    /// [`respond`](Self::respond) would return.
    ///
    /// # Errors
    /// If the trail cannot be read or written.
    pub async fn check_answer(
        &self,
        id: i64,
        reply: &OperatorAnswer,
    ) -> Result<Result<Box<AuditRecord>, RespondResult>, ServiceError> {
        let audit = &self.inner.reserved;
        let Some(mut record) = audit.decision(id).await? else {
            return Ok(Err(RespondResult::Answered(AnswerResult::Unknown)));
        };
        let now = Timestamp::now();
        let is_open = record.user_response.is_none();
        if is_open && record.deadline.is_some_and(|deadline| deadline <= now) {
            audit.expire(now).await?;
            record = audit.decision(id).await?.unwrap_or(record);
        }
        if reply.approved
            && let Some(refused) = refusal(&record, reply)
        {
            return Ok(Err(refused));
        }
        let record = Box::new(record);
        Ok(match record.user_response {
            Some(_) => Err(RespondResult::Answered(AnswerResult::Already(record))),
            None if !record.decision_requires_confirmation => {
                Err(RespondResult::Answered(AnswerResult::NotAsked(record)))
            }
            None => Ok(record),
        })
    }

    /// Returns a decision. If it is a pending question, waits up to this time for the answer.
    ///
    /// # Errors
    /// If the trail cannot be read.
    pub async fn decision(
        &self,
        id: i64,
        wait: Duration,
    ) -> Result<Option<AuditRecord>, ServiceError> {
        let audit = &self.inner.audit;
        let until = Instant::now() + wait;
        let mut changes = audit.changes();
        loop {
            let Some(mut record) = audit.decision(id).await? else {
                return Ok(None);
            };
            self.add_changes(&mut record);
            let waits = record.user_response.is_none();
            let Some(deadline) = record.deadline.filter(|_| waits) else {
                return Ok(Some(record));
            };
            let now = Timestamp::now();
            if deadline <= now {
                audit.expire(now).await?;
                continue;
            }
            if Instant::now() >= until {
                return Ok(Some(record));
            }
            let left = Duration::try_from(deadline.duration_since(now)).unwrap_or_default();
            let until = until.min(Instant::now() + left);
            let _ = timeout_at(until, answered(&mut changes, id)).await;
        }
    }

    /// Denies the expired questions.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn expire(&self) -> Result<Vec<i64>, ServiceError> {
        self.inner.changes.expire(Timestamp::now());
        Ok(self.inner.audit.expire(Timestamp::now()).await?)
    }

    /// Uses an approval, for a client with the decision's secret: it is valid once, if the files
    /// that the question was bound to are unchanged.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn redeem(&self, id: i64, secret: &str) -> Result<RedeemResult, ServiceError> {
        Ok(self.inner.audit.redeem(id, secret).await?)
    }

    /// Records that a request ran, for a client with the decision's secret. `ran` is the request that
    /// ran, if the client knows it: if it is not the decided one, the
    /// [record](AuditRecord::ran_command) says so.
    ///
    /// If the agent was to ask its user, the report implies that the user approved, unless another
    /// request ran.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn record_execution(
        &self,
        id: i64,
        secret: &str,
        exit_status: Option<i32>,
        ran: Option<&PermissionRequest>,
    ) -> Result<ExecutionResult, ServiceError> {
        let secret = secret.to_owned();
        self.record_run(DecisionSelector::Secret { id, secret }, exit_status, ran)
            .await
    }

    /// As [`record_execution`](Self::record_execution), by the agent's id of the call in the request that ran;
    /// for processes that open the trail themselves. A request without an id of its call has no
    /// decision.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn record_call_execution(
        &self,
        ran: &PermissionRequest,
        exit_status: Option<i32>,
    ) -> Result<ExecutionResult, ServiceError> {
        let (Some(agent), Some(session), Some(call)) = (&ran.agent, &ran.session_id, &ran.call_id)
        else {
            return Ok(ExecutionResult::Unknown);
        };
        let which = DecisionSelector::Call(CallId {
            agent: mask::name(agent),
            session: mask::name(session),
            call: mask::name(call),
        });
        self.record_run(which, exit_status, Some(ran)).await
    }

    /// Records that the agent itself denied a request: as the answer to the pending question about
    /// it, else as a separate decision.
    ///
    /// # Errors
    /// If no classifier is registered, or if the trail cannot be written.
    pub async fn record_agent_denial(
        &self,
        request: PermissionRequest,
        reason: &str,
    ) -> Result<(), ServiceError> {
        let ServiceInner { gate, audit, .. } = &*self.inner;
        let request = with_stored_names(request);
        let answer = NewAnswer {
            response: UserResponse::Denied,
            by: BY_AGENT.to_owned(),
            // The agent may quote the command.
            note: (!reason.is_empty()).then(|| Masked::for_storage(&request.command).other(reason)),
            at: Timestamp::now(),
        };
        if let (Some(agent), Some(session), Some(call)) =
            (&request.agent, &request.session_id, &request.call_id)
        {
            let call = CallId {
                agent: agent.clone(),
                session: session.clone(),
                call: call.clone(),
            };
            if audit.answer_call(call, answer.clone()).await?.is_some() {
                return Ok(());
            }
        }
        if !gate.has_classifier() {
            return Err(ServiceError::NoClassifier);
        }
        let decided = gate.decide(&request).await;
        let permission = PermissionDecision {
            decision: Decision::RequiresConfirmation,
            denied: false,
            hidden_code: false,
            rule: None,
            ..decided.permission
        };
        audit
            .record(NewDecision {
                deadline: None,
                answer: Some(answer),
                command_hash: command_hash(&request),
                request,
                permission,
                response_time: decided.response_time,
                parts: decided.parts,
                command_parts: Some(decided.command_parts),
                error: decided.error,
                secret_hash: None,
                scope: None,
            })
            .await?;
        Ok(())
    }

    /// Records the answer of a user whom another program has asked about a request, for a client
    /// with the decision's secret. That program acts on the answer, so an approval allows no other
    /// request. Returns `false` if the request has an answer already, or needed none.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn record_prompt_answer(
        &self,
        id: i64,
        secret: &str,
        response: UserResponse,
        by: &str,
        note: Option<&str>,
    ) -> Result<bool, ServiceError> {
        let answer = NewAnswer {
            response,
            by: by.to_owned(),
            note: note.map(mask::note),
            at: Timestamp::now(),
        };
        let audit = &self.inner.audit;
        Ok(audit.answer_and_use(id, secret, answer).await?)
    }

    async fn record_run(
        &self,
        which: DecisionSelector,
        exit_status: Option<i32>,
        ran: Option<&PermissionRequest>,
    ) -> Result<ExecutionResult, ServiceError> {
        let outcome = Execution {
            exit_status,
            at: Timestamp::now(),
        };
        let agreed = Some("the agent's own prompt");
        let ran = ran.map(|ran| ReportedCommand {
            hash: command_hash(ran),
            shown: Masked::for_storage(&ran.command).text,
        });
        let audit = &self.inner.audit;
        Ok(audit.record_run(which, outcome, agreed, ran).await?)
    }
}

/// Returns the scope in which an answer is remembered.
fn lasting(reply: &OperatorAnswer) -> Option<SessionScope> {
    match reply.remember {
        RememberScope::Session if reply.approved => Some(SessionScope::Session),
        RememberScope::Always if reply.approved => Some(SessionScope::Always),
        _ => None,
    }
}

/// Returns why an approval of a decision is not recorded; `None` if it may be.
fn refusal(record: &AuditRecord, reply: &OperatorAnswer) -> Option<RespondResult> {
    let hides_code = record.rule.as_deref().is_some_and(RuleDecision::hides_code);
    let is_open = record.user_response.is_none();
    if hides_code && is_open {
        return Some(RespondResult::HiddenCode);
    }
    let lasting = lasting(reply)?;
    if !record.rule.as_deref().is_none_or(RuleDecision::remembers) {
        return Some(RespondResult::NotRemembered(None));
    }
    match record.scope.as_ref().map(ApprovalScope::refusal_reason) {
        Some(None) => {}
        Some(Some(why)) => return Some(RespondResult::NotRemembered(Some(why.to_owned()))),
        None if record.decision_requires_confirmation => {
            let why = "the files that determine its effect are unknown";
            return Some(RespondResult::NotRemembered(Some(why.to_owned())));
        }
        // The answer is refused for another reason.
        None => {}
    }
    if lasting == SessionScope::Session && record.session_id.is_none() {
        return Some(RespondResult::NoSession);
    }
    let is_deletion = record.classification == Crud::Delete;
    let is_unconfirmed = lasting == SessionScope::Always && !reply.confirms_deletion;
    (is_open && record.decision_requires_confirmation && is_deletion && is_unconfirmed)
        .then_some(RespondResult::DeletionNotConfirmed)
}

/// Waits until a decision may have been answered.
async fn answered(changes: &mut ChangeStream, id: i64) {
    while let Some(change) = changes.next().await {
        match change {
            AuditChange::Answered(other) if other != id => {}
            AuditChange::Answered(_) | AuditChange::Cleaned | AuditChange::Missed(_) => return,
            _ => {}
        }
    }
}

/// Returns the request with its names in the stored form, by which it is found again.
fn with_stored_names(request: PermissionRequest) -> PermissionRequest {
    let name = |name: Option<String>| name.map(|name| mask::name(&name));
    PermissionRequest {
        agent: name(request.agent),
        session_id: name(request.session_id),
        call_id: name(request.call_id),
        ..request
    }
}

/// Returns the state that an approval of a request is bound to in addition to the command.
async fn scope_of(request: &PermissionRequest, parts: Parts) -> ApprovalScope {
    let asked = request.clone();
    let found = with_timeout(move || ApprovalScope::of(&asked, &parts)).await;
    found.unwrap_or_else(|| {
        let why = "timeout while reading the files that determine its effect";
        ApprovalScope::unknown(request, why)
    })
}

/// Returns what the command of a request would discard, if that is known before the deadline.
async fn loss_of(request: &PermissionRequest, parts: Parts, deadline: Instant) -> Option<Loss> {
    let asked = request.clone();
    with_deadline(deadline, move || Loss::of(&asked, &parts)).await?
}

/// Returns the hash of the command, to which an approval is bound together with the directory, the
/// session and the scope.
fn command_hash(request: &PermissionRequest) -> [u8; 32] {
    let mut parts = vec![request.command.as_bytes()];
    let effect = request.file.as_ref().map(|access| [access.effect as u8]);
    if let (Some(access), Some(effect)) = (&request.file, &effect) {
        parts.extend([effect, access.tool.as_bytes()]);
        let paths = access.paths.iter();
        parts.extend(paths.map(|path| path.as_os_str().as_encoded_bytes()));
        parts.push(access.input_hash.as_deref().unwrap_or("").as_bytes());
    }
    let mcp = request.described_mcp_call();
    if let Some(hash) = mcp.and_then(|call| call.input_hash.as_deref()) {
        parts.push(hash.as_bytes());
    }
    if let Some(tool) = &request.tool {
        parts.push(tool.input_hash.as_bytes());
    }
    let mut hash = Sha256::new();
    if parts.iter().any(|part| part.contains(&0)) {
        // Commands and paths contain no NUL, so a NUL separates the parts. A compound part begins
        // with a byte that no text begins with, and contains lengths.
        hash.update([0xff]);
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        return hash.finalize().into();
    }
    for (at, part) in parts.iter().enumerate() {
        // The effect is one byte.
        if at != 0 && at != 2 {
            hash.update([0]);
        }
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::command_hash;
    use crate::classify::Crud;
    use crate::request::{FileAccess, PermissionRequest};

    fn write(command: &str, path: &str) -> PermissionRequest {
        PermissionRequest {
            file: Some(FileAccess {
                tool: "Write".to_owned(),
                effect: Crud::Create,
                paths: vec![path.into()],
                input_hash: Some("abc".to_owned()),
            }),
            ..PermissionRequest::new(command)
        }
    }

    #[test]
    fn the_hash_of_a_request_is_unambiguous() {
        let effect = char::from(Crud::Create as u8);
        let file = write("Write a.txt", "a.txt");
        let text = format!("Write a.txt\0{effect}Write\0a.txt\0abc");
        assert_ne!(
            command_hash(&file),
            command_hash(&PermissionRequest::new(text))
        );
        assert_ne!(
            command_hash(&write("Write", "a\0b")),
            command_hash(&write("Write", "a"))
        );
    }

    #[test]
    fn the_hash_of_a_request_is_stable_across_versions() {
        let hex = |request| hex::encode(command_hash(&request));
        assert_eq!(
            hex(PermissionRequest::new("make")),
            "d05aa2a15fb3c40efeeb03bec445393f00074484cf01c8fb2da90ca6695a5531"
        );
        assert_eq!(
            hex(write("Write a.txt", "a.txt")),
            "1301d3eaa3b6b1a4ac8b36a4c883523176695b087251df92adf8408b49a7d48a"
        );
    }
}
