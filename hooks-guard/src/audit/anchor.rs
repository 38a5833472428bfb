//! The last known state of a database. In: heads that were written or read, and states of the file.
//! Out: the known head; every later state of the database must continue from it.
//!
//! The store keeps the head that it wrote or read last. Every later state of the database must
//! continue from that head, so a trail that was replaced, reset or rewritten is not used.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::error::AuditError;
use super::head::Head;

/// Upper bound of the hashes that are kept to recognize the file of the database.
const MAX_RECENT: usize = 200_000;

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

    pub(super) fn check_fault(&self) -> Result<(), AuditError> {
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
