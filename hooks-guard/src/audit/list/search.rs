//! Text search. Takes a filter with a text; returns the newest decisions whose commands contain the
//! text, and their total number. The search uses no index: it reads every decision that matches the
//! rest of the filter once, newest first, in pieces that several connections share.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::try_join_all;

use super::filter::{FilterArgs, Listing, Page};
use crate::audit::backend::Backend;
use crate::audit::database::ReadPermit;
use crate::audit::decide;
use crate::audit::error::AuditError;
use crate::audit::head::Head;
use crate::audit::tx::{Arg, Sql, Tx};

/// Partition of the commands into pieces.
#[derive(Clone, Copy)]
pub(super) struct Partition {
    /// Number of pieces.
    pub(super) pieces: i64,
    /// Number of decisions up to which there is only one piece.
    pub(super) few: i64,
}

impl Partition {
    /// More pieces than connections, because pieces take different times.
    pub(super) const DEFAULT: Self = Self {
        pieces: 32,
        few: 20_000,
    };
}

/// Number of decisions per piece whose positions are kept. A page beyond them needs a second
/// search.
const MAX_KEYS: u64 = 1000;

/// Maximum number of attempts to give all connections equal snapshots while other processes write.
const MAX_ATTEMPTS: usize = 20;

/// Number of characters of the text that `LIKE` compares. `LIKE` is faster than `instr` and
/// `strpos`, but limits the length of its pattern.
const MAX_PATTERN_CHARS: usize = 1000;

/// Statements on a piece: `$1` and `$2` are its bounds, `$3` the pattern, `$4` the text if it is
/// longer than the pattern. The variant without other filters does not compare them.
macro_rules! search_sql {
    ($find:literal) => {
        [search_sql!(@ $find, "", "$5", "$6"), search_sql!(@ $find,
            " AND ($5 IS NULL OR s.class = $5) AND ($6 IS NULL OR s.response = $6)
              AND ($7 IS NULL OR s.requires = $7) AND ($8 IS NULL OR s.agent = $8)", "$9", "$10")]
    };
    (@ $find:literal, $others:literal, $first:literal, $second:literal) => {
        SearchSql {
            keys: concat!("SELECT s.at, s.id ", search_sql!(@where $find, $others),
                " ORDER BY s.at DESC, s.id DESC LIMIT ", $first, " OFFSET ", $second),
            beyond_pattern: concat!("SELECT count(*) ", search_sql!(@where $find, $others),
                " AND (s.at, s.id) < (", $first, ", ", $second, ")"),
        }
    };
    (@where $find:literal, $others:literal) => {
        concat!("FROM searched s WHERE s.at > $1 AND s.at < $2", $others,
            " AND s.folded LIKE $3 ESCAPE '\\' AND ($4 IS NULL OR ", $find, "(s.folded, $4) > 0)")
    };
}

struct SearchSql {
    keys: &'static str,
    beyond_pattern: &'static str,
}

const SQLITE: [SearchSql; 2] = search_sql!("instr");
const POSTGRES: [SearchSql; 2] = search_sql!("strpos");

/// Search by a filter that has a text but no session.
struct Search<'a> {
    bound: &'a FilterArgs,
    pattern: String,
    whole: Option<&'a str>,
    /// If `true`, there are filters other than text and time.
    others: bool,
}

/// The decisions between two times, both exclusive.
#[derive(Clone, Copy, Debug)]
struct TimeRange {
    after: i64,
    before: i64,
}

/// Matches in a piece.
struct PieceMatches {
    piece: TimeRange,
    /// Time and id of the newest matches.
    keys: Vec<(i64, i64)>,
    /// Number of matches.
    total: u64,
}

pub(super) async fn list(
    backend: &Backend,
    bound: &FilterArgs,
    text: &str,
    page: Page,
    cut: Partition,
) -> Result<Listing, AuditError> {
    let mut reads = SnapshotReads::open(backend).await?;
    let (numbers, total) = numbers(&mut reads, bound, text, page, cut).await?;
    let mut records = Vec::with_capacity(numbers.len());
    if let Some(tx) = reads.transactions.first_mut() {
        for id in numbers {
            if let Some(row) = decide::find(tx, id).await? {
                records.push(row.record()?);
            }
        }
    }
    Ok(Listing { records, total })
}

/// Returns the ids of a page of decisions, and the total number of matches.
#[cfg(feature = "http")]
pub(super) async fn numbers_now(
    backend: &Backend,
    bound: &FilterArgs,
    text: &str,
    page: Page,
) -> Result<(Vec<i64>, u64), AuditError> {
    let mut seen = SnapshotReads::open(backend).await?;
    numbers(&mut seen, bound, text, page, Partition::DEFAULT).await
}

async fn numbers(
    seen: &mut SnapshotReads,
    bound: &FilterArgs,
    text: &str,
    page: Page,
    cut: Partition,
) -> Result<(Vec<i64>, u64), AuditError> {
    let search = Search::new(bound, text);
    let ranges = search.ranges(&mut seen.transactions, cut).await?;
    let most = page.offset.saturating_add(page.limit).clamp(1, MAX_KEYS);
    let next = AtomicUsize::new(0);
    let readers = seen.transactions.iter_mut().map(async |tx| {
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = ranges.get(at) else {
                return Ok::<_, AuditError>(found);
            };
            found.push((at, search.find(tx, *piece, most).await?));
        }
    });
    let mut found: Vec<_> = try_join_all(readers).await?.into_iter().flatten().collect();
    found.sort_unstable_by_key(|(at, _)| *at);
    let found: Vec<_> = found.into_iter().map(|(_, found)| found).collect();
    let total = found.iter().map(|found| found.total).sum();
    let numbers = match seen.transactions.first_mut() {
        Some(tx) => search.page(tx, &found, page).await?,
        None => Vec::new(),
    };
    Ok((numbers, total))
}

impl<'a> Search<'a> {
    fn new(bound: &'a FilterArgs, text: &'a str) -> Self {
        let mut pattern = String::from("%");
        for character in text.chars().take(MAX_PATTERN_CHARS) {
            if matches!(character, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern.push('%');
        let others = bound.class.is_some()
            || bound.response.is_some()
            || bound.requires.is_some()
            || bound.agent.is_some();
        Self {
            bound,
            pattern,
            whole: text
                .chars()
                .nth(MAX_PATTERN_CHARS)
                .is_some()
                .then_some(text),
            others,
        }
    }

    /// Returns the pieces, newest first.
    async fn ranges(
        &self,
        readers: &mut [Tx],
        cut: Partition,
    ) -> Result<Vec<TimeRange>, AuditError> {
        let whole = TimeRange {
            after: self.bound.after.unwrap_or(i64::MIN),
            before: self.bound.before.unwrap_or(i64::MAX),
        };
        let [tx, _, ..] = readers else {
            return Ok(vec![whole]);
        };
        let row = tx
            .one(
                "SELECT (SELECT coalesce(min(id), 0) FROM decisions),
                    (SELECT coalesce(max(id), 0) FROM decisions)",
                &[],
            )
            .await?;
        let (first, last) = (row.int(0)?, row.int(1)?);
        if last - first < cut.few {
            return Ok(vec![whole]);
        }
        // Ids mostly follow the time, so the pieces have about equal sizes.
        let mut starts = Vec::new();
        for piece in 1..cut.pieces {
            let id = first + (last - first) / cut.pieces * piece;
            let found = tx
                .optional(
                    "SELECT at FROM decisions WHERE id >= $1 ORDER BY id LIMIT 1",
                    &[id.into()],
                )
                .await?;
            if let Some(row) = found {
                starts.push(row.int(0)?);
            }
        }
        starts.retain(|start| *start > whole.after && *start < whole.before);
        starts.sort_unstable();
        starts.dedup();
        let mut pieces = Vec::with_capacity(starts.len() + 1);
        let mut before = whole.before;
        for start in starts.into_iter().rev() {
            pieces.push(TimeRange {
                after: start - 1,
                before,
            });
            before = start;
        }
        pieces.push(TimeRange { before, ..whole });
        Ok(pieces)
    }

    fn sql(&self, part: fn(&SearchSql) -> &'static str) -> Sql {
        let which = usize::from(self.others);
        Sql::each(part(&SQLITE[which]), part(&POSTGRES[which]))
    }

    fn args<'b>(&'b self, piece: TimeRange, last: [i64; 2]) -> Vec<Arg<'b>> {
        let bound = self.bound;
        let mut args = vec![
            piece.after.into(),
            piece.before.into(),
            (&self.pattern).into(),
            Arg::Text(self.whole),
        ];
        if self.others {
            args.extend([
                Arg::from(bound.class),
                bound.response.into(),
                bound.requires.into(),
                (&bound.agent).into(),
            ]);
        }
        args.extend(last.map(Arg::from));
        args
    }

    async fn keys(
        &self,
        tx: &mut Tx,
        piece: TimeRange,
        page: Page,
    ) -> Result<Vec<(i64, i64)>, AuditError> {
        let page =
            [page.limit, page.offset].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        tx.all(self.sql(|texts| texts.keys), &self.args(piece, page))
            .await?
            .iter()
            .map(|row| Ok((row.int(0)?, row.int(1)?)))
            .collect()
    }

    async fn find(
        &self,
        tx: &mut Tx,
        piece: TimeRange,
        most: u64,
    ) -> Result<PieceMatches, AuditError> {
        let page = Page {
            limit: most,
            offset: 0,
        };
        let keys = self.keys(tx, piece, page).await?;
        let mut total = keys.len() as u64;
        if let Some(&(at, id)) = keys.last().filter(|_| total == most) {
            // The part that is still to be read ends here.
            let piece = TimeRange {
                before: at.saturating_add(1).min(piece.before),
                ..piece
            };
            let sql = self.sql(|texts| texts.beyond_pattern);
            let further_matches = tx.one(sql, &self.args(piece, [at, id])).await?.int(0)?;
            total += further_matches.max(0).unsigned_abs();
        }
        Ok(PieceMatches { piece, keys, total })
    }

    async fn page(
        &self,
        tx: &mut Tx,
        found: &[PieceMatches],
        page: Page,
    ) -> Result<Vec<i64>, AuditError> {
        let (mut skip, mut left) = (page.offset, page.limit);
        let mut numbers = Vec::new();
        for found in found {
            if left == 0 {
                break;
            }
            let here = left.min(found.total.saturating_sub(skip));
            if here == 0 {
                skip -= found.total;
                continue;
            }
            let deep = skip.saturating_add(here) > found.keys.len() as u64;
            let keys = match deep {
                true => {
                    let page = Page {
                        limit: here,
                        offset: skip,
                    };
                    self.keys(tx, found.piece, page).await?
                }
                // Both are smaller than the number of keys.
                false => found.keys[skip as usize..][..here as usize].to_vec(),
            };
            numbers.extend(keys.into_iter().map(|(_, id)| id));
            (skip, left) = (0, left - here);
        }
        Ok(numbers)
    }
}

/// Transactions on equal snapshots.
struct SnapshotReads {
    transactions: Vec<Tx>,
    _permit: Option<ReadPermit>,
}

impl SnapshotReads {
    async fn open(backend: &Backend) -> Result<Self, AuditError> {
        if let Some(beside) = backend.read_permit() {
            for _ in 0..MAX_ATTEMPTS {
                let (mut transactions, mut ends) = (Vec::new(), Vec::new());
                for _ in 0..=beside.more {
                    let mut tx = backend.read().await?;
                    // The first read fixes the snapshot.
                    ends.push(Head::read(&mut tx).await?.seq);
                    transactions.push(tx);
                }
                if ends.iter().all(|end| *end == ends[0]) {
                    return Ok(Self {
                        transactions,
                        _permit: Some(beside),
                    });
                }
            }
        }
        Ok(Self {
            transactions: vec![backend.read().await?],
            _permit: None,
        })
    }
}
