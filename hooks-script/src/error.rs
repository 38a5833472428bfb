//! Errors of building an engine and of registering a hook.

use crate::manifest::ManifestError;
use crate::position::Position;
use crate::run::Failure;

/// Error returned when an engine cannot be built.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A limit is outside of the supported range.
    #[error("`{limit}` is {value}; use {least} to {most}")]
    Limit {
        /// Name of the limit.
        limit: &'static str,
        /// Given value; times are in milliseconds.
        value: u64,
        /// Smallest supported value.
        least: u64,
        /// Largest supported value.
        most: u64,
    },
    /// A worker thread cannot be started.
    #[error("a worker cannot be started: {0}")]
    Thread(String),
    /// The engine cannot be started.
    #[error("cannot start the script engine: {0}")]
    Engine(String),
}

/// Error returned when a hook cannot be registered, with the position in its source if it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The source does not compile.
    #[error("{message}")]
    Syntax {
        /// Message of the compiler.
        message: String,
        /// Position of the error.
        position: Option<Position>,
    },
    /// The source imports a module.
    #[error("{message}")]
    Import {
        /// Description of the import.
        message: String,
        /// Position of the module's name.
        position: Option<Position>,
    },
    /// The source does not export exactly one function as `default`.
    #[error("{message}; export one function with `export default`")]
    Exports {
        /// Description of the problem.
        message: String,
        /// Position of the export.
        position: Option<Position>,
    },
    /// The top level of the source failed or exceeded a limit.
    #[error("the hook cannot be loaded: {0}")]
    Load(Failure),
    /// The source is too long.
    #[error("the source has {bytes} bytes; at most {limit} are allowed")]
    TooLarge {
        /// Length of the source in bytes.
        bytes: usize,
        /// Maximum length in bytes.
        limit: usize,
    },
    /// The source is not the version that the manifest pins.
    #[error(
        "the source has hash `{found}`, but the manifest pins `{expected}`; update the source or the manifest"
    )]
    Pinned {
        /// Hash in the manifest: SHA-256 in hexadecimal digits.
        expected: String,
        /// Hash of the source.
        found: String,
    },
    /// The engine has shut down.
    #[error("the script engine failed: {0}")]
    Engine(String),
}

impl RegisterError {
    /// Returns the kind of error, as spelled in logs and in the output of the command line.
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

    /// Returns the position in the source, or in a manifest that is not JSON.
    pub fn position(&self) -> Option<Position> {
        match self {
            RegisterError::Syntax { position, .. }
            | RegisterError::Import { position, .. }
            | RegisterError::Exports { position, .. }
            | RegisterError::Load(Failure::Thrown { position, .. }) => *position,
            RegisterError::Manifest(ManifestError::Json { position, .. }) => Some(*position),
            _ => None,
        }
    }
}
