//! The trail as callers use it. In: decisions, answers, executions, filters. Out: records, counts and
//! changes; every call returns when what it wrote is on the disk.

use std::path::Path;
use std::sync::Arc;

use futures_util::Stream;
use jiff::Timestamp;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use super::backend::Backend;
use super::changes::{ChangeStream, Written};
use super::clean::Cleanup;
use super::database::OpenMode;
use super::deadlines::Deadlines;
use super::decide::{
    ANSWERED_TOGETHER, Answer, AnswerCall, CallName, Execute, Expire, Record, Which,
};
use super::error::AuditError;
use super::head::Head;
use super::list::filter::{Filter, Listing, Page};
use super::open::{
    DenyOpen, Question, QuestionCursor, QuestionFilter, QuestionLimits, QuestionOrder,
    QuestionPage, TooManyQuestions,
};
use super::record::{
    Answered, AuditRecord, Executed, Execution, NewAnswer, NewDecision, Stored, UserResponse,
    floor_us,
};
use super::remember::{Forget, Remember};
use super::remembered::{Lasting, NewRemembered, Remembered};
use super::series::Series;
use super::stats::{Period, Stats, Totals};
use super::verify::Verification;
use super::walk::ChainHead;
use super::write::Writer;
use super::{changes, clean, decide, export, list, open, record, remember, series, stats, verify};
use crate::approval::ApprovalScope;

/// The audit trail. A clone is the same one; several processes may have the same open.
///
/// Needs a Tokio runtime with time, and with PostgreSQL with I/O.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use hooks_guard::audit::{AuditStore, Filter, Page};
///
/// let trail = AuditStore::open("sqlite::memory:").await?;
/// assert_eq!(trail.decisions(&Filter::default(), Page::default()).await?.total, 0);
/// assert!(trail.verify().await?.is_intact());
/// # Ok::<_, hooks_guard::audit::AuditError>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AuditStore {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) backend: Backend,
    pub(super) writer: Writer,
    pub(super) deadlines: Arc<Deadlines>,
    changes: broadcast::Sender<changes::Entry>,
    /// Those that tell of changes.
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl AuditStore {
    /// Opens the trail at an address, and brings it up to date.
    ///
    /// | Address | Is |
    /// |---|---|
    /// | a path, or `sqlite:PATH` | a SQLite file, made with its folder if there is none, for its owner only |
    /// | `sqlite::memory:` | a database that is gone with the store |
    /// | `postgres://…` | a PostgreSQL database |
    ///
    /// # Errors
    ///
    /// If it cannot be opened, is none, or was written by a newer version.
    pub async fn open(url: &str) -> Result<Self, AuditError> {
        let backend = Backend::open(url, OpenMode::Pooled).await?;
        let head = backend.begin().await?;
        let written = Arc::new(Written::default());
        let changes = broadcast::Sender::new(changes::WAITING);
        let follow = changes::follow(backend.clone(), written.clone(), changes.clone(), head.seq);
        let watch = changes::watch(backend.clone(), written.clone());
        let tasks = vec![tokio::spawn(follow), tokio::spawn(watch)];
        Ok(Self::of(backend, written, changes, tasks))
    }

    /// As [`open`](Self::open), for a process that records one thing and ends:
    /// [`changes`](Self::changes) tells it nothing. In SQLite, reads and writes share one connection
    /// and wait for each other.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_briefly(url: &str) -> Result<Self, AuditError> {
        let backend = Backend::open(url, OpenMode::OneShot).await?;
        backend.begin_briefly().await?;
        let changes = broadcast::Sender::new(1);
        Ok(Self::of(backend, Arc::default(), changes, Vec::new()))
    }

    /// As [`open`](Self::open), for reading alone: of a medium that cannot be written to, of a file
    /// of another user, or of a PostgreSQL standby. Nothing is brought up to date, and
    /// [`changes`](Self::changes) tells nothing.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), or if its schema is one of before.
    pub async fn open_read_only(url: &str) -> Result<Self, AuditError> {
        let backend = Backend::open(url, OpenMode::ReadOnly).await?;
        backend.begin_briefly().await?;
        let changes = broadcast::Sender::new(1);
        Ok(Self::of(backend, Arc::default(), changes, Vec::new()))
    }

    fn of(
        backend: Backend,
        written: Arc<Written>,
        changes: broadcast::Sender<changes::Entry>,
        tasks: Vec<JoinHandle<()>>,
    ) -> Self {
        let deadlines = Arc::<Deadlines>::default();
        Self {
            inner: Arc::new(Inner {
                writer: Writer::start(backend.clone(), written, Arc::clone(&deadlines)),
                deadlines,
                tasks,
                backend,
                changes,
            }),
        }
    }

    /// The same trail for readers that do not queue behind those of this one: however many read
    /// at the same time, they find a connection.
    #[must_use]
    pub fn reserved(&self) -> Self {
        let Inner {
            backend,
            writer,
            changes,
            deadlines,
            tasks: _,
        } = &*self.inner;
        Self {
            inner: Arc::new(Inner {
                backend: backend.reserved(),
                writer: writer.clone(),
                changes: changes.clone(),
                deadlines: Arc::clone(deadlines),
                tasks: Vec::new(),
            }),
        }
    }

    /// Records a decision and returns its number. It is on the disk then.
    ///
    /// What a rule [denies](crate::Ruling::denied) is answered with that, and cannot be answered
    /// again.
    ///
    /// # Errors
    ///
    /// If it could not be written; then it is not there.
    pub async fn record(&self, new: NewDecision) -> Result<i64, AuditError> {
        let answer = new.answer.clone();
        let row = Box::new(Stored::new(new));
        self.inner.writer.run(Record { row, answer }).await
    }

    /// As [`record`](Self::record) for a decision that waits for an answer, unless too many do:
    /// then nothing is recorded.
    ///
    /// # Errors
    ///
    /// As [`record`](Self::record).
    pub async fn record_question(
        &self,
        new: NewDecision,
        limits: QuestionLimits,
    ) -> Result<Result<i64, TooManyQuestions>, AuditError> {
        let answer = new.answer.clone();
        let row = Box::new(Stored::new(new));
        let record = Record { row, answer };
        self.inner.writer.run(Question { record, limits }).await
    }

    /// Records the answer to a question. Of several exactly one counts, also of several
    /// processes. An answer after the deadline does not: it counts as none.
    ///
    /// # Errors
    ///
    /// If it could not be written; then it does not count.
    pub async fn answer(&self, id: i64, answer: NewAnswer) -> Result<Answered, AuditError> {
        self.answer_for(id, answer, None).await
    }

    /// As [`answer`](Self::answer); if it counts, it is remembered with it, or neither is there.
    pub(crate) async fn answer_for(
        &self,
        id: i64,
        answer: NewAnswer,
        lasting: Option<Lasting>,
    ) -> Result<Answered, AuditError> {
        let answer = Answer {
            id,
            answer,
            lasting,
        };
        self.inner.writer.run(answer).await
    }

    /// Records that the command of a decision ran, for who has the secret that was given
    /// with it.
    ///
    /// # Errors
    ///
    /// If it could not be written.
    pub async fn executed(
        &self,
        id: i64,
        secret: &str,
        outcome: Execution,
    ) -> Result<Executed, AuditError> {
        let secret = secret.to_owned();
        self.ran(Which::Secret { id, secret }, outcome, None).await
    }

    /// The same for who knows the agent's own name for the call: for processes that may write to
    /// the trail anyway. If an agent has used a name again, its last call is meant.
    ///
    /// # Errors
    ///
    /// If it could not be written.
    pub async fn executed_call(
        &self,
        agent: &str,
        session: &str,
        call_id: &str,
        outcome: Execution,
    ) -> Result<Executed, AuditError> {
        let which = Which::Call(CallName {
            agent: agent.to_owned(),
            session: session.to_owned(),
            call: call_id.to_owned(),
        });
        self.ran(which, outcome, None).await
    }

    /// Answers the question about a call, if one was asked and is not answered yet. Returns the
    /// number of the decision.
    pub(crate) async fn answer_call(
        &self,
        call: CallName,
        answer: NewAnswer,
    ) -> Result<Option<i64>, AuditError> {
        self.inner.writer.run(AnswerCall { call, answer }).await
    }

    /// As [`executed`](Self::executed); with it goes the approval that it says, by whom, if the
    /// agent was to ask its user: both are there, or neither is.
    pub(crate) async fn ran(
        &self,
        which: Which,
        outcome: Execution,
        agreed: Option<&'static str>,
    ) -> Result<Executed, AuditError> {
        let execute = Execute {
            which,
            outcome,
            agreed,
        };
        self.inner.writer.run(execute).await
    }

    /// The decision of a number.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn decision(&self, id: i64) -> Result<Option<AuditRecord>, AuditError> {
        let found = decide::find(&mut self.inner.backend.glance().await?, id).await?;
        found.map(Stored::record).transpose()
    }

    /// The decisions that a filter finds, the newest first.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub async fn decisions(&self, filter: &Filter, page: Page) -> Result<Listing, AuditError> {
        list::list(&self.inner.backend, filter, page).await
    }

    /// As [`decisions`](Self::decisions): the numbers of the records, and how many there are
    /// altogether.
    #[cfg(feature = "http")]
    pub(crate) async fn decision_numbers(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<(Vec<i64>, u64), AuditError> {
        list::numbers(&self.inner.backend, filter, page).await
    }

    /// What somebody is waiting for an answer to: what has a deadline, which is still to come,
    /// and no answer. The oldest first. All of it is in memory then; see
    /// [`questions`](Self::questions) for pages.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn pending(&self) -> Result<Vec<AuditRecord>, AuditError> {
        let mut open = list::pending(&self.inner.backend, floor_us(Timestamp::now())).await?;
        open.retain(|record| !self.inner.deadlines.is_over(record.id));
        Ok(open)
    }

    /// A page of what waits for an answer.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn questions(
        &self,
        filter: &QuestionFilter,
        order: QuestionOrder,
        after: QuestionCursor,
        limit: u64,
    ) -> Result<QuestionPage, AuditError> {
        let now = floor_us(Timestamp::now());
        open::page(&self.inner.backend, filter, order, after, limit, now).await
    }

    /// How many questions wait for an answer.
    ///
    /// # Errors
    ///
    /// If they cannot be counted.
    pub async fn count_questions(&self) -> Result<u64, AuditError> {
        open::count(&self.inner.backend, floor_us(Timestamp::now())).await
    }

    /// Denies the questions that a filter finds and that were asked before this call, at most so
    /// many, the oldest first. Returns how many it denied.
    ///
    /// Many are denied in parts, between which others can write.
    ///
    /// # Errors
    ///
    /// If it could not be written; parts that were done before stay done.
    pub async fn deny_questions(
        &self,
        filter: &QuestionFilter,
        most: u64,
        by: &str,
        note: Option<String>,
    ) -> Result<u64, AuditError> {
        let last = Head::read(&mut self.inner.backend.read().await?).await?;
        let mut denied = 0;
        while denied < most {
            let at = Timestamp::now();
            let part = DenyOpen {
                filter: filter.clone(),
                last: last.decisions,
                answer: NewAnswer {
                    response: UserResponse::Denied,
                    by: by.to_owned(),
                    note: note.clone(),
                    at,
                },
                now: floor_us(at),
            };
            match self.inner.writer.run(part).await? {
                0 => break,
                part => denied += part,
            }
        }
        Ok(denied)
    }

    /// Records of what nobody answered before its deadline that it is so: TIMEOUT. Returns the
    /// numbers. Where there is none, nothing is written. Many are recorded in parts, between which
    /// others can write.
    ///
    /// # Errors
    ///
    /// If it could not be read or written.
    pub async fn expire(&self, now: Timestamp) -> Result<Vec<i64>, AuditError> {
        let now = floor_us(now);
        let deadlines = &self.inner.deadlines;
        // Every instance asks for it every second, and mostly there is none.
        let mut tx = self.inner.backend.glance().await?;
        decide::see_open(&mut tx, deadlines, now).await?;
        let over = deadlines.over();
        let mut open = Vec::new();
        for &id in &over {
            let row = decide::find(&mut tx, id).await?;
            open.extend(row.filter(|row| row.response.is_none()).map(|row| row.id));
        }
        let is_overdue = decide::is_overdue(&mut tx, now).await?;
        drop(tx);
        let mut expired = Vec::new();
        if is_overdue || !open.is_empty() {
            loop {
                let rest = open.split_off(open.len().min(ANSWERED_TOGETHER as usize));
                let part = Expire { now, over: open };
                let part = self.inner.writer.run(part).await?;
                let is_last = part.len() < ANSWERED_TOGETHER as usize && rest.is_empty();
                expired.extend(part);
                open = rest;
                if is_last {
                    break;
                }
            }
            expired.sort_unstable();
        }
        deadlines.close(&over);
        Ok(expired)
    }

    /// The counts of all decisions.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub async fn totals(&self) -> Result<Totals, AuditError> {
        stats::totals(&self.inner.backend).await
    }

    /// The statistics of a period, exact, also at its edges. They are read from
    /// running counts; of the decisions only those in the hours in which the period begins and
    /// ends.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub async fn stats(&self, period: &Period) -> Result<Stats, AuditError> {
        stats::stats(&self.inner.backend, period, Timestamp::now()).await
    }

    /// How a period went on, in hours, days or weeks of which each counts as a whole.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn series(&self, period: &Period) -> Result<Series, AuditError> {
        series::series(&self.inner.backend, period, Timestamp::now()).await
    }

    /// Takes away the decisions strictly older than that, with their answers, and leaves an
    /// entry that says so, by whom. Remembered answers stay.
    ///
    /// Many are taken away in parts, between which others can write; each part leaves an entry.
    ///
    /// # Errors
    ///
    /// If it could not be written; parts that were done before stay done.
    pub async fn cleanup(&self, older_than: Timestamp, by: &str) -> Result<Cleanup, AuditError> {
        clean::clean(&self.inner.backend, &self.inner.writer, older_than, by).await
    }

    /// Checks everything, in time and disk access proportional to the trail; writing goes on
    /// meanwhile, and what is written after the beginning is not checked.
    ///
    /// # Errors
    ///
    /// If it cannot be read; what is broken is no error.
    pub async fn verify(&self) -> Result<Verification, AuditError> {
        self.verify_with(&[]).await
    }

    /// As [`verify`](Self::verify), and compares heads that were noted down before with what the
    /// chain had then, though it has grown since.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify).
    pub async fn verify_with(&self, noted: &[ChainHead]) -> Result<Verification, AuditError> {
        verify::verify(&self.inner.backend, noted).await
    }

    /// Verifies a trail that [`open`](Self::open) refuses because of its schema, for reading
    /// alone; the schema is the first thing that is broken then. Nothing in the database runs.
    ///
    /// # Errors
    ///
    /// As [`open_read_only`](Self::open_read_only), beside the schema.
    pub async fn verify_unopened(
        url: &str,
        noted: &[ChainHead],
    ) -> Result<Verification, AuditError> {
        let backend = Backend::open(url, OpenMode::Unchecked).await?;
        let found = verify::verify(&backend, noted).await;
        backend.close().await;
        found
    }

    /// When the oldest decision was made that is there.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn oldest(&self) -> Result<Option<Timestamp>, AuditError> {
        let mut tx = self.inner.backend.read().await?;
        let row = tx.one("SELECT min(at) FROM decisions", &[]).await?;
        row.maybe_int(0)?.map(record::time_of).transpose()
    }

    /// Writes a copy of the trail as it is now into a new file, for its owner only, while others
    /// read and write. On the disk when this returns.
    ///
    /// # Errors
    ///
    /// If there is such a file, if it cannot be written, or if the trail is in PostgreSQL, which
    /// has tools of its own for that.
    pub async fn backup(&self, file: &Path) -> Result<(), AuditError> {
        self.inner.backend.database().backup(file).await
    }

    /// Where the chain ends now, to be noted down elsewhere.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn head(&self) -> Result<ChainHead, AuditError> {
        verify::head(&self.inner.backend).await
    }

    /// All decisions that a filter finds, the oldest first, few of them in memory at a time. What
    /// is recorded meanwhile may be among them. It ends after the first error.
    pub fn export(
        &self,
        filter: &Filter,
    ) -> impl Stream<Item = Result<AuditRecord, AuditError>> + Send + use<> {
        export::export(self.inner.backend.clone(), filter)
    }

    /// What happens from now on, in this process and every other one that writes to the trail: at
    /// once what this process does, and with PostgreSQL what any does; within a tenth of a second
    /// what others do to a SQLite file. It ends with the store.
    pub fn changes(&self) -> ChangeStream {
        ChangeStream::new(self.inner.changes.subscribe())
    }

    /// As [`changes`](Self::changes), each with the number of its entry in the log.
    #[cfg(feature = "http")]
    pub(crate) fn entries(&self) -> impl Stream<Item = changes::Entry> + Send + use<> {
        changes::entries(self.inner.changes.subscribe())
    }

    /// What happened behind an entry of the log; none if that is more than `most` entries.
    #[cfg(feature = "http")]
    pub(crate) async fn since(
        &self,
        seq: i64,
        most: i64,
    ) -> Result<Option<Vec<changes::Entry>>, AuditError> {
        changes::since(&self.inner.backend, seq, most).await
    }

    /// Several decisions at once, in no order; those that are gone are left out.
    #[cfg(feature = "http")]
    pub(crate) async fn several(&self, ids: &[i64]) -> Result<Vec<AuditRecord>, AuditError> {
        list::several(&self.inner.backend, ids).await
    }

    /// Remembers an answer for the next time.
    ///
    /// # Errors
    ///
    /// If it could not be written.
    pub async fn remember(&self, new: NewRemembered) -> Result<Remembered, AuditError> {
        self.inner.writer.run(Remember(new)).await
    }

    /// The newest remembered answer for the command of this hash, in exactly this directory, in this
    /// session. With a scope, the newest one that is bound to the same; without, whatever it is
    /// bound to: that alone allows nothing.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn remembered(
        &self,
        command_hash: &[u8; 32],
        cwd: Option<&Path>,
        session_id: Option<&str>,
        scope: Option<&ApprovalScope>,
    ) -> Result<Option<Remembered>, AuditError> {
        let mut tx = self.inner.backend.read().await?;
        let scope = scope.map(ApprovalScope::hash);
        remember::find(&mut tx, command_hash, cwd, session_id, scope).await
    }

    /// The remembered answers that hold behind this number, the oldest first, and how many hold
    /// altogether.
    #[cfg(feature = "http")]
    pub(crate) async fn remembered_page(
        &self,
        after: i64,
        limit: u64,
    ) -> Result<(Vec<Remembered>, u64), AuditError> {
        remember::page(&self.inner.backend, after, limit).await
    }

    /// All remembered answers that hold, the oldest first.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub async fn all_remembered(&self) -> Result<Vec<Remembered>, AuditError> {
        remember::list(&self.inner.backend).await
    }

    /// Revokes a remembered answer; says whether there was one.
    ///
    /// # Errors
    ///
    /// If it could not be written; then it still holds.
    pub async fn forget(&self, id: i64, by: &str) -> Result<bool, AuditError> {
        let by = by.to_owned();
        let at = floor_us(Timestamp::now());
        self.inner.writer.run(Forget { id, by, at }).await
    }

    /// Leaves the database open until the process ends, which it should do soon: the last one to
    /// close a SQLite file would wait for the disk several times, and this waits for nothing. What
    /// is recorded is on the disk already, beside the file; whoever opens that next goes on from
    /// there.
    pub fn leave(self) {
        std::mem::forget(self);
    }

    /// Waits for what is being read and written, and closes the database. Every later call fails.
    pub async fn close(&self) {
        for task in &self.inner.tasks {
            task.abort();
        }
        self.inner.backend.close().await;
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::audit::database::Database;
    use crate::classify::{Crud, Decision};
    use crate::request::PermissionRequest;

    fn long() -> NewDecision {
        let command = "long ".repeat(1500);
        let mut decision = NewDecision::sample(PermissionRequest::new(command));
        decision.ruling.decision = Decision::RequiresConfirmation;
        decision.ruling.classification = Crud::Create;
        decision
    }

    #[tokio::test]
    async fn a_full_disk_fails_clearly_and_works_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        let trail = AuditStore::open(&path.display().to_string())
            .await
            .expect("a trail");
        #[cfg_attr(
            not(feature = "postgres"),
            expect(irrefutable_let_patterns, reason = "the only one")
        )]
        let Database::Sqlite(database) = trail.inner.backend.database() else {
            panic!("it is a file");
        };
        database.limit("PRAGMA max_page_count = 200").await;
        let mut written = 0;
        let error = loop {
            match trail.record(long()).await {
                Ok(id) => written = id,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, AuditError::Full), "{error:?}");
        let found = trail.totals().await.expect("counted").total_decisions;
        assert_eq!(found, written.unsigned_abs(), "what failed is not there");
        database.limit("PRAGMA max_page_count = 100000").await;
        let id = trail.record(long()).await.expect("recorded");
        assert_eq!(id, written + 1);
        assert!(trail.verify().await.expect("a walk").is_intact());
    }
}
