//! Changes of tracked files. In: the index, the files and `HEAD`. Out: which entries of the index
//! differ from their files, and which paths differ from `HEAD`.
//!
//! Filters and conversions are not applied. If a repository converts line ends, a file that differs
//! only in these is unchanged.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_index::entry::{Flags, Mode, Stage, Stat, stat};
use gix_index::extension::Tree;
use gix_index::{Entry, State};
use gix_object::bstr::{BStr, BString, ByteSlice};
use gix_object::{Kind, TreeRefIter};

use super::bounds::{Bounds, take};
use super::objects::Objects;
use super::place::Repository;
use super::settings::{GitSettings, read_bytes};
use crate::files::open;

/// Maximum size of an index, in bytes.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// Maximum size of one file that is hashed, in bytes.
const MAX_HASHED_BYTES: u64 = 32 << 20;
/// Maximum depth of the folders of a tree.
const MAX_DEPTH: usize = 256;

/// The index of a work tree.
pub(super) struct Index {
    state: State,
    settings: GitSettings,
    written: filetime::FileTime,
    /// Folder of the last compared file, and `true` if a link is on its path.
    last_folder: RefCell<Option<(PathBuf, bool)>>,
}

/// Difference between an entry of the index and its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    None,
    Changed,
    /// The limits do not allow to compare the contents.
    Unknown,
}

/// Paths whose content in the index differs from `HEAD`.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) paths: BTreeSet<BString>,
    /// `true` if there may be more.
    pub(super) at_least: bool,
}

impl Staged {
    /// Returns the value if the tree of `HEAD` cannot be read.
    pub(super) fn unknown() -> Self {
        Self {
            at_least: true,
            ..Self::default()
        }
    }
}

impl Index {
    /// Reads the index of a work tree. `None` if it is damaged, too large or split.
    pub(super) fn read(repository: &Repository) -> Option<Self> {
        let file = repository.own.join("index");
        let settings = repository.settings.clone();
        let kind = repository.hash_kind();
        let Ok(metadata) = file.symlink_metadata() else {
            return Some(Self {
                state: State::new(kind),
                settings,
                written: filetime::FileTime::zero(),
                last_folder: RefCell::default(),
            });
        };
        let bytes = read_bytes(&file, MAX_INDEX_BYTES)?;
        let written = filetime::FileTime::from_last_modification_time(&metadata);
        let options = gix_index::decode::Options {
            thread_limit: Some(1),
            alloc_limit_bytes: Some(4 * MAX_INDEX_BYTES as usize),
            ..Default::default()
        };
        let (state, _) = State::from_bytes(&bytes, written, kind, options).ok()?;
        state.link().is_none().then_some(Self {
            state,
            settings,
            written,
            last_folder: RefCell::default(),
        })
    }

    pub(super) fn entries(&self) -> &[Entry] {
        self.state.entries()
    }

    pub(super) fn path<'i>(&'i self, entry: &Entry) -> &'i BStr {
        entry.path(&self.state)
    }

    /// Returns the entries of a path, several if it has conflicts.
    pub(super) fn entries_of(&self, path: &BStr) -> &[Entry] {
        let entries = self.entries();
        let start = entries.partition_point(|entry| self.path(entry) < path);
        let count = entries[start..].partition_point(|entry| self.path(entry) == path);
        &entries[start..start + count]
    }

    /// Returns `true` if the index has an entry below a folder.
    pub(super) fn has_below(&self, folder: &BStr) -> bool {
        if folder.is_empty() {
            return !self.entries().is_empty();
        }
        let prefix = [folder.as_bytes(), b"/"].concat();
        let entries = self.entries();
        let start = entries.partition_point(|entry| self.path(entry).as_bytes() < &prefix[..]);
        let entry = entries.get(start);
        entry.is_some_and(|entry| self.path(entry).starts_with(&prefix))
    }

    /// Compares an entry with its file below the root of the work tree.
    pub(super) fn difference(&self, entry: &Entry, root: &Path, bounds: &mut Bounds) -> Difference {
        let is_elsewhere = entry.mode.is_sparse() || entry.mode.is_submodule();
        let unseen = Flags::SKIP_WORKTREE | Flags::ASSUME_VALID;
        if is_elsewhere || entry.flags.intersects(unseen) {
            return Difference::None;
        }
        if entry.stage() != Stage::Unconflicted || entry.flags.contains(Flags::INTENT_TO_ADD) {
            return Difference::Changed;
        }
        if !take(&mut bounds.tracked) {
            return Difference::Unknown;
        }
        let Ok(path) = self.path(entry).to_path() else {
            return Difference::Unknown;
        };
        let path = root.join(path);
        let Ok(metadata) = path.symlink_metadata() else {
            return Difference::Changed;
        };
        // Behind a link, the file is not the tracked one.
        if self.is_behind_link(&path, root) || !self.has_kind(entry, &metadata) {
            return Difference::Changed;
        }
        let (Ok(found), Ok(size)) = (
            gix_index::fs::Metadata::from_path_no_follow(&path),
            usize::try_from(metadata.len()),
        ) else {
            return Difference::Unknown;
        };
        let Ok(found) = Stat::from_fs(&found) else {
            return Difference::Unknown;
        };
        let options = stat::Options {
            trust_ctime: self.settings.trust_ctime,
            check_stat: self.settings.check_stat,
            use_nsec: true,
            use_stdev: false,
        };
        if entry.stat.matches(&found, options) && !entry.stat.is_racy(self.written, options) {
            return Difference::None;
        }
        // Git stores the size 0 for a file that changed in the moment in which the index was written.
        if entry.stat.size != found.size && entry.stat.size != 0 {
            return Difference::Changed;
        }
        let size = size as u64;
        if size > MAX_HASHED_BYTES || size > bounds.hashed {
            return Difference::Unknown;
        }
        bounds.hashed -= size;
        match self.has_content(entry, &path, metadata.is_symlink(), size) {
            Some(true) => Difference::None,
            Some(false) => Difference::Changed,
            None => Difference::Unknown,
        }
    }

    fn is_behind_link(&self, path: &Path, root: &Path) -> bool {
        let Some(folder) = path.parent() else {
            return false;
        };
        let mut last = self.last_folder.borrow_mut();
        if let Some((known, is_linked)) = &*last
            && known == folder
        {
            return *is_linked;
        }
        let mut above = folder.ancestors().take_while(|above| *above != root);
        let is_linked = above.any(Path::is_symlink);
        *last = Some((folder.to_owned(), is_linked));
        is_linked
    }

    /// Returns `true` if a file has the kind of an entry, with its permission to execute.
    fn has_kind(&self, entry: &Entry, metadata: &Metadata) -> bool {
        match entry.mode {
            Mode::SYMLINK => metadata.is_symlink(),
            mode => {
                let must_be_executable = mode == Mode::FILE_EXECUTABLE;
                metadata.is_file()
                    && (!self.settings.file_mode || is_executable(metadata) == must_be_executable)
            }
        }
    }

    /// Returns `true` if a file or link has the content of an entry. `None` if it cannot be read.
    fn has_content(&self, entry: &Entry, path: &Path, is_link: bool, size: u64) -> Option<bool> {
        let bytes = match is_link {
            true => std::fs::read_link(path)
                .ok()?
                .into_os_string()
                .into_encoded_bytes(),
            false => {
                let mut bytes = Vec::new();
                let file = open(path).ok()?;
                file.take(size + 1).read_to_end(&mut bytes).ok()?;
                bytes
            }
        };
        let is_equal = |bytes: &[u8]| {
            let id = gix_object::compute_hash(entry.id.kind(), Kind::Blob, bytes);
            Some(id.ok()? == entry.id)
        };
        Some(match is_equal(&bytes)? {
            false if !is_link && bytes.find(b"\r\n").is_some() => {
                is_equal(&bytes.replace(b"\r\n", b"\n"))?
            }
            same => same,
        })
    }

    /// Compares the index with the tree of `HEAD`; `None` is a tree without files.
    pub(super) fn staged(
        &self,
        objects: &Objects,
        head: Option<ObjectId>,
        bounds: &mut Bounds,
    ) -> Staged {
        let mut comparison = Comparison {
            index: self,
            objects,
            bounds,
            is_equal: vec![false; self.entries().len()],
            staged: Staged::default(),
        };
        if let Some(head) = head {
            comparison.tree(head, BStr::new(b""), self.state.tree(), 0);
        }
        let Comparison {
            is_equal,
            mut staged,
            ..
        } = comparison;
        // What no tree was read for is unknown, not new.
        if !staged.at_least {
            let new = self
                .entries()
                .iter()
                .zip(is_equal)
                .filter(|(_, equal)| !equal);
            staged
                .paths
                .extend(new.map(|(entry, _)| self.path(entry).to_owned()));
        }
        staged
    }
}

/// Comparison of an index with a tree.
struct Comparison<'a> {
    index: &'a Index,
    objects: &'a Objects,
    bounds: &'a mut Bounds,
    /// For each entry of the index, whether the tree has it.
    is_equal: Vec<bool>,
    staged: Staged,
}

impl Comparison<'_> {
    fn tree(&mut self, id: ObjectId, prefix: &BStr, cached: Option<&Tree>, depth: usize) {
        if cached.is_some_and(|cached| cached.num_entries.is_some() && cached.id == id) {
            let entries = self.index.entries();
            let is_before = |entry: &Entry| self.index.path(entry) < prefix;
            let start = entries.partition_point(is_before);
            let below = entries[start..].iter();
            let count = below
                .take_while(|entry| self.index.path(entry).starts_with(prefix))
                .count();
            self.is_equal[start..start + count].fill(true);
            return;
        }
        let Some(bytes) = self.objects.find_kind(&id, Kind::Tree) else {
            self.staged.at_least = true;
            return;
        };
        for entry in TreeRefIter::from_bytes(&bytes, id.kind()) {
            let Ok(entry) = entry else {
                self.staged.at_least = true;
                return;
            };
            if depth > MAX_DEPTH || !take(&mut self.bounds.tree_entries) {
                self.staged.at_least = true;
                return;
            }
            let path = BString::from([prefix.as_bytes(), entry.filename.as_bytes()].concat());
            if entry.mode.is_tree() {
                let name = entry.filename.as_bytes();
                let mut children = cached.into_iter().flat_map(|cached| &cached.children);
                let child = children.find(|child| child.name.as_slice() == name);
                let mut path = path;
                path.push(b'/');
                match self.find(path.as_ref()) {
                    // A folder outside of the part of the work tree that is checked out.
                    Some(at) => self.compare(at, path, entry.oid, Mode::DIR),
                    None => self.tree(entry.oid.to_owned(), path.as_ref(), child, depth + 1),
                }
                continue;
            }
            let mode = Mode::from_bits_retain(u32::from(entry.mode.value()));
            match self.find(path.as_ref()) {
                Some(at) => self.compare(at, path, entry.oid, mode),
                None => {
                    self.staged.paths.insert(path);
                }
            }
        }
    }

    /// Returns the position of the first entry of a path.
    fn find(&self, path: &BStr) -> Option<usize> {
        let entries = self.index.entries();
        let at = entries.partition_point(|entry| self.index.path(entry) < path);
        entries
            .get(at)
            .filter(|entry| self.index.path(entry) == path)?;
        Some(at)
    }

    fn compare(&mut self, at: usize, path: BString, id: &gix_hash::oid, mode: Mode) {
        let entry = &self.index.entries()[at];
        let is_conflict = entry.stage() != Stage::Unconflicted;
        let is_equal = *entry.id == *id && entry.mode == mode && !is_conflict;
        self.is_equal[at] = is_equal;
        if !is_equal {
            self.staged.paths.insert(path);
        }
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}
