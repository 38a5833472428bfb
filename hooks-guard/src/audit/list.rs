//! Lists decisions. Takes a filter and a page; returns records, newest first, and their total
//! number.

pub(super) mod filter;
mod search;
#[cfg(test)]
mod tests;

pub use self::filter::{Filter, Listing, Page};

use self::filter::FilterArgs;
use self::search::Partition;
use super::backend::Backend;
use super::deadlines::TOLERANCE_US;
use super::error::AuditError;
use super::record::{AuditRecord, DecisionRow, columns};
use super::tally::PeriodParts;
use super::tx::{Arg, Sql, Tx};

/// Conditions of a filter that the selected index does not cover.
macro_rules! rest {
    () => {
        "d.at > $1 AND d.at < $2 AND ($3 IS NULL OR d.class = $3)
            AND ($4 IS NULL OR d.response = $4) AND ($5 IS NULL OR d.agent = $5)
            AND ($6 IS NULL OR d.session_id = $6) AND ($7 IS NULL OR d.requires = $7)"
    };
}

/// SQL texts of one access path: page, count, and next rows of an export.
#[derive(Clone, Copy)]
struct AccessPath {
    page: Sql,
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "pages over HTTP"))]
    numbers: Sql,
    count: Sql,
    after: Sql,
}

/// Finds decisions by an index of `decisions`; matches the text, if any, in `searched`.
macro_rules! access_path {
    ($drive:literal) => {
        AccessPath {
            page: Sql::each(access_path!(@page $drive, "instr"), access_path!(@page $drive, "strpos")),
            numbers: Sql::each(access_path!(@numbers $drive, "instr"), access_path!(@numbers $drive, "strpos")),
            count: Sql::each(access_path!(@count $drive, "instr"), access_path!(@count $drive, "strpos")),
            after: Sql::each(access_path!(@after $drive, "instr"), access_path!(@after $drive, "strpos")),
        }
    };
    (@where $drive:literal, $find:literal) => {
        concat!(
            $drive, rest!(), " AND ($8 IS NULL OR EXISTS (SELECT 1 FROM searched s
                WHERE s.at = d.at AND s.id = d.id AND ", $find, "(s.folded, $8) > 0))"
        )
    };
    (@page $drive:literal, $find:literal) => {
        concat!(
            "SELECT ", columns!(), " FROM decisions d WHERE ", access_path!(@where $drive, $find),
            " ORDER BY d.at DESC, d.id DESC LIMIT $9 OFFSET $10"
        )
    };
    (@numbers $drive:literal, $find:literal) => {
        concat!(
            "SELECT d.id FROM decisions d WHERE ", access_path!(@where $drive, $find),
            " ORDER BY d.at DESC, d.id DESC LIMIT $9 OFFSET $10"
        )
    };
    (@count $drive:literal, $find:literal) => {
        concat!("SELECT count(*) FROM decisions d WHERE ", access_path!(@where $drive, $find))
    };
    (@after $drive:literal, $find:literal) => {
        concat!(
            "SELECT ", columns!(), " FROM decisions d WHERE (d.at, d.id) > ($9, $10) AND ",
            access_path!(@where $drive, $find), " ORDER BY d.at, d.id LIMIT $11"
        )
    };
}

const BY_TIME: AccessPath = access_path!("");
const BY_CLASS: AccessPath = access_path!("d.class = $3 AND ");
const BY_RESPONSE: AccessPath = access_path!("d.response = $4 AND ");
const BY_BOTH: AccessPath = access_path!("d.class = $3 AND d.response = $4 AND ");
const BY_AGENT: AccessPath = access_path!("d.agent = $5 AND ");
const BY_SESSION: AccessPath = access_path!("d.session_id = $6 AND ");

impl FilterArgs {
    fn access_path(&self) -> AccessPath {
        match (&self.session, self.class, self.response, &self.agent) {
            (Some(_), ..) => BY_SESSION,
            (None, Some(_), Some(_), _) => BY_BOTH,
            (None, None, Some(_), _) => BY_RESPONSE,
            (None, Some(_), None, _) => BY_CLASS,
            (None, None, None, Some(_)) => BY_AGENT,
            (None, None, None, None) => BY_TIME,
        }
    }

    /// SQL parameters `$1` to `$8`.
    fn args(&self) -> [Arg<'_>; 8] {
        [
            self.after.unwrap_or(i64::MIN).into(),
            self.before.unwrap_or(i64::MAX).into(),
            self.class.into(),
            self.response.into(),
            (&self.agent).into(),
            (&self.session).into(),
            self.requires.into(),
            (&self.text).into(),
        ]
    }

    async fn page(&self, tx: &mut Tx, page: Page) -> Result<Vec<AuditRecord>, AuditError> {
        let bounds = [page.limit, page.offset]
            .map(|number| Arg::from(i64::try_from(number).unwrap_or(i64::MAX)));
        tx.all(
            self.access_path().page,
            &[&self.args()[..], &bounds].concat(),
        )
        .await?
        .iter()
        .map(|row| DecisionRow::read(row, 0)?.record())
        .collect()
    }

    async fn total(&self, tx: &mut Tx) -> Result<u64, AuditError> {
        let counted = match (&self.text, &self.session) {
            (None, None) => self.count_by_tallies(tx).await?,
            _ => tx
                .one(self.access_path().count, &self.args())
                .await?
                .int(0)?,
        };
        Ok(counted.max(0).unsigned_abs())
    }

    /// Counts by the running counts, and by the decisions themselves at the edges of the period.
    async fn count_by_tallies(&self, tx: &mut Tx) -> Result<i64, AuditError> {
        let pieces = PeriodParts::of(self.after, self.before);
        let mut total = 0;
        for (unit, first, last) in pieces.whole {
            let row = tx
                .one(
                    "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM tallies
                     WHERE unit = $1 AND start >= $2 AND start <= $3
                        AND ($4 IS NULL OR class = $4) AND ($5 IS NULL OR response = $5)
                        AND ($6 IS NULL OR agent = $6) AND ($7 IS NULL OR requires = $7)",
                    &[
                        unit.into(),
                        first.into(),
                        last.into(),
                        self.class.into(),
                        self.response.into(),
                        (&self.agent).into(),
                        self.requires.into(),
                    ],
                )
                .await?;
            total += row.int(0)?;
        }
        for (from, to) in pieces.edges {
            let edge = Self {
                after: Some(from.saturating_sub(1)),
                before: Some(to),
                ..self.clone()
            };
            total += tx
                .one(self.access_path().count, &edge.args())
                .await?
                .int(0)?;
        }
        Ok(total)
    }

    /// Returns the next rows of an export, oldest first.
    pub(super) async fn rows_after(
        &self,
        backend: &Backend,
        last: (i64, i64),
        limit: i64,
    ) -> Result<Vec<DecisionRow>, AuditError> {
        let mut tx = backend.read().await?;
        let bounds = [Arg::from(last.0), last.1.into(), limit.into()];
        tx.all(
            self.access_path().after,
            &[&self.args()[..], &bounds].concat(),
        )
        .await?
        .iter()
        .map(|row| DecisionRow::read(row, 0))
        .collect()
    }
}

pub(super) async fn list(
    backend: &Backend,
    filter: &Filter,
    page: Page,
) -> Result<Listing, AuditError> {
    let bound = FilterArgs::from(filter);
    // A session has few decisions, so filter by session first.
    if let (Some(text), None) = (&bound.text, &bound.session) {
        return search::list(backend, &bound, text, page, Partition::DEFAULT).await;
    }
    let mut tx = backend.read().await?;
    let total = bound.total(&mut tx).await?;
    // Do not search past the last match.
    let limit = page.limit.min(total.saturating_sub(page.offset));
    let records = match limit {
        0 => Vec::new(),
        limit => bound.page(&mut tx, Page { limit, ..page }).await?,
    };
    Ok(Listing { records, total })
}

/// Like [`list`], but returns only the ids.
#[cfg(feature = "http")]
pub(super) async fn numbers(
    backend: &Backend,
    filter: &Filter,
    page: Page,
) -> Result<(Vec<i64>, u64), AuditError> {
    let bound = FilterArgs::from(filter);
    if let (Some(text), None) = (&bound.text, &bound.session) {
        return search::numbers_now(backend, &bound, text, page).await;
    }
    let mut tx = backend.read().await?;
    let total = bound.total(&mut tx).await?;
    let limit = page.limit.min(total.saturating_sub(page.offset));
    if limit == 0 {
        return Ok((Vec::new(), total));
    }
    let bounds =
        [limit, page.offset].map(|number| Arg::from(i64::try_from(number).unwrap_or(i64::MAX)));
    let args = [&bound.args()[..], &bounds].concat();
    let rows = tx.all(bound.access_path().numbers, &args).await?;
    let numbers = rows.iter().map(|row| row.int(0));
    Ok((numbers.collect::<Result<_, _>>()?, total))
}

/// Returns the open questions, oldest first.
pub(super) async fn pending(backend: &Backend, now: i64) -> Result<Vec<AuditRecord>, AuditError> {
    let mut tx = backend.read().await?;
    tx.all(
        concat!(
            "SELECT ",
            columns!(),
            " FROM decisions d WHERE d.response IS NULL AND d.deadline IS NOT NULL
                AND d.deadline > $1 AND d.at <= $2 AND d.requires = 1 ORDER BY d.at, d.id"
        ),
        &[now.into(), now.saturating_add(TOLERANCE_US).into()],
    )
    .await?
    .iter()
    .map(|row| DecisionRow::read(row, 0)?.record())
    .collect()
}

/// Number of decisions per read.
#[cfg(feature = "http")]
const DECISIONS_PER_READ: usize = 16;

/// Returns the decisions with these ids that exist.
#[cfg(feature = "http")]
pub(super) async fn read_by_ids(
    backend: &Backend,
    ids: &[i64],
) -> Result<Vec<AuditRecord>, AuditError> {
    let mut records = Vec::with_capacity(ids.len());
    let mut tx = backend.read().await?;
    for some in ids.chunks(DECISIONS_PER_READ) {
        // One statement for any number of ids, so that it is prepared only once.
        let args: [Arg<'_>; DECISIONS_PER_READ] =
            std::array::from_fn(|at| some[at.min(some.len() - 1)].into());
        let rows = tx
            .all(
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM decisions d WHERE d.id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
                        $11, $12, $13, $14, $15, $16)"
                ),
                &args,
            )
            .await?;
        for row in &rows {
            records.push(DecisionRow::read(row, 0)?.record()?);
        }
    }
    Ok(records)
}
