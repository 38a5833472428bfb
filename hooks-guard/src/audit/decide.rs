//! Records decisions. Takes a decision, its answer or its execution; writes rows and the entries of
//! the chain.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::chain::{self, LogEntryKind};
use super::deadlines::{Deadlines, TOLERANCE_US};
use super::error::AuditError;
use super::record::{
    AnswerResult, AuditRecord, DecisionRow, Execution, ExecutionResult, NewAnswer, ReportedCommand,
    UserResponse, columns, floor_us, fold_case, response_code, storable,
};
use super::remember::RecordRemembered;
use super::remembered::{NewRemembered, SessionScope};
use super::tally::CountedDecision;
use super::tx::{Arg, Sql, Tx};
use super::write::{Batch, Work};
use crate::request::NetworkAccess;

/// Author of the answer to a question that expired.
const BY_DEADLINE: &str = "deadline";

pub(super) async fn find(tx: &mut Tx, id: i64) -> Result<Option<DecisionRow>, AuditError> {
    tx.optional(
        concat!("SELECT ", columns!(), " FROM decisions d WHERE d.id = $1"),
        &[id.into()],
    )
    .await?
    .map(|row| DecisionRow::read(&row, 0))
    .transpose()
}

/// Returns the newest decision since a time for which another command ran, and the number of all.
pub(super) async fn changed_commands(
    tx: &mut Tx,
    since: i64,
) -> Result<(Option<AuditRecord>, u64), AuditError> {
    let newest = tx
        .optional(
            concat!(
                "SELECT ",
                columns!(),
                " FROM decisions d WHERE d.ran_command IS NOT NULL AND d.at >= $1
                    ORDER BY d.at DESC, d.id DESC LIMIT 1"
            ),
            &[since.into()],
        )
        .await?;
    let record = newest.map(|row| DecisionRow::read(&row, 0)?.record());
    let count = tx
        .one(
            "SELECT count(*) FROM decisions d WHERE d.ran_command IS NOT NULL AND d.at >= $1",
            &[since.into()],
        )
        .await?;
    Ok((record.transpose()?, count.int(0)?.unsigned_abs()))
}

/// SQL parameters `$1` to `$35`, the values of [`DecisionRow::args`].
macro_rules! record {
    (log) => {
        "INSERT INTO log (seq, kind, subject, hash) VALUES ($24, $36, $1, $37)"
    };
    (searched) => {
        "INSERT INTO searched (at, id, class, requires, response, folded, agent)
         VALUES ($2, $1, $5, $6, $7, $38, $15)"
    };
    (decisions) => {
        "INSERT INTO decisions (
            id, at, command, command_hash, class, requires, response, response_time_us,
            confidence, method, timed_out, reasoning, explanation, context, agent,
            session_id, cwd, call_id, denied, rule, error, deadline, secret_hash,
            decided_seq, answered_at, answered_by, answer_note, answered_seq, executed_at,
            exit_status, executed_seq, parts, scope, scope_hash, ran_command)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
            $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32,
            $33, $34, $35)"
    };
}

/// Inserts all rows of a decision in one statement: sending them separately takes longer than
/// writing them.
const RECORD: Sql = Sql::each(
    concat!(
        record!(log),
        "; ",
        record!(searched),
        "; ",
        record!(decisions)
    ),
    concat!(
        "WITH logged AS (",
        record!(log),
        "), found AS (",
        record!(searched),
        ") ",
        record!(decisions)
    ),
);

pub(super) struct RecordDecision {
    pub(super) row: Box<DecisionRow>,
    /// The answer, if it is known already; recorded as a separate log entry.
    pub(super) answer: Option<NewAnswer>,
}

impl Work for RecordDecision {
    type Out = i64;

    fn at(&self) -> i64 {
        self.row.at
    }

    async fn apply(self, batch: &mut Batch) -> Result<i64, AuditError> {
        let mut row = self.row;
        batch.head.decisions += 1;
        row.id = batch.head.decisions;
        row.decided_seq = batch.advance(chain::decided(&row));
        batch.deadlines.add_new(&row);
        let folded = fold_case(&row.command);
        let mut args = row.args().to_vec();
        args.extend([
            Arg::from(LogEntryKind::Decided as i64),
            (&batch.head.hash).into(),
            (&folded).into(),
        ]);
        batch.tx.execute(RECORD, &args).await?;
        batch.deltas.add(&CountedDecision::from(&*row), 1);
        let id = row.id;
        if let Some(answer) = self.answer
            && row.response.is_none()
        {
            record_answer(batch, *row, &answer).await?;
        }
        Ok(id)
    }
}

pub(super) struct RecordAnswer {
    pub(super) id: i64,
    pub(super) answer: NewAnswer,
    /// Scope in which an approval is remembered.
    pub(super) lasting: Option<SessionScope>,
}

impl Work for RecordAnswer {
    type Out = AnswerResult;

    async fn apply(self, batch: &mut Batch) -> Result<AnswerResult, AuditError> {
        let Some(row) = find(&mut batch.tx, self.id).await? else {
            return Ok(AnswerResult::Unknown);
        };
        if row.response.is_some() {
            return Ok(AnswerResult::Already(Box::new(row.record()?)));
        }
        if !row.requires {
            return Ok(AnswerResult::NotAsked(Box::new(row.record()?)));
        }
        let at = floor_us(self.answer.at);
        if batch.is_expired(&row, at) {
            let row = time_out(batch, row, at).await?;
            return Ok(AnswerResult::Already(Box::new(row.record()?)));
        }
        let record = Box::new(record_answer(batch, row, &self.answer).await?.record()?);
        // One transaction: an answer lost in between would be asked for again.
        if let Some(lasting) = self.lasting {
            let new = NewRemembered::of(&record, lasting, self.answer);
            RecordRemembered(new).apply(batch).await?;
        }
        Ok(AnswerResult::Done(record))
    }
}

pub(super) async fn record_answer(
    batch: &mut Batch,
    row: DecisionRow,
    answer: &NewAnswer,
) -> Result<DecisionRow, AuditError> {
    let answered = DecisionRow {
        response: Some(response_code(answer.response)),
        answered_at: Some(floor_us(answer.at)),
        answered_by: Some(storable(&answer.by)),
        answer_note: answer.note.as_deref().map(storable),
        ..row.clone()
    };
    write_answer(batch, &row, answered).await
}

async fn time_out(batch: &mut Batch, row: DecisionRow, at: i64) -> Result<DecisionRow, AuditError> {
    let answer = DecisionRow {
        response: Some(response_code(UserResponse::Timeout)),
        answered_at: Some(at),
        answered_by: Some(BY_DEADLINE.to_owned()),
        ..row.clone()
    };
    write_answer(batch, &row, answer).await
}

async fn write_answer(
    batch: &mut Batch,
    was: &DecisionRow,
    mut is: DecisionRow,
) -> Result<DecisionRow, AuditError> {
    if let Some(open) = &mut batch.open {
        open.answered(was);
    }
    is.answered_seq = Some(
        batch
            .append(LogEntryKind::Answered, is.id, chain::answered(&is))
            .await?,
    );
    batch
        .tx
        .execute(
            "UPDATE decisions SET response = $2, answered_at = $3, answered_by = $4,
                answer_note = $5, answered_seq = $6 WHERE id = $1",
            &[
                is.id.into(),
                is.response.into(),
                is.answered_at.into(),
                (&is.answered_by).into(),
                (&is.answer_note).into(),
                is.answered_seq.into(),
            ],
        )
        .await?;
    batch
        .tx
        .execute(
            "UPDATE searched SET response = $3 WHERE at = $1 AND id = $2",
            &[is.at.into(), is.id.into(), is.response.into()],
        )
        .await?;
    batch.deltas.answered(&was.into(), &(&is).into());
    Ok(is)
}

/// Open questions with a deadline of `$1` or earlier, or asked after `$2`, which means that the
/// clock was set back.
macro_rules! overdue {
    () => {
        " FROM decisions d WHERE d.response IS NULL AND d.deadline IS NOT NULL
            AND (d.deadline <= $1 OR d.at > $2) AND d.requires = 1"
    };
}

/// Returns `true` if there are questions for [`ExpireQuestions`] to close.
pub(super) async fn is_overdue(tx: &mut Tx, now: i64) -> Result<bool, AuditError> {
    let found = tx
        .optional(
            concat!("SELECT d.id", overdue!(), " LIMIT 1"),
            &[now.into(), now.saturating_add(TOLERANCE_US).into()],
        )
        .await?;
    Ok(found.is_some())
}

/// Closes questions whose deadline has passed, at most [`MAX_ANSWERS`] in one transaction, so
/// that other writers are not delayed.
pub(super) struct ExpireQuestions {
    pub(super) now: i64,
    /// Questions that expired by the monotonic clock.
    pub(super) expired: Vec<i64>,
}

/// Adds the deadlines of the questions that other processes have recorded.
pub(super) async fn load_deadlines(
    tx: &mut Tx,
    deadlines: &Deadlines,
    now: i64,
) -> Result<(), AuditError> {
    let rows = tx
        .all(
            "SELECT id, at, deadline FROM decisions WHERE response IS NULL
                AND deadline IS NOT NULL AND requires = 1 AND id > $1",
            &[deadlines.last_seen().into()],
        )
        .await?;
    for row in rows {
        deadlines.add_existing(row.int(0)?, row.int(1)?, row.int(2)?, now);
    }
    Ok(())
}

impl Work for ExpireQuestions {
    type Out = Vec<i64>;

    async fn apply(self, batch: &mut Batch) -> Result<Vec<i64>, AuditError> {
        let rows = batch
            .tx
            .all(
                concat!("SELECT ", columns!(), overdue!(), " ORDER BY d.id LIMIT $3"),
                &[
                    self.now.into(),
                    self.now.saturating_add(TOLERANCE_US).into(),
                    MAX_ANSWERS.into(),
                ],
            )
            .await?;
        let mut expired = Vec::with_capacity(rows.len());
        for row in rows {
            let row = time_out(batch, DecisionRow::read(&row, 0)?, self.now).await?;
            expired.push(row.id);
        }
        for id in self.expired {
            let open = find(&mut batch.tx, id)
                .await?
                .filter(|row| row.requires && row.response.is_none() && row.deadline.is_some());
            if let Some(row) = open {
                time_out(batch, row, self.now).await?;
                expired.push(id);
            }
        }
        expired.sort_unstable();
        Ok(expired)
    }
}

/// Records that a command ran, by the id of its decision or the agent's id of the call.
pub(super) struct RecordExecution {
    pub(super) selector: DecisionSelector,
    pub(super) outcome: Execution,
    /// Author of the implied approval, if the agent was to ask its user.
    pub(super) agreed: Option<&'static str>,
    /// The command that ran, if it is reported.
    pub(super) ran: Option<ReportedCommand>,
}

/// Selects a decision.
pub(crate) enum DecisionSelector {
    Secret { id: i64, secret: String },
    Call(CallId),
}

/// The agent's id of a tool call.
pub(crate) struct CallId {
    pub(crate) agent: String,
    pub(crate) session: String,
    pub(crate) call: String,
}

/// Answers the open question about a tool call, if there is one.
pub(super) struct RecordCallAnswer {
    pub(super) call: CallId,
    pub(super) answer: NewAnswer,
}

impl Work for RecordCallAnswer {
    type Out = Option<i64>;

    async fn apply(self, batch: &mut Batch) -> Result<Option<i64>, AuditError> {
        let found = self.call.find(&mut batch.tx).await?;
        let open = |row: &DecisionRow| row.requires && row.response.is_none();
        let Some(row) = found.filter(open) else {
            return Ok(None);
        };
        let id = row.id;
        record_answer(batch, row, &self.answer).await?;
        Ok(Some(id))
    }
}

impl Work for RecordExecution {
    type Out = ExecutionResult;

    async fn apply(self, batch: &mut Batch) -> Result<ExecutionResult, AuditError> {
        let found = match &self.selector {
            DecisionSelector::Secret { id, secret } => {
                let found = find(&mut batch.tx, *id).await?;
                if let Some(row) = &found
                    && !proves(secret, row.secret_hash.as_ref())
                {
                    return Ok(ExecutionResult::WrongSecret);
                }
                found
            }
            DecisionSelector::Call(call) => call.find(&mut batch.tx).await?,
        };
        let Some(row) = found else {
            return Ok(ExecutionResult::Unknown);
        };
        if row.executed_at.is_some() {
            return Ok(ExecutionResult::Already(Box::new(row.record()?)));
        }
        let ran_command = match self.ran {
            Some(ran) if is_other_command(batch, &row, &ran).await? => Some(storable(&ran.shown)),
            _ => None,
        };
        let mut row = DecisionRow {
            ran_command,
            executed_at: Some(floor_us(self.outcome.at)),
            exit_status: self.outcome.exit_status.map(i64::from),
            ..row
        };
        row.executed_seq = Some(
            batch
                .append(LogEntryKind::Executed, row.id, chain::executed(&row))
                .await?,
        );
        batch
            .tx
            .execute(
                "UPDATE decisions SET executed_at = $2, exit_status = $3, executed_seq = $4,
                    ran_command = $5 WHERE id = $1",
                &[
                    row.id.into(),
                    row.executed_at.into(),
                    row.exit_status.into(),
                    row.executed_seq.into(),
                    (&row.ran_command).into(),
                ],
            )
            .await?;
        let asked_itself = row.requires && row.response.is_none() && row.deadline.is_none();
        // The user has not approved the decided command by the run of another one.
        if let Some(by) = self.agreed
            && asked_itself
            && row.ran_command.is_none()
        {
            let answer = NewAnswer {
                response: UserResponse::Approved,
                by: by.to_owned(),
                note: None,
                at: self.outcome.at,
            };
            row = record_answer(batch, row, &answer).await?;
        }
        Ok(ExecutionResult::Done(Box::new(row.record()?)))
    }
}

/// Returns `true` if a command is not the one of its decision, and none of the decisions about the
/// same call was about it. An agent may request several decisions about a call: Codex requests network
/// access separately.
async fn is_other_command(
    batch: &mut Batch,
    row: &DecisionRow,
    ran: &ReportedCommand,
) -> Result<bool, AuditError> {
    if row.command_hash == ran.hash || NetworkAccess::is_described_by(&row.command) {
        return Ok(false);
    }
    let found = batch
        .tx
        .optional(
            "SELECT d.id FROM decisions d WHERE d.call_id IS NOT NULL AND d.call_id = $1
                AND d.agent = $2 AND d.session_id = $3 AND d.command_hash = $4 LIMIT 1",
            &[
                (&row.call_id).into(),
                (&row.agent).into(),
                (&row.session_id).into(),
                (&ran.hash).into(),
            ],
        )
        .await?;
    Ok(found.is_none())
}

/// Returns `true` if the secret matches the hash; compares in constant time.
pub(super) fn proves(secret: &str, hash: Option<&[u8; 32]>) -> bool {
    let given = Sha256::digest(secret.as_bytes());
    hash.is_some_and(|hash| bool::from(given.as_slice().ct_eq(hash)))
}

impl CallId {
    /// Returns the last decision about the call: an agent may reuse the id of a call.
    async fn find(&self, tx: &mut Tx) -> Result<Option<DecisionRow>, AuditError> {
        tx.optional(
            concat!(
                "SELECT ",
                columns!(),
                " FROM decisions d WHERE d.call_id IS NOT NULL AND d.call_id = $1
                    AND d.agent = $2 AND d.session_id = $3 ORDER BY d.id DESC LIMIT 1"
            ),
            &[
                (&storable(&self.call)).into(),
                (&storable(&self.agent)).into(),
                (&storable(&self.session)).into(),
            ],
        )
        .await?
        .map(|row| DecisionRow::read(&row, 0))
        .transpose()
    }
}

/// Maximum number of questions answered in one transaction, so that other writers are not delayed.
pub(super) const MAX_ANSWERS: i64 = 200;
