//! The last known state of a database. Takes the heads that this process wrote or read and the
//! states of the database file; returns the known head.
//!
//! Every later state of the database must continue from the known head. A trail that was replaced,
//! reset or rewritten is therefore detected and not used.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::error::AuditError;
use super::head::Head;

/// Maximum number of hashes that are kept to recognize the file of the database.
const MAX_RECENT: usize = 200_000;

/// The last known state of a database. Empty until the store is open.
#[derive(Debug, Default)]
pub(super) struct Anchor {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    head: Option<Head>,
    /// The schema mark at the last comparison.
    schema: Option<i64>,
    /// Hashes of the entries after the head in the database file (without its write-ahead log).
    recent: BTreeMap<i64, [u8; 32]>,
    file: Option<FileState>,
    /// Error found by a background check.
    error: Option<AuditError>,
}

/// Content of a SQLite database file without its write-ahead log, when it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) stamp: Stamp,
    /// Number and hash of the last entry; `None` if the tables do not exist yet.
    pub(super) head: Option<(i64, [u8; 32])>,
}

/// Length and modification times of a file; differs after each write.
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

    /// Moves to a head that continues from the current head. `entries` are the entries between
    /// them.
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

    pub(super) fn set_checked_schema(&self, schema: i64) {
        self.state().schema = Some(schema);
    }

    /// Sets or clears an error that every use of the trail returns.
    #[cfg(feature = "postgres")]
    pub(super) fn set_error(&self, error: Option<AuditError>) {
        self.state().error = error;
    }

    pub(super) fn check_fault(&self) -> Result<(), AuditError> {
        match &self.state().error {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    pub(super) fn file(&self) -> Option<FileState> {
        self.state().file
    }

    /// Accepts a state of the file if it lies between the last accepted state and the head. Returns
    /// `false` otherwise.
    pub(super) fn accept_file(&self, file: FileState) -> bool {
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

    /// Accepts the first state of the file. `entries` lead from that state to the head.
    pub(super) fn begin_file(&self, file: FileState, entries: Vec<(i64, [u8; 32])>) {
        let mut state = self.state();
        state.recent.extend(entries);
        state.file = Some(file);
    }
}
