//! The single writer task. Takes work from concurrent callers; returns each result once it is on
//! disk. Concurrent work shares a transaction and therefore one disk flush.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::backend::Backend;
use super::chain::{self, LogEntryKind};
use super::changes::WriteSignal;
use super::deadlines::{Deadlines, TOLERANCE_US};
use super::error::AuditError;
use super::follow;
use super::head::Head;
use super::open_counts::OpenQuestionCounts;
use super::record::DecisionRow;
use super::tally::{Deltas, write_tallies_json, write_times_json};
use super::tx::Tx;
use crate::log_limit;

/// Capacity of the queue; further callers wait for a free place.
const QUEUE_CAPACITY: usize = 4096;

/// Maximum number of jobs per transaction.
const MAX_BATCH: usize = 512;

/// A write operation.
pub(super) trait Work: Send + 'static {
    /// Result of the operation.
    type Out: Send + 'static;

    /// Sort key within a batch.
    fn at(&self) -> i64 {
        i64::MAX
    }

    fn apply(self, batch: &mut Batch)
    -> impl Future<Output = Result<Self::Out, AuditError>> + Send;
}

/// A transaction and the current end of the log.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) tx: Tx,
    pub(super) head: Head,
    pub(super) deltas: Deltas,
    /// Open questions, once they have been counted.
    pub(super) open: Option<OpenQuestionCounts>,
    /// Number of the last entry before the transaction.
    began: i64,
    pub(super) deadlines: Arc<Deadlines>,
    /// If `true`, commits even if nothing was added.
    is_probe: bool,
    /// Hashes of the new entries.
    hashes: Vec<(i64, [u8; 32])>,
}

/// Parameters `$1` to `$4` are the values of the head.
macro_rules! update_head {
    () => {
        "UPDATE head SET seq = $1, hash = $2, decisions = $3, remembered = $4"
    };
}

/// Writes the head and the counts, and commits. One statement for SQLite, because each waits for the
/// thread of the connection: a record needs half the thread switches, which the bench `audit` measures
/// in `the trail, 1 at a time`. `$5` and `$6` are the counts in JSON.
const FINISH_SQLITE: &str = concat!(
    update_head!(),
    "; ",
    write_tallies_json!("$5"),
    "; ",
    write_times_json!("$6"),
    "; COMMIT"
);

impl Batch {
    async fn begin(backend: &Backend, deadlines: &Arc<Deadlines>) -> Result<Self, AuditError> {
        backend.check_contents().await?;
        loop {
            let (mut tx, head) = backend.write().await?;
            let known = backend.anchor().head();
            // Other writers wait for this lock, so read large amounts before taking it.
            if known.is_some_and(|known| head.seq - known.seq > follow::MAX_LOCKED) {
                tx.rollback().await?;
                follow::catch_up(backend.database()).await?;
                continue;
            }
            follow::follow(backend.database(), &mut tx, known, head).await?;
            return Ok(Self {
                tx,
                began: head.seq,
                head,
                deltas: Deltas::default(),
                open: None,
                deadlines: Arc::clone(deadlines),
                is_probe: false,
                hashes: Vec::new(),
            });
        }
    }

    /// Appends an entry to the log and returns its number.
    pub(super) async fn append(
        &mut self,
        kind: LogEntryKind,
        subject: i64,
        content: [u8; 32],
    ) -> Result<i64, AuditError> {
        let seq = self.advance(content);
        self.tx
            .execute(
                "INSERT INTO log (seq, kind, subject, hash) VALUES ($1, $2, $3, $4)",
                &[
                    seq.into(),
                    (kind as i64).into(),
                    subject.into(),
                    (&self.head.hash).into(),
                ],
            )
            .await?;
        Ok(seq)
    }

    /// Moves to an entry that the caller writes, and returns its number.
    pub(super) fn advance(&mut self, content: [u8; 32]) -> i64 {
        self.head.seq += 1;
        self.head.hash = chain::link(&self.head.hash, content);
        self.hashes.push((self.head.seq, self.head.hash));
        self.head.seq
    }

    /// Returns the number that [`append`](Self::append) will return.
    pub(super) fn next_seq(&self) -> i64 {
        self.head.seq + 1
    }

    /// Returns `true` if a question has expired by any clock.
    pub(super) fn is_expired(&self, row: &DecisionRow, at: i64) -> bool {
        let is_over = |deadline| deadline <= at || row.at > at.saturating_add(TOLERANCE_US);
        row.deadline.is_some_and(is_over) || self.deadlines.is_expired(row.id)
    }

    /// Returns `true` if anything was written.
    async fn commit(mut self, backend: &Backend) -> Result<bool, AuditError> {
        // The work was refused or already done: no need to flush the disk or to notify receivers.
        if self.head.seq == self.began && self.deltas.is_empty() && !self.is_probe {
            self.tx.rollback().await?;
            return Ok(false);
        }
        let head = [
            self.head.seq.into(),
            (&self.head.hash).into(),
            self.head.decisions.into(),
            self.head.remembered.into(),
        ];
        match self.tx {
            Tx::Sqlite(_) => {
                let (tallies, times) = (self.deltas.tallies_json(), self.deltas.times_json());
                let args = [&head[..], &[(&tallies).into(), (&times).into()]].concat();
                self.tx.execute(FINISH_SQLITE, &args).await?;
                drop(self.tx);
            }
            #[cfg(feature = "postgres")]
            Tx::Postgres(_) => {
                self.deltas.write(&mut self.tx).await?;
                self.tx.execute(update_head!(), &head).await?;
                let channel = [super::head::CHANNEL.into()];
                let notify = "SELECT pg_notify($1, '')";
                self.tx.execute(notify, &channel).await?;
                self.tx.commit().await?;
            }
        }
        backend.anchor().advance(self.head, self.hashes);
        Ok(true)
    }
}

/// Inserts and deletes a row, to test whether the database can be written.
pub(super) struct WriteProbe;

impl Work for WriteProbe {
    type Out = ();

    async fn apply(self, batch: &mut Batch) -> Result<(), AuditError> {
        batch.is_probe = true;
        // SQLite does not write a page whose rows keep their values.
        let row = "INSERT INTO gaps (first, last, hash) VALUES (-1, -1, $1)";
        batch.tx.execute(row, &[(&[0; 32]).into()]).await?;
        let row = "DELETE FROM gaps WHERE first = -1";
        batch.tx.execute(row, &[]).await.map(drop)
    }
}

/// Handle to the writer task. The task ends when the last handle is dropped.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    failure: LastError,
}

/// Error of the last transaction; `None` if it succeeded.
type LastError = Arc<Mutex<Option<AuditError>>>;

fn set(failure: &LastError, error: Option<AuditError>) {
    *failure.lock().unwrap_or_else(PoisonError::into_inner) = error;
}

impl Writer {
    /// Starts the writer task. It notifies `written` after each transaction.
    pub(super) fn start(
        backend: Backend,
        written: Arc<WriteSignal>,
        deadlines: Arc<Deadlines>,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE_CAPACITY);
        let failure = LastError::default();
        let writing = WriterTask {
            backend,
            written,
            deadlines,
            failure: Arc::clone(&failure),
        };
        tokio::spawn(writing.run(jobs));
        Self { queue, failure }
    }

    /// Returns the error of the last transaction; `None` if it succeeded.
    pub(super) fn failure(&self) -> Option<AuditError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Completes when the work is on disk. If the future is dropped, the work may still be written.
    pub(super) async fn run<W: Work>(&self, work: W) -> Result<W::Out, AuditError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(PendingWork {
            work: Some(work),
            out: None,
            reply,
        });
        self.queue.send(job).await.map_err(|_| AuditError::Closed)?;
        answer.await.map_err(|_| AuditError::Closed)?
    }
}

/// State of the writer task.
struct WriterTask {
    backend: Backend,
    written: Arc<WriteSignal>,
    deadlines: Arc<Deadlines>,
    failure: LastError,
}

impl WriterTask {
    async fn run(self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch: Vec<Box<dyn Job>> = Vec::new();
        while jobs.recv_many(&mut batch, MAX_BATCH).await > 0 {
            // Within a batch, ids follow the time.
            batch.sort_by_key(|job| job.at());
            let done = self.transaction(&mut batch).await;
            match &done {
                Ok(seq) => self.written.seq.store(*seq, Ordering::Release),
                Err(error) => {
                    // Each of the next batches would wait as long as this one did, one after the
                    // other.
                    if matches!(error, AuditError::Locked | AuditError::Unreachable { .. }) {
                        while let Ok(job) = jobs.try_recv() {
                            batch.push(job);
                        }
                    }
                    self.report_failure(error, batch.len());
                }
            }
            for job in batch.drain(..) {
                job.finish(done.clone().map(drop));
            }
            self.written.look.notify_one();
        }
    }

    fn report_failure(&self, error: &AuditError, waiting: usize) {
        if let Some(suppressed) = log_limit::suppressed("cannot write the audit trail", error) {
            tracing::error!(%error, waiting, suppressed, "cannot write the audit trail");
        }
        set(&self.failure, Some(error.clone()));
    }

    /// Runs the jobs in one transaction and returns the number of the last entry.
    async fn transaction(&self, jobs: &mut [Box<dyn Job>]) -> Result<i64, AuditError> {
        let backend = &self.backend;
        let mut batch = Batch::begin(backend, &self.deadlines).await?;
        for job in jobs {
            job.apply(&mut batch).await?;
        }
        let seq = batch.head.seq;
        let wrote = batch.commit(backend).await?;
        // A record in a file that was deleted or overwritten would be lost.
        backend.check()?;
        backend.check_contents().await?;
        if wrote {
            set(&self.failure, None);
        }
        Ok(seq)
    }
}

type ApplyFuture<'a> = Pin<Box<dyn Future<Output = Result<(), AuditError>> + Send + 'a>>;

/// A [`Work`] with the caller that waits for it.
trait Job: Send {
    fn at(&self) -> i64;
    fn apply<'a>(&'a mut self, batch: &'a mut Batch) -> ApplyFuture<'a>;
    fn finish(self: Box<Self>, done: Result<(), AuditError>);
}

struct PendingWork<W: Work> {
    work: Option<W>,
    out: Option<W::Out>,
    reply: oneshot::Sender<Result<W::Out, AuditError>>,
}

impl<W: Work> Job for PendingWork<W> {
    fn at(&self) -> i64 {
        self.work.as_ref().map_or(i64::MAX, Work::at)
    }

    fn apply<'a>(&'a mut self, batch: &'a mut Batch) -> ApplyFuture<'a> {
        Box::pin(async move {
            if let Some(work) = self.work.take() {
                self.out = Some(work.apply(batch).await?);
            }
            Ok(())
        })
    }

    fn finish(self: Box<Self>, done: Result<(), AuditError>) {
        let Self { out, reply, .. } = *self;
        let out = done.and_then(|()| out.ok_or(AuditError::Closed));
        // The caller may have stopped waiting.
        let _ = reply.send(out);
    }
}
