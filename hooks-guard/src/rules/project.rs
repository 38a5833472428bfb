//! Finds the project of a request. In: the request's directory and the user's home directory. Out:
//! the project's directory, and whether a path is inside it.

use std::path::Path;

use super::paths::{Directory, ResolvedPath, normal};
use crate::places::Places;
use crate::repository::{is_shared, is_work_tree};

/// The project of a request.
#[derive(Clone, Debug)]
pub(super) struct Project {
    /// `None` if the request's directory is in no project.
    folder: Option<Directory>,
}

impl Project {
    /// Returns the nearest directory at or above that of the request that is the root of a work tree
    /// or contains a rules file, otherwise the request's directory. The root, the home directory and
    /// the directories above it are no project. A directory of several users is no project unless it
    /// is the root of a work tree of this user.
    pub(super) fn of(cwd: Option<&Path>, home: &Path) -> Self {
        let Some(cwd) = cwd else {
            return Self {
                folder: Some(Directory::unknown()),
            };
        };
        let home = Directory::new(home);
        let cwd = normal(&cwd.to_string_lossy());
        let around = Path::new(&cwd).ancestors();
        let around = around.map(|path| (path, Directory::new(path)));
        let may_be_project = |(path, folder): &(&Path, Directory)| {
            path.is_absolute() && !home.names.iter().any(|home| folder.holds(home))
        };
        let has_rules = |path: &Path| {
            Places::project_rules(path).symlink_metadata().is_ok() && !is_shared(path)
        };
        let has_marker = |(path, _): &(&Path, Directory)| is_work_tree(path) || has_rules(path);
        let mut around = around.take_while(may_be_project).peekable();
        let nearest = around.peek().filter(|(path, _)| !is_shared(path)).cloned();
        let project = around.find(has_marker).or(nearest);
        Self {
            folder: project.map(|(_, folder)| folder),
        }
    }

    /// Returns `true` if every name of a path is inside the project.
    pub(super) fn holds(&self, path: &ResolvedPath) -> bool {
        path.known() && path.names.iter().all(|name| self.holds_name(name))
    }

    /// Returns `true` if an absolute path without links is inside the project.
    pub(super) fn holds_name(&self, name: &str) -> bool {
        self.folder
            .as_ref()
            .is_some_and(|folder| folder.holds(name))
    }

    /// Returns `true` if a path is inside git's own directory of the project.
    pub(super) fn is_of_git(path: &ResolvedPath) -> bool {
        let mut names = path.names.iter();
        names.any(|name| {
            name.split('/')
                .any(|part| part.eq_ignore_ascii_case(".git"))
        })
    }
}

/// The directories that a rule names.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleFolders {
    /// `true` if the project of the request is one of them.
    pub(super) project: bool,
    pub(super) others: Vec<Directory>,
}

impl RuleFolders {
    /// Adds a directory. An error holds the mistake and how to correct it.
    pub(super) fn add(&mut self, text: &str, home: &Path) -> Result<(), (String, String)> {
        let folder = match text.strip_prefix("~/") {
            _ if text == "project" => {
                self.project = true;
                return Ok(());
            }
            Some(rest) => home.join(rest),
            None if text.starts_with('/') => text.into(),
            None => {
                return Err((
                    format!("`{text}` is not a directory"),
                    "write `project`, or a directory that starts with `~/` or `/`".into(),
                ));
            }
        };
        if text.contains(['*', '?', '[', '{']) || text.split('/').any(|part| part == "..") {
            return Err((
                format!("the directory `{text}` is a pattern or contains `..`"),
                "name the directory; everything below it is included".into(),
            ));
        }
        self.others.push(Directory::new(&folder));
        Ok(())
    }

    /// Returns `true` if every name of a path is inside one of the directories.
    pub(super) fn hold(&self, project: &Project, path: &ResolvedPath) -> bool {
        path.known() && (path.names.iter()).all(|name| self.hold_name(project, name))
    }

    /// Returns `true` if an absolute path without links is inside one of the directories.
    pub(super) fn hold_name(&self, project: &Project, name: &str) -> bool {
        self.project && project.holds_name(name) || self.others.iter().any(|one| one.holds(name))
    }
}
