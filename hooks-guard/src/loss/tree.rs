//! Files below a path. In: a path and the work tree that contains it, if any. Out: each file, with its
//! size and its [`Status`] in git.
//!
//! Links are not followed, and folders of other file systems are not entered.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use gix_object::bstr::{BString, ByteSlice, ByteVec};

use super::bounds::{Bounds, take};
use super::changes::{Difference, Index, Staged};
use super::ignored::Patterns;
use super::objects::Objects;
use super::place::Repository;
use super::references::References;

/// Name of the entry that makes a folder the root of a work tree.
const GIT: &str = ".git";

/// Maximum depth of folders.
const MAX_DEPTH: usize = 256;

/// Status of a file in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// The file has uncommitted changes.
    Changed,
    /// The file is neither tracked nor ignored.
    Untracked,
    Ignored,
    /// The file is as in the last commit, as far as is known.
    Unchanged,
    /// The file is in no repository, or in an unreadable one.
    Unknown,
}

/// A file, or a folder that is the root of a repository.
#[derive(Debug)]
pub(super) struct FoundFile<'f> {
    pub(super) path: &'f Path,
    pub(super) status: Status,
    pub(super) size: u64,
    /// `true` for the root of a repository inside; its files follow.
    pub(super) is_repository: bool,
}

/// Which folders a walk enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    /// Folders without tracked files.
    pub(super) untracked: bool,
    /// Folders without tracked files that have a file that is not ignored.
    pub(super) mixed: bool,
    /// Ignored folders without tracked files.
    pub(super) ignored: bool,
    /// Repositories inside of the work tree.
    pub(super) repositories: bool,
}

/// All folders, as for a deletion.
pub(super) const EVERYTHING: Entered = Entered {
    untracked: true,
    mixed: true,
    ignored: true,
    repositories: true,
};

/// All folders with files that are neither tracked nor ignored.
pub(super) const UNTRACKED: Entered = Entered {
    untracked: true,
    mixed: true,
    ignored: false,
    repositories: false,
};

/// A work tree with its index.
pub(super) struct WorkTree {
    pub(super) root: PathBuf,
    pub(super) index: Index,
    pub(super) staged: Staged,
    patterns: Patterns,
}

impl WorkTree {
    /// Reads the index of a repository, and compares it with `HEAD`. `None` if it has no work tree or
    /// cannot be read.
    pub(super) fn read(repository: &Repository, bounds: &mut Bounds) -> Option<Self> {
        let root = repository.root.clone()?;
        let index = Index::read(repository)?;
        let staged = match References::read(repository) {
            Some(references) => {
                let objects = Objects::open(&repository.shared, repository.hash_kind());
                let commit = references.head.commit;
                let tree = commit.map(|commit| objects.tree_of(commit));
                match tree {
                    Some(None) => Staged::unknown(),
                    tree => index.staged(&objects, tree.flatten(), bounds),
                }
            }
            None => Staged::unknown(),
        };
        Some(Self {
            patterns: Patterns::new(repository, &root),
            root,
            index,
            staged,
        })
    }

    /// Returns the path below the root.
    fn relative(&self, path: &Path) -> Option<BString> {
        let below = path.strip_prefix(&self.root).ok()?;
        Vec::from_path_buf(below.to_owned()).ok().map(BString::from)
    }
}

/// A walk over the files below a path.
pub(super) struct FileWalk<'w> {
    tree: Option<&'w WorkTree>,
    entered: Entered,
    patterns: Option<Patterns>,
    bounds: &'w mut Bounds,
    /// `true` if tracked files are not compared.
    pub(super) only_untracked: bool,
    /// `true` if not every file was found.
    pub(super) is_cut: bool,
    /// `true` if the difference of a tracked file to the index or to `HEAD` is unknown.
    pub(super) is_unsure: bool,
}

impl<'w> FileWalk<'w> {
    pub(super) fn new(
        tree: Option<&'w WorkTree>,
        entered: Entered,
        bounds: &'w mut Bounds,
    ) -> Self {
        Self {
            patterns: tree.map(|tree| tree.patterns.clone()),
            tree,
            entered,
            bounds,
            only_untracked: false,
            is_cut: false,
            is_unsure: false,
        }
    }

    /// Visits the file at a path, or all files below it. The path has no links except at its end, and
    /// is in the work tree.
    pub(super) fn start(&mut self, path: &Path, visit: &mut dyn FnMut(&FoundFile<'_>)) {
        let Ok(metadata) = path.symlink_metadata() else {
            return;
        };
        let mut is_ignored = false;
        let mut entered = 0;
        if let (Some(tree), Some(patterns)) = (self.tree, &mut self.patterns)
            && let Ok(below) = path.strip_prefix(&tree.root)
        {
            let above: Vec<&Path> = below.ancestors().skip(1).collect();
            for folder in above.iter().rev() {
                let path = tree.relative(&tree.root.join(folder)).unwrap_or_default();
                is_ignored |= !path.is_empty() && patterns.matches(path.as_ref(), true);
                patterns.enter(folder);
                entered += 1;
            }
        }
        self.visit(path, &metadata, is_ignored, 0, visit);
        for _ in 0..entered {
            self.patterns.as_mut().into_iter().for_each(Patterns::leave);
        }
    }

    fn visit(
        &mut self,
        path: &Path,
        metadata: &Metadata,
        is_ignored: bool,
        depth: usize,
        visit: &mut dyn FnMut(&FoundFile<'_>),
    ) {
        let relative = self.tree.and_then(|tree| tree.relative(path));
        let is_ignored = is_ignored
            || relative.as_ref().is_some_and(|relative| {
                let matches =
                    |patterns: &Patterns| patterns.matches(relative.as_ref(), metadata.is_dir());
                !relative.is_empty() && self.patterns.as_ref().is_some_and(matches)
            });
        if !metadata.is_dir() {
            let status = self.status(relative.as_ref(), is_ignored);
            visit(&FoundFile {
                path,
                status,
                size: metadata.len(),
                is_repository: false,
            });
            return;
        }
        let is_root = self.tree.is_some_and(|tree| tree.root == path);
        let is_repository = !is_root && path.join(GIT).symlink_metadata().is_ok();
        if let (Some(tree), Some(relative)) = (self.tree, &relative)
            && !is_root
        {
            let has_tracked = tree.index.has_below(relative.as_ref());
            let is_entered = has_tracked
                || match is_ignored {
                    true => self.entered.ignored,
                    false => {
                        self.entered.untracked
                            || self.entered.mixed && self.has_untracked(path, metadata, depth)
                    }
                };
            if !is_entered || is_repository && !self.entered.repositories {
                return;
            }
        }
        if is_repository || is_root && depth == 0 {
            visit(&FoundFile {
                path,
                status: Status::Unknown,
                size: 0,
                is_repository: true,
            });
        }
        if depth > MAX_DEPTH {
            self.is_cut = true;
            return;
        }
        // Files of a repository inside are not files of this one.
        let outer = is_repository.then(|| (self.tree.take(), self.patterns.take()));
        if let (Some(tree), Some(patterns)) = (self.tree, &mut self.patterns) {
            patterns.enter(path.strip_prefix(&tree.root).unwrap_or(Path::new("")));
        }
        self.visit_entries(path, metadata, is_ignored, depth, visit);
        self.patterns.as_mut().into_iter().for_each(Patterns::leave);
        if let Some((tree, patterns)) = outer {
            (self.tree, self.patterns) = (tree, patterns);
        }
    }

    /// Returns `true` if a file below a folder is neither tracked nor ignored.
    fn has_untracked(&mut self, folder: &Path, metadata: &Metadata, depth: usize) -> bool {
        let mut walk = FileWalk {
            tree: self.tree,
            entered: UNTRACKED,
            patterns: self.patterns.clone(),
            bounds: &mut *self.bounds,
            only_untracked: true,
            is_cut: false,
            is_unsure: false,
        };
        let mut found = false;
        walk.visit(folder, metadata, false, depth, &mut |file| {
            found |= file.status == Status::Untracked;
        });
        self.is_cut |= walk.is_cut;
        found
    }

    fn visit_entries(
        &mut self,
        folder: &Path,
        metadata: &Metadata,
        is_ignored: bool,
        depth: usize,
        visit: &mut dyn FnMut(&FoundFile<'_>),
    ) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            self.is_cut = true;
            return;
        };
        let mut names = Vec::new();
        for entry in entries {
            let Some(entry) = entry.ok().filter(|_| take(&mut self.bounds.entries)) else {
                self.is_cut = true;
                break;
            };
            names.push(entry.file_name());
        }
        names.sort();
        for name in names.iter().filter(|name| *name != GIT) {
            let path = folder.join(name);
            match path.symlink_metadata() {
                Ok(entry) if is_on_other_device(metadata, &entry) => self.is_cut = true,
                Ok(entry) => self.visit(&path, &entry, is_ignored, depth + 1, visit),
                // Removed since.
                Err(_) => {}
            }
        }
    }

    fn status(&mut self, path: Option<&BString>, is_ignored: bool) -> Status {
        let (Some(tree), Some(path)) = (self.tree, path) else {
            return Status::Unknown;
        };
        let entries = tree.index.entries_of(path.as_ref());
        let Some(entry) = entries.first() else {
            return match is_ignored {
                true => Status::Ignored,
                false => Status::Untracked,
            };
        };
        if self.only_untracked {
            return Status::Unchanged;
        }
        if entries.len() > 1 || tree.staged.paths.contains(path.as_bstr()) {
            return Status::Changed;
        }
        self.is_unsure |= tree.staged.at_least;
        match tree.index.difference(entry, &tree.root, self.bounds) {
            Difference::Changed => Status::Changed,
            Difference::None => Status::Unchanged,
            Difference::Unknown => {
                self.is_unsure = true;
                Status::Unchanged
            }
        }
    }
}

#[cfg(unix)]
fn is_on_other_device(folder: &Metadata, entry: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    entry.is_dir() && folder.dev() != entry.dev()
}

#[cfg(not(unix))]
fn is_on_other_device(_: &Metadata, _: &Metadata) -> bool {
    false
}
