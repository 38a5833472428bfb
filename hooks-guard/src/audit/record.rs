//! Input and output of the trail. Converts decisions to rows, and rows to records.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::AuditError;
use super::tx::{Arg, Columns};
use crate::approval::ApprovalScope;
use crate::changes::ChangeTotals;
use crate::classify::{Crud, Decision, Method, Parts};
use crate::mask::Masked;
use crate::request::{CommandPart, PermissionDecision, PermissionRequest};

/// Outcome of a question.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum UserResponse {
    /// The command was approved.
    Approved,
    /// The command was denied by a person or a rule.
    Denied,
    /// The deadline passed without an answer.
    Timeout,
}

impl UserResponse {
    /// Returns the name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Denied => "DENIED",
            Self::Timeout => "TIMEOUT",
        }
    }
}

/// A decision and its outcome.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Unique id, greater than the ids of earlier decisions of the trail.
    pub id: i64,
    /// Time of the decision, in microsecond precision.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub timestamp: Timestamp,
    /// The command, with masked secrets.
    pub command: String,
    /// The class: the strongest effect of the command.
    pub classification: Crud,
    /// If `true`, the command needed an approval.
    pub decision_requires_confirmation: bool,
    /// The answer; `None` for a command that was allowed without approval, and for a question that
    /// is still open.
    pub user_response: Option<UserResponse>,
    /// If `true`, the command was reported as executed.
    pub execution_happened: bool,
    /// Duration of the decision in milliseconds, rounded down.
    pub response_time_ms: u64,
    /// Probability that the class is right, from 0 to 1.
    pub confidence: f64,
    /// Error of the classification, if it failed.
    pub error: Option<String>,

    /// Reason for the decision in one sentence.
    pub reasoning: String,
    /// Detailed explanation of the decision.
    pub explanation: String,
    /// Classification method.
    pub classification_method: Method,
    /// Context of the command, as given in the request.
    pub context: Option<String>,
    /// Agent that sent the request.
    pub agent: Option<String>,
    /// Session of the agent.
    pub session_id: Option<String>,
    /// Working directory.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub cwd: Option<PathBuf>,
    /// The agent's id of the tool call.
    pub call_id: Option<String>,
    /// If `true`, a rule denied the command.
    pub denied: bool,
    /// Rule that decided, if any.
    pub rule: Option<String>,
    /// Time of the answer, or of the expiry of the question.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub answered_at: Option<Timestamp>,
    /// Author of the answer.
    pub answered_by: Option<String>,
    /// Note of the author.
    pub answer_note: Option<String>,
    /// Deadline of the question.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub deadline: Option<Timestamp>,
    /// Time of the report that the command was executed.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub executed_at: Option<Timestamp>,
    /// Exit status of the command, if reported.
    pub exit_status: Option<i32>,
    /// The command that ran, with masked secrets, if it is not the decided one: another hook, a plugin
    /// or the agent changed the input of the tool after the decision. Nothing decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_command: Option<String>,
    /// Duration of the decision in microseconds.
    pub response_time_us: u64,
    /// Parts of the command, if known. Empty if secrets were masked, because masking moves the
    /// spans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CommandPart>,
    /// Files that an approval covers: the approval is invalid as soon as one of them changes.
    /// Relative to `cwd` if they are inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// Description of the scope of an `always` approval and of its limits, or the reason why it
    /// cannot be given; `None` for a decision without a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
    /// Reason to read an open question before approving it, for example "it deletes"; `None` without
    /// a reason, and if the question is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// Key of an open question, equal for questions with equal command, directory, agent and
    /// conditions. `None` if the question is answered, if secrets were masked, and for tools other
    /// than a shell. Valid while the service runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_key: Option<String>,
    /// Size of the changes of a pending question about a file tool, if they are known;
    /// `GET /api/hooks/decisions/{id}/changes` returns them. Not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeTotals>,
    /// SHA-256 of the command before its secrets were masked. Not shown: it would allow guesses of
    /// the masked secrets to be checked.
    #[serde(skip)]
    pub command_hash: [u8; 32],
    /// Scope of an approval in addition to the command. Not shown.
    #[serde(skip)]
    pub scope: Option<ApprovalScope>,
}

impl AuditRecord {
    /// Returns `true` if [`command`](Self::command) is the whole shell command: it contains no
    /// masked secret, and the request is not one of another tool, whose hash covers more than the
    /// text.
    pub(crate) fn shows_whole_command(&self) -> bool {
        Sha256::digest(&self.command)[..] == self.command_hash[..]
    }

    /// Returns `true` if the command could not be analysed, as
    /// [`Classification::has_failed`](crate::classify::Classification::has_failed) does.
    pub(super) fn has_failed_analysis(&self) -> bool {
        self.classification_method.has_failed(self.confidence)
    }
}

/// A decision to record.
#[derive(Clone, Debug)]
pub struct NewDecision {
    /// The request.
    pub request: PermissionRequest,
    /// The decision; its `id` and `secret` are ignored.
    pub permission: PermissionDecision,
    /// Parts of the command.
    pub parts: Vec<CommandPart>,
    /// The command as it was parsed for the decision, to find its secrets. `None`: the command is
    /// parsed again.
    pub command_parts: Option<Parts>,
    /// Duration of the decision.
    pub response_time: Duration,
    /// Deadline of the question. Without a deadline the question can be answered at any time and is
    /// not [pending](super::AuditStore::pending): the agent itself prompts the user.
    pub deadline: Option<Timestamp>,
    /// The answer, if it is known when the decision is recorded. Not needed for a denied decision,
    /// which is recorded as denied by its rule.
    pub answer: Option<NewAnswer>,
    /// Error of the classification, if it failed.
    pub error: Option<String>,
    /// SHA-256 of the secret that authorizes a report that the command was executed.
    pub secret_hash: Option<[u8; 32]>,
    /// SHA-256 of the command before any masking.
    pub command_hash: [u8; 32],
    /// Scope of an approval in addition to the command; without a scope, no approval can be used.
    pub scope: Option<ApprovalScope>,
}

#[cfg(test)]
impl NewDecision {
    /// Returns a decision that allowed a read, for tests that change single fields.
    pub(super) fn sample(request: PermissionRequest) -> Self {
        Self {
            request,
            permission: PermissionDecision {
                decision: Decision::AutoAllowed,
                classification: Crud::Read,
                reasoning: String::new(),
                confidence: 1.0,
                explanation: String::new(),
                classification_method: Method::PatternMatch,
                timestamp: Timestamp::UNIX_EPOCH,
                id: None,
                secret: None,
                approved: false,
                left_to_agent: false,
                names_tool: false,
                hidden_code: false,
                timed_out: false,
                denied: false,
                rule: None,
            },
            command_parts: None,
            response_time: Duration::ZERO,
            parts: Vec::new(),
            deadline: None,
            answer: None,
            error: None,
            secret_hash: None,
            command_hash: [0; 32],
            scope: None,
        }
    }
}

/// An answer to record.
#[derive(Clone, Debug)]
pub struct NewAnswer {
    /// The outcome.
    pub response: UserResponse,
    /// Author, such as `console` or the name of the agent.
    pub by: String,
    /// Note of the author.
    pub note: Option<String>,
    /// Time of the answer.
    pub at: Timestamp,
}

/// Result of an answer. Exactly one answer to a question is [`Done`](Self::Done), even if other
/// processes answer at the same time.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerResult {
    /// The answer is recorded.
    Done(Box<AuditRecord>),
    /// The answer came too late. Contains the valid outcome: an earlier answer, the expired
    /// deadline, or a rule.
    Already(Box<AuditRecord>),
    /// The command was allowed without a question.
    NotAsked(Box<AuditRecord>),
    /// Unknown id.
    Unknown,
}

/// Report that a command was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Exit status, if known.
    pub exit_status: Option<i32>,
    /// Time of the execution.
    pub at: Timestamp,
}

/// The command that ran, as reported after the execution.
#[derive(Clone, Debug)]
pub(crate) struct ReportedCommand {
    /// SHA-256 of the command before any masking.
    pub(crate) hash: [u8; 32],
    /// The command, with masked secrets.
    pub(crate) shown: String,
}

/// Result of a report that a command was executed.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionResult {
    /// The execution is recorded, even if the command was not approved: the trail records what
    /// happened.
    Done(Box<AuditRecord>),
    /// The execution was reported before. Contains the valid record.
    Already(Box<AuditRecord>),
    /// The secret does not match the decision, or the decision has no secret.
    WrongSecret,
    /// Unknown id.
    Unknown,
}

impl ExecutionResult {
    /// Returns the record if this report is recorded, and another command ran than the decided one.
    #[must_use]
    pub fn other_command(self) -> Option<AuditRecord> {
        match self {
            Self::Done(record) => Some(*record).filter(|record| record.ran_command.is_some()),
            _ => None,
        }
    }
}

pub(super) fn class_code(class: Crud) -> i64 {
    match class {
        Crud::Read => 1,
        Crud::Create => 2,
        Crud::Update => 3,
        Crud::Delete => 4,
    }
}

pub(super) fn class_of(code: i64) -> Result<Crud, AuditError> {
    Ok(match code {
        1 => Crud::Read,
        2 => Crud::Create,
        3 => Crud::Update,
        4 => Crud::Delete,
        _ => return Err(AuditError::Damaged { column: "class" }),
    })
}

pub(super) fn response_code(response: UserResponse) -> i64 {
    match response {
        UserResponse::Approved => 1,
        UserResponse::Denied => 2,
        UserResponse::Timeout => 3,
    }
}

pub(super) fn response_of(code: i64) -> Result<UserResponse, AuditError> {
    Ok(match code {
        1 => UserResponse::Approved,
        2 => UserResponse::Denied,
        3 => UserResponse::Timeout,
        _ => return Err(AuditError::Damaged { column: "response" }),
    })
}

fn method_code(method: Method) -> i64 {
    match method {
        Method::PatternMatch => 1,
        Method::Semantic => 2,
        Method::Fallback => 3,
    }
}

fn method_of(code: i64) -> Result<Method, AuditError> {
    Ok(match code {
        1 => Method::PatternMatch,
        2 => Method::Semantic,
        3 => Method::Fallback,
        _ => return Err(AuditError::Damaged { column: "method" }),
    })
}

/// Returns parts in their stored form: a list of `[start, end, class, decided]`.
fn encode_parts(parts: &[CommandPart]) -> Option<String> {
    let parts: Vec<_> = parts
        .iter()
        .map(|part| {
            let decided = u8::from(part.decided);
            (part.start, part.end, class_code(part.effect), decided)
        })
        .collect();
    (!parts.is_empty()).then(|| serde_json::json!(parts).to_string())
}

fn read(text: &str) -> Result<Vec<CommandPart>, AuditError> {
    let damaged = |_| AuditError::Damaged { column: "parts" };
    let parts: Vec<(u32, u32, i64, u8)> = serde_json::from_str(text).map_err(damaged)?;
    parts
        .into_iter()
        .map(|(start, end, class, decided)| {
            Ok(CommandPart {
                start,
                end,
                effect: class_of(class)?,
                decided: decided != 0,
            })
        })
        .collect()
}

/// Parses a stored scope.
pub(super) fn scope_of(text: Option<&str>) -> Result<Option<ApprovalScope>, AuditError> {
    let damaged = |_| AuditError::Damaged { column: "scope" };
    text.map(serde_json::from_str).transpose().map_err(damaged)
}

/// Returns microseconds since 1970, rounded down.
pub(super) fn floor_us(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond().div_euclid(1000)).unwrap_or(i64::MAX)
}

/// Returns microseconds since 1970, rounded up.
pub(super) fn ceil_us(time: Timestamp) -> i64 {
    i64::try_from(-(-time.as_nanosecond()).div_euclid(1000)).unwrap_or(i64::MAX)
}

pub(super) fn timestamp(us: i64) -> Result<Timestamp, AuditError> {
    Timestamp::from_microsecond(us).map_err(|_| AuditError::Damaged { column: "time" })
}

/// Returns a text in its stored form: PostgreSQL cannot store a NUL.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}

/// Folds the case of a text: returns the lower case of the upper case of each character,
/// independent of its neighbours. Done here and not in SQL, so that both databases find equal
/// results.
pub(super) fn fold_case(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => folded(text).collect(),
    }
}

/// Returns `true` if a text is the result of [`fold_case`]. Does not allocate.
pub(super) fn is_fold_case(text: &str, of: &str) -> bool {
    match of.is_ascii() {
        true => {
            let lower = of.bytes().map(|byte| byte.to_ascii_lowercase());
            text.len() == of.len() && text.bytes().zip(lower).all(|(text, lower)| text == lower)
        }
        false => text.chars().eq(folded(of)),
    }
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

/// The columns of `decisions`, in the order of [`DecisionRow`].
macro_rules! columns {
    () => {
        "d.id, d.at, d.command, d.command_hash, d.class, d.requires, d.response, \
         d.response_time_us, d.confidence, d.method, d.timed_out, d.reasoning, d.explanation, \
         d.context, d.agent, d.session_id, d.cwd, d.call_id, d.denied, d.rule, d.error, \
         d.deadline, d.secret_hash, d.decided_seq, d.answered_at, d.answered_by, d.answer_note, \
         d.answered_seq, d.executed_at, d.exit_status, d.executed_seq, d.parts, \
         d.scope, d.scope_hash, d.ran_command"
    };
}
pub(super) use columns;

/// A row of `decisions`. `T` is a text, owned or borrowed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DecisionRow<T = String> {
    pub(super) id: i64,
    pub(super) at: i64,
    pub(super) command: T,
    pub(super) command_hash: [u8; 32],
    pub(super) class: i64,
    pub(super) requires: bool,
    pub(super) response: Option<i64>,
    pub(super) response_time_us: i64,
    pub(super) confidence: f64,
    pub(super) method: i64,
    pub(super) timed_out: bool,
    pub(super) reasoning: T,
    pub(super) explanation: T,
    pub(super) context: Option<T>,
    pub(super) agent: Option<T>,
    pub(super) session_id: Option<T>,
    pub(super) cwd: Option<T>,
    pub(super) call_id: Option<T>,
    pub(super) denied: bool,
    pub(super) rule: Option<T>,
    pub(super) error: Option<T>,
    pub(super) deadline: Option<i64>,
    pub(super) secret_hash: Option<[u8; 32]>,
    pub(super) decided_seq: i64,
    pub(super) answered_at: Option<i64>,
    pub(super) answered_by: Option<T>,
    pub(super) answer_note: Option<T>,
    pub(super) answered_seq: Option<i64>,
    pub(super) executed_at: Option<i64>,
    pub(super) exit_status: Option<i64>,
    pub(super) executed_seq: Option<i64>,
    /// See [`encode_parts`].
    pub(super) parts: Option<T>,
    /// Scope of an approval, in JSON.
    pub(super) scope: Option<T>,
    pub(super) scope_hash: Option<T>,
    /// The command that ran, if it is not the decided one.
    pub(super) ran_command: Option<T>,
}

impl<T> DecisionRow<T> {
    /// Parses a row selected by [`columns`], from the given position.
    pub(super) fn read<'r, R>(row: &'r R, from: usize) -> Result<Self, AuditError>
    where
        R: Columns<Text<'r> = T>,
    {
        Ok(Self {
            id: row.int(from)?,
            at: row.int(from + 1)?,
            command: row.text(from + 2)?,
            command_hash: row.hash(from + 3)?,
            class: row.int(from + 4)?,
            requires: row.flag(from + 5)?,
            response: row.maybe_int(from + 6)?,
            response_time_us: row.int(from + 7)?,
            confidence: row.real(from + 8)?,
            method: row.int(from + 9)?,
            timed_out: row.flag(from + 10)?,
            reasoning: row.text(from + 11)?,
            explanation: row.text(from + 12)?,
            context: row.maybe_text(from + 13)?,
            agent: row.maybe_text(from + 14)?,
            session_id: row.maybe_text(from + 15)?,
            cwd: row.maybe_text(from + 16)?,
            call_id: row.maybe_text(from + 17)?,
            denied: row.flag(from + 18)?,
            rule: row.maybe_text(from + 19)?,
            error: row.maybe_text(from + 20)?,
            deadline: row.maybe_int(from + 21)?,
            secret_hash: row.maybe_hash(from + 22)?,
            decided_seq: row.int(from + 23)?,
            answered_at: row.maybe_int(from + 24)?,
            answered_by: row.maybe_text(from + 25)?,
            answer_note: row.maybe_text(from + 26)?,
            answered_seq: row.maybe_int(from + 27)?,
            executed_at: row.maybe_int(from + 28)?,
            exit_status: row.maybe_int(from + 29)?,
            executed_seq: row.maybe_int(from + 30)?,
            parts: row.maybe_text(from + 31)?,
            scope: row.maybe_text(from + 32)?,
            scope_hash: row.maybe_text(from + 33)?,
            ran_command: row.maybe_text(from + 34)?,
        })
    }

    /// Returns the milliseconds that records and counts use.
    pub(super) fn response_time_ms(&self) -> i64 {
        self.response_time_us.div_euclid(1000)
    }
}

impl DecisionRow {
    /// Returns the row of a decision, before it has an id.
    pub(super) fn new(new: NewDecision) -> Self {
        let NewDecision {
            request,
            permission,
            response_time,
            parts,
            command_parts,
            deadline,
            answer: _,
            error,
            secret_hash,
            command_hash,
            scope,
        } = new;
        let masked = Masked::with_parts(&request.command, command_parts.as_ref());
        let at = floor_us(permission.timestamp);
        let (response, answered_at, answered_by) = match permission.denied {
            true => (
                Some(response_code(UserResponse::Denied)),
                Some(at),
                Some(permission.rule.clone().unwrap_or_else(|| "rule".to_owned())),
            ),
            false => (None, None, None),
        };
        Self {
            id: 0,
            at,
            command: storable(&masked.text),
            command_hash,
            class: class_code(permission.classification),
            requires: permission.decision == Decision::RequiresConfirmation,
            response,
            response_time_us: i64::try_from(response_time.as_micros()).unwrap_or(i64::MAX),
            confidence: match permission.confidence.is_nan() {
                true => 0.0,
                // Adding 0 removes a minus zero, which not every database supports.
                false => permission.confidence.clamp(0.0, 1.0) + 0.0,
            },
            method: method_code(permission.classification_method),
            timed_out: permission.timed_out,
            reasoning: storable(&masked.other(&permission.reasoning)),
            explanation: storable(&masked.other(&permission.explanation)),
            context: (request.context.as_deref()).map(|context| storable(&masked.other(context))),
            agent: request.agent.as_deref().map(storable),
            session_id: request.session_id.as_deref().map(storable),
            cwd: request.cwd.map(|cwd| storable(&cwd.to_string_lossy())),
            call_id: request.call_id.as_deref().map(storable),
            denied: permission.denied,
            rule: permission.rule.as_deref().map(storable),
            error: error.map(|error| storable(&masked.other(&error))),
            deadline: deadline.map(floor_us),
            secret_hash,
            decided_seq: 0,
            answered_at,
            answered_by: answered_by.as_deref().map(storable),
            answer_note: None,
            answered_seq: None,
            executed_at: None,
            exit_status: None,
            executed_seq: None,
            parts: (masked.text == request.command)
                .then(|| encode_parts(&parts))
                .flatten(),
            scope: scope.as_ref().map(|scope| storable(&scope.stored(&masked))),
            scope_hash: scope.map(|scope| scope.hash().to_owned()),
            ran_command: None,
        }
    }

    /// Returns the values of [`columns`].
    pub(super) fn args(&self) -> [Arg<'_>; 35] {
        [
            self.id.into(),
            self.at.into(),
            (&self.command).into(),
            (&self.command_hash).into(),
            self.class.into(),
            i64::from(self.requires).into(),
            self.response.into(),
            self.response_time_us.into(),
            self.confidence.into(),
            self.method.into(),
            i64::from(self.timed_out).into(),
            (&self.reasoning).into(),
            (&self.explanation).into(),
            (&self.context).into(),
            (&self.agent).into(),
            (&self.session_id).into(),
            (&self.cwd).into(),
            (&self.call_id).into(),
            i64::from(self.denied).into(),
            (&self.rule).into(),
            (&self.error).into(),
            self.deadline.into(),
            (&self.secret_hash).into(),
            self.decided_seq.into(),
            self.answered_at.into(),
            (&self.answered_by).into(),
            (&self.answer_note).into(),
            self.answered_seq.into(),
            self.executed_at.into(),
            self.exit_status.into(),
            self.executed_seq.into(),
            (&self.parts).into(),
            (&self.scope).into(),
            (&self.scope_hash).into(),
            (&self.ran_command).into(),
        ]
    }

    pub(super) fn record(self) -> Result<AuditRecord, AuditError> {
        let time = |us: Option<i64>| us.map(timestamp).transpose();
        let scope = scope_of(self.scope.as_deref())?;
        let mut record = AuditRecord {
            id: self.id,
            timestamp: timestamp(self.at)?,
            classification: class_of(self.class)?,
            decision_requires_confirmation: self.requires,
            user_response: self.response.map(response_of).transpose()?,
            execution_happened: self.executed_at.is_some(),
            response_time_ms: self.response_time_ms().unsigned_abs(),
            confidence: self.confidence,
            classification_method: method_of(self.method)?,
            answered_at: time(self.answered_at)?,
            deadline: time(self.deadline)?,
            executed_at: time(self.executed_at)?,
            exit_status: self
                .exit_status
                .map(i32::try_from)
                .transpose()
                .map_err(|_| AuditError::Damaged {
                    column: "exit_status",
                })?,
            ran_command: self.ran_command,
            response_time_us: self.response_time_us.unsigned_abs(),
            parts: self
                .parts
                .as_deref()
                .map(read)
                .transpose()?
                .unwrap_or_default(),
            command: self.command,
            error: self.error,
            reasoning: self.reasoning,
            explanation: self.explanation,
            context: self.context,
            agent: self.agent,
            session_id: self.session_id,
            cwd: self.cwd.map(PathBuf::from),
            call_id: self.call_id,
            denied: self.denied,
            rule: self.rule,
            answered_by: self.answered_by,
            answer_note: self.answer_note,
            command_hash: self.command_hash,
            covers: scope
                .as_ref()
                .map(ApprovalScope::covers)
                .unwrap_or_default(),
            always: scope.as_ref().map(ApprovalScope::describe),
            scope,
            caution: None,
            question_key: None,
            changes: None,
        };
        if record.decision_requires_confirmation && record.user_response.is_none() {
            (record.caution, record.question_key) = (record.caution(), record.key());
        }
        Ok(record)
    }
}
