//! Trusted rules files of projects. In: the user's list of paths and hashes. Out: whether a file
//! with this content is trusted.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hooks_runtime::display::json_message;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::excerpt::Excerpt;
use crate::files::{self, with_end};

/// Rules files that the user trusts, pinned by hash. Editing a file revokes the trust.
///
/// Stored in a file that only the user can write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    files: BTreeMap<PathBuf, String>,
}

/// Error returned when the list of trusted files cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A file could not be read.
    #[error("cannot read `{}`: {source}; check that it is a readable file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The file is not a list of trusted files.
    #[error("{}:{excerpt}: {}", path.display(), malformed(source))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, column and text of the place.
        excerpt: Excerpt,
        /// Cause.
        source: serde_json::Error,
    },
    /// The file could not be written.
    #[error("cannot write `{}`: {source}; check that its directory is writable", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

impl TrustError {
    /// Returns the place of the mistake, if it is known.
    #[must_use]
    pub fn excerpt(&self) -> Option<&Excerpt> {
        match self {
            Self::Malformed { excerpt, .. } => Some(excerpt),
            Self::Read { .. } | Self::Write { .. } => None,
        }
    }

    /// Returns the error with the invalid line and carets, for a terminal; `None` if the error has
    /// no place in a file.
    #[must_use]
    pub fn report(&self, color: bool) -> Option<String> {
        let Self::Malformed {
            path,
            excerpt,
            source,
        } = self
        else {
            return None;
        };
        let file = path.display().to_string();
        Some(excerpt.report(&file, &malformed(source), color))
    }
}

/// Returns the message for a file that is not a list of trusted files, without its place.
fn malformed(error: &serde_json::Error) -> String {
    let message = json_message(error);
    format!(
        "not a list of trusted files: {message}; correct or remove it, and trust the files again"
    )
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TrustFile {
    /// SHA-256 of each trusted file, in hexadecimal, by path.
    trusted: BTreeMap<PathBuf, String>,
}

impl Trust {
    /// Creates an empty list.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Reads the list; a missing file is an empty list.
    ///
    /// # Errors
    /// If the file cannot be read or parsed.
    pub fn load(path: &Path) -> Result<Self, TrustError> {
        let text = match files::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(source) => {
                let path = path.to_owned();
                return Err(TrustError::Read { path, source });
            }
        };
        let stored: TrustFile =
            serde_json::from_slice(&text).map_err(|source| TrustError::Malformed {
                path: path.to_owned(),
                excerpt: Excerpt::of_json(&String::from_utf8_lossy(&text), &source),
                source,
            })?;
        Ok(Self {
            files: stored.trusted,
        })
    }

    /// Writes the list atomically, readable by the user only.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), TrustError> {
        self.write(path).map_err(|source| TrustError::Write {
            path: path.to_owned(),
            source,
        })
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        let stored = TrustFile {
            trusted: self.files.clone(),
        };
        let mut text = serde_json::to_vec_pretty(&stored)?;
        text.push(b'\n');
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let new = with_end(path, &format!(".{}.new", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let done = options.open(&new).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&new, path)
        });
        if done.is_err() {
            // Ignore an error: the leftover is harmless.
            let _ = std::fs::remove_file(&new);
        }
        done
    }

    /// Trusts the current content of a rules file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, file: &Path) -> Result<(), TrustError> {
        let failed = |source| TrustError::Read {
            path: file.to_owned(),
            source,
        };
        let path = std::fs::canonicalize(file).map_err(failed)?;
        let text = files::read(&path).map_err(failed)?;
        self.files.insert(path, hash(&text));
        Ok(())
    }

    /// Revokes the trust in a file. Returns `true` if it was trusted.
    pub fn remove(&mut self, file: &Path) -> bool {
        let real = std::fs::canonicalize(file);
        let own = self.files.remove(file).is_some();
        real.is_ok_and(|real| self.files.remove(&real).is_some()) || own
    }

    /// Returns `true` if a file with this content is trusted.
    #[must_use]
    pub fn trusts(&self, file: &Path, content: &[u8]) -> bool {
        std::fs::canonicalize(file).is_ok_and(|real| self.files.get(&real) == Some(&hash(content)))
    }

    /// Returns the trusted files, each with the SHA-256 of its content in hexadecimal.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        let pair = |(path, hash)| (PathBuf::as_path(path), String::as_str(hash));
        self.files.iter().map(pair)
    }
}

fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}
