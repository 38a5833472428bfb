//! Repositories around a path. In: a directory. Out: [`Place`]: the repository that contains it, and
//! its settings.

use std::path::{Path, PathBuf};

use gix_hash::Kind;

use super::settings::GitSettings;
use crate::repository::{is_bare_repository, is_work_tree, linked_repository, shared_repository};

/// Maximum number of parent directories that are searched.
const MAX_ABOVE: usize = 64;

/// Directories of the user that have settings of git.
#[derive(Clone, Debug)]
pub(super) struct UserFolders {
    pub(super) home: PathBuf,
    /// `$XDG_CONFIG_HOME`
    pub(super) config: PathBuf,
}

/// The repository that contains a directory.
#[derive(Debug)]
pub(super) enum Place {
    /// No repository contains the directory.
    Outside,
    /// A repository contains the directory, but it is not readable by the rules of this module: it
    /// belongs to another user, has an unknown format, or its files are in another place.
    Unreadable,
    Inside(Box<Repository>),
}

/// A repository, found by its files.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// Root of the work tree; `None` for a bare repository.
    pub(super) root: Option<PathBuf>,
    /// Directory of the files that belong to this work tree only.
    pub(super) own: PathBuf,
    /// Directory of the files that all work trees share.
    pub(super) shared: PathBuf,
    pub(super) settings: GitSettings,
}

impl Place {
    /// Returns the repository that contains a directory whose path has no links.
    pub(super) fn of(folder: &Path, user: &UserFolders) -> Self {
        for folder in folder.ancestors().take(MAX_ABOVE) {
            let entry = folder.join(".git");
            if entry.symlink_metadata().is_ok() {
                let own = match entry.is_dir() {
                    true => Some(entry),
                    false => linked_repository(folder),
                };
                let own = own.filter(|_| is_work_tree(folder));
                let found = own.and_then(|own| Repository::new(Some(folder), own, user));
                return found.map_or(Self::Unreadable, |found| Self::Inside(Box::new(found)));
            }
            if is_bare_repository(folder) {
                let found = Repository::new(None, folder.to_owned(), user);
                return found.map_or(Self::Unreadable, |found| Self::Inside(Box::new(found)));
            }
        }
        Self::Outside
    }
}

impl Repository {
    fn new(root: Option<&Path>, own: PathBuf, user: &UserFolders) -> Option<Self> {
        let shared = shared_repository(&own);
        let mut settings = GitSettings {
            excludes_file: Some(user.config.join("git/ignore")),
            ..GitSettings::default()
        };
        let files = [
            Path::new("/etc/gitconfig"),
            &user.config.join("git/config"),
            &user.home.join(".gitconfig"),
        ];
        for file in files {
            settings.read(file, &user.home);
        }
        // Only the repository itself has these.
        settings = GitSettings {
            excludes_file: settings.excludes_file,
            file_mode: settings.file_mode,
            ..GitSettings::default()
        };
        settings.read(&shared.join("config"), &user.home);
        if settings.work_tree_settings {
            settings.read(&own.join("config.worktree"), &user.home);
        }
        let is_main = own == shared;
        let work_tree = settings.work_tree.as_ref().filter(|_| is_main);
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let is_elsewhere = work_tree.is_some_and(|tree| match root {
            Some(root) => real(&own.join(tree)) != real(root),
            None => true,
        });
        if is_elsewhere || settings.unknown_format {
            return None;
        }
        Some(Self {
            root: root
                .filter(|_| !(is_main && settings.bare))
                .map(Path::to_owned),
            own,
            shared,
            settings,
        })
    }

    pub(super) fn hash_kind(&self) -> Kind {
        match self.settings.sha256 {
            true => Kind::Sha256,
            false => Kind::Sha1,
        }
    }
}
