//! Data that a command would discard. In: a request and the [parts](crate::classify::Parts) of its
//! command. Out: a [`Loss`] with the numbers of changed, untracked and ignored files, of stashes and of
//! commits that the command would discard.
//!
//! No program runs, and no setting of a repository names a program or a file that is used. A question
//! has this text in its reason; the decision does not depend on it.

mod bounds;
mod changes;
mod commits;
mod deletion;
mod directory;
mod ignored;
mod objects;
mod pattern;
mod place;
mod references;
mod repository;
mod settings;
mod text;
mod tree;

use std::fmt;

use self::bounds::Bounds;
use self::directory::PartDirectories;
use self::place::UserFolders;
use crate::classify::{Crud, FileOperation, Part, Parts, Tables};
use crate::places::Places;
use crate::request::{PermissionRequest, Sight};
use crate::workspace::LocalWorkspace;

/// Maximum number of clauses of one loss.
const MAX_CLAUSES: usize = 4;

/// Name in commands that use another repository or index than the files around them tell.
const OTHER_REPOSITORY: &str = "GIT_";

/// Data that a command would discard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    clauses: Vec<String>,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clauses.join("; "))
    }
}

/// A survey of the files for one command, with the remaining bounds.
struct Survey {
    user: UserFolders,
    bounds: Bounds,
}

impl Loss {
    /// Returns what a command would discard in the directory of the request. `None` if it discards
    /// nothing that is known. Reads files, so do not call it on a thread that runs futures.
    #[must_use]
    pub fn of(request: &PermissionRequest, parts: &Parts) -> Option<Self> {
        if request.sight == Sight::Text {
            return None;
        }
        // Other file systems may not answer.
        LocalWorkspace::new(request.cwd.as_deref()?, None)?;
        let places = Places::of_environment()?;
        let config = places.config.parent()?.to_owned();
        let home = places.home;
        Self::within(
            request,
            parts,
            UserFolders { home, config },
            Bounds::default(),
        )
    }

    fn within(
        request: &PermissionRequest,
        parts: &Parts,
        user: UserFolders,
        bounds: Bounds,
    ) -> Option<Self> {
        let cwd = request.cwd.as_deref().filter(|cwd| cwd.is_absolute())?;
        let is_unknown = !parts.complete || request.command.contains(OTHER_REPOSITORY);
        if !request.is_command() || is_unknown || !cwd.is_dir() {
            return None;
        }
        let mut survey = Survey { user, bounds };
        let mut clauses: Vec<String> = Vec::new();
        let mut directories = PartDirectories::new(parts, cwd, &survey.user.home);
        for part in &parts.all {
            let Some(directory) = directories.of(part) else {
                continue;
            };
            for clause in survey.part(part, &directory) {
                if clauses.len() < MAX_CLAUSES && !clauses.contains(&clause) {
                    clauses.push(clause);
                }
            }
        }
        (!clauses.is_empty()).then_some(Self { clauses })
    }
}

impl Survey {
    /// Returns what a part discards in its directory.
    fn part(&mut self, part: &Part, directory: &directory::PartDirectory) -> Vec<String> {
        let operation = part.program();
        let operation = operation.and_then(|name| Tables::embedded().file_operation(name));
        let mut clauses = Vec::new();
        if operation == Some(FileOperation::Delete) {
            clauses.extend(self.deletion(part, directory));
        }
        let overwrites = match operation {
            Some(FileOperation::Copy | FileOperation::Move) => true,
            Some(_) => false,
            // A part that only appends has the effect update.
            None => part.effect == Crud::Create,
        };
        clauses.extend(self.overwritten(part, directory, overwrites));
        if part.effect == Crud::Delete {
            for data in Tables::embedded().discards(part) {
                clauses.extend(self.discarded(data, part, directory));
            }
        }
        clauses
    }
}

#[cfg(test)]
mod tests;
