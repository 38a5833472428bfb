//! The files that the hooks write: JSON, one object a line, append-only.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::error::EngineError;
use super::files;

/// The default folder, below the workspace, that the hooks write to.
pub const STORAGE_FOLDER: &str = ".orchestration";

/// A folder of append-only files. Clones share one folder.
///
/// A line is written in one piece, under a lock of the operating system if there is one (unix), so
/// that several threads and processes neither mix nor lose lines; on other systems only the writers
/// within one process are kept apart. A writer that died in the middle of a line leaves a torn
/// line, which the next line does not continue. Files are not flushed to the disk explicitly.
///
/// Every process that can read a file can lock it, so waiting is limited: if another process holds
/// the lock for 2 seconds, the append is an error, and the line is not written.
#[derive(Debug, Clone)]
pub struct Storage {
    folder: Arc<Path>,
    patience: Duration,
}

/// Timeout of a lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// Interval between two attempts.
const PAUSE: Duration = Duration::from_millis(1);

impl Storage {
    /// Opens this folder, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(folder: impl Into<PathBuf>) -> Result<Self, EngineError> {
        let folder = folder.into();
        let unusable = |path: &Path, source| EngineError::Path {
            path: path.to_owned(),
            remedy: "name a folder that can be written to",
            source,
        };
        std::fs::create_dir_all(&folder).map_err(|source| unusable(&folder, source))?;
        match folder.canonicalize() {
            Ok(folder) => Ok(Storage {
                folder: folder.into(),
                patience: PATIENCE,
            }),
            Err(source) => Err(unusable(&folder, source)),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a line to a file of the folder. Blocks while another writer holds the lock, for 2
    /// seconds at most.
    ///
    /// # Errors
    /// If the line cannot be written, or another writer does not release the lock.
    pub fn append(&self, file: &str, line: &impl Serialize) -> io::Result<()> {
        let mut file = self.open(file)?;
        let _lock = lock(&file, self.patience)?;
        write(&mut file, line)
    }

    /// Appends a line, unless the test accepts a line that is already in the file. Returns `true`
    /// if the line was written.
    pub(crate) fn append_unless(
        &self,
        file: &str,
        line: &impl Serialize,
        known: impl Fn(&str) -> bool,
    ) -> io::Result<bool> {
        let mut file = self.open(file)?;
        let _lock = lock(&file, self.patience)?;
        let mut written = Vec::new();
        file.read_to_end(&mut written)?;
        if String::from_utf8_lossy(&written).lines().any(known) {
            return Ok(false);
        }
        write(&mut file, line).map(|()| true)
    }

    fn open(&self, file: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        files::open(&mut options, &self.folder.join(file))
    }

    /// Checks that files can be created in the folder, and lines appended to these files if they
    /// exist.
    pub(crate) fn probe(&self, known: &[&str]) -> io::Result<()> {
        for file in known {
            let mut options = OpenOptions::new();
            options.read(true).append(true);
            match files::open(&mut options, &self.folder.join(file)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.open(PROBE)?;
        std::fs::remove_file(self.folder.join(PROBE)).or_else(|error| match error.kind() {
            // Another session has run this check meanwhile.
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    }
}

/// A file that is created and removed to check the folder.
const PROBE: &str = ".probe";

/// Appends a line to a file that is locked.
fn write(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(line)?;
    line.push('\n');
    if is_torn(file)? {
        line.insert(0, '\n');
    }
    file.write_all(line.as_bytes())
}

/// Returns `true` if the last line is incomplete.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Locks a file until the guard is dropped, or the process ends.
#[cfg(unix)]
fn lock(file: &File, patience: Duration) -> io::Result<impl Drop + use<>> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    struct Unlock(File);
    impl Drop for Unlock {
        fn drop(&mut self) {
            let _ = flock(&self.0, FlockOperation::Unlock);
        }
    }
    let held = file.try_clone()?;
    patiently(patience, || {
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(())),
            Err(Errno::INTR | Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })?;
    Ok(Unlock(held))
}

#[cfg(not(unix))]
fn lock(_: &File, patience: Duration) -> io::Result<std::sync::MutexGuard<'static, ()>> {
    use std::sync::{Mutex, TryLockError};

    static WRITERS: Mutex<()> = Mutex::new(());
    patiently(patience, || match WRITERS.try_lock() {
        Ok(held) => Ok(Some(held)),
        Err(TryLockError::Poisoned(held)) => Ok(Some(held.into_inner())),
        Err(TryLockError::WouldBlock) => Ok(None),
    })
}

/// Retries until success, failure or timeout. Blocks in between.
fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
        if begun.elapsed() >= patience {
            let why = format!("another writer has held it for {patience:?}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_27_a_torn_line_does_not_corrupt_the_next_line() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path()).unwrap();
        let file = folder.path().join("log");
        std::fs::write(&file, "{\"whole\":1}\n{\"to").unwrap();
        storage.append("log", &"next").unwrap();
        storage.append("log", &"last").unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "{\"whole\":1}\n{\"to\n\"next\"\n\"last\"\n");
    }

    #[test]
    fn r_27_a_line_that_is_stored_is_not_appended_again() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path()).unwrap();
        let add = |line: &str| storage.append_unless("log", &line, |old| old.contains(line));
        assert!(add("a").unwrap());
        assert!(add("b").unwrap());
        assert!(!add("a").unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn r_27_a_lock_that_is_not_released_times_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut storage = Storage::new(folder.path()).unwrap();
        storage.patience = 3 * PAUSE;
        let file = storage.open("log").unwrap();
        let held = lock(&file, PATIENCE).unwrap();
        let error = storage.append("log", &"line").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = storage.append_unless("log", &"line", |_| false);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(held);
        storage.append("log", &"line").unwrap();
    }

    #[test]
    fn r_27_concurrent_writers_lose_and_interleave_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path()).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let storage = &storage;
                scope.spawn(move || {
                    for turn in 0..50 {
                        let line = (writer, turn, "x".repeat(5000));
                        storage.append("log", &line).unwrap();
                    }
                });
            }
        });
        let text = std::fs::read_to_string(folder.path().join("log")).unwrap();
        let mut lines = std::collections::BTreeSet::new();
        for line in text.lines() {
            let (writer, turn, _): (u32, u32, String) = serde_json::from_str(line).unwrap();
            lines.insert((writer, turn));
        }
        assert_eq!(lines.len(), 400);
    }
}
