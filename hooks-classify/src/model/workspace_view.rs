//! [`WorkspaceView`]: the answers of a workspace to one command, within limits.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::arg::UNKNOWN;
use crate::workspace::{Answer, Entry, Variable, Workspace};

/// Limit of texts that are read for a command.
const MAX_TEXTS: usize = 64;
/// Limit of bytes of these texts.
const MAX_BYTES: usize = 1 << 20;
/// Limit of names in folders.
const MAX_NAMES: usize = 4_096;
/// Limit of paths that are looked up.
const MAX_ENTRIES: usize = 1_024;

/// Answers of a workspace to one command. Each question is asked once, so that the same files give
/// the same answers during the command.
#[derive(Debug)]
pub(crate) struct WorkspaceView<'w> {
    workspace: Option<&'w dyn Workspace>,
    /// Folder in which the command starts.
    folder: Option<String>,
    /// The user's home folder.
    home: Option<String>,
    answers: RefCell<Answers>,
    /// Number of commands in progress that run what they contain in another place.
    elsewhere: Cell<usize>,
}

#[derive(Debug, Default)]
struct Answers {
    entries: HashMap<String, Answer<Entry>>,
    texts: HashMap<String, Answer<Rc<str>>>,
    names: HashMap<String, Answer<Rc<[String]>>>,
    variables: Option<Answer<Rc<[Variable]>>>,
    bytes: usize,
    name_count: usize,
}

impl<'w> WorkspaceView<'w> {
    pub(crate) fn new(workspace: Option<&'w dyn Workspace>) -> Self {
        Self {
            workspace,
            folder: workspace.and_then(Workspace::folder),
            home: workspace
                .and_then(Workspace::home)
                .map(|home| normalized(&home)),
            answers: RefCell::default(),
            elsewhere: Cell::new(0),
        }
    }

    /// Returns `true` if there is a workspace whose folder is known.
    pub(crate) fn is_known(&self) -> bool {
        self.workspace().is_some() && self.folder.is_some()
    }

    /// Returns the workspace, unless the current command runs in another place.
    fn workspace(&self) -> Option<&'w dyn Workspace> {
        self.workspace.filter(|_| self.elsewhere.get() == 0)
    }

    /// Returns `true` if there is a workspace, and the current command runs in another place.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.workspace.is_some() && self.elsewhere.get() > 0
    }

    /// Begins a command that runs what it contains in another place.
    pub(crate) fn enter_other_place(&self) {
        self.elsewhere.set(self.elsewhere.get() + 1);
    }

    /// Ends a command that runs what it contains in another place.
    pub(crate) fn leave_other_place(&self) {
        self.elsewhere.set(self.elsewhere.get().saturating_sub(1));
    }

    /// Returns the absolute path of a path from the folder in which the command starts; `None` if it
    /// is only known when the command runs.
    pub(crate) fn absolute(&self, path: &str) -> Option<String> {
        self.workspace()?;
        if path.contains(UNKNOWN) {
            return None;
        }
        let whole = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.home()?)
            }
            Some(_) => return None,
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{}/{path}", self.folder.as_deref()?),
        };
        Some(normalized(&whole))
    }

    /// Returns the user's home folder.
    pub(crate) fn home(&self) -> Option<&str> {
        self.workspace()?;
        self.home.as_deref()
    }

    /// Returns what an absolute path names, without following a link.
    pub(crate) fn entry(&self, path: &str) -> Answer<Entry> {
        let Some(workspace) = self.workspace() else {
            return Answer::Unknown;
        };
        let mut answers = self.answers.borrow_mut();
        if let Some(known) = answers.entries.get(path) {
            return known.clone();
        }
        if answers.entries.len() >= MAX_ENTRIES {
            return Answer::Unknown;
        }
        let answer = workspace.entry(path);
        answers.entries.insert(path.to_owned(), answer.clone());
        answer
    }

    /// Returns what an absolute path names, through links.
    pub(crate) fn resolved_entry(&self, path: &str) -> Answer<Entry> {
        match self.entry(path) {
            Answer::Known(Entry::Link { target: None }) => Answer::Absent,
            Answer::Known(Entry::Link {
                target: Some(target),
            }) => self.entry(&target),
            other => other,
        }
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self, path: &str) -> Answer<Rc<str>> {
        let Some(workspace) = self.workspace() else {
            return Answer::Unknown;
        };
        let mut answers = self.answers.borrow_mut();
        if let Some(known) = answers.texts.get(path) {
            return known.clone();
        }
        if answers.texts.len() >= MAX_TEXTS {
            return Answer::Unknown;
        }
        let text = workspace.text(path, MAX_BYTES - answers.bytes);
        let answer = text.map(Rc::<str>::from);
        if let Answer::Known(text) = &answer {
            answers.bytes = MAX_BYTES.min(answers.bytes + text.len());
        }
        answers.texts.insert(path.to_owned(), answer.clone());
        answer
    }

    /// Returns the names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Answer<Rc<[String]>> {
        let Some(workspace) = self.workspace() else {
            return Answer::Unknown;
        };
        let mut answers = self.answers.borrow_mut();
        if let Some(known) = answers.names.get(folder) {
            return known.clone();
        }
        let answer = match workspace.names(folder, MAX_NAMES - answers.name_count) {
            Answer::Known(mut names) => {
                names.sort_unstable();
                answers.name_count = MAX_NAMES.min(answers.name_count + names.len());
                Answer::Known(Rc::from(names))
            }
            Answer::Absent => Answer::Absent,
            Answer::Unknown => Answer::Unknown,
        };
        answers.names.insert(folder.to_owned(), answer.clone());
        answer
    }

    /// Returns the variables with which the command starts.
    pub(crate) fn variables(&self) -> Answer<Rc<[Variable]>> {
        let Some(workspace) = self.workspace() else {
            return Answer::Unknown;
        };
        let mut answers = self.answers.borrow_mut();
        let known = &mut answers.variables;
        (known.get_or_insert_with(|| workspace.variables().map(Rc::from))).clone()
    }

    /// Returns the value of a variable with which the command starts.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let variables = self.variables().known()?;
        let found = variables.iter().find(|known| known.name == name);
        found.and_then(|found| found.value.clone())
    }
}

/// Returns an absolute path without `.`, `..` and repeated slashes. A `..` is the folder above in the
/// text of the path, as for `cd`.
fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part.as_bytes() {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Returns the folder of an absolute path; `None` for the root.
pub(crate) fn parent(path: &str) -> Option<&str> {
    match path.rfind('/')? {
        0 if path.len() > 1 => Some("/"),
        0 => None,
        at => Some(&path[..at]),
    }
}

/// Returns an absolute path, and the folders above it up to the root.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| parent(path))
}

/// Returns the path of a name, or of a relative path, in a folder with a normalized path.
pub(crate) fn join(folder: &str, name: &str) -> String {
    let path = format!("{folder}/{name}");
    let is_name = |part: &str| !matches!(part.as_bytes(), b"" | b"." | b"..");
    match folder.len() > 1 && name.split('/').all(is_name) {
        true => path,
        false => normalized(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::{join, normalized, parent};

    #[test]
    fn paths_are_normalized() {
        assert_eq!(normalized("/a/./b//../c/"), "/a/c");
        assert_eq!(normalized("/../.."), "/");
        assert_eq!(join("/a/b", "../.git/config"), "/a/.git/config");
        assert_eq!(parent("/a/b"), Some("/a"));
        assert_eq!(parent("/a"), Some("/"));
        assert_eq!(parent("/"), None);
    }
}
