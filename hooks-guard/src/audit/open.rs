//! Open questions. Takes a question, a filter, or a denial of many questions; returns an id or a
//! refusal, a page of questions, or the denied questions.

use std::fmt;

use super::backend::Backend;
use super::decide::{MAX_ANSWERS, RecordDecision, find, record_answer};
use super::error::AuditError;
use super::open_counts::OpenQuestionCounts;
use super::record::{DecisionRow, NewAnswer, columns, storable};
use super::tx::{Arg, Tx};
use super::write::{Batch, Work};

/// Maximum number of sessions that a page lists.
const MAX_SESSIONS: i64 = 20;

/// Limits on the number of pending questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionLimits {
    /// Maximum number of pending questions.
    pub total: u32,
    /// Maximum number of pending questions of one session of one agent. Not applied to requests
    /// without a session.
    ///
    /// A session, and the requests without a session together, never have more questions than there
    /// are free places, so that sessions with few questions find a place.
    pub per_session: u32,
}

impl Default for QuestionLimits {
    /// 10 000 in total, 100 per session.
    fn default() -> Self {
        Self {
            total: 10_000,
            per_session: 100,
        }
    }
}

/// Error returned when a question is not recorded because too many are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooManyQuestions {
    /// Number of pending questions; never more than the limit.
    pub total: u32,
    /// Number of pending questions of the session of the request. 0 if the total limit is
    /// reached.
    pub of_session: u32,
}

impl fmt::Display for TooManyQuestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total, of_session } = self;
        match of_session {
            0 => write!(f, "{total} questions are pending"),
            _ => write!(
                f,
                "{total} questions are pending, {of_session} of them in this session"
            ),
        }
    }
}

/// Order in which questions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuestionOrder {
    /// By id, oldest first.
    #[default]
    Oldest,
    /// Round-robin over sessions: the oldest question of each session, then the second of each
    /// session, and so on. No session hides another.
    Fair,
}

/// Position at which a list of questions continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuestionCursor {
    /// Position of the last listed question within its session; 0 if the order is by id.
    pub place: i64,
    /// Id of the last listed question.
    pub id: i64,
}

/// Selects questions. An absent field matches any value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionFilter {
    /// Matches questions of this agent.
    pub agent: Option<String>,
    /// Matches questions of this session.
    pub session_id: Option<String>,
    /// Matches questions with the agent and the session of this question, including an absent
    /// session.
    pub session_of: Option<i64>,
}

/// A page of pending questions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionPage {
    /// Ids of the questions.
    pub ids: Vec<i64>,
    /// For each question, the cursor of a page that continues after it.
    pub cursors: Vec<QuestionCursor>,
    /// Total number of questions that match the filter.
    pub total: u64,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<QuestionCursor>,
    /// Sessions with the most pending questions, at most 20.
    pub sessions: Vec<SessionQuestions>,
}

/// Number of pending questions of a session.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionQuestions {
    /// Name of the agent.
    pub agent: Option<String>,
    /// Id of its session.
    pub session_id: Option<String>,
    /// Number of pending questions.
    pub count: u64,
}

/// Questions that are open at `$1`, of the agent `$2` and the session `$3` unless they are NULL. If
/// `$4` is not 0, of exactly the agent `$5` and the session `$6`, which may be NULL.
macro_rules! open {
    () => {
        " FROM decisions d WHERE d.response IS NULL AND d.deadline IS NOT NULL
            AND d.deadline > $1 AND d.requires = 1
            AND ($2 IS NULL OR d.agent = $2) AND ($3 IS NULL OR d.session_id = $3)
            AND ($4 = 0 OR (d.agent IS NOT DISTINCT FROM $5
                AND d.session_id IS NOT DISTINCT FROM $6))"
    };
}

/// A filter as SQL parameters `$1` to `$6`.
#[derive(Clone, Debug)]
struct QuestionArgs {
    now: i64,
    agent: Option<String>,
    session: Option<String>,
    /// Agent and session that must be equal.
    same: Option<(Option<String>, Option<String>)>,
}

impl QuestionArgs {
    /// Returns `None` if the question that selects the session is unknown.
    async fn of(
        tx: &mut Tx,
        filter: &QuestionFilter,
        now: i64,
    ) -> Result<Option<Self>, AuditError> {
        let same = match filter.session_of {
            None => None,
            Some(id) => match find(tx, id).await? {
                None => return Ok(None),
                Some(row) => Some((row.agent, row.session_id)),
            },
        };
        Ok(Some(Self {
            now,
            agent: filter.agent.as_deref().map(storable),
            session: filter.session_id.as_deref().map(storable),
            same,
        }))
    }

    fn args(&self) -> [Arg<'_>; 6] {
        let none = &None;
        let (agent, session) = match &self.same {
            Some((agent, session)) => (agent, session),
            None => (none, none),
        };
        [
            self.now.into(),
            (&self.agent).into(),
            (&self.session).into(),
            i64::from(self.same.is_some()).into(),
            agent.into(),
            session.into(),
        ]
    }
}

/// Returns a page of the questions that are open at `now`.
pub(super) async fn page(
    backend: &Backend,
    filter: &QuestionFilter,
    order: QuestionOrder,
    after: QuestionCursor,
    limit: u64,
    now: i64,
) -> Result<QuestionPage, AuditError> {
    let mut tx = backend.read().await?;
    let Some(bound) = QuestionArgs::of(&mut tx, filter, now).await? else {
        return Ok(QuestionPage::default());
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX - 1);
    let sql = match order {
        QuestionOrder::Oldest => concat!(
            "SELECT d.id, CAST(0 AS BIGINT)",
            open!(),
            " AND (CAST(0 AS BIGINT), d.id) > ($7, $8) ORDER BY d.id LIMIT $9"
        ),
        QuestionOrder::Fair => concat!(
            "SELECT o.id, o.place FROM (SELECT d.id, row_number() OVER (
                PARTITION BY d.agent, d.session_id ORDER BY d.id) AS place",
            open!(),
            ") o WHERE (o.place, o.id) > ($7, $8) ORDER BY o.place, o.id LIMIT $9"
        ),
    };
    let more = [
        Arg::from(after.place),
        after.id.into(),
        limit.saturating_add(1).into(),
    ];
    let rows = tx.all(sql, &[&bound.args()[..], &more].concat()).await?;
    let mut cursors = Vec::with_capacity(rows.len());
    for row in &rows {
        cursors.push(QuestionCursor {
            id: row.int(0)?,
            place: row.int(1)?,
        });
    }
    let is_last = i64::try_from(cursors.len()).is_ok_and(|found| found <= limit);
    if !is_last {
        cursors.pop();
    }
    let next = cursors.last().copied().filter(|_| !is_last);
    let row = tx
        .one(concat!("SELECT count(*)", open!()), &bound.args())
        .await?;
    let total = row.int(0)?.max(0).unsigned_abs();
    let most = [Arg::from(MAX_SESSIONS)];
    let rows = tx
        .all(
            concat!(
                "SELECT d.agent, d.session_id, count(*)",
                open!(),
                " GROUP BY d.agent, d.session_id ORDER BY count(*) DESC, min(d.id) LIMIT $7"
            ),
            &[&bound.args()[..], &most].concat(),
        )
        .await?;
    let sessions = rows.iter().map(|row| {
        Ok(SessionQuestions {
            agent: row.maybe_text(0)?,
            session_id: row.maybe_text(1)?,
            count: row.int(2)?.max(0).unsigned_abs(),
        })
    });
    Ok(QuestionPage {
        ids: cursors.iter().map(|cursor| cursor.id).collect(),
        cursors,
        total,
        next,
        sessions: sessions.collect::<Result<_, AuditError>>()?,
    })
}

/// Returns the number of questions that are open at `now`.
pub(super) async fn count(backend: &Backend, now: i64) -> Result<u64, AuditError> {
    let mut tx = backend.acquire().await?;
    let row = tx
        .one(
            "SELECT count(*) FROM decisions d WHERE d.response IS NULL AND d.deadline IS NOT NULL
                AND d.deadline > $1 AND d.requires = 1",
            &[now.into()],
        )
        .await?;
    Ok(row.int(0)?.max(0).unsigned_abs())
}

/// Records a decision with a question, if the limits permit it.
pub(super) struct RecordQuestion {
    pub(super) record: RecordDecision,
    pub(super) limits: QuestionLimits,
}

impl Work for RecordQuestion {
    type Out = Result<i64, TooManyQuestions>;

    fn at(&self) -> i64 {
        self.record.at()
    }

    async fn apply(self, batch: &mut Batch) -> Result<Self::Out, AuditError> {
        let Self { record, limits } = self;
        let open = match batch.open.take() {
            Some(open) => open,
            None => OpenQuestionCounts::read(&mut batch.tx, record.row.at, limits.total).await?,
        };
        let session = (record.row.agent.clone(), record.row.session_id.clone());
        let of_session = open.sessions.get(&session).copied().unwrap_or(0);
        let free = limits.total.saturating_sub(open.total);
        let most = match session.1 {
            Some(_) => limits.per_session.min(free),
            None => free,
        };
        let open = batch.open.insert(open);
        if of_session >= most {
            return Ok(Err(TooManyQuestions {
                total: open.total,
                of_session,
            }));
        }
        open.add(session);
        record.apply(batch).await.map(Ok)
    }
}

/// Denies the questions that match a filter, up to an id, in one transaction of limited size.
pub(super) struct DenyQuestions {
    pub(super) filter: QuestionFilter,
    pub(super) last: i64,
    pub(super) answer: NewAnswer,
    pub(super) now: i64,
}

impl Work for DenyQuestions {
    type Out = u64;

    async fn apply(self, batch: &mut Batch) -> Result<u64, AuditError> {
        let Some(bound) = QuestionArgs::of(&mut batch.tx, &self.filter, self.now).await? else {
            return Ok(0);
        };
        let more = [Arg::from(self.last), MAX_ANSWERS.into()];
        let rows = batch
            .tx
            .all(
                concat!(
                    "SELECT ",
                    columns!(),
                    open!(),
                    " AND d.id <= $7 ORDER BY d.id LIMIT $8"
                ),
                &[&bound.args()[..], &more].concat(),
            )
            .await?;
        for row in &rows {
            record_answer(batch, DecisionRow::read(row, 0)?, &self.answer).await?;
        }
        Ok(rows.len() as u64)
    }
}
