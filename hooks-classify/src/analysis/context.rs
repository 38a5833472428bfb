//! Context of a call or a text: the tables and the environment in, paths with their secrecy out.

use crate::model::environment::Environment;
use crate::model::possible_path::PossiblePath;
use crate::model::shells::Shells;
use crate::model::workspace_view::WorkspaceView;
use crate::tables::Tables;
use crate::workspace::{Answer, Entry};

/// Tables and environment that a function of `programs/` or `languages/` reads: the state before the
/// first action of its [`Analysis`](super::Analysis) is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) environment: &'a Environment,
    pub(crate) workspace: &'a WorkspaceView<'a>,
    /// The shells that may read the text.
    pub(crate) shells: Shells,
}

impl Context<'_> {
    /// Returns the absolute paths of the folders in which the shell may be; `None` if one of them is
    /// only known when the command runs.
    pub(crate) fn working_folders(&self) -> Option<Vec<String>> {
        let folders = &self.environment.working_directories;
        match folders.is_empty() {
            true => Some(vec![self.workspace.absolute("")?]),
            false => (folders.iter())
                .map(|folder| self.workspace.absolute(folder))
                .collect(),
        }
    }

    /// Returns the absolute path of a path from the folder in which the shell is; `None` if it may be
    /// in several folders, or the path is only known when the command runs.
    pub(crate) fn folder_at(&self, path: &str) -> Option<String> {
        let folders = self.environment.working_directories.len();
        match path.starts_with(['/', '~']) || folders == 0 {
            true => self.workspace.absolute(path),
            false if folders == 1 => {
                let folder = self.environment.working_directories.first()?;
                self.workspace.absolute(&format!("{folder}/{path}"))
            }
            false => None,
        }
    }

    /// Returns `true` if a path is known to name a file that exists.
    pub(crate) fn names_existing_file(&self, path: &str) -> bool {
        let place = self.folder_at(path);
        place.is_some_and(|place| {
            self.workspace.resolved_entry(&place) == Answer::Known(Entry::File)
        })
    }

    /// Returns `true` if a variable of the command is not empty.
    pub(crate) fn is_variable_set(&self, name: &str) -> bool {
        let exported = self.environment.exported_assignments.iter();
        let own = exported.rev().find(|(known, _)| known == name);
        match own {
            Some((_, value)) => value.is_known() && !value.text.is_empty(),
            None => self
                .workspace
                .variable(name)
                .is_some_and(|value| !value.is_empty()),
        }
    }

    /// Returns `true` if a variable is known to have a value.
    pub(crate) fn has_variable(&self, name: &str, text: &str) -> bool {
        let exported = self.environment.exported_assignments.iter();
        match exported.rev().find(|(known, _)| known == name) {
            Some((_, value)) => value.is_known() && value.text == text,
            None => self.workspace.variable(name).as_deref() == Some(text),
        }
    }

    /// Returns a path, marked as a secret if it is one, or may contain one, in any folder in which
    /// the shell may be.
    pub(crate) fn possible_path(&self, path: &str) -> PossiblePath {
        let mut places = self.environment.candidate_paths(path);
        let secret = places.any(|place| {
            self.tables.may_read_secrets(&place) || self.tables.may_read_secrets_below(&place)
        });
        PossiblePath {
            path: path.to_owned(),
            secret,
        }
    }
}
