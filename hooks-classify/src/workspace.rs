//! Place where a command runs: questions about its files and variables in, answers of the caller out.
//!
//! The crate itself reads no file. A caller that runs where the command will run implements
//! [`Workspace`]; without it, the text alone decides.

use std::fmt;

/// Answer to a question about the place where a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The value.
    Known(T),
    /// There is none.
    Absent,
    /// The workspace cannot tell.
    Unknown,
}

impl<T> Answer<T> {
    /// Returns the value, or `None` if there is none or it is unknown.
    #[must_use]
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// Maps the value.
    #[must_use]
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Known(value) => Answer::Known(with(value)),
            Self::Absent => Answer::Absent,
            Self::Unknown => Answer::Unknown,
        }
    }
}

/// Kind of the file, folder or link at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, a named pipe, a socket.
    Special,
    /// A symbolic link.
    Link {
        /// Absolute path of the file or folder to which it leads, through every further link; `None`
        /// if it leads nowhere.
        target: Option<String>,
    },
}

/// Variable with which a command starts.
#[derive(Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// Value, or `None` if it is a secret that is not passed on.
    pub value: Option<String>,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets.
        f.debug_tuple("Variable").field(&self.name).finish()
    }
}

/// Files and variables of the place where a command runs.
///
/// A [`Classifier`](crate::Classifier) asks at most 64 texts of together 1 MiB, 4,096 names in
/// folders and 1,024 entries for a command, each once. If a command needs more, it has to be
/// confirmed. Paths are absolute, with `/`, and have no `.`, `..` or `~`.
///
/// An implementation must not run anything, must open no named pipe and no device, and must answer
/// the same question alike for the same files.
pub trait Workspace: fmt::Debug + Send + Sync {
    /// Returns the absolute path of the folder in which the command starts, or `None` if it is
    /// unknown.
    fn folder(&self) -> Option<String>;

    /// Returns the absolute path of the user's home folder, or `None` if it is unknown.
    fn home(&self) -> Option<String>;

    /// Returns what a path names, without following a link.
    fn entry(&self, path: &str) -> Answer<Entry>;

    /// Returns the text of a regular file of at most `max_bytes` bytes, through links. Bytes that are
    /// not UTF-8 are replaced. A longer file, or one that cannot be read, is
    /// [`Unknown`](Answer::Unknown).
    fn text(&self, path: &str, max_bytes: usize) -> Answer<String>;

    /// Returns the names in a folder, in any order, without `.` and `..`. A folder with more than
    /// `max_names` entries is [`Unknown`](Answer::Unknown).
    fn names(&self, folder: &str, max_names: usize) -> Answer<Vec<String>>;

    /// Returns the variables with which the command starts.
    fn variables(&self) -> Answer<Vec<Variable>>;
}
