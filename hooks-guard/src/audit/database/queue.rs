//! Queue of the processes that write to one SQLite file. Takes the path of the file; returns turns.
//!
//! SQLite has one writer at a time. Its waiting processes poll the lock, with growing delays and in
//! no order, so that some of many processes never get it before their timeout. Processes that record
//! a single decision therefore wait for an advisory lock on a file beside the database first, which
//! the system hands on without polling. The system also releases the lock of a process that was
//! killed. The lock orders writers and protects nothing: without it, SQLite still keeps the file
//! consistent.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::audit::error::AuditError;
use crate::files::{open_lock, with_end};

/// Maximum time that a process which records a single decision in a SQLite file waits until the
/// processes before it have written.
pub const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// Age up to which a mark of a locked database is recent.
const MARK_AGE: Duration = Duration::from_secs(3);

/// Queue of the processes that write to one database file.
#[derive(Clone, Debug)]
pub(super) struct WriteQueue {
    path: PathBuf,
}

/// A place at the head of the queue; the next process gets its turn when this is dropped.
#[derive(Debug)]
pub(in crate::audit) struct QueueTurn {
    /// `None` if the file system has no locks, or if the file cannot be created.
    file: Option<File>,
}

impl WriteQueue {
    pub(super) fn of(database: &Path) -> Self {
        // By another path, the file is the same.
        let path = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        Self {
            path: with_end(&path, "-queue"),
        }
    }

    /// Waits until no other process has its turn.
    ///
    /// # Errors
    /// Returns an error after [`QUEUE_TIMEOUT`]: [`AuditError::Locked`] if a process with a turn
    /// found the database locked by a program that does not queue, else [`AuditError::Queued`].
    pub(super) async fn wait(&self) -> Result<QueueTurn, AuditError> {
        // An error of the folder or of the file system also occurs in the database, which reports
        // it.
        let Ok(file) = open_lock(&self.path) else {
            return Ok(QueueTurn { file: None });
        };
        match file.try_lock() {
            Ok(()) => return Ok(QueueTurn { file: Some(file) }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => return Ok(QueueTurn { file: None }),
        }
        let (sender, receiver) = oneshot::channel();
        let wait = move || {
            let locked = lock(&file);
            // If the receiver is gone, the file closes here, which releases the lock.
            let _ = sender.send(locked.is_ok().then_some(file));
        };
        // Blocks in the system: polling processes would take processor time from the writer.
        if thread::Builder::new().spawn(wait).is_err() {
            return Ok(QueueTurn { file: None });
        }
        match timeout(QUEUE_TIMEOUT, receiver).await {
            Ok(file) => Ok(QueueTurn {
                file: file.ok().flatten(),
            }),
            Err(_) if self.is_marked() => Err(AuditError::Locked),
            Err(_) => Err(AuditError::Queued),
        }
    }

    /// Returns a turn if no process waits or writes.
    pub(super) fn try_take(&self) -> Option<QueueTurn> {
        let file = open_lock(&self.path).ok()?;
        file.try_lock().ok()?;
        Some(QueueTurn { file: Some(file) })
    }

    /// Returns `true` if a process with a turn found the database locked a moment ago.
    fn is_marked(&self) -> bool {
        let Ok(file) = fs::metadata(&self.path) else {
            return false;
        };
        let age = file
            .modified()
            .ok()
            .and_then(|at| SystemTime::now().duration_since(at).ok());
        file.len() > 0 && age.is_none_or(|age| age < MARK_AGE)
    }
}

impl QueueTurn {
    /// Marks the queue for the waiting processes if the database is locked by a program that does
    /// not queue; removes the mark if it is not.
    pub(in crate::audit) fn mark<T>(&mut self, written: &Result<T, AuditError>) {
        let Some(file) = &mut self.file else { return };
        let is_marked = file.metadata().is_ok_and(|file| file.len() > 0);
        // The mark only changes the message of waiting processes.
        let _ = match written {
            Err(AuditError::Locked) => file.write_all(b"locked\n"),
            _ if is_marked => file.set_len(0),
            _ => Ok(()),
        };
    }
}

/// Waits for the exclusive lock of a file.
fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
