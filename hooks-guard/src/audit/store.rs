//! The store. Takes decisions, answers, executions and filters; returns records, counts and
//! changes. Every call that writes returns when its data is on disk.

use std::path::Path;
use std::sync::Arc;

use futures_util::Stream;
use jiff::Timestamp;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use super::backend::Backend;
use super::changes::{ChangeStream, WriteSignal};
use super::clean::Cleanup;
use super::database::OpenMode;
use super::deadlines::Deadlines;
use super::decide::{
    CallId, DecisionSelector, ExpireQuestions, MAX_ANSWERS, RecordAnswer, RecordCallAnswer,
    RecordDecision, RecordExecution,
};
use super::error::AuditError;
use super::head::Head;
use super::list::filter::{Filter, Listing, Page};
use super::open::{
    DenyQuestions, QuestionCursor, QuestionFilter, QuestionLimits, QuestionOrder, QuestionPage,
    RecordQuestion, TooManyQuestions,
};
use super::record::{
    AnswerResult, AuditRecord, DecisionRow, Execution, ExecutionResult, NewAnswer, NewDecision,
    ReportedCommand, UserResponse, floor_us,
};
use super::remember::{RecordRemembered, RevokeRemembered};
use super::remembered::{NewRemembered, Remembered, SessionScope};
use super::series::Series;
use super::stats::{Period, Stats, Totals};
use super::verify::Verification;
use super::walk::ChainHead;
use super::write::Writer;
use super::{changes, clean, decide, export, list, open, record, remember, series, stats, verify};
use crate::approval::ApprovalScope;

/// The audit trail. Clones share the database, which several processes may have open.
///
/// Needs a Tokio runtime with time enabled, for PostgreSQL also with I/O.
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
    pub(super) inner: Arc<StoreInner>,
}

#[derive(Debug)]
pub(super) struct StoreInner {
    pub(super) backend: Backend,
    pub(super) writer: Writer,
    pub(super) deadlines: Arc<Deadlines>,
    changes: broadcast::Sender<changes::NumberedChange>,
    /// Tasks that send changes.
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for StoreInner {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl AuditStore {
    /// Opens the trail at an address and applies pending migrations.
    ///
    /// | Address | Database |
    /// |---|---|
    /// | a path, or `sqlite:PATH` | SQLite file; created if missing, for its owner only |
    /// | `sqlite::memory:` | in-memory database, deleted with the store |
    /// | `postgres://…` | PostgreSQL database |
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be opened, is not an audit trail, or was written by
    /// a newer version.
    pub async fn open(url: &str) -> Result<Self, AuditError> {
        let backend = Backend::open(url, OpenMode::Pooled).await?;
        let head = backend.begin().await?;
        let written = Arc::new(WriteSignal::default());
        let changes = broadcast::Sender::new(changes::MAX_BUFFERED_CHANGES);
        let follow = changes::follow(backend.clone(), written.clone(), changes.clone(), head.seq);
        let watch = changes::watch(backend.clone(), written.clone());
        let tasks = vec![tokio::spawn(follow), tokio::spawn(watch)];
        Ok(Self::of(backend, written, changes, tasks))
    }

    /// Like [`open`](Self::open), for a process that performs one operation and exits:
    /// [`changes`](Self::changes) returns no changes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub async fn open_one_shot(url: &str) -> Result<Self, AuditError> {
        let backend = Backend::open(url, OpenMode::OneShot).await?;
        backend.begin_briefly().await?;
        let changes = broadcast::Sender::new(1);
        Ok(Self::of(backend, Arc::default(), changes, Vec::new()))
    }

    /// Like [`open`](Self::open), but read-only: for a read-only medium, a file of another user, or
    /// a PostgreSQL standby. No migrations are applied, and [`changes`](Self::changes) returns no
    /// changes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open), and an error if the schema is older.
    pub async fn open_read_only(url: &str) -> Result<Self, AuditError> {
        let backend = Backend::open(url, OpenMode::ReadOnly).await?;
        backend.begin_briefly().await?;
        let changes = broadcast::Sender::new(1);
        Ok(Self::of(backend, Arc::default(), changes, Vec::new()))
    }

    fn of(
        backend: Backend,
        written: Arc<WriteSignal>,
        changes: broadcast::Sender<changes::NumberedChange>,
        tasks: Vec<JoinHandle<()>>,
    ) -> Self {
        let deadlines = Arc::<Deadlines>::default();
        Self {
            inner: Arc::new(StoreInner {
                writer: Writer::start(backend.clone(), written, Arc::clone(&deadlines)),
                deadlines,
                tasks,
                backend,
                changes,
            }),
        }
    }

    /// Returns a handle to this trail that reads through reserved connections. They are available
    /// however many other reads are running.
    #[must_use]
    pub fn reserved(&self) -> Self {
        let StoreInner {
            backend,
            writer,
            changes,
            deadlines,
            tasks: _,
        } = &*self.inner;
        Self {
            inner: Arc::new(StoreInner {
                backend: backend.reserved(),
                writer: writer.clone(),
                changes: changes.clone(),
                deadlines: Arc::clone(deadlines),
                tasks: Vec::new(),
            }),
        }
    }

    /// Records a decision and returns its id. The decision is on disk when the call returns.
    ///
    /// A decision that a rule [denies](crate::PermissionDecision::denied) is recorded with this answer and
    /// cannot be answered again.
    ///
    /// # Errors
    ///
    /// Returns an error if the decision could not be written; then it is not recorded.
    pub async fn record(&self, new: NewDecision) -> Result<i64, AuditError> {
        let answer = new.answer.clone();
        let row = Box::new(DecisionRow::new(new));
        self.inner.writer.run(RecordDecision { row, answer }).await
    }

    /// Like [`record`](Self::record), for a decision with a question. If too many questions are
    /// pending, nothing is recorded.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`record`](Self::record).
    pub async fn record_question(
        &self,
        new: NewDecision,
        limits: QuestionLimits,
    ) -> Result<Result<i64, TooManyQuestions>, AuditError> {
        let answer = new.answer.clone();
        let row = Box::new(DecisionRow::new(new));
        let record = RecordDecision { row, answer };
        self.inner
            .writer
            .run(RecordQuestion { record, limits })
            .await
    }

    /// Records the answer to a question. Exactly one of several answers takes effect, also across
    /// processes. An answer after the deadline has no effect.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer could not be written; then it has no effect.
    pub async fn answer(&self, id: i64, answer: NewAnswer) -> Result<AnswerResult, AuditError> {
        self.answer_for(id, answer, None).await
    }

    /// Like [`answer`](Self::answer). If the answer takes effect, it is also remembered in the same
    /// transaction.
    pub(crate) async fn answer_for(
        &self,
        id: i64,
        answer: NewAnswer,
        lasting: Option<SessionScope>,
    ) -> Result<AnswerResult, AuditError> {
        let answer = RecordAnswer {
            id,
            answer,
            lasting,
        };
        self.inner.writer.run(answer).await
    }

    /// Records that the command of a decision was executed. The caller must present the secret of
    /// the decision.
    ///
    /// # Errors
    ///
    /// Returns an error if the report could not be written.
    pub async fn record_execution(
        &self,
        id: i64,
        secret: &str,
        outcome: Execution,
    ) -> Result<ExecutionResult, AuditError> {
        let secret = secret.to_owned();
        self.record_run(DecisionSelector::Secret { id, secret }, outcome, None, None)
            .await
    }

    /// Like [`record_execution`](Self::record_execution), by the agent's id of the tool call: for processes that
    /// have write access to the trail anyway. If an agent has reused an id, its last call is meant.
    ///
    /// # Errors
    ///
    /// Returns an error if the report could not be written.
    pub async fn record_call_execution(
        &self,
        agent: &str,
        session: &str,
        call_id: &str,
        outcome: Execution,
    ) -> Result<ExecutionResult, AuditError> {
        let which = DecisionSelector::Call(CallId {
            agent: agent.to_owned(),
            session: session.to_owned(),
            call: call_id.to_owned(),
        });
        self.record_run(which, outcome, None, None).await
    }

    /// Answers the open question about a tool call, if there is one. Returns the id of the
    /// decision.
    pub(crate) async fn answer_call(
        &self,
        call: CallId,
        answer: NewAnswer,
    ) -> Result<Option<i64>, AuditError> {
        self.inner
            .writer
            .run(RecordCallAnswer { call, answer })
            .await
    }

    /// Like [`record_execution`](Self::record_execution). If the agent was to prompt its user, the implied approval
    /// and its author are recorded in the same transaction. If another command ran than the decided
    /// one, it is recorded, and nothing is approved.
    pub(crate) async fn record_run(
        &self,
        which: DecisionSelector,
        outcome: Execution,
        agreed: Option<&'static str>,
        ran: Option<ReportedCommand>,
    ) -> Result<ExecutionResult, AuditError> {
        let execute = RecordExecution {
            selector: which,
            outcome,
            agreed,
            ran,
        };
        self.inner.writer.run(execute).await
    }

    /// Returns the decision with an id.
    ///
    /// # Errors
    ///
    /// Returns an error if the decision cannot be read.
    pub async fn decision(&self, id: i64) -> Result<Option<AuditRecord>, AuditError> {
        let found = decide::find(&mut self.inner.backend.acquire().await?, id).await?;
        found.map(DecisionRow::record).transpose()
    }

    /// Returns the newest decision since a time for which another command ran than the decided one, and
    /// the number of all.
    ///
    /// # Errors
    ///
    /// Returns an error if the decisions cannot be read.
    pub async fn changed_commands(
        &self,
        since: Timestamp,
    ) -> Result<(Option<AuditRecord>, u64), AuditError> {
        decide::changed_commands(&mut self.inner.backend.read().await?, floor_us(since)).await
    }

    /// Returns the decisions that match a filter, newest first.
    ///
    /// # Errors
    ///
    /// Returns an error if the decisions cannot be read.
    pub async fn decisions(&self, filter: &Filter, page: Page) -> Result<Listing, AuditError> {
        list::list(&self.inner.backend, filter, page).await
    }

    /// Like [`decisions`](Self::decisions), but returns the ids and the total number.
    #[cfg(feature = "http")]
    pub(crate) async fn decision_numbers(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<(Vec<i64>, u64), AuditError> {
        list::numbers(&self.inner.backend, filter, page).await
    }

    /// Returns all open questions with a deadline in the future, oldest first. They are all in
    /// memory then; see [`questions`](Self::questions) for pages.
    ///
    /// # Errors
    ///
    /// Returns an error if the questions cannot be read.
    pub async fn pending(&self) -> Result<Vec<AuditRecord>, AuditError> {
        let mut open = list::pending(&self.inner.backend, floor_us(Timestamp::now())).await?;
        open.retain(|record| !self.inner.deadlines.is_expired(record.id));
        Ok(open)
    }

    /// Returns a page of open questions.
    ///
    /// # Errors
    ///
    /// Returns an error if the questions cannot be read.
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

    /// Returns the number of open questions.
    ///
    /// # Errors
    ///
    /// Returns an error if the questions cannot be counted.
    pub async fn count_questions(&self) -> Result<u64, AuditError> {
        open::count(&self.inner.backend, floor_us(Timestamp::now())).await
    }

    /// Denies up to a number of questions that match a filter and were asked before this call,
    /// oldest first. Returns the number of denied questions.
    ///
    /// Many questions are denied in several transactions, so that other writers are not delayed.
    ///
    /// # Errors
    ///
    /// Returns an error if an answer could not be written; completed transactions stay in effect.
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
            let part = DenyQuestions {
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

    /// Records the outcome `TIMEOUT` for questions that were not answered before their deadline.
    /// Returns their ids. Writes nothing if there are none. Many questions are recorded in several
    /// transactions, so that other writers are not delayed.
    ///
    /// # Errors
    ///
    /// Returns an error if the questions could not be read or written.
    pub async fn expire(&self, now: Timestamp) -> Result<Vec<i64>, AuditError> {
        let now = floor_us(now);
        let deadlines = &self.inner.deadlines;
        // Every instance runs this query every second, and it rarely finds anything.
        let mut tx = self.inner.backend.acquire().await?;
        decide::load_deadlines(&mut tx, deadlines, now).await?;
        let over = deadlines.expired();
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
                let rest = open.split_off(open.len().min(MAX_ANSWERS as usize));
                let part = ExpireQuestions { now, expired: open };
                let part = self.inner.writer.run(part).await?;
                let is_last = part.len() < MAX_ANSWERS as usize && rest.is_empty();
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

    /// Returns the counts of all decisions.
    ///
    /// # Errors
    ///
    /// Returns an error if the counts cannot be read.
    pub async fn totals(&self) -> Result<Totals, AuditError> {
        stats::totals(&self.inner.backend).await
    }

    /// Returns the statistics of a period. They are exact, also at its edges: they are read from
    /// running counts, and from the decisions in the hours in which the period begins and ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the statistics cannot be read.
    pub async fn stats(&self, period: &Period) -> Result<Stats, AuditError> {
        stats::stats(&self.inner.backend, period, Timestamp::now()).await
    }

    /// Returns counts over a period, in whole hours, days or weeks.
    ///
    /// # Errors
    ///
    /// Returns an error if the counts cannot be read.
    pub async fn series(&self, period: &Period) -> Result<Series, AuditError> {
        series::series(&self.inner.backend, period, Timestamp::now()).await
    }

    /// Deletes the decisions strictly older than a time, with their answers, and records the
    /// cleanup and its author. Remembered answers are kept.
    ///
    /// Many decisions are deleted in several transactions, so that other writers are not delayed;
    /// each transaction is recorded.
    ///
    /// # Errors
    ///
    /// Returns an error if a deletion could not be written; completed transactions stay in effect.
    pub async fn cleanup(&self, older_than: Timestamp, by: &str) -> Result<Cleanup, AuditError> {
        clean::clean(&self.inner.backend, &self.inner.writer, older_than, by).await
    }

    /// Checks the whole trail, with time and disk access proportional to its size. Writers continue
    /// meanwhile; entries that are written after the start are not checked.
    ///
    /// # Errors
    ///
    /// Returns an error if the trail cannot be read. A broken trail is not an error.
    pub async fn verify(&self) -> Result<Verification, AuditError> {
        self.verify_with(&[]).await
    }

    /// Like [`verify`](Self::verify), and also compares heads that were noted earlier with the
    /// chain, which may have grown since.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`verify`](Self::verify).
    pub async fn verify_with(&self, noted: &[ChainHead]) -> Result<Verification, AuditError> {
        verify::verify(&self.inner.backend, noted).await
    }

    /// Verifies a trail that [`open`](Self::open) rejects because of its schema, read-only; the
    /// schema is then reported as the first problem. Runs no code in the database.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open_read_only`](Self::open_read_only), except for the schema.
    pub async fn verify_unopened(
        url: &str,
        noted: &[ChainHead],
    ) -> Result<Verification, AuditError> {
        let backend = Backend::open(url, OpenMode::Unchecked).await?;
        let found = verify::verify(&backend, noted).await;
        backend.close().await;
        found
    }

    /// Returns the time of the oldest decision in the trail.
    ///
    /// # Errors
    ///
    /// Returns an error if the trail cannot be read.
    pub async fn oldest(&self) -> Result<Option<Timestamp>, AuditError> {
        let mut tx = self.inner.backend.read().await?;
        let row = tx.one("SELECT min(at) FROM decisions", &[]).await?;
        row.maybe_int(0)?.map(record::timestamp).transpose()
    }

    /// Copies the current trail to a new file, with access for its owner only, while others read
    /// and write. The copy is on disk when this returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists, if it cannot be written, or if the trail is in
    /// PostgreSQL, which has its own backup tools.
    pub async fn backup(&self, file: &Path) -> Result<(), AuditError> {
        self.inner.backend.database().backup(file).await
    }

    /// Returns the current end of the chain, to be noted elsewhere.
    ///
    /// # Errors
    ///
    /// Returns an error if the trail cannot be read.
    pub async fn head(&self) -> Result<ChainHead, AuditError> {
        verify::head(&self.inner.backend).await
    }

    /// Returns all decisions that match a filter, oldest first, with few of them in memory at a
    /// time. Decisions that are recorded meanwhile may be included. The stream ends after the first
    /// error.
    pub fn export(
        &self,
        filter: &Filter,
    ) -> impl Stream<Item = Result<AuditRecord, AuditError>> + Send + use<> {
        export::export(self.inner.backend.clone(), filter)
    }

    /// Returns a stream of future changes by this process and all others that write to the trail.
    /// Changes by this process arrive immediately, changes by others immediately with PostgreSQL
    /// and within a tenth of a second in a SQLite file. The stream ends with the store.
    pub fn changes(&self) -> ChangeStream {
        ChangeStream::new(self.inner.changes.subscribe())
    }

    /// Like [`changes`](Self::changes), each change with the number of its log entry.
    #[cfg(feature = "http")]
    pub(crate) fn entries(&self) -> impl Stream<Item = changes::NumberedChange> + Send + use<> {
        changes::entries(self.inner.changes.subscribe())
    }

    /// Returns the changes after a log entry, or `None` if there are more than `most` entries.
    #[cfg(feature = "http")]
    pub(crate) async fn since(
        &self,
        seq: i64,
        most: i64,
    ) -> Result<Option<Vec<changes::NumberedChange>>, AuditError> {
        changes::since(&self.inner.backend, seq, most).await
    }

    /// Returns several decisions, in no particular order; deleted decisions are left out.
    #[cfg(feature = "http")]
    pub(crate) async fn decisions_by_ids(
        &self,
        ids: &[i64],
    ) -> Result<Vec<AuditRecord>, AuditError> {
        list::read_by_ids(&self.inner.backend, ids).await
    }

    /// Remembers an answer for later requests.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer could not be written.
    pub async fn remember(&self, new: NewRemembered) -> Result<Remembered, AuditError> {
        self.inner.writer.run(RecordRemembered(new)).await
    }

    /// Returns the newest remembered answer for the command with this hash, in exactly this
    /// directory and in this session. With a scope, returns the newest answer with an equal scope;
    /// without, of any scope, which does not authorize anything.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer cannot be read.
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

    /// Returns the remembered answers after this id, oldest first, and their total number. Leaves
    /// out revoked answers unless `all` is `true`.
    #[cfg(feature = "http")]
    pub(crate) async fn remembered_page(
        &self,
        after: i64,
        limit: u64,
        all: bool,
    ) -> Result<(Vec<Remembered>, u64), AuditError> {
        remember::page(&self.inner.backend, after, limit, all).await
    }

    /// Returns all active remembered answers, oldest first.
    ///
    /// # Errors
    ///
    /// Returns an error if the answers cannot be read.
    pub async fn all_remembered(&self) -> Result<Vec<Remembered>, AuditError> {
        remember::list(&self.inner.backend, false).await
    }

    /// Returns all remembered answers, also the revoked ones, oldest first.
    ///
    /// # Errors
    ///
    /// Returns an error if the answers cannot be read.
    pub async fn remembered_history(&self) -> Result<Vec<Remembered>, AuditError> {
        remember::list(&self.inner.backend, true).await
    }

    /// Returns the remembered answer with an id, also if it was revoked.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer cannot be read.
    pub async fn remembered_by_id(&self, id: i64) -> Result<Option<Remembered>, AuditError> {
        remember::one(&self.inner.backend, id).await
    }

    /// Revokes a remembered answer. Returns `true` if there was one.
    ///
    /// # Errors
    ///
    /// Returns an error if the revocation could not be written; then the answer stays active.
    pub async fn revoke(&self, id: i64, by: &str) -> Result<bool, AuditError> {
        let by = by.to_owned();
        let at = floor_us(Timestamp::now());
        self.inner.writer.run(RevokeRemembered { id, by, at }).await
    }

    /// Leaves the database open until the process exits, which should be soon. Closing a SQLite
    /// file would flush the disk several times; this does not wait. All records are on disk
    /// already, in the write-ahead log; the next process that opens the file continues from there.
    pub fn leave_open(self) {
        std::mem::forget(self);
    }

    /// Waits for running reads and writes, and closes the database. Every later call fails.
    pub async fn close(&self) {
        for task in &self.inner.tasks {
            task.abort();
        }
        self.inner.backend.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::database::Database;
    use crate::classify::{Crud, Decision};
    use crate::request::PermissionRequest;

    fn long() -> NewDecision {
        let command = "long ".repeat(1500);
        let mut decision = NewDecision::sample(PermissionRequest::new(command));
        decision.permission.decision = Decision::RequiresConfirmation;
        decision.permission.classification = Crud::Create;
        decision
    }

    #[tokio::test]
    async fn a_full_disk_is_an_error_until_it_has_room() {
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
        assert_eq!(
            found,
            written.unsigned_abs(),
            "the failed record is not stored"
        );
        database.limit("PRAGMA max_page_count = 100000").await;
        let id = trail.record(long()).await.expect("recorded");
        assert_eq!(id, written + 1);
        assert!(trail.verify().await.expect("a walk").is_intact());
    }
}
