//! Live changes of the trail, from all processes. Takes the database and the notifications of
//! writers; returns a stream of changes.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use tokio::sync::{Notify, broadcast};

use super::backend::Backend;
use super::chain::LogEntryKind;
use super::database::Database;
use super::error::AuditError;
use super::follow;
use super::head::Head;
use crate::log_limit;

/// Maximum number of changes buffered for a slow receiver.
pub(super) const MAX_BUFFERED_CHANGES: usize = 1024;

/// Polling interval for changes that other processes made in a SQLite file.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Delay before a retry when the database is unreachable, and polling interval when PostgreSQL
/// sends no notification.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Number of polls between two full comparisons of the PostgreSQL schema, in addition to the
/// comparison in each transaction.
#[cfg(feature = "postgres")]
const SCHEMA_CHECK_POLLS: u32 = 4;

/// Number of entries per read.
const ENTRIES_PER_READ: i64 = 500;

/// A change of the audit trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditChange {
    /// A decision was recorded.
    Asked(i64),
    /// A decision was answered, or its deadline passed without an answer.
    Answered(i64),
    /// The command of a decision was reported as executed.
    Executed(i64),
    /// An answer was remembered.
    Remembered(i64),
    /// A remembered answer was revoked.
    Forgotten(i64),
    /// Old decisions were deleted.
    Cleaned,
    /// The receiver was too slow; this many changes were dropped.
    Missed(u64),
}

/// A change and the number of its log entry; 0 for a change without an entry.
pub(crate) type NumberedChange = (i64, AuditChange);

/// Returns a stream of future changes with their entry numbers.
pub(super) fn entries(
    changes: broadcast::Receiver<NumberedChange>,
) -> impl Stream<Item = NumberedChange> + Send + use<> {
    stream::unfold(changes, |mut changes| async move {
        match changes.recv().await {
            Ok(entry) => Some((entry, changes)),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                Some(((0, AuditChange::Missed(missed)), changes))
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    })
}

/// Stream of future changes. Ends when the store is dropped.
pub struct ChangeStream(Pin<Box<dyn Stream<Item = AuditChange> + Send>>);

impl ChangeStream {
    pub(super) fn new(changes: broadcast::Receiver<NumberedChange>) -> Self {
        Self(Box::pin(entries(changes).map(|(_, change)| change)))
    }

    /// Returns the next change, or `None` if the store was dropped. Cancel safe.
    pub async fn next(&mut self) -> Option<AuditChange> {
        self.0.next().await
    }
}

impl Stream for ChangeStream {
    type Item = AuditChange;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AuditChange>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for ChangeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream").finish_non_exhaustive()
    }
}

/// Signals the follower that the log has new entries.
#[derive(Debug, Default)]
pub(super) struct WriteSignal {
    /// Number of the last entry that this process wrote.
    pub(super) seq: AtomicI64,
    pub(super) look: Notify,
}

/// Reads new log entries of all processes. Entries are numbered in commit order, so each change is
/// sent exactly once.
pub(super) async fn follow(
    backend: Backend,
    written: Arc<WriteSignal>,
    changes: broadcast::Sender<NumberedChange>,
    mut last: i64,
) {
    loop {
        written.look.notified().await;
        let done = poll(&backend, &written, &changes, &mut last).await;
        if let Err(error) = done {
            if let Some(suppressed) =
                log_limit::suppressed("cannot read changes of the audit trail", &error)
            {
                tracing::warn!(%error, suppressed, "cannot read changes of the audit trail");
            }
            tokio::time::sleep(RETRY_DELAY).await;
            written.look.notify_one();
        }
    }
}

async fn poll(
    backend: &Backend,
    written: &WriteSignal,
    changes: &broadcast::Sender<NumberedChange>,
    last: &mut i64,
) -> Result<(), AuditError> {
    // Check entries of other processes now, so that the next write does not have to.
    if written.seq.load(Ordering::Acquire) <= *last {
        follow::catch_up(backend.database()).await?;
    }
    match changes.receiver_count() {
        0 => skip_to_end(backend, written, changes, last).await,
        _ => send_changes(backend, changes, last).await,
    }
}

/// Moves to the end of the log without sending changes, because there are no receivers.
async fn skip_to_end(
    backend: &Backend,
    written: &WriteSignal,
    changes: &broadcast::Sender<NumberedChange>,
    last: &mut i64,
) -> Result<(), AuditError> {
    let own = written.seq.load(Ordering::Acquire);
    let end = match own > *last {
        true => own,
        false => Head::read(&mut backend.read().await?).await?.seq,
    };
    // Receivers that subscribed meanwhile are notified of what they may have missed.
    if changes.receiver_count() == 0 {
        *last = end;
        return Ok(());
    }
    send_changes(backend, changes, last).await
}

async fn send_changes(
    backend: &Backend,
    changes: &broadcast::Sender<NumberedChange>,
    last: &mut i64,
) -> Result<(), AuditError> {
    loop {
        let rows = entries_after(backend, *last, ENTRIES_PER_READ).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for (seq, change) in rows {
            *last = seq;
            // An error means that there are no receivers.
            let _ = change.map(|change| changes.send((seq, change)));
        }
    }
}

/// Returns the log entries after an entry, each with its change, if it is one.
async fn entries_after(
    backend: &Backend,
    last: i64,
    most: i64,
) -> Result<Vec<(i64, Option<AuditChange>)>, AuditError> {
    let rows = backend
        .read()
        .await?
        .all(
            "SELECT seq, kind, subject FROM log WHERE seq > $1 ORDER BY seq LIMIT $2",
            &[last.into(), most.into()],
        )
        .await?;
    rows.iter()
        .map(|row| {
            let subject = row.int(2)?;
            let change = LogEntryKind::of(row.int(1)?).and_then(|kind| match kind {
                LogEntryKind::Decided => Some(AuditChange::Asked(subject)),
                LogEntryKind::Answered => Some(AuditChange::Answered(subject)),
                LogEntryKind::Executed => Some(AuditChange::Executed(subject)),
                LogEntryKind::Remembered => Some(AuditChange::Remembered(subject)),
                LogEntryKind::Revoked => Some(AuditChange::Forgotten(subject)),
                LogEntryKind::Cleaned => Some(AuditChange::Cleaned),
                LogEntryKind::Used => None,
            });
            Ok((row.int(0)?, change))
        })
        .collect()
}

/// Returns the changes after a log entry, or `None` if there are more than `most` entries.
#[cfg(feature = "http")]
pub(super) async fn since(
    backend: &Backend,
    last: i64,
    most: i64,
) -> Result<Option<Vec<NumberedChange>>, AuditError> {
    let rows = entries_after(backend, last, most.saturating_add(1)).await?;
    let all = i64::try_from(rows.len()).is_ok_and(|rows| rows <= most);
    let entries = rows.into_iter();
    let changes = entries.filter_map(|(seq, change)| change.map(|change| (seq, change)));
    Ok(all.then(|| changes.collect()))
}

/// Detects writes of other processes.
pub(super) async fn watch(backend: Backend, written: Arc<WriteSignal>) {
    loop {
        let Err(error) = watch_while_it_works(&backend, &written).await else {
            return;
        };
        if let Some(suppressed) =
            log_limit::suppressed("cannot detect changes by other processes", &error)
        {
            tracing::warn!(%error, suppressed, "cannot detect changes by other processes");
        }
        tokio::time::sleep(RETRY_DELAY).await;
        written.look.notify_one();
    }
}

/// Compares the whole schema: transactions do not detect every change of it.
#[cfg(feature = "postgres")]
async fn compare_schema(backend: &Backend) -> Result<(), AuditError> {
    let mut tx = backend.read_unchecked().await?;
    let error = match backend.database().compare_schema(&mut tx).await {
        Ok(()) => None,
        Err(fault @ AuditError::Schema { .. }) => Some(fault),
        Err(error) => return Err(error),
    };
    backend.anchor().set_error(error);
    Ok(())
}

/// Runs until an error occurs; returns `Ok` at once if no other process can write.
async fn watch_while_it_works(backend: &Backend, written: &WriteSignal) -> Result<(), AuditError> {
    match backend.database() {
        Database::Sqlite(database) => {
            let Some(mut connection) = database.version_connection().await? else {
                return Ok(());
            };
            let mut before = None;
            loop {
                let version = database.version(&mut connection).await?;
                if before.replace(version).is_some_and(|was| was != version) {
                    written.look.notify_one();
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
        #[cfg(feature = "postgres")]
        Database::Postgres(database) => {
            let mut listener = database.listener().await?;
            let mut polls = 0_u32;
            loop {
                // One future for all polls: it may be in the middle of reconnecting.
                let mut waiting = std::pin::pin!(database.wait_for_notification(&mut listener));
                let notified = loop {
                    let result = tokio::time::timeout(RETRY_DELAY, waiting.as_mut()).await;
                    written.look.notify_one();
                    polls = polls.wrapping_add(1);
                    if polls.is_multiple_of(SCHEMA_CHECK_POLLS) {
                        compare_schema(backend).await?;
                    }
                    if let Ok(result) = result {
                        break result;
                    }
                };
                notified?;
            }
        }
    }
}
