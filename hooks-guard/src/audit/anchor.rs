//! Recognizes a trail that was changed behind the back of an open store.
//!
//! The store keeps the head that it wrote or read last. Every later state of the database must
//! continue from that head, so a trail that was replaced, reset or rewritten is not used.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::backend::{Backend, Tx};
use super::chain::Gap;
use super::error::AuditError;
use super::verify;
use super::write::Head;

/// Upper bound of the hashes that are kept to recognize the file of the database.
const MAX_RECENT: usize = 200_000;

/// How many entries of other processes are checked at most while the database is locked.
pub(super) const MAX_LOCKED: i64 = 500;

/// The last known state of a database. Empty until the store is open.
#[derive(Debug, Default)]
pub(super) struct Anchor {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    head: Option<Head>,
    /// The mark of the schema that was compared last.
    schema: Option<i64>,
    /// Hashes of the entries after the head in the file without its log.
    recent: BTreeMap<i64, [u8; 32]>,
    #[cfg(feature = "sqlite")]
    file: Option<FileState>,
    /// What was found wrong beside any request.
    fault: Option<AuditError>,
}

/// What the file of a SQLite database had without its log when it was read last.
#[cfg(feature = "sqlite")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) stamp: Stamp,
    /// The number and the hash of the last entry; `None` if there are no tables yet.
    pub(super) head: Option<(i64, [u8; 32])>,
}

/// Changes when a file is written to: its length, and the times of its last changes.
#[cfg(feature = "sqlite")]
pub(super) type Stamp = (u64, i128, i128);

impl Anchor {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn head(&self) -> Option<Head> {
        self.state().head
    }

    /// Moves to a head that continues from the one before, with the entries in between.
    pub(super) fn advance(&self, head: Head, entries: impl IntoIterator<Item = (i64, [u8; 32])>) {
        let mut state = self.state();
        state.recent.extend(entries);
        while state.recent.len() > MAX_RECENT {
            state.recent.pop_first();
        }
        if state.head.is_none_or(|before| before.seq <= head.seq) {
            state.head = Some(head);
        }
    }

    pub(super) fn is_compared(&self, schema: i64) -> bool {
        self.state().schema == Some(schema)
    }

    pub(super) fn compared(&self, schema: i64) {
        self.state().schema = Some(schema);
    }

    /// Fails every use of the trail with an error, until there is none.
    #[cfg(feature = "postgres")]
    pub(super) fn set_fault(&self, fault: Option<AuditError>) {
        self.state().fault = fault;
    }

    fn check_fault(&self) -> Result<(), AuditError> {
        match &self.state().fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    #[cfg(feature = "sqlite")]
    pub(super) fn file(&self) -> Option<FileState> {
        self.state().file
    }

    /// Takes a state of the file, if it is on the way from the one before to the head.
    #[cfg(feature = "sqlite")]
    pub(super) fn take_file(&self, file: FileState) -> bool {
        let mut state = self.state();
        let is_known = match (state.file.and_then(|before| before.head), file.head) {
            (Some(before), Some(now)) if before == now => true,
            (None, None | Some((0, _))) => true,
            (Some(_), None) => false,
            (_, Some((seq, hash))) => state.recent.get(&seq) == Some(&hash),
        };
        if is_known {
            state.file = Some(file);
            if let Some((seq, _)) = file.head {
                state.recent = state.recent.split_off(&(seq + 1));
            }
        }
        is_known
    }

    /// Takes the first state of the file, with the entries from there to the head.
    #[cfg(feature = "sqlite")]
    pub(super) fn begin_file(&self, file: FileState, entries: Vec<(i64, [u8; 32])>) {
        let mut state = self.state();
        state.recent.extend(entries);
        state.file = Some(file);
    }
}

fn rewritten(known: &Head, problem: impl Into<String>) -> AuditError {
    AuditError::Rewritten {
        entry: known.seq,
        problem: problem.into(),
    }
}

/// Checks that a head can follow a known one.
fn check_order(known: &Head, now: &Head) -> Result<(), AuditError> {
    if now.seq < known.seq {
        let problem = format!("the trail ends with entry {}", now.seq);
        return Err(rewritten(known, problem));
    }
    if now.seq == known.seq && now.hash != known.hash {
        return Err(rewritten(known, "the entry has another hash"));
    }
    if now.seq == known.seq && !now.same_counters(known) {
        return Err(rewritten(known, "the last numbers given are others"));
    }
    Ok(())
}

/// Returns the gap that an entry was removed with.
async fn gap_of(tx: &mut Tx, seq: i64) -> Result<Option<Gap>, AuditError> {
    let row = tx
        .optional(
            "SELECT first, last, hash FROM gaps WHERE first <= $1 AND last >= $1",
            &[seq.into()],
        )
        .await?;
    row.map(|row| {
        Ok(Gap {
            first: row.int(0)?,
            last: row.int(1)?,
            hash: row.hash(2)?,
        })
    })
    .transpose()
}

/// Checks that the trail that a transaction reads has the known head in it.
///
/// # Errors
/// If it does not, or if its schema was changed.
pub(super) async fn recognize(
    backend: &Backend,
    tx: &mut Tx,
    known: Option<Head>,
) -> Result<(), AuditError> {
    let Some(known) = known else { return Ok(()) };
    backend.anchor().check_fault()?;
    let now = Head::read(tx).await?;
    backend.check_schema(tx, now.schema).await?;
    check_order(&known, &now)?;
    if now.seq == known.seq || known.seq == 0 {
        return Ok(());
    }
    let row = tx
        .optional("SELECT hash FROM log WHERE seq = $1", &[known.seq.into()])
        .await?;
    match row {
        Some(row) if row.hash(0)? == known.hash => Ok(()),
        Some(_) => Err(rewritten(&known, "the entry has another hash")),
        None => match gap_of(tx, known.seq).await? {
            Some(gap) if gap.last > known.seq || gap.hash == known.hash => Ok(()),
            _ => Err(rewritten(&known, "the entry is missing")),
        },
    }
}

/// Checks that the head that a transaction sees continues from the known one, entry by entry, and
/// makes it the known one.
///
/// # Errors
/// If the entries in between do not link, or if the schema was changed.
pub(super) async fn follow(
    backend: &Backend,
    tx: &mut Tx,
    known: Option<Head>,
    now: Head,
) -> Result<(), AuditError> {
    backend.anchor().check_fault()?;
    backend.check_schema(tx, now.schema).await?;
    let Some(known) = known else { return Ok(()) };
    check_order(&known, &now)?;
    if now.seq == known.seq {
        return Ok(());
    }
    match verify::continues(tx, &known, &now).await? {
        Ok(entries) => {
            backend.anchor().advance(now, entries);
            Ok(())
        }
        Err(problem) => Err(rewritten(&known, problem)),
    }
}

/// Follows what other processes have written, without locking the database.
///
/// # Errors
/// As [`follow`].
pub(super) async fn catch_up(backend: &Backend) -> Result<(), AuditError> {
    // Before the snapshot: this process may write meanwhile.
    let known = backend.anchor().head();
    let mut tx = backend.read_unchecked().await?;
    let now = Head::read(&mut tx).await?;
    follow(backend, &mut tx, known, now).await
}
