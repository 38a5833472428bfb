//! Looks up and reads files within limits, because the agent may have put anything there. In:
//! [`Lookup`]s. Out: [`ScopeReader`] returns [`BoundFile`] files with the hashes of their contents, and
//! why an approval may not be remembered if a file could not be read.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::classify::without_system_folder;
use crate::files::open;
use crate::repository::{linked_repository, shared_repository};

/// Maximum number of files of one scope.
const MAX_FILES: usize = 256;
/// Maximum size of one file, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum size of all files, in bytes.
const MAX_TOTAL_BYTES: u64 = 16 << 20;
/// Maximum number of names read from one directory.
const MAX_NAMES: usize = 2000;
/// Maximum number of parent directories that are searched.
const MAX_ABOVE: usize = 64;

/// Where a file is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Lookup {
    /// A file, or the files in a directory; a missing file is recorded as missing.
    #[serde(rename = "f")]
    File(String),
    /// A file with this name in a directory, if it exists. With a leading `^` also in every parent
    /// directory, with `*` all files that match, with a trailing `/` a directory.
    #[serde(rename = "n")]
    Named(String, String),
    /// Target of a path, if links are on it.
    #[serde(rename = "l")]
    Link(String),
    /// The program with this name, in these directories and those of `PATH`.
    #[serde(rename = "p")]
    Program(String, Vec<String>),
}

/// A file that an approval is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BoundFile {
    pub(super) path: String,
    /// Path with links resolved, if it differs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) real: Option<String>,
    pub(super) state: PathState,
}

/// State of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PathState {
    #[serde(rename = "absent")]
    Absent,
    #[serde(rename = "folder")]
    Folder,
    /// Only the path counts, not its content.
    #[serde(rename = "place")]
    Place,
    /// SHA-256 of the content, in hexadecimal.
    #[serde(rename = "sha256")]
    Content(String),
    /// Metadata of a file that is not read: device, inode, size and times.
    #[serde(rename = "unread")]
    Unread(String),
}

impl BoundFile {
    pub(super) fn is_absent(&self) -> bool {
        self.state == PathState::Absent
    }

    /// Returns `true` if a change of the content is detected.
    pub(super) fn is_content(&self) -> bool {
        matches!(self.state, PathState::Content(_) | PathState::Unread(_))
    }

    /// Returns the fields that are hashed.
    pub(super) fn fields(&self) -> (&str, Option<&str>, String) {
        let state = match &self.state {
            PathState::Absent => "absent".to_owned(),
            PathState::Folder => "folder".to_owned(),
            PathState::Place => "place".to_owned(),
            PathState::Content(hash) => format!("sha256:{hash}"),
            PathState::Unread(known) => format!("unread:{known}"),
        };
        (&self.path, self.real.as_deref(), state)
    }
}

impl Lookup {
    /// Returns the texts that the lookup consists of.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Self::File(path) | Self::Link(path) => vec![path],
            Self::Named(folder, name) => vec![folder, name],
            Self::Program(name, folders) => {
                let folders = folders.iter().map(String::as_str);
                folders.chain([name.as_str()]).collect()
            }
        }
    }

    /// Returns `true` if it searches a directory at or below a path.
    pub(super) fn is_below(&self, path: &str) -> bool {
        match self {
            Self::File(own) => Path::new(own).starts_with(path),
            Self::Named(folder, name) => {
                let file = Path::new(folder).join(name.trim_start_matches('^'));
                file.starts_with(path)
            }
            Self::Link(_) | Self::Program(..) => false,
        }
    }

    /// Returns `true` if it would find a file with this path.
    pub(super) fn finds(&self, path: &str) -> bool {
        match self {
            Self::File(own) => own == path,
            Self::Named(folder, pattern) => {
                let above = pattern.starts_with('^');
                let pattern = pattern.trim_start_matches('^');
                let folders = Path::new(folder).ancestors();
                let mut folders = folders.take(if above { MAX_ABOVE } else { 1 });
                folders.any(|folder| pattern_matches(&folder.join(pattern).to_string_lossy(), path))
            }
            Self::Link(_) | Self::Program(..) => false,
        }
    }
}

/// Returns `true` if a path matches a pattern with `*` in its last component.
fn pattern_matches(pattern: &str, path: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == path;
    };
    let rest = path
        .strip_prefix(head)
        .and_then(|rest| rest.strip_suffix(tail));
    rest.is_some_and(|rest| !rest.contains('/'))
}

/// Reads files, up to the limits.
#[derive(Debug)]
pub(super) struct ScopeReader {
    files: usize,
    bytes: u64,
    known: HashMap<PathBuf, PathState>,
    refused: Option<String>,
}

impl Default for ScopeReader {
    fn default() -> Self {
        Self {
            files: MAX_FILES,
            bytes: MAX_TOTAL_BYTES,
            known: HashMap::new(),
            refused: None,
        }
    }
}

impl ScopeReader {
    /// Returns why not all files were read; `None` if all were.
    pub(super) fn refusal_reason(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Refuses a path that may hold a file that the service cannot see.
    fn refuse_unless_absent(&mut self, error: &io::Error, path: &Path) {
        let is_absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        if !is_absent.contains(&error.kind()) {
            self.refuse(format!("cannot read `{}`", path.display()));
        }
    }

    fn refuse(&mut self, why: String) {
        self.refused.get_or_insert(why);
    }

    /// Returns the results of the lookups, each path once.
    pub(super) fn resolve(&mut self, lookups: &[Lookup]) -> Vec<BoundFile> {
        let mut found: Vec<BoundFile> = Vec::new();
        for lookup in lookups {
            for covered in self.resolve_one(lookup) {
                let same = |had: &BoundFile| had.path == covered.path;
                match found.iter_mut().find(|had| same(had)) {
                    // Content is more specific than a place.
                    Some(had) if had.state == PathState::Place => *had = covered,
                    Some(_) => {}
                    None => found.push(covered),
                }
            }
        }
        found
    }

    pub(super) fn resolve_one(&mut self, lookup: &Lookup) -> Vec<BoundFile> {
        match lookup {
            Lookup::File(path) => self.file(Path::new(path)),
            Lookup::Named(folder, pattern) => self.resolve_pattern(Path::new(folder), pattern),
            Lookup::Link(path) => {
                let link_target = resolve_target(Path::new(path));
                let state = PathState::Place;
                let path = path.clone();
                link_target
                    .map(|real| BoundFile {
                        path,
                        real: Some(real),
                        state,
                    })
                    .into_iter()
                    .collect()
            }
            Lookup::Program(name, folders) => self.program(name, folders).into_iter().collect(),
        }
    }

    fn file(&mut self, path: &Path) -> Vec<BoundFile> {
        let state = self.state(path, true);
        let is_folder = state == PathState::Folder;
        let mut found = vec![covered(path, state)];
        if is_folder {
            found.extend(self.matching(path, "*"));
        }
        found
    }

    /// Returns the state of a path, which is read once.
    fn state(&mut self, path: &Path, must_be_read: bool) -> PathState {
        if let Some(state) = self.known.get(path) {
            return state.clone();
        }
        let state = self.read_state(path, must_be_read);
        self.known.insert(path.to_owned(), state.clone());
        state
    }

    fn read_state(&mut self, path: &Path, must_be_read: bool) -> PathState {
        let shown = path.display();
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                // A dangling link, or a directory that the service may not read.
                if error.kind() != std::io::ErrorKind::NotFound {
                    self.refuse(format!("cannot read `{shown}`"));
                }
                return PathState::Absent;
            }
        };
        if metadata.is_dir() {
            return PathState::Folder;
        }
        if self.files == 0 {
            self.refuse(format!(
                "the command depends on more than {MAX_FILES} files"
            ));
            return PathState::Unread(identity(&metadata));
        }
        self.files -= 1;
        if metadata.is_file() && metadata.len() > MAX_BYTES {
            if must_be_read {
                self.refuse(format!("`{shown}` is larger than {} MiB", MAX_BYTES >> 20));
            }
            return PathState::Unread(identity(&metadata));
        }
        match self.digest(path) {
            Some(hash) => PathState::Content(hash),
            None => {
                self.refuse(format!("cannot read `{shown}`"));
                PathState::Unread(identity(&metadata))
            }
        }
    }

    fn digest(&mut self, path: &Path) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(hex::encode(Sha256::digest(bytes)))
    }

    /// Returns the content of a regular file, if the limits allow it.
    fn bytes(&mut self, path: &Path) -> Option<Vec<u8>> {
        let most = MAX_BYTES.min(self.bytes);
        let mut bytes = Vec::new();
        let read = open(path)
            .ok()?
            .take(most + 1)
            .read_to_end(&mut bytes)
            .ok()?;
        let read = read as u64;
        if read > most {
            return None;
        }
        self.bytes -= read;
        Some(bytes)
    }

    /// Returns the text of a regular file whose hash is covered by a lookup.
    pub(super) fn text(&mut self, path: &Path) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the paths that a path with `*` in a folder's name means at present; another path as
    /// it is.
    pub(super) fn in_folders(&mut self, path: &str) -> Vec<String> {
        let Some((before, after)) = path.split_once('*') else {
            return vec![path.to_owned()];
        };
        let (parent, start) = before.rsplit_once('/').unwrap_or(("", before));
        let Some((end, rest)) = after.split_once('/') else {
            return vec![path.to_owned()];
        };
        let names = self.matching_names(Path::new(parent), &format!("{start}*{end}"));
        let names = names.iter();
        names
            .map(|name| format!("{parent}/{name}/{rest}"))
            .collect()
    }

    fn resolve_pattern(&mut self, folder: &Path, pattern: &str) -> Vec<BoundFile> {
        let (name, most) = match pattern.strip_prefix('^') {
            Some(name) => (name, MAX_ABOVE),
            None => (pattern, 1),
        };
        let mut found = Vec::new();
        let mut folders: Vec<&Path> = folder.ancestors().take(most).collect();
        // A program that searches parent directories starts at the real directory.
        let real = (most > 1)
            .then(|| std::fs::canonicalize(folder).ok())
            .flatten();
        for above in real.iter().flat_map(|real| real.ancestors()).take(most) {
            if !folders.contains(&above) {
                folders.push(above);
            }
        }
        for folder in folders {
            let place = repository_file(folder, name);
            if let Some(place) = name.ends_with('/').then_some(&place) {
                if place.exists() {
                    found.push(covered(place, PathState::Place));
                }
                continue;
            }
            if name.contains('*') {
                let (parent, pattern) = (place.parent(), place.file_name());
                if let (Some(parent), Some(pattern)) = (parent, pattern.and_then(|p| p.to_str())) {
                    found.extend(self.matching(parent, pattern));
                }
                continue;
            }
            match std::fs::symlink_metadata(&place) {
                Ok(_) => found.push(covered(&place, self.state(&place, true))),
                Err(error) => self.refuse_unless_absent(&error, &place),
            }
        }
        found
    }

    /// Returns the files of a directory whose names match a pattern. Samples of git hooks never
    /// run.
    fn matching(&mut self, folder: &Path, pattern: &str) -> Vec<BoundFile> {
        let names = self.matching_names(folder, pattern).into_iter();
        let mut found = Vec::new();
        for name in names.filter(|name| !name.ends_with(".sample")) {
            let path = folder.join(name);
            match self.state(&path, true) {
                PathState::Folder => {}
                state => found.push(covered(&path, state)),
            }
        }
        found
    }

    /// Returns the names in a directory that match a pattern, sorted.
    fn matching_names(&mut self, folder: &Path, pattern: &str) -> Vec<String> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.refuse_unless_absent(&error, folder);
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        for (at, entry) in entries.enumerate() {
            let Some(entry) = entry.ok().filter(|_| at < MAX_NAMES) else {
                self.refuse(format!("cannot list all of `{}`", folder.display()));
                break;
            };
            match entry.file_name().into_string() {
                Ok(name) if pattern_matches(pattern, &name) => names.push(name),
                Ok(_) => {}
                Err(_) => self.refuse(format!(
                    "`{}` contains a file name that is not UTF-8",
                    folder.display()
                )),
            }
        }
        names.sort();
        names
    }

    /// Returns the program of a bare name, unless it is a system program.
    fn program(&mut self, name: &str, folders: &[String]) -> Option<BoundFile> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let of_path = std::env::split_paths(&path);
        let found = folders
            .iter()
            .map(PathBuf::from)
            .chain(of_path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_absolute() && is_program(file))?;
        match is_of_system(&found) {
            true => None,
            false => {
                let state = self.state(&found, false);
                Some(covered(&found, state))
            }
        }
    }
}

fn covered(path: &Path, state: PathState) -> BoundFile {
    BoundFile {
        path: path.to_string_lossy().into_owned(),
        real: resolve_target(path),
        state,
    }
}

/// Returns the target of the links on a path, if there are any; for a missing path, that of its
/// existing part.
fn resolve_target(path: &Path) -> Option<String> {
    let mut rest = Vec::new();
    let real = path.ancestors().take(MAX_ABOVE).find_map(|above| {
        let with_rest = |mut real: PathBuf| {
            real.extend(rest.iter().rev());
            real
        };
        if let Ok(real) = std::fs::canonicalize(above) {
            return Some(with_rest(real));
        }
        if let Ok(target) = std::fs::read_link(above) {
            return Some(with_rest(above.parent()?.join(target)));
        }
        rest.push(above.file_name()?.to_owned());
        None
    })?;
    // A directory may be written with a trailing `/`.
    let same = real.components().eq(path.components());
    (!same).then(|| real.to_string_lossy().into_owned())
}

/// Returns a file of a directory; for `.git/` in a linked work tree, the file of its repository.
fn repository_file(folder: &Path, name: &str) -> PathBuf {
    let linked = || {
        let rest = name.strip_prefix(".git/")?;
        Some(shared_repository(&linked_repository(folder)?).join(rest))
    };
    linked().unwrap_or_else(|| folder.join(name))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let runs = |file: Metadata| file.is_file() && file.permissions().mode() & 0o111 != 0;
    std::fs::metadata(path).is_ok_and(runs)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Returns `true` if a program is in a system directory that only the administrator can write to.
fn is_of_system(path: &Path) -> bool {
    let text = path.to_string_lossy();
    without_system_folder(&text) != text && path.parent().is_some_and(is_administered)
}

#[cfg(unix)]
fn is_administered(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).is_ok_and(|folder| folder.uid() == 0 && folder.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_administered(_: &Path) -> bool {
    true
}

/// Returns metadata that changes when a file is replaced or written, without reading it.
#[cfg(unix)]
fn identity(file: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!(
        "{}:{}:{}:{}.{}:{}.{}",
        file.dev(),
        file.ino(),
        file.size(),
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec()
    )
}

#[cfg(not(unix))]
fn identity(file: &Metadata) -> String {
    format!("{}:{:?}", file.len(), file.modified().ok())
}
