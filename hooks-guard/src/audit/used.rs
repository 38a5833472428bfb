//! Use of approvals, each at most once. Takes a request, or a decision with its secret; returns the
//! approval that allows it and marks the approval as used.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::chain::{self, LogEntryKind, used};
use super::deadlines::{Deadlines, TOLERANCE_US};
use super::decide::{find, proves, record_answer};
use super::error::AuditError;
use super::record::{
    AuditRecord, DecisionRow, NewAnswer, UserResponse, columns, floor_us, response_code, scope_of,
    storable,
};
use super::remembered::Remembered;
use super::store::AuditStore;
use super::tx::Tx;
use super::write::{Batch, Work, WriteProbe};
use crate::approval::ApprovalScope;
use crate::request::PermissionRequest;

/// Result of redeeming an approval.
#[derive(Clone, Debug, PartialEq)]
pub enum RedeemResult {
    /// The approval is now used: the command may run once.
    Done(Box<AuditRecord>),
    /// The approval was used before.
    Already(Box<AuditRecord>),
    /// There is no approval, or its deadline has passed.
    NotApproved(Box<AuditRecord>),
    /// The command that would run now differs from the approved command; contains the reason. A new
    /// question is needed.
    Changed(Box<AuditRecord>, String),
    /// The secret does not match the decision.
    WrongSecret,
    /// Unknown id.
    Unknown,
}

/// Approval that makes another question unnecessary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Approval of this decision, which was not used before.
    Once(i64),
    /// Remembered answer with this id.
    Remembered(i64),
}

/// Result of a search for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantResult {
    /// There is no approval.
    No,
    /// There is an approval, but it does not apply because something has changed since; contains
    /// the change.
    Changed(String),
    /// The request is approved.
    By(Grant),
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(id) => write!(f, "approved as decision {id}"),
            Self::Remembered(id) => write!(f, "always allowed by remembered answer {id}"),
        }
    }
}

impl AuditStore {
    /// Uses the approval of a decision. The caller must present the secret of the decision. If
    /// several callers try, also in several processes, exactly one gets [`RedeemResult::Done`]. The
    /// files that the question was bound to are read again; if one has changed, the approval is not
    /// used.
    ///
    /// # Errors
    ///
    /// Returns an error if the use could not be written; then the approval is not used.
    pub async fn redeem(&self, id: i64, secret: &str) -> Result<RedeemResult, AuditError> {
        let asked = self.decision(id).await?.and_then(|record| record.scope);
        let now = match asked {
            Some(asked) => with_timeout(move || asked.refresh()).await,
            None => None,
        };
        let redeem = RedeemApproval {
            id,
            secret: secret.to_owned(),
            at: floor_us(Timestamp::now()),
            scope: now,
        };
        self.inner.writer.run(redeem).await
    }

    /// Answers the open question of a decision that another program has asked its user about. The
    /// caller must present the secret of the decision. An approval is recorded as used, so that it
    /// allows no other request. Returns `false` if there is no open question with this secret.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer could not be written.
    pub(crate) async fn answer_and_use(
        &self,
        id: i64,
        secret: &str,
        answer: NewAnswer,
    ) -> Result<bool, AuditError> {
        let secret = secret.to_owned();
        let answer = AnswerAndUse { id, secret, answer };
        self.inner.writer.run(answer).await
    }

    /// Searches for an approval of a command in its directory and session, with an equal scope.
    /// Returns a remembered answer if `may_be_remembered` is `true`, or an unused approval whose
    /// deadline has not passed. That approval is then marked as used. A remembered answer replaces
    /// all earlier approvals: if it is revoked, they do not apply again.
    ///
    /// # Errors
    ///
    /// Returns an error if the approval could not be read or written.
    pub async fn find_grant(
        &self,
        command_hash: [u8; 32],
        request: &PermissionRequest,
        scope: &ApprovalScope,
        may_be_remembered: bool,
    ) -> Result<GrantResult, AuditError> {
        // Most commands have no question.
        let mut tx = self.inner.backend.acquire().await?;
        if tx
            .one(HAS_APPROVAL, &[(&command_hash).into()])
            .await?
            .int(0)?
            == 0
        {
            return Ok(GrantResult::No);
        }
        drop(tx);
        let session = request.session_id.as_deref();
        let cwd = request.cwd.as_deref();
        let may_be_remembered = may_be_remembered && scope.refusal_reason().is_none();
        if may_be_remembered
            && let Some(found) = self
                .remembered(&command_hash, cwd, session, Some(scope))
                .await?
        {
            return Ok(GrantResult::By(Grant::Remembered(found.id)));
        }
        let take = UseApproval {
            command_hash,
            cwd: cwd.map(|cwd| storable(&cwd.to_string_lossy())),
            session: session.map(storable),
            scope: Some(scope.hash().to_owned()),
            at: floor_us(Timestamp::now()),
            deadlines: Arc::clone(&self.inner.deadlines),
        };
        // If there is no approval, nothing has to be written.
        let mut tx = self.inner.backend.read().await?;
        if take.find(&mut tx).await?.is_none() {
            let any = UseApproval {
                scope: None,
                ..take
            };
            let approved = any.find(&mut tx).await?;
            drop(tx);
            if let Some(row) = approved {
                let id = row.id;
                let why = changed(scope_of(row.scope.as_deref())?, scope);
                return Ok(GrantResult::Changed(format!(
                    "approved before as decision {id}; {why}"
                )));
            }
            let found = self.remembered(&command_hash, cwd, session, None).await?;
            return Ok(match found {
                Some(found) => {
                    let why = changed(found.scope, scope);
                    let id = found.id;
                    GrantResult::Changed(format!("remembered answer {id} does not apply; {why}"))
                }
                None => GrantResult::No,
            });
        }
        drop(tx);
        let taken = self.inner.writer.run(take).await?;
        Ok(taken.map_or(GrantResult::No, |id| GrantResult::By(Grant::Once(id))))
    }

    /// Checks that the trail can be read and that the last record was written.
    ///
    /// # Errors
    ///
    /// Returns an error if either failed.
    pub async fn ping(&self) -> Result<(), AuditError> {
        let mut tx = self.inner.backend.acquire().await?;
        tx.one("SELECT seq FROM head", &[]).await.map(drop)?;
        match self.inner.writer.failure() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Tests writing to the trail, without adding anything, if the last record could not be
    /// written.
    ///
    /// # Errors
    ///
    /// Returns an error if the trail still cannot be written.
    pub async fn probe(&self) -> Result<(), AuditError> {
        match self.inner.writer.failure() {
            Some(_) => self.inner.writer.run(WriteProbe).await,
            None => Ok(()),
        }
    }
}

/// Reason why an approval does not apply that has no scope, or whose files cannot be read.
const UNKNOWN_SCOPE: &str = "the scope of the approval is unknown";

/// Timeout for reading the files of a scope.
pub(crate) const SCOPE_TIMEOUT: Duration = Duration::from_secs(1);

/// Limits how many scopes are read at a time. The others wait, at most for the timeout.
static SCOPE_READS: Semaphore = Semaphore::const_new(16);

/// Runs a function that reads files on a blocking thread; returns `None` after a timeout.
pub(crate) async fn with_timeout<T: Send + 'static>(
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    with_deadline(Instant::now() + SCOPE_TIMEOUT, look).await
}

/// Runs a function that reads files on a blocking thread; returns `None` after the deadline.
pub(crate) async fn with_deadline<T: Send + 'static>(
    deadline: Instant,
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let permit = timeout_at(deadline, SCOPE_READS.acquire())
        .await
        .ok()?
        .ok()?;
    let looking = tokio::task::spawn_blocking(move || {
        // Held by the thread, so that a file system that hangs blocks no more than these threads.
        let _permit = permit;
        look()
    });
    timeout_at(deadline, looking).await.ok()?.ok()
}

/// Describes the difference between the approved scope and the current scope.
pub(super) fn changed(approved: Option<ApprovalScope>, now: &ApprovalScope) -> String {
    let Some(approved) = approved else {
        return Remembered::UNBOUND_REASON.to_owned();
    };
    match (approved.changed_in(now), now.refusal_reason()) {
        (Some(why), _) => why,
        (None, Some(why)) => format!("it cannot be remembered: {why}"),
        (None, None) => UNKNOWN_SCOPE.to_owned(),
    }
}

/// Checks if a command has any approval, in any scope.
const HAS_APPROVAL: &str = "SELECT CAST(CASE
        WHEN EXISTS (SELECT 1 FROM remembered r
            WHERE r.revoked_at IS NULL AND r.command_hash = $1) THEN 1
        WHEN EXISTS (SELECT 1 FROM decisions d
            WHERE d.response = 1 AND d.command_hash = $1) THEN 1
        ELSE 0 END AS BIGINT)";

async fn record_use(batch: &mut Batch, decision: i64, at: i64) -> Result<(), AuditError> {
    let seq = batch
        .append(LogEntryKind::Used, decision, used(decision, at))
        .await?;
    batch
        .tx
        .execute(
            "INSERT INTO used (decision, at, seq) VALUES ($1, $2, $3)",
            &[decision.into(), at.into(), seq.into()],
        )
        .await
        .map(drop)
}

pub(super) async fn is_used(tx: &mut Tx, decision: i64) -> Result<bool, AuditError> {
    let found = tx
        .optional(
            "SELECT seq FROM used WHERE decision = $1",
            &[decision.into()],
        )
        .await?;
    Ok(found.is_some())
}

struct RedeemApproval {
    id: i64,
    secret: String,
    at: i64,
    /// Current scope of the command.
    scope: Option<ApprovalScope>,
}

impl Work for RedeemApproval {
    type Out = RedeemResult;

    async fn apply(self, batch: &mut Batch) -> Result<RedeemResult, AuditError> {
        let Some(row) = find(&mut batch.tx, self.id).await? else {
            return Ok(RedeemResult::Unknown);
        };
        if !proves(&self.secret, row.secret_hash.as_ref()) {
            return Ok(RedeemResult::WrongSecret);
        }
        let approved = row.response == Some(response_code(UserResponse::Approved));
        let over = row.deadline.is_none() || batch.is_expired(&row, self.at);
        let record = Box::new(row.clone().record()?);
        if !approved || over {
            return Ok(RedeemResult::NotApproved(record));
        }
        if is_used(&mut batch.tx, self.id).await? || record.execution_happened {
            return Ok(RedeemResult::Already(record));
        }
        chain::check_approval(&mut batch.tx, &row).await?;
        let same = |now: &ApprovalScope| row.scope_hash.as_deref() == Some(now.hash());
        if !self.scope.as_ref().is_some_and(same) {
            let why = match &self.scope {
                Some(now) => changed(record.scope.clone(), now),
                None => UNKNOWN_SCOPE.to_owned(),
            };
            return Ok(RedeemResult::Changed(record, why));
        }
        record_use(batch, self.id, self.at).await?;
        Ok(RedeemResult::Done(record))
    }
}

struct AnswerAndUse {
    id: i64,
    secret: String,
    answer: NewAnswer,
}

impl Work for AnswerAndUse {
    type Out = bool;

    async fn apply(self, batch: &mut Batch) -> Result<bool, AuditError> {
        let found = find(&mut batch.tx, self.id).await?;
        let open = found.filter(|row| {
            row.requires && row.response.is_none() && proves(&self.secret, row.secret_hash.as_ref())
        });
        let Some(row) = open else {
            return Ok(false);
        };
        // Only an approval with a deadline can be used.
        let is_usable = row.deadline.is_some() && self.answer.response == UserResponse::Approved;
        record_answer(batch, row, &self.answer).await?;
        if is_usable {
            record_use(batch, self.id, floor_us(self.answer.at)).await?;
        }
        Ok(true)
    }
}

/// Uses an approval with an equal command, directory, session and scope.
struct UseApproval {
    command_hash: [u8; 32],
    cwd: Option<String>,
    session: Option<String>,
    /// Hash of the scope; `None` finds approvals of any scope and uses none.
    scope: Option<String>,
    at: i64,
    deadlines: Arc<Deadlines>,
}

impl UseApproval {
    async fn find(&self, tx: &mut Tx) -> Result<Option<DecisionRow>, AuditError> {
        let found = tx
            .all(
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM decisions d
                      WHERE d.command_hash = $1 AND d.response = 1 AND d.deadline > $4
                        AND d.at <= $5
                        AND ((d.cwd IS NULL AND CAST($2 AS TEXT) IS NULL) OR d.cwd = $2)
                        AND ((d.session_id IS NULL AND CAST($3 AS TEXT) IS NULL)
                            OR d.session_id = $3)
                        AND (CAST($6 AS TEXT) IS NULL OR d.scope_hash = $6)
                        AND d.executed_at IS NULL
                        AND NOT EXISTS (SELECT 1 FROM used u WHERE u.decision = d.id)
                        AND NOT EXISTS (SELECT 1 FROM remembered r
                            WHERE r.command_hash = d.command_hash AND r.created_at >= d.at
                                AND r.scope_hash = d.scope_hash
                                AND ((r.cwd IS NULL AND d.cwd IS NULL) OR r.cwd = d.cwd)
                                AND (r.session_id IS NULL OR r.session_id = d.session_id))
                      ORDER BY d.id LIMIT 100"
                ),
                &[
                    (&self.command_hash).into(),
                    (&self.cwd).into(),
                    (&self.session).into(),
                    self.at.into(),
                    // Later decisions were made before the clock was set back.
                    self.at.saturating_add(TOLERANCE_US).into(),
                    (&self.scope).into(),
                ],
            )
            .await?;
        for row in found {
            let row = DecisionRow::read(&row, 0)?;
            if !self.deadlines.is_expired(row.id) {
                chain::check_approval(tx, &row).await?;
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

impl Work for UseApproval {
    type Out = Option<i64>;

    async fn apply(self, batch: &mut Batch) -> Result<Option<i64>, AuditError> {
        if self.scope.is_none() {
            return Ok(None);
        }
        let found = self.find(&mut batch.tx).await?.map(|row| row.id);
        if let Some(id) = found {
            record_use(batch, id, self.at).await?;
        }
        Ok(found)
    }
}
