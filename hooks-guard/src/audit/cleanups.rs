//! The permanent record of a cleanup. Takes a row of the table `cleanups`; returns its content hash
//! and its public form.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::chain::{Content, LogEntryKind};
use super::error::AuditError;
use super::record::timestamp;
use super::tx::{Columns, Tx};

/// Record of a past cleanup, kept permanently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastCleanup {
    /// Time of the cleanup.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub at: Timestamp,
    /// Operator or process that ran the cleanup.
    pub by: String,
    /// Decisions older than this were deleted.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub older_than: Timestamp,
    /// Number of deleted decisions.
    pub deleted: u64,
    /// Number of remaining decisions.
    pub remaining: u64,
}

/// A row of `cleanups`.
pub(super) struct CleanupRow {
    pub(super) at: i64,
    pub(super) by: String,
    pub(super) older_than: i64,
    pub(super) deleted: i64,
    pub(super) remaining: i64,
    pub(super) gaps_hash: [u8; 32],
}

impl CleanupRow {
    pub(super) async fn find(tx: &mut Tx, seq: i64) -> Result<Option<Self>, AuditError> {
        tx.optional(Self::SELECT, &[seq.into()])
            .await?
            .map(|row| Self::read(&row))
            .transpose()
    }

    /// Selects the cleanup of entry `$1`.
    pub(super) const SELECT: &str =
        "SELECT at, done_by, older_than, deleted, remaining, gaps_hash FROM cleanups
         WHERE seq = $1";

    /// Parses a row of [`SELECT`](Self::SELECT).
    pub(super) fn read(row: &impl Columns) -> Result<Self, AuditError> {
        Ok(Self {
            at: row.int(0)?,
            by: row.text(1)?.as_ref().to_owned(),
            older_than: row.int(2)?,
            deleted: row.int(3)?,
            remaining: row.int(4)?,
            gaps_hash: row.hash(5)?,
        })
    }

    pub(super) fn content(&self) -> [u8; 32] {
        Content::new(LogEntryKind::Cleaned, 0)
            .int(self.at)
            .text(&self.by)
            .int(self.older_than)
            .int(self.deleted)
            .int(self.remaining)
            .bytes(&self.gaps_hash)
            .hash()
    }

    pub(super) fn into_past_cleanup(self) -> Result<PastCleanup, AuditError> {
        Ok(PastCleanup {
            at: timestamp(self.at)?,
            by: self.by,
            older_than: timestamp(self.older_than)?,
            deleted: self.deleted.max(0).unsigned_abs(),
            remaining: self.remaining.max(0).unsigned_abs(),
        })
    }
}
