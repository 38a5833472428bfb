//! The one task that writes: what is asked of it at the same time shares a transaction, and so one
//! wait for the disk.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, oneshot};

use super::backend::{Backend, Tx};
use super::chain::{self, Kind};
use super::changes::Written;
use super::error::AuditError;
use super::open::OpenQuestions;
use super::tally::Deltas;

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
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: [u8; 32],
    /// The last number of a decision.
    pub(super) decisions: i64,
    /// The last number of a remembered answer.
    pub(super) remembered: i64,
}

impl Head {
    pub(super) async fn read(tx: &mut Tx) -> Result<Self, AuditError> {
        Self::of(tx, "SELECT seq, hash, decisions, remembered FROM head").await
    }

    /// With PostgreSQL the lock behind which all writers queue.
    async fn lock(tx: &mut Tx) -> Result<Self, AuditError> {
        let sql = super::backend::Sql::each(
            "SELECT seq, hash, decisions, remembered FROM head",
            "SELECT seq, hash, decisions, remembered FROM head FOR UPDATE",
        );
        Self::of(tx, sql).await
    }

    async fn of(tx: &mut Tx, sql: impl Into<super::backend::Sql>) -> Result<Self, AuditError> {
        let row = tx.one(sql, &[]).await?;
        Ok(Self {
            seq: row.int(0)?,
            hash: row.hash(1)?,
            decisions: row.int(2)?,
            remembered: row.int(3)?,
        })
    }
}

impl Batch {
    async fn begin(backend: &Backend) -> Result<Self, AuditError> {
        let mut tx = backend.write().await?;
        let head = Head::lock(&mut tx).await?;
        Ok(Self {
            tx,
            began: head.seq,
            head,
            deltas: Deltas::default(),
            open: None,
        })
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
        self.head.seq
    }

    /// The number that [`append`](Self::append) will return.
    pub(super) fn next_seq(&self) -> i64 {
        self.head.seq + 1
    }

    async fn commit(mut self) -> Result<(), AuditError> {
        // What was refused, or was there already: nobody has to wait for a disk, or to look.
        if self.head.seq == self.began && self.deltas.is_empty() {
            return self.tx.rollback().await;
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
                .execute(
                    "SELECT pg_notify($1, '')",
                    &[super::backend::CHANNEL.into()],
                )
                .await?;
        }
        self.tx.commit().await
    }
}

/// The way to the task. The task ends with the last of them.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    /// `written` is told after each transaction.
    pub(super) fn start(backend: Backend, written: Arc<Written>) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        tokio::spawn(write(backend, jobs, written));
        Self { queue }
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

async fn write(backend: Backend, mut jobs: mpsc::Receiver<Box<dyn Job>>, written: Arc<Written>) {
    let mut batch: Vec<Box<dyn Job>> = Vec::new();
    while jobs.recv_many(&mut batch, BATCH).await > 0 {
        // Numbers follow the time as far as those who wait together are concerned.
        batch.sort_by_key(|job| job.at());
        let done = transaction(&backend, &mut batch).await;
        match &done {
            Ok(seq) => written.seq.store(*seq, Ordering::Release),
            Err(error) => {
                tracing::error!(%error, waiting = batch.len(), "the audit trail was not written");
            }
        }
        for job in batch.drain(..) {
            job.finish(done.clone().map(drop));
        }
        written.look.notify_one();
    }
}

/// Returns the number of the last entry.
async fn transaction(backend: &Backend, jobs: &mut [Box<dyn Job>]) -> Result<i64, AuditError> {
    let mut batch = Batch::begin(backend).await?;
    for job in jobs {
        job.apply(&mut batch).await?;
    }
    let seq = batch.head.seq;
    batch.commit().await?;
    // A record in a file that has no name any more is none.
    backend.check()?;
    Ok(seq)
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
