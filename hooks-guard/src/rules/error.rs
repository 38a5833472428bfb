//! Errors of rules files. In: a file and the mistakes found in it. Out: one error with the place of
//! each mistake.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::excerpt::Excerpt;

/// Error returned when rules cannot be loaded.
///
/// If the rules cannot be loaded, denials are unknown, so every request needs confirmation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RulesError {
    /// A file could not be read.
    #[error("cannot read `{}`: {source}; check that it is a readable file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A file exceeds the maximum size.
    #[error("`{name}` has {length} bytes; a rules file has at most {most}")]
    TooLong {
        /// Displayed path of the file.
        name: String,
        /// Its length in bytes.
        length: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// A file is not UTF-8.
    #[error("`{name}` is not valid UTF-8; encode it as UTF-8")]
    Encoding {
        /// Displayed path of the file.
        name: String,
    },
    /// A file has mistakes. The message has the first one and the number of the others.
    #[error("{}", list(.0))]
    Mistakes(Vec<Mistake>),
}

impl RulesError {
    /// Sets the displayed path to that of the file, because several files have the same name.
    pub(super) fn in_file(mut self, path: &Path) -> Self {
        let shown = path.display().to_string();
        match &mut self {
            Self::TooLong { name, .. } | Self::Encoding { name } => *name = shown,
            Self::Mistakes(mistakes) => {
                for mistake in mistakes {
                    mistake.file.clone_from(&shown);
                }
            }
            Self::Read { .. } => {}
        }
        self
    }
}

/// A mistake in a rules file, such as
/// ``guard.toml:3:1: unknown key `programm` in a rule; did you mean `program`?``
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Displayed path of the file.
    pub file: String,
    /// Line, column and text of the place.
    pub excerpt: Excerpt,
    /// Description of the mistake.
    pub what: String,
    /// How to correct it.
    pub remedy: String,
}

impl Mistake {
    /// Returns the mistake with its line and carets, for a terminal.
    #[must_use]
    pub fn report(&self, color: bool) -> String {
        let message = format!("{}; {}", self.what, self.remedy);
        self.excerpt.report(&self.file, &message, color)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            excerpt,
            what,
            remedy,
        } = self;
        write!(f, "{file}:{excerpt}: {what}; {remedy}")
    }
}

fn list(mistakes: &[Mistake]) -> String {
    match mistakes {
        [] => "no mistakes".to_owned(),
        [one] => one.to_string(),
        [first, rest @ ..] => {
            let count = rest.len();
            let more = if count == 1 { "mistake" } else { "mistakes" };
            format!("{first} ({count} more {more}: run `hooks-guard test-rules`)")
        }
    }
}
