//! What is wrong with a file of rules.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Why rules could not be loaded.
///
/// If the rules cannot be loaded, denials are unknown, so every request has to ask.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RulesError {
    /// A file could not be read.
    #[error("`{}` cannot be read: {source}; see that it is a file that you may read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is larger than a file of rules may be.
    #[error("`{name}` has {length} bytes; a file of rules has at most {most}")]
    TooLong {
        /// The file, as it is shown.
        name: String,
        /// Its length in bytes.
        length: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// A file is no UTF-8.
    #[error("`{name}` is not valid UTF-8; encode it as UTF-8")]
    Encoding {
        /// The file, as it is shown.
        name: String,
    },
    /// A file has mistakes in it: all of them.
    #[error("{}", list(.0))]
    Mistakes(Vec<Mistake>),
}

/// A mistake in a rules file, such as ``guard.toml:3:1: `programm` is no key of a rule; did you
/// mean `program`?``
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file, as it is shown.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
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
    lines.join("\n")
}
