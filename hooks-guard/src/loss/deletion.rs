//! Files that a part deletes or overwrites by their names. In: a part and its directory. Out: clauses.

use std::path::{Path, PathBuf};

use gix_object::bstr::{BStr, ByteSlice};

use super::Survey;
use super::bounds::Bounds;
use super::commits::Quantity;
use super::directory::PartDirectory;
use super::pattern;
use super::place::Place;
use super::text::{NamedFiles, counted, name_of, size};
use super::tree::{EVERYTHING, FileWalk, Status, WorkTree};
use crate::classify::{Crud, FileOperation, Part, Tables, UNKNOWN};

/// Files that would be deleted.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) number: usize,
    pub(super) bytes: u64,
    pub(super) changed: NamedFiles,
    pub(super) untracked: NamedFiles,
    pub(super) untracked_bytes: u64,
    pub(super) ignored: NamedFiles,
    pub(super) ignored_bytes: u64,
    unchanged: usize,
    /// Files in no readable repository.
    unknown: usize,
    repositories: usize,
    /// `true` if there may be more files.
    pub(super) is_cut: bool,
    /// `true` if there may be more changed files.
    pub(super) is_unsure: bool,
}

impl Files {
    pub(super) fn add(&mut self, walk: &mut FileWalk<'_>, path: &Path, shown_from: &Path) {
        walk.start(path, &mut |found| {
            if found.is_repository {
                self.repositories += 1;
                return;
            }
            self.number += 1;
            self.bytes = self.bytes.saturating_add(found.size);
            let name = shown(found.path, shown_from);
            let name = BStr::new(name.as_os_str().as_encoded_bytes());
            match found.status {
                Status::Changed => self.changed.add(name),
                Status::Untracked => {
                    self.untracked.add(name);
                    self.untracked_bytes = self.untracked_bytes.saturating_add(found.size);
                }
                Status::Ignored => {
                    self.ignored.add(name);
                    self.ignored_bytes = self.ignored_bytes.saturating_add(found.size);
                }
                Status::Unchanged => self.unchanged += 1,
                Status::Unknown => self.unknown += 1,
            }
        });
        self.is_cut |= walk.is_cut;
        self.is_unsure |= walk.is_unsure;
    }

    pub(super) fn count(&self, number: usize) -> Quantity {
        Quantity {
            number,
            at_least: self.is_cut,
        }
    }

    /// Returns the clause about a deletion.
    fn clause(&self, is_outside: bool) -> Option<String> {
        if self.number == 0 && self.repositories == 0 && !self.is_cut {
            return None;
        }
        let count = counted(self.count(self.number), "file", "files");
        let mut clause = format!("would delete {count}, {}", size(self.bytes));
        let mut details = Vec::new();
        match self {
            _ if self.number == 0 => {}
            _ if self.ignored.number == self.number => {
                clause += match self.is_cut {
                    true => ", all found ones ignored by git",
                    false => ", all ignored by git",
                };
            }
            _ if self.unchanged == self.number && !self.is_cut && !self.is_unsure => {
                clause += ", all unchanged in git";
            }
            _ if self.unknown == self.number && is_outside => clause += ", in no git repository",
            _ => {
                let count = Quantity {
                    number: self.changed.number,
                    at_least: self.is_cut || self.is_unsure,
                };
                if self.changed.number > 0 {
                    let tracked = counted(count, "tracked file has", "tracked files have");
                    let names = self.changed.names();
                    details.push(format!("{tracked} uncommitted changes{names}"));
                }
                if self.untracked.number > 0 {
                    let count = self.count(self.untracked.number);
                    let untracked = counted(count, "is untracked", "are untracked");
                    details.push(format!("{untracked}{}", self.untracked.names()));
                }
                if self.ignored.number > 0 {
                    let count = self.count(self.ignored.number);
                    details.push(counted(count, "is ignored", "are ignored"));
                }
            }
        }
        if self.repositories > 0 {
            let count = self.count(self.repositories);
            details.push(counted(
                count,
                "is a git repository",
                "are git repositories",
            ));
        }
        if !details.is_empty() {
            clause += &format!(": {}", details.join(", "));
        }
        Some(clause)
    }
}

/// Returns a path as a name below a folder, if it is below it.
pub(super) fn shown(path: &Path, folder: &Path) -> PathBuf {
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}

/// Returns the work tree that contains a path, and `true` if no repository does.
fn work_tree(survey: &mut Survey, path: &Path) -> (Option<WorkTree>, bool) {
    let folder = match path.symlink_metadata().is_ok_and(|file| file.is_dir()) {
        true => path,
        false => path.parent().unwrap_or(path),
    };
    match Place::of(folder, &survey.user) {
        Place::Outside => (None, true),
        Place::Unreadable => (None, false),
        Place::Inside(repository) => (WorkTree::read(&repository, &mut survey.bounds), false),
    }
}

/// A work tree that is read once for several paths.
#[derive(Default)]
struct LastTree {
    tree: Option<WorkTree>,
    is_outside: bool,
    folder: PathBuf,
}

impl LastTree {
    fn around(&mut self, path: &Path, survey: &mut Survey) -> (Option<&WorkTree>, bool) {
        let folder = path.parent().unwrap_or(path).to_owned();
        let is_root = path.join(".git").symlink_metadata().is_ok();
        if folder != self.folder || is_root {
            (self.tree, self.is_outside) = work_tree(survey, path);
            self.folder = if is_root { PathBuf::new() } else { folder };
        }
        (self.tree.as_ref(), self.is_outside)
    }
}

impl Survey {
    /// Returns the clause about the files that a part deletes. `None` if one of the names is unknown.
    pub(super) fn deletion(&mut self, part: &Part, directory: &PartDirectory) -> Option<String> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for deleted in part
            .path_effects
            .iter()
            .filter(|path| path.effect == Crud::Delete)
        {
            let word = &deleted.path;
            let is_pattern = word.is_glob && !word.text.contains(UNKNOWN);
            let found = match directory.resolve(word) {
                Some(path) => vec![path],
                None if is_pattern && !word.text.starts_with('~') => {
                    pattern::paths(&directory.path, &word.text, &mut self.bounds)?
                }
                None if word.known => Vec::new(),
                None => return None,
            };
            for path in found {
                if !paths.iter().any(|other| path.starts_with(other)) {
                    paths.retain(|other| !other.starts_with(&path));
                    paths.push(path);
                }
            }
        }
        let mut files = Files::default();
        let mut last = LastTree::default();
        let mut is_outside = true;
        for path in &paths {
            let (tree, outside) = last.around(path, self);
            is_outside &= outside;
            let mut bounds = self.bounds;
            files.add(
                &mut FileWalk::new(tree, EVERYTHING, &mut bounds),
                path,
                &directory.path,
            );
            self.bounds = bounds;
        }
        files.clause(is_outside)
    }

    /// Returns a clause for each file that a part overwrites, by its redirections and, if
    /// `by_words`, by its words.
    pub(super) fn overwritten(
        &mut self,
        part: &Part,
        directory: &PartDirectory,
        by_words: bool,
    ) -> Vec<String> {
        let mut paths: Vec<PathBuf> = Vec::new();
        // `-t FOLDER` makes the last word another source.
        let mut options = part.calls.iter().flat_map(|call| &call.options);
        let by_words = by_words && !(is_copy(part) && options.any(|(_, value)| value.is_some()));
        let words = part.path_effects.iter().filter(|_| by_words);
        for written in part.redirections.iter().chain(words) {
            if written.effect != Crud::Create {
                continue;
            }
            let Some(path) = directory.resolve(&written.path) else {
                continue;
            };
            paths.extend(files_at(part, directory, path));
        }
        paths.sort();
        paths.dedup();
        let mut last = LastTree::default();
        let mut clauses = Vec::new();
        for path in paths {
            let (tree, is_outside) = last.around(&path, self);
            let mut bounds: Bounds = self.bounds;
            let mut found = None;
            let mut walk = FileWalk::new(tree, EVERYTHING, &mut bounds);
            walk.start(&path, &mut |file| found = Some((file.status, file.size)));
            let is_unsure = walk.is_unsure;
            self.bounds = bounds;
            let Some((status, bytes)) = found.filter(|(_, bytes)| *bytes > 0) else {
                continue;
            };
            let status = match status {
                Status::Changed => ", with uncommitted changes",
                Status::Untracked => ", untracked",
                Status::Ignored => ", ignored by git",
                Status::Unchanged if !is_unsure => ", unchanged in git",
                Status::Unknown if is_outside => ", in no git repository",
                Status::Unchanged | Status::Unknown => "",
            };
            let name = shown(&path, &directory.path);
            let name = name_of(name.as_os_str().as_encoded_bytes().as_bstr());
            clauses.push(format!("would overwrite {name} ({}{status})", size(bytes)));
        }
        clauses
    }
}

/// Returns the existing regular files that writing to a path replaces: the file itself, or in a
/// folder the files with the names of the copied or moved ones.
fn files_at(part: &Part, directory: &PartDirectory, path: PathBuf) -> Vec<PathBuf> {
    // The file behind a link is the one that is written.
    let Ok(path) = std::fs::canonicalize(path) else {
        return Vec::new();
    };
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|file| file.is_file());
    if !path.is_dir() {
        return Some(path).filter(is_file).into_iter().collect();
    }
    if !is_copy(part) {
        return Vec::new();
    }
    let sources = part
        .path_effects
        .iter()
        .filter(|source| source.effect != Crud::Create);
    let sources = sources.filter_map(|source| directory.resolve(&source.path));
    let sources = sources.filter(|source| source.is_file());
    let targets = sources.filter_map(|source| Some(path.join(source.file_name()?)));
    targets.filter(is_file).collect()
}

/// Returns `true` if a part copies or moves files.
fn is_copy(part: &Part) -> bool {
    let operation = part.program();
    let operation = operation.and_then(|name| Tables::embedded().file_operation(name));
    matches!(operation, Some(FileOperation::Copy | FileOperation::Move))
}
