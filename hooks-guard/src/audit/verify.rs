//! Whether the trail is whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::backend::{Backend, Row, Tx};
use super::chain::{self, Gap, Kind};
use super::clean::{self, Cleaned, PastCleanup};
use super::error::AuditError;
use super::record::{Stored, UserResponse, columns, fold, response_code};
use super::remember::{StoredRemembered, remembered_columns};
use super::tally::{Counted, Deltas, Key, Tally};
use super::used;
use super::write::Head;

/// How many entries are read at a time.
const PAGE: i64 = 1000;

/// Where the chain ends: noted down elsewhere, it shows later whether everything up to then is
/// still as it was, even against somebody who rewrites the whole database (P-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// How many entries there have ever been.
    pub count: u64,
    /// The hash of the last one.
    #[serde(with = "hex")]
    pub hash: [u8; 32],
}

/// What [`verify`](super::AuditStore::verify) found (P-15).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// Where the chain ends.
    pub head: ChainHead,
    /// How many entries were checked.
    pub entries: u64,
    /// How many entries cleanups took away.
    pub removed: u64,
    /// How many decisions were checked.
    pub decisions: u64,
    /// The first thing that is not as it was written; none if the trail is whole.
    pub broken: Option<Broken>,
    /// All cleanups, the oldest first.
    pub cleanups: Vec<PastCleanup>,
}

impl Verification {
    /// Whether everything is as it was written.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.broken.is_none()
    }
}

/// Where the trail is not as it was written (P-15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// The number of the entry of the log, if it is about one.
    pub entry: Option<i64>,
    /// The number of the decision, if it is about one.
    pub decision: Option<i64>,
    /// What is wrong.
    pub problem: String,
}

impl Broken {
    fn at(entry: &Entry, problem: &str) -> Self {
        let about = matches!(
            entry.kind,
            Some(Kind::Decided | Kind::Answered | Kind::Executed | Kind::Used)
        );
        Self {
            entry: Some(entry.seq),
            decision: about.then_some(entry.subject),
            problem: problem.to_owned(),
        }
    }

    fn whole(problem: impl Into<String>) -> Self {
        Self {
            entry: None,
            decision: None,
            problem: problem.into(),
        }
    }
}

struct Entry {
    seq: i64,
    kind: Option<Kind>,
    subject: i64,
    hash: [u8; 32],
}

/// What the walk has seen.
#[derive(Default)]
struct Walk {
    seq: i64,
    hash: [u8; 32],
    entries: i64,
    removed: i64,
    gaps_used: usize,
    kinds: [i64; 8],
    answered: i64,
    executed: i64,
    counted: Deltas,
    cleanups: Vec<PastCleanup>,
    gaps_hash: Option<[u8; 32]>,
}

pub(super) async fn verify(backend: &Backend) -> Result<Verification, AuditError> {
    // One transaction: what is written meanwhile is not seen, and nothing is seen by halves.
    let mut tx = backend.read().await?;
    let head = Head::read(&mut tx).await?;
    let gaps = clean::gaps(&mut tx).await?;
    let mut walk = Walk::default();
    let broken = match walk.run(&mut tx, &gaps).await? {
        Some(broken) => Some(broken),
        None => walk.check(&mut tx, &head, &gaps).await?,
    };
    Ok(Verification {
        head: ChainHead {
            count: head.seq.max(0).unsigned_abs(),
            hash: head.hash,
        },
        entries: walk.entries.unsigned_abs(),
        removed: walk.removed.max(0).unsigned_abs(),
        decisions: walk.kinds[Kind::Decided as usize].unsigned_abs(),
        broken,
        cleanups: walk.cleanups,
    })
}

pub(super) async fn head(backend: &Backend) -> Result<ChainHead, AuditError> {
    let head = Head::read(&mut backend.read().await?).await?;
    Ok(ChainHead {
        count: head.seq.max(0).unsigned_abs(),
        hash: head.hash,
    })
}

impl Walk {
    /// From one entry to the next, as far as they hold together.
    async fn run(&mut self, tx: &mut Tx, gaps: &[Gap]) -> Result<Option<Broken>, AuditError> {
        loop {
            let rows = tx
                .all(
                    concat!(
                        "SELECT l.seq, l.kind, l.subject, l.hash, s.folded, s.class, s.requires,
                            s.response, s.agent, ",
                        columns!(),
                        " FROM log l
                          LEFT JOIN decisions d ON d.id = l.subject AND l.kind <= 3
                          LEFT JOIN searched s ON s.at = d.at AND s.id = d.id AND l.kind = 1
                          WHERE l.seq > $1 ORDER BY l.seq LIMIT $2"
                    ),
                    &[self.seq.into(), PAGE.into()],
                )
                .await?;
            if rows.is_empty() {
                return Ok(None);
            }
            for row in rows {
                if let Some(broken) = self.step(tx, gaps, &row).await? {
                    return Ok(Some(broken));
                }
            }
        }
    }

    async fn step(
        &mut self,
        tx: &mut Tx,
        gaps: &[Gap],
        row: &Row,
    ) -> Result<Option<Broken>, AuditError> {
        let kind = row.int(1)?;
        let entry = Entry {
            seq: row.int(0)?,
            kind: Kind::of(kind),
            subject: row.int(2)?,
            hash: row.hash(3)?,
        };
        if entry.seq != self.seq + 1 {
            let gap = gaps
                .get(self.gaps_used)
                .filter(|gap| gap.first == self.seq + 1 && gap.last + 1 == entry.seq);
            let Some(gap) = gap else {
                return Ok(Some(Broken {
                    entry: Some(self.seq + 1),
                    decision: None,
                    problem: "the entry is missing, and no cleanup took it away".to_owned(),
                }));
            };
            self.gaps_used += 1;
            self.removed += gap.last - gap.first + 1;
            self.hash = gap.hash;
        }
        let content = match entry.kind {
            Some(kind @ (Kind::Decided | Kind::Answered | Kind::Executed)) => {
                if row.maybe_int(9)?.is_none() {
                    return Ok(Some(Broken::at(&entry, "its decision is missing")));
                }
                let stored = match Stored::read(row, 9) {
                    Ok(stored) => stored,
                    Err(AuditError::Damaged { column }) => {
                        let problem = format!("the `{column}` of its decision is none");
                        return Ok(Some(Broken::at(&entry, &problem)));
                    }
                    Err(error) => return Err(error),
                };
                match self.of_decision(kind, &entry, &stored, row)? {
                    Ok(content) => content,
                    Err(problem) => return Ok(Some(Broken::at(&entry, problem))),
                }
            }
            Some(kind @ (Kind::Remembered | Kind::Revoked)) => {
                match of_remembered(tx, kind, &entry).await? {
                    Some(content) => content,
                    None => {
                        let problem = "its remembered answer is missing, or another's";
                        return Ok(Some(Broken::at(&entry, problem)));
                    }
                }
            }
            Some(Kind::Cleaned) => match Cleaned::find(tx, entry.seq).await? {
                Some(cleaned) => {
                    let content = cleaned.content();
                    self.gaps_hash = Some(cleaned.gaps_hash);
                    self.cleanups.push(cleaned.shown()?);
                    content
                }
                None => return Ok(Some(Broken::at(&entry, "its cleanup is missing"))),
            },
            Some(Kind::Used) => match used::of_entry(tx, entry.seq, entry.subject).await? {
                Some(content) => content,
                None => return Ok(Some(Broken::at(&entry, "its use is missing, or another's"))),
            },
            None => return Ok(Some(Broken::at(&entry, "it is of no known kind"))),
        };
        if chain::link(&self.hash, content) != entry.hash {
            return Ok(Some(Broken::at(
                &entry,
                "what is stored is not what was written",
            )));
        }
        self.seq = entry.seq;
        self.hash = entry.hash;
        self.entries += 1;
        self.kinds[usize::try_from(kind).unwrap_or(0)] += 1;
        Ok(None)
    }

    /// The content of an entry about a decision, or what is wrong beside it.
    fn of_decision(
        &mut self,
        kind: Kind,
        entry: &Entry,
        stored: &Stored,
        row: &Row,
    ) -> Result<Result<[u8; 32], &'static str>, AuditError> {
        Ok(match kind {
            Kind::Decided => {
                if stored.decided_seq != entry.seq {
                    return Ok(Err("its decision belongs to another entry"));
                }
                let unanswered = match stored.denied {
                    true => {
                        stored.response == Some(response_code(UserResponse::Denied))
                            && stored.answered_at == Some(stored.at)
                            && stored.answered_by.as_deref()
                                == Some(stored.rule.as_deref().unwrap_or("rule"))
                            && stored.answer_note.is_none()
                    }
                    false => {
                        stored.response.is_none()
                            && stored.answered_at.is_none()
                            && stored.answered_by.is_none()
                            && stored.answer_note.is_none()
                    }
                };
                if stored.answered_seq.is_none() && !unanswered {
                    return Ok(Err("its decision has an answer that nobody gave"));
                }
                let unexecuted = stored.executed_at.is_none() && stored.exit_status.is_none();
                if stored.executed_seq.is_none() && !unexecuted {
                    return Ok(Err("its decision has an execution that nobody reported"));
                }
                let searched = row.maybe_text(4)? == Some(fold(&stored.command))
                    && row.maybe_int(5)? == Some(stored.class)
                    && row.maybe_int(6)? == Some(i64::from(stored.requires))
                    && row.maybe_int(7)? == stored.response
                    && row.maybe_text(8)? == stored.agent;
                if !searched {
                    return Ok(Err("a search for its decision finds something else"));
                }
                self.answered += i64::from(stored.answered_seq.is_some());
                self.executed += i64::from(stored.executed_seq.is_some());
                self.counted.add(&Counted::from(stored), 1);
                Ok(chain::decided(stored))
            }
            Kind::Answered if stored.answered_seq == Some(entry.seq) => Ok(chain::answered(stored)),
            Kind::Executed if stored.executed_seq == Some(entry.seq) => Ok(chain::executed(stored)),
            _ => Err("its decision does not know of it"),
        })
    }

    /// What is left when all entries hold together: whether there is anything beside them.
    async fn check(
        &self,
        tx: &mut Tx,
        head: &Head,
        gaps: &[Gap],
    ) -> Result<Option<Broken>, AuditError> {
        if (self.seq, self.hash) != (head.seq, head.hash) {
            return Ok(Some(Broken {
                entry: Some(self.seq + 1),
                decision: None,
                problem: format!("the log ends before its end, which is entry {}", head.seq),
            }));
        }
        let gaps_hash = self.gaps_hash.unwrap_or_else(|| chain::gaps_hash(&[]));
        if self.gaps_used != gaps.len() || chain::gaps_hash(gaps) != gaps_hash {
            let problem = "entries are missing that no cleanup took away";
            return Ok(Some(Broken::whole(problem)));
        }
        let of = |kind: Kind| self.kinds[kind as usize];
        if self.answered != of(Kind::Answered) || self.executed != of(Kind::Executed) {
            let problem = "a decision has an answer or an execution without an entry";
            return Ok(Some(Broken::whole(problem)));
        }
        let row = tx
            .one(
                "SELECT (SELECT count(*) FROM decisions), (SELECT count(*) FROM searched),
                    (SELECT count(*) FROM remembered), (SELECT count(*) FROM remembered
                        WHERE revoked_seq IS NOT NULL OR revoked_at IS NOT NULL),
                    (SELECT count(*) FROM cleanups),
                    (SELECT coalesce(max(id), 0) FROM decisions),
                    (SELECT count(*) FROM used)",
                &[],
            )
            .await?;
        for (at, kind, what) in [
            (0, Kind::Decided, "decision"),
            (1, Kind::Decided, "searched command"),
            (2, Kind::Remembered, "remembered answer"),
            (3, Kind::Revoked, "revoked answer"),
            (4, Kind::Cleaned, "cleanup"),
            (6, Kind::Used, "use of an approval"),
        ] {
            if row.int(at)? != of(kind) {
                let problem = format!("there is a {what} without an entry");
                return Ok(Some(Broken::whole(problem)));
            }
        }
        if row.int(5)? > head.decisions {
            return Ok(Some(Broken::whole("numbers were given that will be again")));
        }
        self.check_counts(tx).await
    }

    async fn check_counts(&self, tx: &mut Tx) -> Result<Option<Broken>, AuditError> {
        let rows = tx
            .all(
                "SELECT unit, start, class, requires, response, agent, n, timed_out, confidence,
                    high, low FROM tallies WHERE n <> 0 OR timed_out <> 0 OR confidence <> 0
                    OR high <> 0 OR low <> 0",
                &[],
            )
            .await?;
        let mut tallies: BTreeMap<Key, Tally> = BTreeMap::new();
        for row in rows {
            let key = Key {
                unit: row.int(0)?,
                start: row.int(1)?,
                class: row.int(2)?,
                requires: row.flag(3)?,
                response: row.int(4)?,
                agent: row.text(5)?,
            };
            let tally = Tally {
                n: row.int(6)?,
                timed_out: row.int(7)?,
                confidence: row.int(8)?,
                high: row.int(9)?,
                low: row.int(10)?,
            };
            tallies.insert(key, tally);
        }
        let rows = tx
            .all("SELECT unit, start, ms, n FROM times WHERE n <> 0", &[])
            .await?;
        let mut times = BTreeMap::new();
        for row in rows {
            times.insert((row.int(0)?, row.int(1)?, row.int(2)?), row.int(3)?);
        }
        let same = tallies == self.counted.tallies && times == self.counted.times;
        Ok((!same).then(|| Broken::whole("the running counts are not those of the decisions")))
    }
}

async fn of_remembered(
    tx: &mut Tx,
    kind: Kind,
    entry: &Entry,
) -> Result<Option<[u8; 32]>, AuditError> {
    let found = tx
        .optional(
            concat!(
                "SELECT ",
                remembered_columns!(),
                " FROM remembered r WHERE r.id = $1"
            ),
            &[entry.subject.into()],
        )
        .await?;
    let Some(row) = found else { return Ok(None) };
    let row = StoredRemembered::read(&row, 0)?;
    Ok(match kind {
        Kind::Remembered if row.created_seq == entry.seq => Some(row.created()),
        Kind::Revoked if row.revoked_seq == Some(entry.seq) => Some(row.revoked()),
        _ => None,
    })
}

/// A hash as people write it.
mod hex {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        let text: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(D::Error::custom("a hash has 64 hexadecimal digits"));
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(D::Error::custom)?;
        }
        Ok(hash)
    }
}
