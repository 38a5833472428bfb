//! Errors of rules files. In: a file and the mistakes found in it. Out: one error with the place of
//! each mistake.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

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
    /// A file has mistakes; lists all of them.
    #[error("{}", list(.0))]
    Mistakes(Vec<Mistake>),
}

/// A mistake in a rules file, such as
/// ``guard.toml:3:1: unknown key `programm` in a rule; did you mean `program`?``
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Displayed path of the file.
    pub file: String,
    /// Line, starting at 1.
    pub line: usize,
    /// Column in characters, starting at 1.
    pub column: usize,
    /// Description of the mistake.
    pub what: String,
    /// How to correct it.
    pub remedy: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            what,
            remedy,
        } = self;
        write!(f, "{file}:{line}:{column}: {what}; {remedy}")
    }
}

fn list(mistakes: &[Mistake]) -> String {
    let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
    lines.join("; ")
}
