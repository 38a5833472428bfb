//! Approvals that were used: each serves once.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::AuditStore;
use super::backend::Tx;
use super::chain::{self, Content, Kind};
use super::deadlines::{Deadlines, TOLERANCE_US};
use super::decide::{find, proves};
use super::error::AuditError;
use super::record::{
    AuditRecord, Stored, UserResponse, columns, floor_us, response_code, storable,
};
use super::write::{Batch, Probe, Work};
use crate::request::PermissionRequest;

/// What came of the wish to use an approval.
#[derive(Clone, Debug, PartialEq)]
pub enum Redeemed {
    /// It is used now: what was approved may be done, once.
    Done(Box<AuditRecord>),
    /// It was used before.
    Already(Box<AuditRecord>),
    /// There is no approval.
    NotApproved(Box<AuditRecord>),
    /// The secret is not that of the decision.
    WrongSecret,
    /// There is no such decision.
    Unknown,
}

/// Why something need not be asked about again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// An approval of this decision, which nobody had used yet.
    Once(i64),
    /// The remembered answer of this number.
    Remembered(i64),
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
    /// Uses the approval of a decision, for who has its secret. Of several who try, also in
    /// several processes, exactly one gets [`Redeemed::Done`].
    ///
    /// # Errors
    ///
    /// If it could not be written; then it is not used.
    pub async fn redeem(&self, id: i64, secret: &str) -> Result<Redeemed, AuditError> {
        let secret = secret.to_owned();
        let at = floor_us(Timestamp::now());
        self.inner.writer.run(Redeem { id, secret, at }).await
    }

    /// Whether a request need not be asked about again, because its command, in its directory and
    /// its session, was approved: by a remembered answer, if there may be one, or by an approval
    /// that has not been used, whose time is not over, and which is used now. An answer that was
    /// remembered stands in place of the approvals before it: revoked, it leaves none of them.
    ///
    /// # Errors
    ///
    /// If it could not be read or written.
    pub async fn grant(
        &self,
        command_hash: [u8; 32],
        request: &PermissionRequest,
        may_be_remembered: bool,
    ) -> Result<Option<Grant>, AuditError> {
        // Mostly nobody was ever asked about it.
        let mut tx = self.inner.backend.glance().await?;
        if tx.one(ANSWERED, &[(&command_hash).into()]).await?.int(0)? == 0 {
            return Ok(None);
        }
        drop(tx);
        let session = request.session_id.as_deref();
        let cwd = request.cwd.as_deref();
        if may_be_remembered
            && let Some(found) = self.remembered(&command_hash, cwd, session).await?
        {
            return Ok(Some(Grant::Remembered(found.id)));
        }
        let take = Take {
            command_hash,
            cwd: cwd.map(|cwd| storable(&cwd.to_string_lossy())),
            session: session.map(storable),
            at: floor_us(Timestamp::now()),
            deadlines: Arc::clone(&self.inner.deadlines),
        };
        // Where there is none, nothing has to be written.
        let mut tx = self.inner.backend.read().await?;
        if take.find(&mut tx).await?.is_none() {
            return Ok(None);
        }
        drop(tx);
        let taken = self.inner.writer.run(take).await?;
        Ok(taken.map(Grant::Once))
    }

    /// Whether the trail can be read, and the last record was written.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub async fn ping(&self) -> Result<(), AuditError> {
        let mut tx = self.inner.backend.glance().await?;
        tx.one("SELECT seq FROM head", &[]).await.map(drop)?;
        match self.inner.writer.failure() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Writes to the trail without adding anything, if the last record could not be written: says
    /// whether it can be written again.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub async fn probe(&self) -> Result<(), AuditError> {
        match self.inner.writer.failure() {
            Some(_) => self.inner.writer.run(Probe).await,
            None => Ok(()),
        }
    }
}

/// Whether somebody has agreed to a command, wherever that holds.
const ANSWERED: &str = "SELECT CAST(CASE
        WHEN EXISTS (SELECT 1 FROM remembered r
            WHERE r.revoked_at IS NULL AND r.command_hash = $1) THEN 1
        WHEN EXISTS (SELECT 1 FROM decisions d
            WHERE d.response = 1 AND d.command_hash = $1) THEN 1
        ELSE 0 END AS BIGINT)";

/// The content of the entry about a use.
pub(super) fn used(decision: i64, at: i64) -> [u8; 32] {
    Content::new(Kind::Used, decision).int(at).hash()
}

/// What an entry about a use should say, if its decision knows of it.
pub(super) async fn of_entry(
    tx: &mut Tx,
    seq: i64,
    decision: i64,
) -> Result<Option<[u8; 32]>, AuditError> {
    let found = tx
        .optional(
            "SELECT at FROM used WHERE decision = $1 AND seq = $2",
            &[decision.into(), seq.into()],
        )
        .await?;
    found.map(|row| Ok(used(decision, row.int(0)?))).transpose()
}

async fn put(batch: &mut Batch, decision: i64, at: i64) -> Result<(), AuditError> {
    let seq = batch
        .append(Kind::Used, decision, used(decision, at))
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

async fn is_used(tx: &mut Tx, decision: i64) -> Result<bool, AuditError> {
    let found = tx
        .optional(
            "SELECT seq FROM used WHERE decision = $1",
            &[decision.into()],
        )
        .await?;
    Ok(found.is_some())
}

struct Redeem {
    id: i64,
    secret: String,
    at: i64,
}

impl Work for Redeem {
    type Out = Redeemed;

    async fn apply(self, batch: &mut Batch) -> Result<Redeemed, AuditError> {
        let Some(row) = find(&mut batch.tx, self.id).await? else {
            return Ok(Redeemed::Unknown);
        };
        if !proves(&self.secret, row.secret_hash.as_ref()) {
            return Ok(Redeemed::WrongSecret);
        }
        let approved = row.response == Some(response_code(UserResponse::Approved));
        let over = row.deadline.is_none() || batch.is_over(&row, self.at);
        let record = Box::new(row.clone().record()?);
        if !approved || over {
            return Ok(Redeemed::NotApproved(record));
        }
        if is_used(&mut batch.tx, self.id).await? || record.execution_happened {
            return Ok(Redeemed::Already(record));
        }
        chain::check_approval(&mut batch.tx, &row).await?;
        put(batch, self.id, self.at).await?;
        Ok(Redeemed::Done(record))
    }
}

/// Takes an approval of the same command, directory and session.
struct Take {
    command_hash: [u8; 32],
    cwd: Option<String>,
    session: Option<String>,
    at: i64,
    deadlines: Arc<Deadlines>,
}

impl Take {
    async fn find(&self, tx: &mut Tx) -> Result<Option<i64>, AuditError> {
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
                        AND d.executed_at IS NULL
                        AND NOT EXISTS (SELECT 1 FROM used u WHERE u.decision = d.id)
                        AND NOT EXISTS (SELECT 1 FROM remembered r
                            WHERE r.command_hash = d.command_hash AND r.created_at >= d.at
                                AND ((r.cwd IS NULL AND d.cwd IS NULL) OR r.cwd = d.cwd)
                                AND (r.session_id IS NULL OR r.session_id = d.session_id))
                      ORDER BY d.id LIMIT 100"
                ),
                &[
                    (&self.command_hash).into(),
                    (&self.cwd).into(),
                    (&self.session).into(),
                    self.at.into(),
                    // A later one was asked before the clock was set back.
                    self.at.saturating_add(TOLERANCE_US).into(),
                ],
            )
            .await?;
        for row in found {
            let row = Stored::read(&row, 0)?;
            if !self.deadlines.is_over(row.id) {
                chain::check_approval(tx, &row).await?;
                return Ok(Some(row.id));
            }
        }
        Ok(None)
    }
}

impl Work for Take {
    type Out = Option<i64>;

    async fn apply(self, batch: &mut Batch) -> Result<Option<i64>, AuditError> {
        let found = self.find(&mut batch.tx).await?;
        if let Some(id) = found {
            put(batch, id, self.at).await?;
        }
        Ok(found)
    }
}
