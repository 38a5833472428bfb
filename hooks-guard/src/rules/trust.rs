//! Which projects' files of rules the user trusts: by path and content.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::files::{self, with_end};

/// Rules files that the user trusts, pinned by hash. Editing a file revokes the trust.
///
/// Kept in a file of the user's own, which nobody else may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    files: BTreeMap<PathBuf, String>,
}

/// Error returned when the list of trusted files cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A file could not be read.
    #[error("`{}` cannot be read: {source}; see that it is a file that you may read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no list of trusted files.
    #[error("`{}` is no list of trusted files: {source}; mend or remove it, and trust the files anew", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The file could not be written.
    #[error("`{}` cannot be written: {source}; see that you may write to its folder", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// SHA-256 in hexadecimal, by path.
    trusted: BTreeMap<PathBuf, String>,
}

impl Trust {
    /// Nothing is trusted.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// What a file says; nothing where there is none.
    ///
    /// # Errors
    /// If there is a file that cannot be read, or that is something else.
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
        let stored: Stored =
            serde_json::from_slice(&text).map_err(|source| TrustError::Broken {
                path: path.to_owned(),
                source,
            })?;
        Ok(Self {
            files: stored.trusted,
        })
    }

    /// Writes what is trusted to a file, at once or not at all; only the user may read it.
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
        let stored = Stored {
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
            // What is left of it is of no use.
            let _ = std::fs::remove_file(&new);
        }
        done
    }

    /// Trusts a file of rules as it is now.
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

    /// Trusts a file no more; says whether it was trusted.
    pub fn remove(&mut self, file: &Path) -> bool {
        let real = std::fs::canonicalize(file);
        let own = self.files.remove(file).is_some();
        real.is_ok_and(|real| self.files.remove(&real).is_some()) || own
    }

    /// Whether a file with this content is trusted.
    #[must_use]
    pub fn trusts(&self, file: &Path, content: &[u8]) -> bool {
        std::fs::canonicalize(file).is_ok_and(|real| self.files.get(&real) == Some(&hash(content)))
    }

    /// The trusted files, each with the SHA-256 of its content in hexadecimal.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        let pair = |(path, hash)| (PathBuf::as_path(path), String::as_str(hash));
        self.files.iter().map(pair)
    }
}

fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}
