//! Finds a text. No index knows which commands have it in them: all that the rest of the filter
//! leaves are read, once, the newest first, in pieces that several connections share.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::try_join_all;

use super::{Bound, Listing, Page};
use crate::audit::backend::{Arg, Backend, Beside, Sql, Tx};
use crate::audit::decide;
use crate::audit::error::AuditError;
use crate::audit::write::Head;

/// How the commands are cut into pieces.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Into how many.
    pieces: i64,
    /// So few are one.
    few: i64,
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
    _beside: Option<Beside>,
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

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use std::time::Duration;

    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::audit::{AuditRecord, AuditStore, Filter, NewDecision};
    use crate::classify::{Crud, Decision, Method};
    use crate::request::{PermissionRequest, Ruling};

    const MANY: i64 = 300;

    /// Their times do not follow their numbers, and some have the same.
    fn decision(n: i64) -> NewDecision {
        let command = match n % 7 {
            0 => format!("git Status {n}"),
            1 => format!("echo 100%_{n} {}", "long ".repeat(300)),
            _ => format!("ls {n}"),
        };
        let mut request = PermissionRequest::new(command);
        request.agent = Some(["codex", "gemini"][usize::from(n % 3 == 0)].to_owned());
        NewDecision {
            request,
            ruling: Ruling {
                decision: Decision::AutoAllowed,
                classification: [Crud::Read, Crud::Update][usize::from(n % 5 == 0)],
                reasoning: String::new(),
                confidence: 1.0,
                explanation: String::new(),
                classification_method: Method::PatternMatch,
                timestamp: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(n * 37 % 101 + n / 3),
                id: None,
                secret: None,
                approved: false,
                left_to_agent: false,
                hidden_code: false,
                denied: false,
                rule: None,
            },
            response_time: Duration::ZERO,
            parts: Vec::new(),
            deadline: None,
            answer: None,
            error: None,
            secret_hash: None,
            command_hash: [0; 32],
            scope: None,
        }
    }

    fn found(filter: &Filter, record: &AuditRecord) -> bool {
        let text = filter.command.as_deref().unwrap_or("").to_lowercase();
        record.command.to_lowercase().contains(&text)
            && filter
                .classification
                .is_none_or(|class| class == record.classification)
            && (filter.agent.is_none() || filter.agent == record.agent)
            && filter.since.is_none_or(|since| record.timestamp > since)
            && filter.until.is_none_or(|until| record.timestamp < until)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn p_24_pieces_have_together_what_the_whole_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db").display().to_string();
        let trail = AuditStore::open(&path).await.expect("a trail");
        for n in 0..MANY {
            trail.record(decision(n)).await.expect("recorded");
        }
        let backend = &trail.inner.backend;
        let everything = Page {
            limit: 10_000,
            offset: 0,
        };
        let all = trail.decisions(&Filter::default(), everything).await;
        let all = all.expect("found").records;
        assert_eq!(all.len() as i64, MANY);
        let second = |seconds| Some(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds));
        let long = format!("{}long", "long ".repeat(250));
        let filters = [
            "s",
            "GIT st",
            "%_",
            "100%_1",
            "nowhere",
            "_",
            &long,
            "long  long",
        ]
        .into_iter()
        .flat_map(|text| {
            let plain = Filter {
                command: Some(text.to_owned()),
                ..Filter::default()
            };
            let class = Filter {
                classification: Some(Crud::Update),
                ..plain.clone()
            };
            let agent = Filter {
                agent: Some("gemini".to_owned()),
                ..plain.clone()
            };
            let period = Filter {
                since: second(40),
                until: second(90),
                ..plain.clone()
            };
            [plain, class, agent, period]
        });
        for filter in filters {
            let expected: Vec<_> = all.iter().filter(|record| found(&filter, record)).collect();
            let bound = Bound::from(&filter);
            for (pieces, few) in [(1, 0), (2, 0), (7, 0), (64, 0), (7, 10_000)] {
                for (limit, offset) in [(50, 0), (3, 5), (1, 43), (7, 290), (0, 0), (1000, 0)] {
                    let page = Page { limit, offset };
                    let cut = Cut { pieces, few };
                    let text = bound.text.as_deref().expect("a text");
                    let listing = list(backend, &bound, text, page, cut).await.expect("found");
                    assert_eq!(listing.total, expected.len() as u64, "{filter:?}");
                    let wanted = expected.iter().skip(offset as usize).take(limit as usize);
                    let wanted: Vec<_> = wanted.map(|record| record.id).collect();
                    let given: Vec<_> = listing.records.iter().map(|record| record.id).collect();
                    assert_eq!(given, wanted, "{filter:?}, {pieces} pieces, {page:?}");
                }
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn all_who_read_see_the_same_while_others_write() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db").display().to_string();
        let trail = AuditStore::open(&path).await.expect("a trail");
        let writing = tokio::spawn({
            let trail = trail.clone();
            async move {
                for n in 0..MANY {
                    trail.record(decision(n)).await.expect("recorded");
                }
            }
        });
        let backend = &trail.inner.backend;
        let filter = Filter {
            command: Some("s".to_owned()),
            ..Filter::default()
        };
        let bound = Bound::from(&filter);
        let (cut, page) = (
            Cut { pieces: 9, few: 0 },
            Page {
                limit: 1000,
                offset: 0,
            },
        );
        while !writing.is_finished() {
            let listing = list(backend, &bound, "s", page, cut).await.expect("found");
            let mut ids: Vec<_> = listing.records.iter().map(|record| record.id).collect();
            ids.sort_unstable();
            let last = ids.last().copied().unwrap_or(0);
            let there = (0..last).filter(|n| decision(*n).request.command.contains('s'));
            assert_eq!(ids.len(), there.count(), "none before the last is missing");
            assert_eq!(listing.total, ids.len() as u64);
        }
        writing.await.expect("written");
    }
}
