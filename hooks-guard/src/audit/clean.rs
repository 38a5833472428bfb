//! Deletes old decisions. Takes a point in time; returns how many decisions were deleted. The trail
//! keeps a permanent record of each cleanup.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::backend::Backend;
use super::chain::{self, Gap, LogEntryKind, gaps};
use super::cleanups::CleanupRow;
use super::database::Database;
use super::error::AuditError;
use super::record::{ceil_us, floor_us, storable};
use super::tally::CountedDecision;
use super::tx::Tx;
use super::write::{Batch, Work, Writer};

/// Maximum number of decisions deleted in one transaction, so that other writers are not delayed.
const MAX_DELETED: i64 = 5000;

/// Approximate size of a database row without its texts, including its share of the indexes.
const ROW_BYTES: i64 = 400;

/// Result of a cleanup.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleanup {
    /// Number of deleted decisions.
    pub deleted: u64,
    /// Number of remaining decisions.
    pub remaining: u64,
    /// Approximate number of bytes that can be reused.
    pub freed_bytes: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Time of completion.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub timestamp: Timestamp,
}

pub(super) async fn clean(
    backend: &Backend,
    writer: &Writer,
    older_than: Timestamp,
    by: &str,
) -> Result<Cleanup, AuditError> {
    let started = std::time::Instant::now();
    let mut deleted = 0;
    let mut freed = 0;
    let remaining = loop {
        let part = writer
            .run(DeleteDecisions {
                older_than: ceil_us(older_than),
                by: by.to_owned(),
                // A cleanup that deletes no decisions leaves a record, too.
                first: deleted == 0,
            })
            .await?;
        deleted += part.deleted;
        freed += part.bytes;
        if part.deleted < MAX_DELETED {
            break part.remaining;
        }
    };
    if deleted > 0
        && let Database::Sqlite(database) = backend.database()
    {
        // Space that cannot be returned to the system now is reused.
        while database.shrink().await.unwrap_or(0) > 0 {}
    }
    Ok(Cleanup {
        deleted: deleted.max(0).unsigned_abs(),
        remaining: remaining.max(0).unsigned_abs(),
        freed_bytes: freed.max(0).unsigned_abs(),
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        timestamp: Timestamp::now(),
    })
}

struct DeleteDecisions {
    older_than: i64,
    by: String,
    first: bool,
}

struct DeletedDecisions {
    deleted: i64,
    remaining: i64,
    bytes: i64,
}

impl Work for DeleteDecisions {
    type Out = DeletedDecisions;

    async fn apply(self, batch: &mut Batch) -> Result<DeletedDecisions, AuditError> {
        let rows = batch
            .tx
            .all(
                "SELECT at, id, class, requires, response, agent, timed_out, confidence,
                    response_time_us / 1000, decided_seq, answered_seq, executed_seq,
                    CAST(2 * octet_length(command) + octet_length(reasoning)
                        + octet_length(explanation) AS BIGINT),
                    (SELECT seq FROM used WHERE decision = id)
                 FROM decisions WHERE at < $1 ORDER BY at, id LIMIT $2",
                &[self.older_than.into(), MAX_DELETED.into()],
            )
            .await?;
        let mut part = DeletedDecisions {
            deleted: 0,
            remaining: 0,
            bytes: 0,
        };
        let mut entries = Vec::new();
        let mut last = None;
        for row in rows {
            let counted = CountedDecision {
                at: row.int(0)?,
                class: row.int(2)?,
                requires: row.flag(3)?,
                response: row.maybe_int(4)?,
                agent: row.maybe_text(5)?,
                timed_out: row.flag(6)?,
                confidence: row.real(7)?,
                ms: row.int(8)?,
            };
            batch.deltas.add(&counted, -1);
            last = Some([row.int(0)?.into(), row.int(1)?.into()]);
            entries.push(row.int(9)?);
            entries.extend(row.maybe_int(10)?);
            entries.extend(row.maybe_int(11)?);
            entries.extend(row.maybe_int(13)?);
            part.deleted += 1;
            part.bytes += row.int(12)? + ROW_BYTES;
        }
        if let Some(last) = last {
            batch
                .tx
                .execute(
                    "DELETE FROM used WHERE decision IN
                        (SELECT id FROM decisions WHERE (at, id) <= ($1, $2))",
                    &last,
                )
                .await?;
            batch
                .tx
                .execute("DELETE FROM decisions WHERE (at, id) <= ($1, $2)", &last)
                .await?;
            batch
                .tx
                .execute("DELETE FROM searched WHERE (at, id) <= ($1, $2)", &last)
                .await?;
        }
        let decided = batch
            .tx
            .one(
                "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM tallies WHERE unit = 0",
                &[],
            )
            .await?
            .int(0)?;
        // The changed counts of this transaction are not in the database yet.
        part.remaining = decided + batch.deltas.of_all_time();
        if part.deleted > 0 || self.first {
            let gaps = delete_entries(&mut batch.tx, entries).await?;
            let cleaned = CleanupRow {
                at: floor_us(Timestamp::now()),
                by: storable(&self.by),
                older_than: self.older_than,
                deleted: part.deleted,
                remaining: part.remaining,
                gaps_hash: chain::gaps_hash(&gaps),
            };
            let seq = batch
                .append(LogEntryKind::Cleaned, 0, cleaned.content())
                .await?;
            batch
                .tx
                .execute(
                    "INSERT INTO cleanups (seq, at, done_by, older_than, deleted, remaining,
                        gaps_hash)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    &[
                        seq.into(),
                        cleaned.at.into(),
                        (&cleaned.by).into(),
                        cleaned.older_than.into(),
                        cleaned.deleted.into(),
                        cleaned.remaining.into(),
                        (&cleaned.gaps_hash).into(),
                    ],
                )
                .await?;
        }
        Ok(part)
    }
}

/// Deletes entries from the log and returns all gaps of the log.
async fn delete_entries(tx: &mut Tx, mut entries: Vec<i64>) -> Result<Vec<Gap>, AuditError> {
    entries.sort_unstable();
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for seq in entries {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => runs.push((seq, seq)),
        }
    }
    for &(first, last) in &runs {
        let hash = tx
            .one("SELECT hash FROM log WHERE seq = $1", &[last.into()])
            .await?
            .hash(0)?;
        tx.execute(
            "DELETE FROM log WHERE seq >= $1 AND seq <= $2",
            &[first.into(), last.into()],
        )
        .await?;
        tx.execute(
            "INSERT INTO gaps (first, last, hash) VALUES ($1, $2, $3)",
            &[first.into(), last.into(), (&hash).into()],
        )
        .await?;
    }
    let mut merged: Vec<Gap> = Vec::new();
    for gap in gaps(tx).await? {
        match merged.last_mut() {
            Some(before) if before.last + 1 == gap.first => {
                tx.execute("DELETE FROM gaps WHERE first = $1", &[gap.first.into()])
                    .await?;
                tx.execute(
                    "UPDATE gaps SET last = $2, hash = $3 WHERE first = $1",
                    &[before.first.into(), gap.last.into(), (&gap.hash).into()],
                )
                .await?;
                before.last = gap.last;
                before.hash = gap.hash;
            }
            _ => merged.push(gap),
        }
    }
    Ok(merged)
}
