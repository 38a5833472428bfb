//! Verification of a whole trail. Takes its database and noted heads; returns the first place that
//! was changed, if any.

use serde::{Deserialize, Serialize};

use super::backend::Backend;
use super::chain::LogEntryKind;
use super::cleanups::PastCleanup;
use super::database::SnapshotReader;
use super::error::AuditError;
use super::head::Head;
use super::segments::Segmentation;
use super::tx::Tx;
use super::walk::{ChainBreak, ChainHead, ChainWalk, HeadState, NotedHead};

/// Result of [`verify`](super::AuditStore::verify).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// End of the chain.
    pub head: ChainHead,
    /// Number of checked entries.
    pub entries: u64,
    /// Number of entries that cleanups removed.
    pub removed: u64,
    /// Number of checked decisions.
    pub decisions: u64,
    /// The first problem; `None` if the trail is intact. A schema that differs from the migrations
    /// is reported first.
    pub broken: Option<ChainBreak>,
    /// If `broken` is the schema: the first problem of the entries, or the reason why they cannot
    /// be checked.
    #[serde(default)]
    pub broken_entries: Option<ChainBreak>,
    /// If `true`, all entries were checked and have no problem.
    #[serde(default)]
    pub has_whole_entries: bool,
    /// All cleanups, oldest first.
    pub cleanups: Vec<PastCleanup>,
    /// The requested noted heads, by entry number.
    #[serde(default)]
    pub heads: Vec<NotedHead>,
}

impl Verification {
    /// Returns `true` if the trail is unchanged and contains every noted head.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let holds = |noted: &NotedHead| noted.found == HeadState::Holds;
        self.broken.is_none() && self.heads.iter().all(holds)
    }
}

pub(super) async fn verify(
    backend: &Backend,
    noted: &[ChainHead],
) -> Result<Verification, AuditError> {
    verify_in_segments(backend, noted, Segmentation::of_this_machine()).await
}

/// Maximum number of attempts to give all readers equal snapshots while other processes write.
const MAX_ATTEMPTS: usize = 20;

async fn verify_in_segments(
    backend: &Backend,
    noted: &[ChainHead],
    segmentation: Segmentation,
) -> Result<Verification, AuditError> {
    for _ in 0..MAX_ATTEMPTS {
        // One transaction, so that the walk reads a consistent snapshot without later writes.
        let mut tx = backend.read_unchecked().await?;
        let schema = backend.database().compare_schema(&mut tx).await;
        let readers = match &schema {
            Ok(()) => segmentation.readers(backend.database(), &mut tx).await?,
            // Reading anything else could run planted code.
            Err(_) => Some(Vec::new()),
        };
        if let Some(readers) = readers {
            return check(backend, tx, schema, noted, readers, segmentation).await;
        }
        // Another process wrote meanwhile.
        tx.rollback().await?;
    }
    let mut tx = backend.read_unchecked().await?;
    let schema = backend.database().compare_schema(&mut tx).await;
    check(backend, tx, schema, noted, Vec::new(), segmentation).await
}

async fn check(
    backend: &Backend,
    mut tx: Tx,
    schema: Result<(), AuditError>,
    noted: &[ChainHead],
    readers: Vec<SnapshotReader>,
    segmentation: Segmentation,
) -> Result<Verification, AuditError> {
    let mut walk = ChainWalk::default();
    walk.noted.extend_from_slice(noted);
    walk.noted
        .sort_by_key(|noted| std::cmp::Reverse(noted.count));
    let mut head = ChainHead {
        count: 0,
        hash: [0; 32],
    };
    let entries = segmentation.entries;
    let (broken, broken_entries) = match schema {
        Ok(()) => {
            let broken = walk.entries(&mut tx, &mut head, readers, entries).await?;
            (broken, None)
        }
        Err(AuditError::Schema { difference, remedy }) => {
            let schema = ChainBreak::of_trail(format!(
                "the schema of the database differs from the schema of this version: {difference}; {}",
                match remedy.starts_with("hooks-guard ") {
                    true => "restore the database".to_owned(),
                    false => format!("check it and run `{remedy}`, or restore the database"),
                }
            ));
            let unchecked =
                |why: &str| ChainBreak::of_trail(format!("cannot check the entries: {why}"));
            let entries = match backend.database().has_plain_tables(&mut tx).await {
                // Reading anything else could run planted code.
                Ok(false) => Some(unchecked("a table is missing or not a plain table")),
                Ok(true) => match walk.entries(&mut tx, &mut head, readers, entries).await {
                    Ok(entries) => entries,
                    Err(error) => Some(unchecked(&error.to_string())),
                },
                Err(error) => Some(unchecked(&error.to_string())),
            };
            (Some(schema), entries)
        }
        Err(error) => return Err(error),
    };
    walk.end_heads(walk.is_whole);
    Ok(Verification {
        head,
        entries: walk.entries.unsigned_abs(),
        removed: walk.removed.max(0).unsigned_abs(),
        decisions: walk.kinds[LogEntryKind::Decided as usize].unsigned_abs(),
        broken,
        broken_entries,
        has_whole_entries: walk.is_whole,
        cleanups: walk.cleanups,
        heads: walk.heads,
    })
}

pub(super) async fn head(backend: &Backend) -> Result<ChainHead, AuditError> {
    let head = Head::read(&mut backend.read_unchecked().await?).await?;
    Ok(ChainHead {
        count: head.seq.max(0).unsigned_abs(),
        hash: head.hash,
    })
}

#[cfg(test)]
mod tests;
