//! Opens a trail for reading, including a copy with its log on a read-only medium. In: the address
//! of a trail. Out: a store, or a trail that can only be verified.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hooks_guard::audit::{AuditError, AuditStore, ChainHead, TrailAddress, Verification};
use tempfile::TempDir;

use super::failure::CommandError;
use super::setup::{open_to_read, unusable, with_suffix};

/// Maximum number of attempts to copy a file that is being written.
const MAX_ATTEMPTS: u32 = 5;

/// A trail opened for reading.
pub(crate) struct Trail {
    state: TrailState,
    /// The copy that is read instead of the files. Field order matters: removed after the store is
    /// dropped.
    _copy: Option<TempDir>,
}

enum TrailState {
    Open(AuditStore),
    /// A trail with an unknown schema, which can only be verified.
    Refused {
        url: String,
        error: AuditError,
    },
}

impl Trail {
    /// Opens the trail at an address. If SQLite cannot read the log beside the file, reads a copy
    /// of both.
    ///
    /// # Errors
    /// If it can neither be opened nor verified.
    pub(crate) async fn open(url: &str) -> Result<Self, CommandError> {
        let (url, opened, copy) = match (open_to_read(url).await, TrailAddress::read(url)) {
            (Err(AuditError::UnreadableLog { path }), Some(TrailAddress::File(file))) => {
                let copy = copy(file).map_err(|error| {
                    CommandError::Other(format!("cannot copy `{path}` and its log: {error}"))
                })?;
                eprintln!(
                    "read-only medium: reading a copy of `{path}` and its log in a temporary \
                     directory"
                );
                let url = format!("sqlite:{}", copy.path().join(NAME).display());
                let opened = open_to_read(&url).await;
                (url, opened, Some(copy))
            }
            (opened, _) => (url.to_owned(), opened, None),
        };
        let state = match opened {
            Ok(store) => TrailState::Open(store),
            Err(error @ AuditError::Schema { .. }) => TrailState::Refused { url, error },
            Err(error) => return Err(unusable(&url, &error)),
        };
        Ok(Self { state, _copy: copy })
    }

    /// Returns the open store.
    ///
    /// # Errors
    /// If the trail can only be verified.
    pub(crate) fn store(&self) -> Result<&AuditStore, CommandError> {
        match &self.state {
            TrailState::Open(store) => Ok(store),
            TrailState::Refused { url, error } => Err(unusable(url, error)),
        }
    }

    /// Verifies the trail against heads that were noted earlier.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) async fn verify(&self, noted: &[ChainHead]) -> Result<Verification, CommandError> {
        let (url, error) = match &self.state {
            TrailState::Open(store) => return Ok(store.verify_with(noted).await?),
            TrailState::Refused { url, error } => (url, error),
        };
        let found = AuditStore::verify_unopened(url, noted).await;
        match found {
            Ok(found) if found.broken.is_some() => Ok(found),
            // Opening found a difference a moment ago, so do not report the trail as intact.
            Ok(_) => Err(unusable(url, error)),
            Err(error) => Err(unusable(url, &error)),
        }
    }
}

/// File name of a copy.
const NAME: &str = "audit.db";

/// Copies a database and its log to a new directory, readable by this user only.
fn copy(file: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("hooks-guard-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.tempdir()?;
    let name = folder.path().join(NAME);
    let pairs = ["", "-wal"].map(|end| (with_suffix(file, end), with_suffix(&name, end)));
    for _ in 0..MAX_ATTEMPTS {
        let before = stamps(&pairs)?;
        for (from, to) in &pairs {
            copy_file(from, to)?;
        }
        if stamps(&pairs)? == before {
            return Ok(folder);
        }
    }
    Err(io::Error::other(
        "another process keeps writing it; read the original",
    ))
}

/// Returns the lengths and times of the originals, to detect a write during the copy.
fn stamps(pairs: &[(PathBuf, PathBuf)]) -> io::Result<Vec<(u64, SystemTime)>> {
    let stamp = |(from, _): &(PathBuf, PathBuf)| {
        let file = fs::metadata(from)?;
        Ok((file.len(), file.modified()?))
    };
    pairs.iter().map(stamp).collect()
}

/// Copies the contents only: the copy must be writable whatever the original's mode is.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = fs::File::open(from)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::copy(&mut from, &mut options.open(to)?).map(drop)
}
