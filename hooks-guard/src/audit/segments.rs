//! Walks the chain in segments, on several threads. Takes readers of one snapshot; returns the walk
//! over all entries that are intact.
//!
//! An entry stores its hash, so a segment can be checked from the stored hash of the entry before
//! it, without the segments before. Each segment is walked as the whole chain is; the walks are
//! appended to each other in order. At the first problem, the result ends before its segment, and
//! [`ChainWalk::run`] continues from there and describes the problem.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::chain::{self, Gap, LogEntryKind};
use super::cleanups::CleanupRow;
use super::database::{BorrowedRow, Database, SnapshotReader, first, unwound};
use super::error::AuditError;
use super::tx::{Columns, Tx};
use super::walk::{ChainEnd, ChainHead, ChainWalk, SELECT_REMEMBERED, select_entries};

/// Number of segments per thread that are read ahead. Bounds the memory.
const AHEAD: usize = 2;

/// Partition of the chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segmentation {
    /// Number of entries in a segment.
    pub(super) entries: i64,
    /// Number of threads. 0 reads the chain without segments.
    pub(super) threads: usize,
}

impl Segmentation {
    const ENTRIES: i64 = 16_384;
    const MAX_THREADS: usize = 4;

    /// Returns the partition for the processors of this machine.
    pub(super) fn of_this_machine() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            entries: Self::ENTRIES,
            threads: cores.min(Self::MAX_THREADS),
        }
    }

    /// Returns readers of the snapshot of a transaction; none if its database has no such readers,
    /// and `None` if another process wrote since the transaction began.
    pub(super) async fn readers(
        &self,
        database: &Database,
        tx: &mut Tx,
    ) -> Result<Option<Vec<SnapshotReader>>, AuditError> {
        match self.threads {
            0 => Ok(Some(Vec::new())),
            // One more reader cuts the chain.
            threads => database.snapshot_readers(threads + 1, tx).await,
        }
    }
}

/// Entries that are checked together.
#[derive(Debug)]
struct Segment {
    /// The entry before the segment.
    start: ChainEnd,
    /// Number of the last entry.
    last: i64,
    /// Noted heads within the segment, last first.
    noted: Vec<ChainHead>,
}

/// Continues a walk up to the first segment with a problem, or to the end. `readers` are one more
/// than the threads that walk.
pub(super) async fn walk(
    walk: ChainWalk,
    gaps: &[Gap],
    readers: Vec<SnapshotReader>,
    entries: i64,
) -> Result<ChainWalk, AuditError> {
    let gaps: Arc<[Gap]> = gaps.into();
    let stop = StopOnDrop::default();
    let stopped = Arc::clone(&stop.0);
    let walking = move || walk_on_threads(walk, &gaps, readers, entries, &stopped);
    unwound(tokio::task::spawn_blocking(walking).await)
}

/// Stops the threads if the future of a verification is dropped.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn walk_on_threads(
    mut walk: ChainWalk,
    gaps: &[Gap],
    mut readers: Vec<SnapshotReader>,
    entries: i64,
    stopped: &AtomicBool,
) -> ChainWalk {
    let Some(cutter) = readers.pop() else {
        return walk;
    };
    thread::scope(|scope| {
        // Segments go to the threads in turn, so that the walks arrive in order.
        let threads: Vec<_> = readers
            .into_iter()
            .map(|reader| {
                let (segments, queue) = sync_channel(AHEAD);
                let (results, walks) = sync_channel(AHEAD);
                scope.spawn(move || walk_segments(&reader, gaps, &queue, &results));
                (segments, walks)
            })
            .collect();
        // Without a cut, `run` reads the rest and reports the error.
        let _ = append_segments(&mut walk, &cutter, &threads, entries, stopped);
    });
    walk
}

type Thread = (SyncSender<Segment>, Receiver<Option<ChainWalk>>);

/// Cuts the chain into segments, and appends the walks over them in order.
fn append_segments(
    walk: &mut ChainWalk,
    cutter: &SnapshotReader,
    threads: &[Thread],
    entries: i64,
    stopped: &AtomicBool,
) -> Result<(), AuditError> {
    let mut cut = cutter
        .prepare("SELECT seq, hash FROM log WHERE seq > ?1 ORDER BY seq LIMIT 1 OFFSET ?2")?;
    let mut last =
        cutter.prepare("SELECT seq, hash FROM log WHERE seq > ?1 ORDER BY seq DESC LIMIT 1")?;
    let end = |row: &BorrowedRow<'_, '_>| {
        Ok(ChainEnd {
            seq: row.int(0)?,
            hash: row.hash(1)?,
        })
    };
    let mut start = Some(walk.end());
    let (mut sent, mut appended) = (0, 0);
    loop {
        while let Some(from) = start
            && sent - appended < threads.len() * AHEAD
        {
            let to = match first(&mut cut, (from.seq, entries - 1), end)? {
                None => first(&mut last, (from.seq,), end)?,
                to => to,
            };
            start = to;
            let Some(to) = to else { break };
            let segment = Segment {
                start: from,
                last: to.seq,
                noted: walk.noted_between(from.seq, to.seq),
            };
            let (segments, _) = &threads[sent % threads.len()];
            if segments.send(segment).is_err() {
                return Ok(());
            }
            sent += 1;
        }
        if sent == appended || stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (_, walks) = &threads[appended % threads.len()];
        let is_intact = walks
            .recv()
            .ok()
            .flatten()
            .is_some_and(|next| walk.append(next));
        if !is_intact {
            return Ok(());
        }
        appended += 1;
    }
}

/// Walks segments until there are no more, and sends each walk; `None` for a problem.
fn walk_segments(
    reader: &SnapshotReader,
    gaps: &[Gap],
    segments: &Receiver<Segment>,
    walks: &SyncSender<Option<ChainWalk>>,
) {
    let mut statements = Statements::prepare(reader).ok();
    for segment in segments {
        let walk = statements
            .as_mut()
            .and_then(|statements| statements.walk(segment, gaps).ok().flatten());
        if walks.send(walk).is_err() {
            return;
        }
    }
}

struct Statements<'c> {
    entries: rusqlite::Statement<'c>,
    remembered: rusqlite::Statement<'c>,
    cleanup: rusqlite::Statement<'c>,
    used: rusqlite::Statement<'c>,
}

impl<'c> Statements<'c> {
    fn prepare(reader: &'c SnapshotReader) -> Result<Self, AuditError> {
        Ok(Self {
            entries: reader.prepare(concat!(
                select_entries!(),
                " WHERE l.seq > $1 AND l.seq <= $2 ORDER BY l.seq"
            ))?,
            remembered: reader.prepare(SELECT_REMEMBERED)?,
            cleanup: reader.prepare(CleanupRow::SELECT)?,
            used: reader.prepare(chain::SELECT_USE)?,
        })
    }

    /// Returns the walk over a segment; `None` if there is a problem.
    fn walk(&mut self, segment: Segment, gaps: &[Gap]) -> Result<Option<ChainWalk>, AuditError> {
        let Segment { start, last, noted } = segment;
        let mut walk = ChainWalk::segment(start, gaps, noted);
        let mut rows = self.entries.query((start.seq, last))?;
        while let Some(row) = rows.next()? {
            let row = BorrowedRow(row);
            let Ok(entry) = walk.begin_entry(gaps, &row)? else {
                return Ok(None);
            };
            let content = match entry.kind {
                Some(LogEntryKind::Remembered | LogEntryKind::Revoked) => {
                    let content = first(&mut self.remembered, (entry.subject,), |row| {
                        entry.remembered_content(Some(row))
                    })?;
                    match content {
                        Some(content) => content,
                        None => return Ok(None),
                    }
                }
                Some(LogEntryKind::Cleaned) => {
                    let found =
                        first(&mut self.cleanup, (entry.seq,), |row| CleanupRow::read(row))?;
                    walk.cleanup_content(&entry, found)?
                }
                Some(LogEntryKind::Used) => {
                    let at = first(&mut self.used, (entry.subject, entry.seq), |row| row.int(0))?;
                    entry.use_content(at.map(|at| chain::used(entry.subject, at)))
                }
                _ => walk.decision_content(&entry, &row)?,
            };
            match content {
                Ok(content) if walk.end_entry(&entry, content).is_none() => {}
                _ => return Ok(None),
            }
        }
        Ok((walk.end().seq == last).then_some(walk))
    }
}
