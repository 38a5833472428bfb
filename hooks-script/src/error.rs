//! Why an engine cannot be built, or a hook not be registered.

use crate::manifest::ManifestError;
use crate::run::{Failure, Position};

/// Error returned when an engine cannot be built.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A limit is outside of what the engine can hold.
    #[error("`{limit}` is {value}; it can be {least} to {most}")]
    Limit {
        /// Which one.
        limit: &'static str,
        /// What it is; a time in milliseconds.
        value: u64,
        /// What it has to be at least.
        least: u64,
        /// What it can be at most.
        most: u64,
    },
    /// The system gives no thread to a worker.
    #[error("a worker cannot be started: {0}")]
    Thread(String),
    /// The engine does not start.
    #[error("the script engine does not start: {0}")]
    Engine(String),
}

/// Error returned when a hook cannot be registered, with the position in its source if there is
/// one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// It does not compile.
    #[error("{message}")]
    Syntax {
        /// What the compiler says.
        message: String,
        /// Where.
        position: Option<Position>,
    },
    /// It imports something.
    #[error("{message}")]
    Import {
        /// What it imports.
        message: String,
        /// Where that is named.
        position: Option<Position>,
    },
    /// The source does not export exactly one function as `default`.
    #[error("{message}; a hook exports one function, with `export default`")]
    Exports {
        /// What is wrong.
        message: String,
        /// Where.
        position: Option<Position>,
    },
    /// Its top level fails, or reaches a limit.
    #[error("the hook cannot be loaded: {0}")]
    Load(Failure),
    /// Its source is too long.
    #[error("the source has {bytes} bytes; at most {limit} are allowed")]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },
    /// It is not the version that its manifest is for.
    #[error(
        "the source has the hash `{found}`, and the manifest is for `{expected}`; give the source or the manifest that fits"
    )]
    Pinned {
        /// What the manifest is for: SHA-256 in hexadecimal digits.
        expected: String,
        /// What the source has.
        found: String,
    },
    /// The engine is gone.
    #[error("the script engine failed: {0}")]
    Engine(String),
}

impl RegisterError {
    /// The kind, as logs and the command line spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            RegisterError::Manifest(_) => "manifest",
            RegisterError::Syntax { .. } => "syntax",
            RegisterError::Import { .. } => "import",
            RegisterError::Exports { .. } => "exports",
            RegisterError::Load(_) => "load",
            RegisterError::TooLarge { .. } => "too_large",
            RegisterError::Pinned { .. } => "pinned",
            RegisterError::Engine(_) => "engine",
        }
    }

    /// Where in the source it is.
    pub fn position(&self) -> Option<Position> {
        match self {
            RegisterError::Syntax { position, .. }
            | RegisterError::Import { position, .. }
            | RegisterError::Exports { position, .. }
            | RegisterError::Load(Failure::Thrown { position, .. }) => *position,
            _ => None,
        }
    }
}
