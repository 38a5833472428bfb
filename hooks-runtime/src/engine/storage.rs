//! The files that the hooks write: JSON, one object a line, only ever appended to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::error::EngineError;

/// The folder, below the workspace, that the hooks write to unless the host names another one.
pub const STORAGE_FOLDER: &str = ".orchestration";

/// A folder of files that are only ever appended to. A clone is the same.
///
/// A line is written in one piece, under a lock of the operating system's where there is one
/// (unix), so that writers in several threads and processes neither mix nor lose lines; other
/// systems hold writers apart within one process only. A writer that died in the middle of a
/// line leaves a torn one, which the next line does not continue. Nothing is flushed to the
/// disk beyond what the system does by itself.
#[derive(Debug, Clone)]
pub struct Storage {
    folder: Arc<Path>,
}

impl Storage {
    /// This folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
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
            }),
            Err(source) => Err(unusable(&folder, source)),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a line to a file of the folder. Blocks while another writer has the file.
    ///
    /// # Errors
    /// If the line cannot be written.
    pub fn append(&self, file: &str, line: &impl Serialize) -> io::Result<()> {
        let mut file = self.open(file)?;
        let _lock = lock(&file)?;
        write(&mut file, line)
    }

    /// Appends a line, unless the file already holds one that the test knows. Answers whether
    /// it was written.
    pub(crate) fn append_unless(
        &self,
        file: &str,
        line: &impl Serialize,
        known: impl Fn(&str) -> bool,
    ) -> io::Result<bool> {
        let mut file = self.open(file)?;
        let _lock = lock(&file)?;
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
        options.open(self.folder.join(file))
    }

    /// Whether the folder takes new files, and those that are there take lines.
    pub(crate) fn probe(&self) -> io::Result<()> {
        let probe = self.folder.join(".probe");
        OpenOptions::new().append(true).create(true).open(&probe)?;
        std::fs::remove_file(&probe).or_else(|error| match error.kind() {
            // Another session has asked at the same time.
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    }
}

/// Appends a line to a file that is locked.
fn write(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(line)?;
    line.push('\n');
    if is_torn(file)? {
        line.insert(0, '\n');
    }
    file.write_all(line.as_bytes())
}

/// Whether the last line has no end.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Held until it is dropped, or the process ends.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<impl Drop + use<>> {
    struct Unlock(File);
    impl Drop for Unlock {
        fn drop(&mut self) {
            let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
        }
    }
    let held = file.try_clone()?;
    loop {
        match rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive) {
            Err(rustix::io::Errno::INTR) => {}
            taken => break taken?,
        }
    }
    Ok(Unlock(held))
}

#[cfg(not(unix))]
fn lock(_: &File) -> io::Result<std::sync::MutexGuard<'static, ()>> {
    static WRITERS: std::sync::Mutex<()> = std::sync::Mutex::new(());
    Ok(WRITERS
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_27_a_torn_line_does_not_take_the_next_one_with_it() {
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
    fn r_27_a_line_that_is_known_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path()).unwrap();
        let add = |line: &str| storage.append_unless("log", &line, |old| old.contains(line));
        assert!(add("a").unwrap());
        assert!(add("b").unwrap());
        assert!(!add("a").unwrap());
    }

    #[test]
    fn r_27_writers_in_threads_lose_and_mix_nothing() {
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
