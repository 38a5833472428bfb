//! What happens in the trail, as it happens, whichever process does it. In: the database, and notices
//! of the writer. Out: a stream of changes.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use tokio::sync::{Notify, broadcast};

use super::backend::Backend;
use super::chain::Kind;
use super::database::Database;
use super::error::AuditError;
use super::follow;
use super::head::Head;
use crate::log_limit;

/// How many changes wait for a listener that is slow.
pub(super) const WAITING: usize = 1024;

/// How often is looked for what other processes did to a SQLite file.
#[cfg(feature = "sqlite")]
const LOOK: Duration = Duration::from_millis(100);

/// How long to wait before the next try when the database cannot be reached, and after how long
/// is looked even if PostgreSQL has said nothing.
const AGAIN: Duration = Duration::from_secs(1);

/// With how many looks the schema of PostgreSQL is compared, beyond what each transaction compares.
#[cfg(feature = "postgres")]
const COMPARE: u32 = 4;

/// How many entries are read at a time.
const PAGE: i64 = 500;

/// A change of the audit trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A decision was recorded.
    Asked(i64),
    /// A decision was answered, or nobody did in time.
    Answered(i64),
    /// It was reported that the command of a decision ran.
    Executed(i64),
    /// An answer was remembered.
    Remembered(i64),
    /// A remembered answer was revoked.
    Forgotten(i64),
    /// Old decisions were taken away.
    Cleaned,
    /// The listener was too slow: so many changes are not told.
    Missed(u64),
}

/// A change, and the number of its entry in the log; 0 for what has none.
pub(crate) type Entry = (i64, Change);

/// The changes from now on, with their numbers.
pub(super) fn entries(
    changes: broadcast::Receiver<Entry>,
) -> impl Stream<Item = Entry> + Send + use<> {
    stream::unfold(changes, |mut changes| async move {
        match changes.recv().await {
            Ok(entry) => Some((entry, changes)),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                Some(((0, Change::Missed(missed)), changes))
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    })
}

/// Stream of future changes. It ends when the store is dropped.
pub struct ChangeStream(Pin<Box<dyn Stream<Item = Change> + Send>>);

impl ChangeStream {
    pub(super) fn new(changes: broadcast::Receiver<Entry>) -> Self {
        Self(Box::pin(entries(changes).map(|(_, change)| change)))
    }

    /// The next one; none when the store is gone. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Change> {
        self.0.next().await
    }
}

impl Stream for ChangeStream {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Change>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for ChangeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream").finish_non_exhaustive()
    }
}

/// What tells the follower to look.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The last entry that this process has written.
    pub(super) seq: AtomicI64,
    pub(super) look: Notify,
}

/// Reads the log behind whoever writes it: entries are numbered in the order in which they were
/// committed, so none is told twice or left out.
pub(super) async fn follow(
    backend: Backend,
    written: Arc<Written>,
    changes: broadcast::Sender<Entry>,
    mut last: i64,
) {
    loop {
        written.look.notified().await;
        let done = look(&backend, &written, &changes, &mut last).await;
        if let Err(error) = done {
            if let Some(suppressed) =
                log_limit::suppressed("changes of the audit trail cannot be read", &error)
            {
                tracing::warn!(%error, suppressed, "changes of the audit trail cannot be read");
            }
            tokio::time::sleep(AGAIN).await;
            written.look.notify_one();
        }
    }
}

async fn look(
    backend: &Backend,
    written: &Written,
    changes: &broadcast::Sender<Entry>,
    last: &mut i64,
) -> Result<(), AuditError> {
    // What others wrote is checked now, and not when this process has to write.
    if written.seq.load(Ordering::Acquire) <= *last {
        follow::catch_up(backend.database()).await?;
    }
    match changes.receiver_count() {
        0 => skip(backend, written, changes, last).await,
        _ => tell(backend, changes, last).await,
    }
}

/// Goes to the end without telling, since nobody listens.
async fn skip(
    backend: &Backend,
    written: &Written,
    changes: &broadcast::Sender<Entry>,
    last: &mut i64,
) -> Result<(), AuditError> {
    let own = written.seq.load(Ordering::Acquire);
    let end = match own > *last {
        true => own,
        false => Head::read(&mut backend.read().await?).await?.seq,
    };
    // Who came meanwhile is told what they may have missed.
    if changes.receiver_count() == 0 {
        *last = end;
        return Ok(());
    }
    tell(backend, changes, last).await
}

async fn tell(
    backend: &Backend,
    changes: &broadcast::Sender<Entry>,
    last: &mut i64,
) -> Result<(), AuditError> {
    loop {
        let rows = after(backend, *last, PAGE).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for (seq, change) in rows {
            *last = seq;
            // An error is that nobody listens any more.
            let _ = change.map(|change| changes.send((seq, change)));
        }
    }
}

/// The entries of the log behind one, and what they tell, if they tell anything.
async fn after(
    backend: &Backend,
    last: i64,
    most: i64,
) -> Result<Vec<(i64, Option<Change>)>, AuditError> {
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
            let change = Kind::of(row.int(1)?).and_then(|kind| match kind {
                Kind::Decided => Some(Change::Asked(subject)),
                Kind::Answered => Some(Change::Answered(subject)),
                Kind::Executed => Some(Change::Executed(subject)),
                Kind::Remembered => Some(Change::Remembered(subject)),
                Kind::Revoked => Some(Change::Forgotten(subject)),
                Kind::Cleaned => Some(Change::Cleaned),
                Kind::Used => None,
            });
            Ok((row.int(0)?, change))
        })
        .collect()
}

/// What happened behind an entry of the log; none if that is more than `most` entries.
#[cfg(feature = "http")]
pub(super) async fn since(
    backend: &Backend,
    last: i64,
    most: i64,
) -> Result<Option<Vec<Entry>>, AuditError> {
    let rows = after(backend, last, most.saturating_add(1)).await?;
    let all = i64::try_from(rows.len()).is_ok_and(|rows| rows <= most);
    let told = rows.into_iter();
    let told = told.filter_map(|(seq, change)| change.map(|change| (seq, change)));
    Ok(all.then(|| told.collect()))
}

/// Notices what other processes write.
pub(super) async fn watch(backend: Backend, written: Arc<Written>) {
    loop {
        let Err(error) = watch_while_it_works(&backend, &written).await else {
            return;
        };
        if let Some(suppressed) =
            log_limit::suppressed("changes by other processes cannot be noticed", &error)
        {
            tracing::warn!(%error, suppressed, "changes by other processes cannot be noticed");
        }
        tokio::time::sleep(AGAIN).await;
        written.look.notify_one();
    }
}

/// Compares the whole schema: not every change of it shows in what a transaction reads.
#[cfg(feature = "postgres")]
async fn compare_schema(backend: &Backend) -> Result<(), AuditError> {
    let mut tx = backend.read_unchecked().await?;
    let fault = match backend.database().compare_schema(&mut tx).await {
        Ok(()) => None,
        Err(fault @ AuditError::Schema { .. }) => Some(fault),
        Err(error) => return Err(error),
    };
    backend.anchor().set_fault(fault);
    Ok(())
}

/// Returns without an error where no other process can write.
async fn watch_while_it_works(backend: &Backend, written: &Written) -> Result<(), AuditError> {
    match backend.database() {
        #[cfg(feature = "sqlite")]
        Database::Sqlite(database) => {
            let Some(mut connection) = database.watcher().await? else {
                return Ok(());
            };
            let mut before = None;
            loop {
                let version = database.version(&mut connection).await?;
                if before.replace(version).is_some_and(|was| was != version) {
                    written.look.notify_one();
                }
                tokio::time::sleep(LOOK).await;
            }
        }
        #[cfg(feature = "postgres")]
        Database::Postgres(database) => {
            let mut listener = database.listener().await?;
            let mut looks = 0_u32;
            loop {
                // One wait over all looks: it may be connecting anew.
                let mut heard = std::pin::pin!(database.heard(&mut listener));
                let heard = loop {
                    let heard = tokio::time::timeout(AGAIN, heard.as_mut()).await;
                    written.look.notify_one();
                    looks = looks.wrapping_add(1);
                    if looks.is_multiple_of(COMPARE) {
                        compare_schema(backend).await?;
                    }
                    if let Ok(heard) = heard {
                        break heard;
                    }
                };
                heard?;
            }
        }
    }
}
