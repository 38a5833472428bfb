//! Replaces a settings file atomically. In: a path, then a text. Out: the file with this text, or
//! an error and the unchanged file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::diff;
use super::error::InstallError;
use super::jsonc::DocumentError;
use super::report::{FileChange, Report};
use crate::files;

/// Maximum size of a settings file, in bytes.
const MAX_SETTINGS_BYTES: u64 = 10 << 20;

/// A settings file as it was read.
#[derive(Debug)]
pub(super) struct Settings {
    /// Path of the file, with symbolic links resolved.
    pub(super) path: PathBuf,
    text: Option<String>,
}

impl Settings {
    pub(super) fn read(path: &Path) -> Result<Self, InstallError> {
        let path = resolve_links(path).map_err(|source| InstallError::Read {
            path: path.to_owned(),
            source,
        })?;
        let text = match load(&path)? {
            Some(bytes) => Some(
                String::from_utf8(bytes)
                    .map_err(|_| InstallError::Encoding { path: path.clone() })?,
            ),
            None => None,
        };
        Ok(Self { path, text })
    }

    /// Returns the content; `None` if the file does not exist.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(super) fn document(&self, source: DocumentError) -> InstallError {
        InstallError::Document {
            path: self.path.clone(),
            source,
        }
    }

    /// Returns the content of the backup, if it can be read.
    pub(super) fn backup(&self) -> Option<String> {
        let bytes = load(&self.beside(".hooks-guard.bak")).ok()??;
        String::from_utf8(bytes).ok()
    }

    /// Returns the change that writing a text would make.
    pub(super) fn change(&self, wanted: &str) -> FileChange {
        match self.text() {
            None => FileChange::Created,
            Some(text) if text == wanted => FileChange::None,
            Some(_) => FileChange::Changed,
        }
    }

    /// Returns a report of a change.
    pub(super) fn report(&self, change: FileChange, wanted: Option<&str>) -> Report {
        Report {
            file: self.path.clone(),
            change,
            diff: diff::unified(&self.path, self.text(), wanted),
            backup: None,
            to_do: Vec::new(),
            also: None,
        }
    }

    /// Writes a backup beside the file, readable by its owner only.
    pub(super) fn back_up(&self) -> Result<PathBuf, InstallError> {
        let backup = self.beside(".hooks-guard.bak");
        let text = self.text().unwrap_or_default();
        match self.put(&backup, text, true) {
            Ok(()) => Ok(backup),
            Err(source) => Err(InstallError::Write {
                path: backup,
                source,
            }),
        }
    }

    pub(super) fn forget_backup(&self) {
        // A leftover backup is harmless.
        let _ = fs::remove_file(self.beside(".hooks-guard.bak"));
    }

    /// Replaces the file, unless another process changed it since it was read.
    pub(super) fn replace(&self, text: &str) -> Result<(), InstallError> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory).map_err(|source| self.write(source))?;
        }
        self.unchanged()?;
        let path = &self.path;
        self.put(path, text, false).map_err(|source| {
            match source.kind() {
                // `put` checks again just before it replaces the file.
                io::ErrorKind::ResourceBusy => InstallError::Raced { path: path.clone() },
                _ => self.write(source),
            }
        })
    }

    pub(super) fn remove(&self) -> Result<(), InstallError> {
        self.unchanged()?;
        fs::remove_file(&self.path).map_err(|source| self.write(source))
    }

    fn write(&self, source: io::Error) -> InstallError {
        InstallError::Write {
            path: self.path.clone(),
            source,
        }
    }

    fn unchanged(&self) -> Result<(), InstallError> {
        match load(&self.path)?.as_deref() == self.text().map(str::as_bytes) {
            true => Ok(()),
            false => Err(InstallError::Raced {
                path: self.path.clone(),
            }),
        }
    }

    /// Writes a text to a path: with the owner and mode of the settings, or for the owner only if
    /// `private`.
    fn put(&self, path: &Path, text: &str, private: bool) -> io::Result<()> {
        let temporary = self.beside(&format!(".{}.tmp", std::process::id()));
        // Remove a leftover of a killed process or a planted link; never write through it.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let done = self.prepare(&temporary, text, private).and_then(|()| {
            match private || self.unchanged().is_ok() {
                true => fs::rename(&temporary, path),
                false => Err(io::ErrorKind::ResourceBusy.into()),
            }
        });
        if done.is_err() {
            let _ = fs::remove_file(&temporary);
            return done;
        }
        // The file is in place; syncing its directory makes it survive a power loss.
        #[cfg(unix)]
        if let Some(directory) = path.parent() {
            let _ = File::open(directory).and_then(|directory| directory.sync_all());
        }
        done
    }

    fn prepare(&self, temporary: &Path, text: &str, private: bool) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(temporary)?;
        file.write_all(text.as_bytes())?;
        if !private && self.text.is_some() {
            let metadata = fs::metadata(&self.path)?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt;
                let ours = file.metadata()?;
                if (ours.uid(), ours.gid()) != (metadata.uid(), metadata.gid()) {
                    let (user, group) = (metadata.uid(), metadata.gid());
                    std::os::unix::fs::fchown(&file, Some(user), Some(group))?;
                }
            }
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self
            .path
            .file_name()
            .map(OsString::from)
            .unwrap_or_default();
        name.push(ending);
        self.path.with_file_name(name)
    }
}

/// Returns the bytes of a file, or `None` if it does not exist.
fn load(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let read = || -> io::Result<Option<Vec<u8>>> {
        let file = match files::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_SETTINGS_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    };
    match read() {
        Ok(Some(bytes)) if bytes.len() as u64 > MAX_SETTINGS_BYTES => Err(InstallError::TooLong {
            path: path.to_owned(),
            most: MAX_SETTINGS_BYTES,
        }),
        Ok(bytes) => Ok(bytes),
        Err(source) => Err(InstallError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Resolves the symbolic links of a path, also of a file that does not exist yet. The links stay.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // Linux follows at most 40 links, too.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{InstallError, Settings};

    #[test]
    fn concurrent_changes_of_the_file_are_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings.json");
        for (before, meanwhile) in [
            (Some("{}"), Some("{\"a\": 1}")),
            (Some("{}"), None),
            (None, Some("{}")),
        ] {
            let _ = fs::remove_file(&path);
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            let settings = Settings::read(&path).unwrap();
            match meanwhile {
                Some(text) => fs::write(&path, text).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            for done in [settings.replace("ours"), settings.remove()] {
                assert!(matches!(done, Err(InstallError::Raced { .. })), "{done:?}");
            }
            // Changed just before the file is replaced.
            assert!(settings.put(&path, "ours", false).is_err());
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), meanwhile);
            let left = fs::read_dir(directory.path()).unwrap().count();
            assert_eq!(
                left,
                usize::from(meanwhile.is_some()),
                "no temporary file stays"
            );
        }
    }
}
