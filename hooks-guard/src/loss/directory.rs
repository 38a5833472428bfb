//! Directories in which the parts of a command run. In: the parts and the directory of the request.
//! Out: the directory of each part, if it is certain.

use std::path::{Path, PathBuf};

use crate::classify::{Crud, Part, Parts, Tables, Word};
use crate::rules::PathBase;

/// PartDirectory in which a part runs.
#[derive(Clone, Debug)]
pub(super) struct PartDirectory {
    /// The path, without links.
    pub(super) path: PathBuf,
    home: PathBuf,
}

/// Directories of the parts of one command, in their order.
pub(super) struct PartDirectories<'p> {
    parts: &'p Parts,
    /// PartDirectory of the next part; `None` once it is unknown.
    current: Option<PartDirectory>,
    /// End of the last change of directory, if only such changes precede.
    changed_until: Option<usize>,
}

impl PartDirectory {
    fn new(path: &Path, home: &Path) -> Option<Self> {
        Some(Self {
            path: std::fs::canonicalize(path).ok()?,
            home: home.to_owned(),
        })
    }

    /// Returns the path that a word means: without links, except at its end. `None` if the word is
    /// only known when the command runs, or if its folder does not exist.
    pub(super) fn resolve(&self, word: &Word) -> Option<PathBuf> {
        let text = word.known.then_some(word.text.as_str())?;
        // `..` leads to the parent of a link's target, and `/` at the end to the target.
        let follows = matches!(text.rsplit('/').next(), Some("" | "." | ".."));
        let base = PathBase::new(Some(&self.path), &self.home);
        let paths = base.paths(text);
        let path = Path::new(paths.last()?);
        if follows && let Ok(real) = std::fs::canonicalize(path) {
            return Some(real);
        }
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Some(std::fs::canonicalize(folder).ok()?.join(name)),
            _ => Some(path.to_owned()),
        }
    }

    /// Returns the directory that a word names.
    pub(super) fn enter(&self, word: &Word) -> Option<Self> {
        let path = self.resolve(word)?;
        Self::new(&path, &self.home).filter(|directory| directory.path.is_dir())
    }
}

impl<'p> PartDirectories<'p> {
    pub(super) fn new(parts: &'p Parts, cwd: &Path, home: &Path) -> Self {
        Self {
            parts,
            current: PartDirectory::new(cwd, home),
            changed_until: Some(0),
        }
    }

    /// Returns the directory in which a part runs. Call it for each part in the order of the parts.
    pub(super) fn of(&mut self, part: &Part) -> Option<PartDirectory> {
        let tables = Tables::embedded();
        let changes = part
            .program()
            .is_some_and(|name| tables.changes_directory(name));
        if changes {
            self.change(part);
            return None;
        }
        let current = self.current.clone()?;
        if self.changed_until.is_some_and(|end| part.start > end) {
            self.changed_until = None;
        }
        let mut parent = part.parent;
        while let Some(at) = parent {
            let outer = self.parts.all.get(at)?;
            if !runs_in_place(outer) {
                return None;
            }
            parent = outer.parent;
        }
        Some(current)
    }

    /// Applies a change of directory. It is certain if the command begins with it and continues only if
    /// it succeeds, or in the next command.
    fn change(&mut self, part: &Part) {
        let command = self.parts.command();
        let begins = self.changed_until.is_some_and(|end| {
            let between = command.get(end..part.start).unwrap_or("(");
            between
                .chars()
                .all(|c| c.is_whitespace() || c == '&' || c == ';')
        });
        let rest = command.get(part.end..).unwrap_or_default();
        let rest = rest.trim_start_matches([' ', '\t']);
        let goes_on = rest.is_empty() || rest.starts_with("&&") || rest.starts_with([';', '\n']);
        let is_certain = begins && goes_on && part.parent.is_none();
        let entered = match part.words.as_slice() {
            [_, folder] if is_certain && !folder.text.starts_with('-') => self
                .current
                .as_ref()
                .and_then(|current| current.enter(folder)),
            _ => None,
        };
        self.changed_until = entered.is_some().then_some(part.end);
        self.current = entered;
    }
}

/// Returns `true` if a part runs its parts on this machine and in its own directory: a group of the
/// shell, a shell, or a wrapper that only sets variables or the user.
fn runs_in_place(part: &Part) -> bool {
    let Some(name) = part.words.first() else {
        return true;
    };
    let tables = Tables::embedded();
    let is_wrapper = tables.is_shell(&name.text) || tables.sets_variables_of_command(&name.text);
    let mut values = part.calls.iter().flat_map(|call| &call.options);
    let is_plain = tables.is_shell(&name.text) || values.all(|(_, value)| value.is_none());
    is_wrapper && is_plain && part.effect == Crud::Read && part.is_understood()
}
