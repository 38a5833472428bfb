//! Walks the chain entry by entry. Takes a transaction and the first entry; returns the hashes and
//! counts of the entries, or the first place that was changed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::chain::{self, Gap, LogEntryKind};
use super::cleanups::{CleanupRow, PastCleanup};
use super::database::SnapshotReader;
use super::error::AuditError;
use super::head::Head;
use super::record::{DecisionRow, UserResponse, is_fold_case, response_code};
use super::remembered::{RememberedRow, remembered_columns};
use super::segments;
use super::tally::{HourCounts, Tally, TallyKey};
use super::tx::{Columns, SqlRow, Tx};

/// Number of entries per read.
pub(super) const ENTRIES_PER_READ: i64 = 1000;

/// End of the chain. Noted elsewhere, it allows a later check that everything up to this entry is
/// unchanged, even if an attacker rewrites the whole database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// Number of entries that were ever written.
    pub count: u64,
    /// Hash of the last entry.
    #[serde(with = "hash_in_json")]
    pub hash: [u8; 32],
}

/// `COUNT:HASH`, as printed by `audit head` and accepted by `audit verify --head`.
impl fmt::Display for ChainHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, hex::encode(self.hash))
    }
}

/// Error returned if a text is not a [`ChainHead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid head; give `COUNT:HASH` as printed by `hooks-guard audit head`, the number of entries and 64 hexadecimal digits"
)]
#[non_exhaustive]
pub struct InvalidHead;

impl FromStr for ChainHead {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        let text = text.trim();
        let (count, hash) = text
            .split_once(|char: char| char == ':' || char.is_ascii_whitespace())
            .ok_or(InvalidHead)?;
        let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        Ok(Self {
            count: Some(count)
                .filter(|_| is_number)
                .and_then(|count| count.parse().ok())
                .filter(|&count: &u64| i64::try_from(count).is_ok())
                .ok_or(InvalidHead)?,
            hash: hash_of(hash.trim()).ok_or(InvalidHead)?,
        })
    }
}

/// A noted head and its state in the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedHead {
    /// The head.
    pub head: ChainHead,
    /// State of the head in the chain.
    pub found: HeadState,
}

/// State of a noted head in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
#[non_exhaustive]
pub enum HeadState {
    /// The chain contains the head: all entries up to it are unchanged.
    Holds,
    /// The entry has another hash: an entry after `after` was changed.
    Differs {
        /// Number of the last earlier noted head that the chain contains; 0 if there is none.
        after: u64,
    },
    /// The chain ends before the head.
    Missing {
        /// Number of entries of the chain.
        count: u64,
    },
    /// A cleanup removed the entry, so it cannot be compared.
    Removed {
        /// First entry of the removed range.
        first: u64,
        /// Last entry of the removed range.
        last: u64,
    },
    /// The chain is broken before the entry.
    Unreachable,
}

/// Place at which the trail was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainBreak {
    /// Number of the log entry, if the problem concerns one.
    pub entry: Option<i64>,
    /// Id of the decision, if the problem concerns one.
    pub decision: Option<i64>,
    /// Description of the problem.
    pub problem: String,
}

impl ChainBreak {
    fn at(entry: &ChainEntry, problem: &str) -> Self {
        let about = matches!(
            entry.kind,
            Some(
                LogEntryKind::Decided
                    | LogEntryKind::Answered
                    | LogEntryKind::Executed
                    | LogEntryKind::Used
            )
        );
        Self {
            entry: Some(entry.seq),
            decision: about.then_some(entry.subject),
            problem: problem.to_owned(),
        }
    }

    pub(super) fn of_trail(problem: impl Into<String>) -> Self {
        Self {
            entry: None,
            decision: None,
            problem: problem.into(),
        }
    }
}

pub(super) struct ChainEntry {
    pub(super) seq: i64,
    pub(super) kind: Option<LogEntryKind>,
    pub(super) subject: i64,
    hash: [u8; 32],
}

impl ChainEntry {
    /// Returns the content of an entry about a remembered answer, from the row that
    /// [`SELECT_REMEMBERED`] selects.
    pub(super) fn remembered_content(
        &self,
        found: Option<&impl Columns>,
    ) -> Result<Result<[u8; 32], ChainBreak>, AuditError> {
        let row = found.map(|row| RememberedRow::read(row, 0)).transpose()?;
        let content = row.and_then(|row| match self.kind {
            Some(LogEntryKind::Remembered) => (row.created_seq == self.seq).then(|| row.created()),
            _ => (row.revoked_seq == Some(self.seq)).then(|| row.revoked()),
        });
        let problem = "its remembered answer is missing or belongs to another entry";
        Ok(content.ok_or_else(|| ChainBreak::at(self, problem)))
    }

    /// Returns the content of an entry about the use of an approval, if there is one.
    pub(super) fn use_content(&self, content: Option<[u8; 32]>) -> Result<[u8; 32], ChainBreak> {
        let problem = "its use is missing or belongs to another entry";
        content.ok_or_else(|| ChainBreak::at(self, problem))
    }
}

/// An entry with which a walk ends, and its hash. Entry 0 is the beginning of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainEnd {
    pub(super) seq: i64,
    pub(super) hash: [u8; 32],
}

/// Selects entries with their decisions and search data, as [`ChainWalk`] reads them.
macro_rules! select_entries {
    () => {
        concat!(
            "SELECT l.seq, l.kind, l.subject, l.hash, s.folded, s.class, s.requires,
                s.response, s.agent, ",
            $crate::audit::record::columns!(),
            " FROM log l
              LEFT JOIN decisions d ON d.id = l.subject AND l.kind <= 3
              LEFT JOIN searched s ON s.at = d.at AND s.id = d.id AND l.kind = 1"
        )
    };
}
pub(super) use select_entries;

/// State of the walk.
#[derive(Default)]
pub(super) struct ChainWalk {
    pub(super) seq: i64,
    pub(super) hash: [u8; 32],
    pub(super) entries: i64,
    pub(super) removed: i64,
    pub(super) gaps_used: usize,
    pub(super) kinds: [i64; 8],
    pub(super) answered: i64,
    pub(super) executed: i64,
    pub(super) counted: HourCounts,
    pub(super) cleanups: Vec<PastCleanup>,
    pub(super) gaps_hash: Option<[u8; 32]>,
    /// Number of decisions that cleanups deleted.
    pub(super) deleted: i64,
    /// Id of the last decision.
    pub(super) decision: i64,
    /// Id of the first decision of this walk.
    first_decision: Option<i64>,
    /// Number of gaps before this walk.
    gaps_before: usize,
    /// Noted heads that were not reached yet, last first.
    pub(super) noted: Vec<ChainHead>,
    pub(super) heads: Vec<NotedHead>,
    /// If `true`, all entries were checked and have no problem.
    pub(super) is_whole: bool,
    /// Hashes of the entries, if they are collected.
    pub(super) hashes: Option<Vec<(i64, [u8; 32])>>,
}

/// Checks the entries between two heads of a trail. Returns their hashes, or the problem.
pub(super) async fn continues(
    tx: &mut Tx,
    from: &Head,
    to: &Head,
) -> Result<Result<Vec<(i64, [u8; 32])>, String>, AuditError> {
    let all_gaps = chain::gaps(tx).await?;
    let gaps: Vec<Gap> = all_gaps
        .iter()
        .copied()
        .filter(|gap| gap.last >= from.seq.max(1))
        .collect();
    let mut walk = ChainWalk {
        seq: from.seq,
        hash: from.hash,
        decision: from.decisions,
        hashes: Some(Vec::new()),
        ..ChainWalk::default()
    };
    match gaps.first() {
        // A cleanup has removed the known entry.
        Some(gap) if gap.first <= from.seq => {
            if gap.last == from.seq && gap.hash != from.hash {
                return Ok(Err("the entry has a different hash".to_owned()));
            }
            walk.seq = gap.last;
            walk.hash = gap.hash;
            walk.gaps_used = 1;
        }
        _ if from.seq > 0 => {
            let row = tx
                .optional("SELECT hash FROM log WHERE seq = $1", &[from.seq.into()])
                .await?;
            match row {
                Some(row) if row.hash(0)? == from.hash => {}
                Some(_) => return Ok(Err("the entry has a different hash".to_owned())),
                None => return Ok(Err("the entry is missing".to_owned())),
            }
        }
        _ => {}
    }
    if let Some(broken) = walk.run(tx, &gaps).await? {
        let entry = broken.entry.map(|entry| format!("entry {entry}: "));
        let entry = entry.unwrap_or_default();
        return Ok(Err(format!("{entry}{}", broken.problem)));
    }
    if (walk.seq, walk.hash) != (to.seq, to.hash) {
        return Ok(Err(format!("the log ends before entry {}", to.seq)));
    }
    let removed = walk.gaps_used > 0;
    let vouched = walk.gaps_hash == Some(chain::gaps_hash(&all_gaps));
    if (removed || walk.gaps_hash.is_some()) && !vouched {
        let problem = "entries are missing that no cleanup removed";
        return Ok(Err(problem.to_owned()));
    }
    let of = |kind: LogEntryKind| walk.kinds[kind as usize];
    let decisions = match walk.gaps_hash {
        None => from.decisions + of(LogEntryKind::Decided),
        Some(_) => assigned_ids(tx).await?,
    };
    if (decisions, from.remembered + of(LogEntryKind::Remembered)) != (to.decisions, to.remembered)
    {
        return Ok(Err(WRONG_IDS.to_owned()));
    }
    Ok(Ok(walk.hashes.unwrap_or_default()))
}

/// Problem reported if the counters of the head do not match the log.
pub(super) const WRONG_IDS: &str = "the last assigned ids do not match the log";

/// Returns how many decision ids were assigned: to existing decisions and to those that cleanups
/// counted.
pub(super) async fn assigned_ids(tx: &mut Tx) -> Result<i64, AuditError> {
    tx.one(
        "SELECT CAST((SELECT count(*) FROM decisions)
            + (SELECT coalesce(sum(deleted), 0) FROM cleanups) AS BIGINT)",
        &[],
    )
    .await?
    .int(0)
}

impl ChainWalk {
    /// Checks all entries and related rows. Sets the head of the chain. `readers` read the snapshot of
    /// the transaction, in segments of `entries` entries; without them, the transaction reads all
    /// entries.
    pub(super) async fn entries(
        &mut self,
        tx: &mut Tx,
        end: &mut ChainHead,
        readers: Vec<SnapshotReader>,
        entries: i64,
    ) -> Result<Option<ChainBreak>, AuditError> {
        let head = Head::read(tx).await?;
        *end = ChainHead {
            count: head.seq.max(0).unsigned_abs(),
            hash: head.hash,
        };
        let gaps = chain::gaps(tx).await?;
        self.compare_heads(0, [0; 32]);
        if !readers.is_empty() {
            *self = segments::walk(std::mem::take(self), &gaps, readers, entries).await?;
        }
        let broken = match self.run(tx, &gaps).await? {
            Some(broken) => Some(broken),
            None => self.check(tx, &head, &gaps).await?,
        };
        self.is_whole = broken.is_none();
        Ok(broken)
    }

    /// Follows the links from entry to entry, up to the first broken one.
    async fn run(&mut self, tx: &mut Tx, gaps: &[Gap]) -> Result<Option<ChainBreak>, AuditError> {
        loop {
            let rows = tx
                .all(
                    concat!(
                        select_entries!(),
                        " WHERE l.seq > $1 ORDER BY l.seq LIMIT $2"
                    ),
                    &[self.seq.into(), ENTRIES_PER_READ.into()],
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
        row: &SqlRow,
    ) -> Result<Option<ChainBreak>, AuditError> {
        let entry = match self.begin_entry(gaps, row)? {
            Ok(entry) => entry,
            Err(broken) => return Ok(Some(broken)),
        };
        let content = match entry.kind {
            Some(LogEntryKind::Remembered | LogEntryKind::Revoked) => {
                let found = tx
                    .optional(SELECT_REMEMBERED, &[entry.subject.into()])
                    .await?;
                entry.remembered_content(found.as_ref())?
            }
            Some(LogEntryKind::Cleaned) => {
                let found = CleanupRow::find(tx, entry.seq).await?;
                self.cleanup_content(&entry, found)?
            }
            Some(LogEntryKind::Used) => {
                entry.use_content(chain::use_content(tx, entry.seq, entry.subject).await?)
            }
            _ => self.decision_content(&entry, row)?,
        };
        Ok(match content {
            Ok(content) => self.end_entry(&entry, content),
            Err(broken) => Some(broken),
        })
    }

    /// Reads an entry and the gap before it.
    pub(super) fn begin_entry(
        &mut self,
        gaps: &[Gap],
        row: &impl Columns,
    ) -> Result<Result<ChainEntry, ChainBreak>, AuditError> {
        let entry = ChainEntry {
            seq: row.int(0)?,
            kind: LogEntryKind::of(row.int(1)?),
            subject: row.int(2)?,
            hash: row.hash(3)?,
        };
        if entry.seq != self.seq + 1 {
            let gap = gaps
                .get(self.gaps_used)
                .filter(|gap| gap.first == self.seq + 1 && gap.last + 1 == entry.seq);
            let Some(gap) = gap else {
                return Ok(Err(ChainBreak {
                    entry: Some(self.seq + 1),
                    decision: None,
                    problem: "the entry is missing, and no cleanup removed it".to_owned(),
                }));
            };
            self.gaps_used += 1;
            self.removed += gap.last - gap.first + 1;
            self.hash = gap.hash;
            self.skip_gap(*gap);
        }
        Ok(Ok(entry))
    }

    /// Checks the hash of an entry, and moves to it.
    pub(super) fn end_entry(
        &mut self,
        entry: &ChainEntry,
        content: [u8; 32],
    ) -> Option<ChainBreak> {
        if chain::link(&self.hash, content) != entry.hash {
            return Some(ChainBreak::at(
                entry,
                "the stored data differs from the data that was written",
            ));
        }
        self.seq = entry.seq;
        self.hash = entry.hash;
        self.compare_heads(entry.seq, entry.hash);
        if let Some(hashes) = &mut self.hashes {
            hashes.push((entry.seq, entry.hash));
        }
        self.entries += 1;
        self.kinds[entry.kind.map_or(0, |kind| kind as usize)] += 1;
        None
    }

    /// Returns a walk over the entries after a later entry, to be [appended](Self::append) to the
    /// walk that ends with this entry.
    pub(super) fn segment(start: ChainEnd, gaps: &[Gap], noted: Vec<ChainHead>) -> Self {
        let gaps_before = gaps.partition_point(|gap| gap.first <= start.seq);
        Self {
            seq: start.seq,
            hash: start.hash,
            gaps_used: gaps_before,
            gaps_before,
            noted,
            ..Self::default()
        }
    }

    /// Appends the walk over the entries that follow. If this walk would have found a problem in
    /// them, changes nothing and returns `false`.
    pub(super) fn append(&mut self, next: Self) -> bool {
        let is_assigned_before = next.first_decision.is_some_and(|id| id <= self.decision);
        if next.gaps_before != self.gaps_used || is_assigned_before {
            return false;
        }
        self.seq = next.seq;
        self.hash = next.hash;
        self.entries += next.entries;
        self.removed += next.removed;
        self.gaps_used = next.gaps_used;
        for (all, kind) in self.kinds.iter_mut().zip(next.kinds) {
            *all += kind;
        }
        self.answered += next.answered;
        self.executed += next.executed;
        self.counted.append(&next.counted);
        self.cleanups.extend(next.cleanups);
        self.gaps_hash = next.gaps_hash.or(self.gaps_hash);
        self.deleted += next.deleted;
        self.decision = self.decision.max(next.decision);
        self.first_decision = self.first_decision.or(next.first_decision);
        for NotedHead { head, found } in next.heads {
            self.noted.pop();
            let found = match found {
                HeadState::Differs { .. } => HeadState::Differs {
                    after: self.last_valid(),
                },
                found => found,
            };
            self.heads.push(NotedHead { head, found });
        }
        true
    }

    /// Returns the content of an entry about a cleanup, and counts the cleanup.
    pub(super) fn cleanup_content(
        &mut self,
        entry: &ChainEntry,
        found: Option<CleanupRow>,
    ) -> Result<Result<[u8; 32], ChainBreak>, AuditError> {
        let Some(cleaned) = found else {
            return Ok(Err(ChainBreak::at(entry, "its cleanup is missing")));
        };
        let content = cleaned.content();
        self.deleted += cleaned.deleted;
        self.gaps_hash = Some(cleaned.gaps_hash);
        self.cleanups.push(cleaned.into_past_cleanup()?);
        Ok(Ok(content))
    }

    /// Returns the last entry of the walk.
    pub(super) fn end(&self) -> ChainEnd {
        ChainEnd {
            seq: self.seq,
            hash: self.hash,
        }
    }

    /// Returns the noted heads after an entry, up to another one; last first.
    pub(super) fn noted_between(&self, after: i64, last: i64) -> Vec<ChainHead> {
        let is_between = |noted: &&ChainHead| {
            i64::try_from(noted.count).is_ok_and(|count| after < count && count <= last)
        };
        self.noted.iter().filter(is_between).copied().collect()
    }

    /// Compares the noted heads at an entry with it.
    fn compare_heads(&mut self, seq: i64, hash: [u8; 32]) {
        while let Some(noted) = self.noted.pop_if(|noted| has_seq(noted, seq)) {
            let found = match noted.hash == hash {
                true => HeadState::Holds,
                false => HeadState::Differs {
                    after: self.last_valid(),
                },
            };
            self.heads.push(NotedHead { head: noted, found });
        }
    }

    fn last_valid(&self) -> u64 {
        let held = |noted: &&NotedHead| noted.found == HeadState::Holds;
        let last = self.heads.iter().rev().find(held);
        last.map_or(0, |noted| noted.head.count)
    }

    /// Resolves the noted heads at removed entries; the hash of the last removed entry is known.
    fn skip_gap(&mut self, gap: Gap) {
        let is_within =
            |noted: &mut ChainHead| i64::try_from(noted.count).is_ok_and(|count| count < gap.last);
        while let Some(noted) = self.noted.pop_if(is_within) {
            let found = HeadState::Removed {
                first: gap.first.unsigned_abs(),
                last: gap.last.unsigned_abs(),
            };
            self.heads.push(NotedHead { head: noted, found });
        }
        self.compare_heads(gap.last, gap.hash);
    }

    /// Resolves the noted heads that the walk has not reached.
    pub(super) fn end_heads(&mut self, is_whole: bool) {
        let count = self.seq.unsigned_abs();
        while let Some(head) = self.noted.pop() {
            let found = match is_whole {
                true => HeadState::Missing { count },
                false => HeadState::Unreachable,
            };
            self.heads.push(NotedHead { head, found });
        }
    }

    /// Returns the content of an entry about a decision, or of an entry of an unknown kind, from the
    /// row that [`select_entries`] selects.
    pub(super) fn decision_content<R: Columns>(
        &mut self,
        entry: &ChainEntry,
        row: &R,
    ) -> Result<Result<[u8; 32], ChainBreak>, AuditError> {
        let Some(kind) = entry.kind else {
            return Ok(Err(ChainBreak::at(entry, "it has an unknown kind")));
        };
        if row.maybe_int(9)?.is_none() {
            return Ok(Err(ChainBreak::at(entry, "its decision is missing")));
        }
        let stored = match DecisionRow::read(row, 9) {
            Ok(stored) => stored,
            Err(AuditError::Damaged { column }) => {
                let problem = format!("the `{column}` of its decision is invalid");
                return Ok(Err(ChainBreak::at(entry, &problem)));
            }
            Err(error) => return Err(error),
        };
        let content = self.stored_content(kind, entry, &stored, row)?;
        Ok(content.map_err(|problem| ChainBreak::at(entry, problem)))
    }

    /// Returns the expected content of an entry about a decision, or a problem of related rows.
    fn stored_content<'r, R: Columns>(
        &mut self,
        kind: LogEntryKind,
        entry: &ChainEntry,
        stored: &DecisionRow<R::Text<'r>>,
        row: &'r R,
    ) -> Result<Result<[u8; 32], &'static str>, AuditError> {
        Ok(match kind {
            LogEntryKind::Decided => {
                if stored.decided_seq != entry.seq {
                    return Ok(Err("its decision belongs to another entry"));
                }
                // An id is never assigned twice, and only a cleanup leaves a gap.
                if entry.subject <= self.decision {
                    return Ok(Err("the id of its decision was assigned before"));
                }
                self.decision = entry.subject;
                self.first_decision.get_or_insert(entry.subject);
                let unanswered = match stored.denied {
                    true => {
                        stored.response == Some(response_code(UserResponse::Denied))
                            && stored.answered_at == Some(stored.at)
                            && text(&stored.answered_by)
                                == Some(text(&stored.rule).unwrap_or("rule"))
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
                    return Ok(Err("its decision has an answer that was not recorded"));
                }
                let unexecuted = stored.executed_at.is_none()
                    && stored.exit_status.is_none()
                    && stored.ran_command.is_none();
                if stored.executed_seq.is_none() && !unexecuted {
                    return Ok(Err("its decision has an execution that was not reported"));
                }
                let folded = row.maybe_text(4)?;
                let searched = text(&folded)
                    .is_some_and(|folded| is_fold_case(folded, stored.command.as_ref()))
                    && row.maybe_int(5)? == Some(stored.class)
                    && row.maybe_int(6)? == Some(i64::from(stored.requires))
                    && row.maybe_int(7)? == stored.response
                    && text(&row.maybe_text(8)?) == text(&stored.agent);
                if !searched {
                    return Ok(Err("the search data of its decision differs"));
                }
                self.answered += i64::from(stored.answered_seq.is_some());
                self.executed += i64::from(stored.executed_seq.is_some());
                self.counted.add(stored);
                Ok(chain::decided(stored))
            }
            LogEntryKind::Answered if stored.answered_seq == Some(entry.seq) => {
                Ok(chain::answered(stored))
            }
            LogEntryKind::Executed if stored.executed_seq == Some(entry.seq) => {
                Ok(chain::executed(stored))
            }
            _ => Err("its decision does not refer to it"),
        })
    }

    /// After all entries are linked: checks for rows without an entry.
    async fn check(
        &self,
        tx: &mut Tx,
        head: &Head,
        gaps: &[Gap],
    ) -> Result<Option<ChainBreak>, AuditError> {
        if (self.seq, self.hash) != (head.seq, head.hash) {
            return Ok(Some(ChainBreak {
                entry: Some(self.seq + 1),
                decision: None,
                problem: format!("the log ends before its last entry, entry {}", head.seq),
            }));
        }
        let gaps_hash = self.gaps_hash.unwrap_or_else(|| chain::gaps_hash(&[]));
        if self.gaps_used != gaps.len() || chain::gaps_hash(gaps) != gaps_hash {
            let problem = "entries are missing that no cleanup removed";
            return Ok(Some(ChainBreak::of_trail(problem)));
        }
        let of = |kind: LogEntryKind| self.kinds[kind as usize];
        if self.answered != of(LogEntryKind::Answered)
            || self.executed != of(LogEntryKind::Executed)
        {
            let problem = "a decision has an answer or an execution without an entry";
            return Ok(Some(ChainBreak::of_trail(problem)));
        }
        let row = tx
            .one(
                "SELECT (SELECT count(*) FROM decisions), (SELECT count(*) FROM searched),
                    (SELECT count(*) FROM remembered), (SELECT count(*) FROM remembered
                        WHERE revoked_seq IS NOT NULL OR revoked_at IS NOT NULL
                            OR revoked_by IS NOT NULL),
                    (SELECT count(*) FROM cleanups),
                    (SELECT coalesce(max(id), 0) FROM decisions),
                    (SELECT count(*) FROM used)",
                &[],
            )
            .await?;
        for (at, kind, what) in [
            (0, LogEntryKind::Decided, "decision"),
            (1, LogEntryKind::Decided, "searched command"),
            (2, LogEntryKind::Remembered, "remembered answer"),
            (3, LogEntryKind::Revoked, "revoked answer"),
            (4, LogEntryKind::Cleaned, "cleanup"),
            (6, LogEntryKind::Used, "use of an approval"),
        ] {
            if row.int(at)? != of(kind) {
                let problem = format!("there is a {what} without an entry");
                return Ok(Some(ChainBreak::of_trail(problem)));
            }
        }
        if row.int(5)? > head.decisions {
            return Ok(Some(ChainBreak::of_trail(
                "ids were used that will be assigned again",
            )));
        }
        // Each decision has one id, and each cleanup records how many decisions it deleted.
        let given = of(LogEntryKind::Decided) + self.deleted;
        if (given, of(LogEntryKind::Remembered)) != (head.decisions, head.remembered) {
            return Ok(Some(ChainBreak::of_trail(WRONG_IDS)));
        }
        self.check_counts(tx).await
    }

    async fn check_counts(&self, tx: &mut Tx) -> Result<Option<ChainBreak>, AuditError> {
        let rows = tx
            .all(
                "SELECT unit, start, class, requires, response, agent, n, timed_out, confidence,
                    high, low FROM tallies WHERE n <> 0 OR timed_out <> 0 OR confidence <> 0
                    OR high <> 0 OR low <> 0",
                &[],
            )
            .await?;
        let mut tallies: BTreeMap<TallyKey, Tally> = BTreeMap::new();
        for row in rows {
            let key = TallyKey {
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
        let counted = self.counted.deltas();
        let same = tallies == counted.tallies && times == counted.times;
        Ok((!same).then(|| ChainBreak::of_trail("the running counts do not match the decisions")))
    }
}

pub(super) fn has_seq(noted: &ChainHead, seq: i64) -> bool {
    i64::try_from(noted.count) == Ok(seq)
}

fn text<T: AsRef<str>>(text: &Option<T>) -> Option<&str> {
    text.as_ref().map(AsRef::as_ref)
}

/// Selects the remembered answer `$1`.
pub(super) const SELECT_REMEMBERED: &str = concat!(
    "SELECT ",
    remembered_columns!(),
    " FROM remembered r WHERE r.id = $1"
);

/// Parses a hash in hexadecimal.
pub(super) fn hash_of(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).ok()?;
    Some(hash)
}

/// Serializes a hash in JSON.
mod hash_in_json {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(hash))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        super::hash_of(&text).ok_or_else(|| D::Error::custom("a hash has 64 hexadecimal digits"))
    }
}
