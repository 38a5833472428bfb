//! Finds a text. In: a filter with a text. Out: the newest decisions whose commands contain it, and how
//! many there are. No index is used: all that the rest of the filter leaves is read, once, the newest
//! first, in pieces that several connections share.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::try_join_all;

use super::filter::{Bound, Listing, Page};
use crate::audit::backend::Backend;
use crate::audit::database::ReadPermit;
use crate::audit::decide;
use crate::audit::error::AuditError;
use crate::audit::head::Head;
use crate::audit::tx::{Arg, Sql, Tx};

/// How the commands are cut into pieces.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Into how many.
    pub(super) pieces: i64,
    /// So few are one.
    pub(super) few: i64,
}

impl Cut {
    /// More than there are connections: not all pieces take equally long.
    pub(super) const USUAL: Self = Self {
        pieces: 32,
        few: 20_000,
    };
}

/// Of how many decisions a piece remembers where they are. Pages that lie deeper are looked for a
/// second time.
const KEYS: u64 = 1000;

/// How often to try to have all connections see the same, while others write.
const TRIES: usize = 20;

/// How many characters of the text are looked for by `LIKE`, which is faster than what can look
/// for all of it, and does not take any length.
const PATTERN: usize = 1000;

/// What can be asked of a piece: `$1` and `$2` are its bounds, `$3` the pattern, `$4` the text if
/// it is longer than that. Where there is no other filter, none is looked at.
macro_rules! texts {
    ($find:literal) => {
        [texts!(@ $find, "", "$5", "$6"), texts!(@ $find,
            " AND ($5 IS NULL OR s.class = $5) AND ($6 IS NULL OR s.response = $6)
              AND ($7 IS NULL OR s.requires = $7) AND ($8 IS NULL OR s.agent = $8)", "$9", "$10")]
    };
    (@ $find:literal, $others:literal, $first:literal, $second:literal) => {
        Texts {
            keys: concat!("SELECT s.at, s.id ", texts!(@where $find, $others),
                " ORDER BY s.at DESC, s.id DESC LIMIT ", $first, " OFFSET ", $second),
            rest: concat!("SELECT count(*) ", texts!(@where $find, $others),
                " AND (s.at, s.id) < (", $first, ", ", $second, ")"),
        }
    };
    (@where $find:literal, $others:literal) => {
        concat!("FROM searched s WHERE s.at > $1 AND s.at < $2", $others,
            " AND s.folded LIKE $3 ESCAPE '\\' AND ($4 IS NULL OR ", $find, "(s.folded, $4) > 0)")
    };
}

struct Texts {
    keys: &'static str,
    rest: &'static str,
}

const SQLITE: [Texts; 2] = texts!("instr");
const POSTGRES: [Texts; 2] = texts!("strpos");

/// A search for the text of a filter that has one, and names no session.
struct Search<'a> {
    bound: &'a Bound,
    pattern: String,
    whole: Option<&'a str>,
    /// Whether there are other filters than the time.
    others: bool,
}

/// The decisions between two times, both excluded.
#[derive(Clone, Copy, Debug)]
struct Piece {
    after: i64,
    before: i64,
}

/// What a piece has.
struct Found {
    piece: Piece,
    /// Time and number of the newest.
    keys: Vec<(i64, i64)>,
    /// How many there are.
    total: u64,
}

pub(super) async fn list(
    backend: &Backend,
    bound: &Bound,
    text: &str,
    page: Page,
    cut: Cut,
) -> Result<Listing, AuditError> {
    let mut seen = Seen::now(backend).await?;
    let (numbers, total) = numbers(&mut seen, bound, text, page, cut).await?;
    let mut records = Vec::with_capacity(numbers.len());
    if let Some(tx) = seen.transactions.first_mut() {
        for id in numbers {
            if let Some(row) = decide::find(tx, id).await? {
                records.push(row.record()?);
            }
        }
    }
    Ok(Listing { records, total })
}

/// The numbers of the decisions of a page, and how many there are altogether.
#[cfg(feature = "http")]
pub(super) async fn numbers_now(
    backend: &Backend,
    bound: &Bound,
    text: &str,
    page: Page,
) -> Result<(Vec<i64>, u64), AuditError> {
    let mut seen = Seen::now(backend).await?;
    numbers(&mut seen, bound, text, page, Cut::USUAL).await
}

async fn numbers(
    seen: &mut Seen,
    bound: &Bound,
    text: &str,
    page: Page,
    cut: Cut,
) -> Result<(Vec<i64>, u64), AuditError> {
    let search = Search::new(bound, text);
    let pieces = search.pieces(&mut seen.transactions, cut).await?;
    let most = page.offset.saturating_add(page.limit).clamp(1, KEYS);
    let next = AtomicUsize::new(0);
    let readers = seen.transactions.iter_mut().map(async |tx| {
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(at) else {
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
    fn new(bound: &'a Bound, text: &'a str) -> Self {
        let mut pattern = String::from("%");
        for character in text.chars().take(PATTERN) {
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
            whole: text.chars().nth(PATTERN).is_some().then_some(text),
            others,
        }
    }

    /// The newest first.
    async fn pieces(&self, readers: &mut [Tx], cut: Cut) -> Result<Vec<Piece>, AuditError> {
        let whole = Piece {
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
        // Numbers follow the time as far as anything does: so the pieces are about equal.
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
            pieces.push(Piece {
                after: start - 1,
                before,
            });
            before = start;
        }
        pieces.push(Piece { before, ..whole });
        Ok(pieces)
    }

    fn sql(&self, part: fn(&Texts) -> &'static str) -> Sql {
        let which = usize::from(self.others);
        Sql::each(part(&SQLITE[which]), part(&POSTGRES[which]))
    }

    fn args<'b>(&'b self, piece: Piece, last: [i64; 2]) -> Vec<Arg<'b>> {
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
        piece: Piece,
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

    async fn find(&self, tx: &mut Tx, piece: Piece, most: u64) -> Result<Found, AuditError> {
        let page = Page {
            limit: most,
            offset: 0,
        };
        let keys = self.keys(tx, piece, page).await?;
        let mut total = keys.len() as u64;
        if let Some(&(at, id)) = keys.last().filter(|_| total == most) {
            // What is still to be read ends there.
            let piece = Piece {
                before: at.saturating_add(1).min(piece.before),
                ..piece
            };
            let sql = self.sql(|texts| texts.rest);
            let rest = tx.one(sql, &self.args(piece, [at, id])).await?.int(0)?;
            total += rest.max(0).unsigned_abs();
        }
        Ok(Found { piece, keys, total })
    }

    async fn page(&self, tx: &mut Tx, found: &[Found], page: Page) -> Result<Vec<i64>, AuditError> {
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
                // Both are smaller than their number.
                false => found.keys[skip as usize..][..here as usize].to_vec(),
            };
            numbers.extend(keys.into_iter().map(|(_, id)| id));
            (skip, left) = (0, left - here);
        }
        Ok(numbers)
    }
}

/// Transactions that all see the same.
struct Seen {
    transactions: Vec<Tx>,
    _beside: Option<ReadPermit>,
}

impl Seen {
    async fn now(backend: &Backend) -> Result<Self, AuditError> {
        if let Some(beside) = backend.beside() {
            for _ in 0..TRIES {
                let (mut transactions, mut ends) = (Vec::new(), Vec::new());
                for _ in 0..=beside.more {
                    let mut tx = backend.read().await?;
                    // With this it sees what there is now.
                    ends.push(Head::read(&mut tx).await?.seq);
                    transactions.push(tx);
                }
                if ends.iter().all(|end| *end == ends[0]) {
                    return Ok(Self {
                        transactions,
                        _beside: Some(beside),
                    });
                }
            }
        }
        Ok(Self {
            transactions: vec![backend.read().await?],
            _beside: None,
        })
    }
}
