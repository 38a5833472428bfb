//! Queue of the processes that write to one SQLite file. Takes the path of the file; returns turns.
//!
//! SQLite has one writer at a time. Its waiting processes poll the lock, with growing delays and in
//! no order, so that some of many processes never get it before their timeout. Processes that record
//! a single decision therefore wait for an advisory lock on a file beside the database first, which
//! the system hands on without polling. The system also releases the lock of a process that was
//! killed. The lock orders writers and protects nothing: without it, SQLite still keeps the file
//! consistent.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::audit::error::AuditError;
use crate::files::{open_lock, read, with_end};

/// Maximum time that a process which records a single decision in a SQLite file waits in the queue
/// of such processes. It stops waiting after two seconds in which no other process wrote.
pub const MAX_QUEUE_TIME: Duration = Duration::from_secs(20);

/// Time after which the queue counts as stuck if no process wrote, and after which a process stops
/// waiting for a locked database.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// Content of the queue's file, written in each turn.
const WRITABLE: &[u8] = b"writable\n";
const LOCKED: &[u8] = b"locked\n";

/// Queue of the processes that write to one database file.
#[derive(Clone, Debug)]
pub(super) struct WriteQueue {
    path: PathBuf,
    /// The database and its write-ahead log.
    written: [PathBuf; 2],
}

/// A place at the head of the queue; the next process gets its turn when this is dropped.
#[derive(Debug)]
pub(super) struct QueueTurn {
    /// `None` if the file system has no locks, or if the file cannot be created.
    file: Option<File>,
}

impl WriteQueue {
    pub(super) fn of(database: &Path) -> Self {
        // By another path, the file is the same.
        let path = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        Self {
            path: with_end(&path, "-queue"),
            written: [with_end(&path, "-wal"), path],
        }
    }

    /// Waits until no other process has its turn.
    ///
    /// # Errors
    /// Returns [`AuditError::Locked`] after [`QUEUE_TIMEOUT`] if the process with the last turn found
    /// the database locked by a program that does not queue, and [`AuditError::Queued`] if no process
    /// wrote for this time or after [`MAX_QUEUE_TIME`].
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
        tokio::pin!(receiver);
        let began = Instant::now();
        let mut until = began + QUEUE_TIMEOUT;
        loop {
            if let Ok(file) = timeout_at(until, &mut receiver).await {
                let file = file.ok().flatten();
                return Ok(QueueTurn { file });
            }
            if self.is_locked() {
                return Err(AuditError::Locked);
            }
            let idle = age(&self.path);
            let idle = self
                .written
                .iter()
                .map(|file| age(file))
                .fold(idle, Duration::min);
            let rest = MAX_QUEUE_TIME.saturating_sub(began.elapsed());
            if idle >= QUEUE_TIMEOUT || rest.is_zero() {
                return Err(AuditError::Queued);
            }
            until = Instant::now() + (QUEUE_TIMEOUT - idle).min(rest);
        }
    }

    /// Returns a turn if no process waits or writes.
    pub(super) fn try_take(&self) -> Option<QueueTurn> {
        let file = open_lock(&self.path).ok()?;
        file.try_lock().ok()?;
        Some(QueueTurn { file: Some(file) })
    }

    /// Returns `true` if the process with the last turn found the database locked, and this was a
    /// moment ago.
    fn is_locked(&self) -> bool {
        let is_noted = || read(&self.path).is_ok_and(|content| content == LOCKED);
        age(&self.path) < 2 * QUEUE_TIMEOUT && is_noted()
    }
}

impl QueueTurn {
    /// Writes down for the waiting processes that this process got its turn, and whether the
    /// database was locked by a program that does not queue.
    pub(super) fn note<T>(&mut self, began: &Result<T, AuditError>) {
        let Some(file) = &mut self.file else { return };
        let content = match began {
            Ok(_) => WRITABLE,
            Err(AuditError::Locked) => LOCKED,
            Err(_) => return,
        };
        // Without the note, waiting processes only give another reason.
        let _ = file
            .rewind()
            .and_then(|()| file.write_all(content))
            .and_then(|()| file.set_len(content.len() as u64));
    }
}

/// Returns the time since a file was written; the longest time if it does not exist.
fn age(path: &Path) -> Duration {
    let Ok(written) = fs::metadata(path).and_then(|file| file.modified()) else {
        return Duration::MAX;
    };
    // A time in the future, as after a change of the clock, counts as now.
    SystemTime::now()
        .duration_since(written)
        .unwrap_or_default()
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
