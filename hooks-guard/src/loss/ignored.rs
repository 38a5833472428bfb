//! Patterns of ignored files. In: the files of patterns from the root down to a folder. Out: whether a
//! path in this folder is ignored.

use std::path::{Path, PathBuf};

use gix_glob::pattern::Case;
use gix_glob::search::pattern::List;
use gix_ignore::Search;
use gix_ignore::search::Ignore;
use gix_object::bstr::BStr;

use super::place::Repository;
use super::settings::read_text;

/// Name of the file with the patterns of a folder.
const FILE: &str = ".gitignore";

/// Patterns of the folders from the root of a work tree down to the current one.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    search: Search,
    case: Case,
    root: PathBuf,
}

impl Patterns {
    /// Reads the patterns for the whole work tree.
    pub(super) fn new(repository: &Repository, root: &Path) -> Self {
        let mut patterns = Self {
            search: Search::default(),
            case: match repository.settings.ignore_case {
                true => Case::Fold,
                false => Case::Sensitive,
            },
            root: root.to_owned(),
        };
        let of_repository = repository.shared.join("info/exclude");
        for file in repository
            .settings
            .excludes_file
            .iter()
            .chain([&of_repository])
        {
            patterns.add(file, None);
        }
        patterns
    }

    /// Adds the patterns in a folder below the root.
    pub(super) fn enter(&mut self, folder: &Path) {
        let file = self.root.join(folder).join(FILE);
        let is_file = file.symlink_metadata().is_ok_and(|file| file.is_file());
        let root = self.root.clone();
        match is_file {
            true => self.add(&file, Some(&root)),
            false => self.search.patterns.push(List::default()),
        }
    }

    /// Removes the patterns of the last entered folder.
    pub(super) fn leave(&mut self) {
        self.search.patterns.pop();
    }

    fn add(&mut self, file: &Path, root: Option<&Path>) {
        let text = read_text(file).unwrap_or_default();
        let list = List::from_bytes(&text, file.to_owned(), root, Ignore::default());
        self.search.patterns.push(list.unwrap_or_default());
    }

    /// Returns `true` if a path below the root is ignored. Its folders must not be ignored.
    pub(super) fn matches(&self, path: &BStr, is_folder: bool) -> bool {
        let found = self
            .search
            .pattern_matching_relative_path(path, Some(is_folder), self.case);
        found.is_some_and(|found| !found.pattern.is_negative())
    }
}
