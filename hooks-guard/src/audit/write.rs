//! The one task that writes. In: work, of several callers at the same time. Out: what came of each,
//! once it is on the disk; what comes together shares a transaction, and so one wait for the disk.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::backend::Backend;
use super::chain::{self, Kind};
use super::changes::Written;
use super::deadlines::{Deadlines, TOLERANCE_US};
use super::error::AuditError;
use super::follow;
use super::head::Head;
use super::record::Stored;
use super::tally::Deltas;
use super::tx::Tx;
use super::waiting::OpenQuestions;
use crate::log_limit;

/// How many may wait for their turn; further ones wait to wait.
const QUEUE: usize = 4096;

/// How many share a transaction at most.
const BATCH: usize = 512;

/// Something to be written.
pub(super) trait Work: Send + 'static {
    /// What comes of it.
    type Out: Send + 'static;

    /// Where it belongs among what is written with it.
    fn at(&self) -> i64 {
        i64::MAX
    }

    fn apply(self, batch: &mut Batch)
    -> impl Future<Output = Result<Self::Out, AuditError>> + Send;
}

/// A transaction, and where the log ends in it.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) tx: Tx,
    pub(super) head: Head,
    pub(super) deltas: Deltas,
    /// The questions that wait, once they have been counted.
    pub(super) open: Option<OpenQuestions>,
    /// The number of the last entry before it.
    began: i64,
    pub(super) deadlines: Arc<Deadlines>,
    /// Whether it is to be written though nothing was added.
    is_probe: bool,
    /// The hashes of its entries.
    hashes: Vec<(i64, [u8; 32])>,
}

impl Batch {
    async fn begin(backend: &Backend, deadlines: &Arc<Deadlines>) -> Result<Self, AuditError> {
        backend.check_contents().await?;
        loop {
            let mut tx = backend.write().await?;
            let head = Head::lock(&mut tx).await?;
            let known = backend.anchor().head();
            // Others wait for this lock: what is much is read before.
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

    /// Adds an entry to the log, and returns its number.
    pub(super) async fn append(
        &mut self,
        kind: Kind,
        subject: i64,
        content: [u8; 32],
    ) -> Result<i64, AuditError> {
        let seq = self.link(content);
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

    /// Goes on to an entry that its caller writes, and returns its number.
    pub(super) fn link(&mut self, content: [u8; 32]) -> i64 {
        self.head.seq += 1;
        self.head.hash = chain::link(&self.head.hash, content);
        self.hashes.push((self.head.seq, self.head.hash));
        self.head.seq
    }

    /// The number that [`append`](Self::append) will return.
    pub(super) fn next_seq(&self) -> i64 {
        self.head.seq + 1
    }

    /// Whether the time of a question is over, by any clock.
    pub(super) fn is_over(&self, row: &Stored, at: i64) -> bool {
        let is_over = |deadline| deadline <= at || row.at > at.saturating_add(TOLERANCE_US);
        row.deadline.is_some_and(is_over) || self.deadlines.is_over(row.id)
    }

    /// Returns whether anything was written.
    async fn commit(mut self, backend: &Backend) -> Result<bool, AuditError> {
        // What was refused, or was there already: nobody has to wait for a disk, or to look.
        if self.head.seq == self.began && self.deltas.is_empty() && !self.is_probe {
            self.tx.rollback().await?;
            return Ok(false);
        }
        self.deltas.write(&mut self.tx).await?;
        self.tx
            .execute(
                "UPDATE head SET seq = $1, hash = $2, decisions = $3, remembered = $4",
                &[
                    self.head.seq.into(),
                    (&self.head.hash).into(),
                    self.head.decisions.into(),
                    self.head.remembered.into(),
                ],
            )
            .await?;
        #[cfg(feature = "postgres")]
        if matches!(self.tx, Tx::Postgres(_)) {
            self.tx
                .execute("SELECT pg_notify($1, '')", &[super::head::CHANNEL.into()])
                .await?;
        }
        self.tx.commit().await?;
        backend.anchor().advance(self.head, self.hashes);
        Ok(true)
    }
}

/// Writes a row and removes it, to see whether the database can be written to.
pub(super) struct Probe;

impl Work for Probe {
    type Out = ();

    async fn apply(self, batch: &mut Batch) -> Result<(), AuditError> {
        batch.is_probe = true;
        // SQLite does not write a page whose rows are set to what they are.
        let row = "INSERT INTO gaps (first, last, hash) VALUES (-1, -1, $1)";
        batch.tx.execute(row, &[(&[0; 32]).into()]).await?;
        let row = "DELETE FROM gaps WHERE first = -1";
        batch.tx.execute(row, &[]).await.map(drop)
    }
}

/// The way to the task. The task ends with the last of them.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    failure: Failure,
}

/// Why the last transaction was not written; `None` if it was.
type Failure = Arc<Mutex<Option<AuditError>>>;

fn set(failure: &Failure, error: Option<AuditError>) {
    *failure.lock().unwrap_or_else(PoisonError::into_inner) = error;
}

impl Writer {
    /// `written` is told after each transaction.
    pub(super) fn start(
        backend: Backend,
        written: Arc<Written>,
        deadlines: Arc<Deadlines>,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let failure = Failure::default();
        let writing = Writing {
            backend,
            written,
            deadlines,
            failure: Arc::clone(&failure),
        };
        tokio::spawn(writing.run(jobs));
        Self { queue, failure }
    }

    /// Why the last transaction was not written; `None` if it was.
    pub(super) fn failure(&self) -> Option<AuditError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Ends when it is on the disk. If the future is dropped, it may still be written.
    pub(super) async fn run<W: Work>(&self, work: W) -> Result<W::Out, AuditError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Pending {
            work: Some(work),
            out: None,
            reply,
        });
        self.queue.send(job).await.map_err(|_| AuditError::Closed)?;
        answer.await.map_err(|_| AuditError::Closed)?
    }
}

/// The task that writes.
struct Writing {
    backend: Backend,
    written: Arc<Written>,
    deadlines: Arc<Deadlines>,
    failure: Failure,
}

impl Writing {
    async fn run(self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch: Vec<Box<dyn Job>> = Vec::new();
        while jobs.recv_many(&mut batch, BATCH).await > 0 {
            // Numbers follow the time as far as those who wait together are concerned.
            batch.sort_by_key(|job| job.at());
            let done = self.transaction(&mut batch).await;
            match &done {
                Ok(seq) => self.written.seq.store(*seq, Ordering::Release),
                Err(error) => {
                    // Each batch would wait as long as this one did, one after the other.
                    if matches!(error, AuditError::Locked | AuditError::Unreachable { .. }) {
                        while let Ok(job) = jobs.try_recv() {
                            batch.push(job);
                        }
                    }
                    self.fail(error, batch.len());
                }
            }
            for job in batch.drain(..) {
                job.finish(done.clone().map(drop));
            }
            self.written.look.notify_one();
        }
    }

    fn fail(&self, error: &AuditError, waiting: usize) {
        if let Some(suppressed) = log_limit::suppressed("the audit trail was not written", error) {
            tracing::error!(%error, waiting, suppressed, "the audit trail was not written");
        }
        set(&self.failure, Some(error.clone()));
    }

    /// Returns the number of the last entry.
    async fn transaction(&self, jobs: &mut [Box<dyn Job>]) -> Result<i64, AuditError> {
        let backend = &self.backend;
        let mut batch = Batch::begin(backend, &self.deadlines).await?;
        for job in jobs {
            job.apply(&mut batch).await?;
        }
        let seq = batch.head.seq;
        let wrote = batch.commit(backend).await?;
        // A record in a file that has no name any more, or that was written over, is none.
        backend.check()?;
        backend.check_contents().await?;
        if wrote {
            set(&self.failure, None);
        }
        Ok(seq)
    }
}

type Applied<'a> = Pin<Box<dyn Future<Output = Result<(), AuditError>> + Send + 'a>>;

/// A [`Work`] and who waits for it.
trait Job: Send {
    fn at(&self) -> i64;
    fn apply<'a>(&'a mut self, batch: &'a mut Batch) -> Applied<'a>;
    fn finish(self: Box<Self>, done: Result<(), AuditError>);
}

struct Pending<W: Work> {
    work: Option<W>,
    out: Option<W::Out>,
    reply: oneshot::Sender<Result<W::Out, AuditError>>,
}

impl<W: Work> Job for Pending<W> {
    fn at(&self) -> i64 {
        self.work.as_ref().map_or(i64::MAX, Work::at)
    }

    fn apply<'a>(&'a mut self, batch: &'a mut Batch) -> Applied<'a> {
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
        // Who no longer waits need not know.
        let _ = reply.send(out);
    }
}
