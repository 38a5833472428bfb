//! Why the settings of an agent cannot be changed. In: a path and its cause. Out: one error, in words
//! for the user.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::jsonc::DocumentError;

/// Why settings cannot be changed. They are as they were.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The settings cannot be read.
    #[error("`{}` cannot be read; check its permissions", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The settings cannot be written.
    #[error("`{}` cannot be written; check the permissions and the space on the disk", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The settings are no text.
    #[error("`{}` is not valid UTF-8; mend it first", path.display())]
    Encoding {
        /// Which.
        path: PathBuf,
    },
    /// The settings are longer than any real ones.
    #[error("`{}` is longer than {most} bytes; mend it first", path.display())]
    TooLong {
        /// Which.
        path: PathBuf,
        /// The limit.
        most: u64,
    },
    /// The settings are not what the agent reads.
    #[error("`{}` is left alone: {source}", path.display())]
    Document {
        /// Which.
        path: PathBuf,
        /// Why.
        source: DocumentError,
    },
    /// Somebody else wrote the settings in the meantime.
    #[error("`{}` was changed by somebody else just now; try again", path.display())]
    Raced {
        /// Which.
        path: PathBuf,
    },
    /// A file of this name is there that was not written by this program, or was changed since.
    #[error("`{}` is not as it was installed; move it away first", path.display())]
    NotOurs {
        /// Which.
        path: PathBuf,
    },
    /// A path that the hook is called with is of no use in a settings file.
    #[error("`{path}` is no absolute path in plain UTF-8; move or rename the file")]
    Argument {
        /// The path.
        path: String,
    },
    /// The binary's path is of no use in a settings file.
    #[error("`{}` is no absolute path of a binary called `hooks-guard` in plain UTF-8; move or rename it", path.display())]
    Binary {
        /// The path.
        path: PathBuf,
    },
}
