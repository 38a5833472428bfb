//! Why an input is not understood. In: a field and what is wrong with it. Out: one error, in words for
//! the user.

use thiserror::Error;

use super::model::Hook;

/// The longest input that is read, in bytes.
pub const MOST_BYTES: usize = 10 << 20;

/// An input that is not understood; [`failed`](super::failed) is the reply.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{problem}")]
pub struct ProtocolError {
    /// What is wrong with it.
    pub problem: Problem,
    /// The hook that was called, as far as it could be read.
    pub hook: Option<Hook>,
}

/// What is wrong with an input.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Longer than [`MOST_BYTES`].
    #[error("the hook's input is longer than {MOST_BYTES} bytes; send less")]
    TooLong,
    /// Not UTF-8.
    #[error("the hook's input is not valid UTF-8; encode it as UTF-8")]
    Encoding,
    /// Not JSON, cut off, or nested too deeply.
    #[error("the hook's input is not valid JSON ({detail}); send one JSON object")]
    Json {
        /// What the parser says.
        detail: String,
    },
    /// JSON of another kind.
    #[error("the hook's input is no JSON object; send one JSON object")]
    NotAnObject,
    /// A field that counts is not there.
    #[error(
        "`{field}` is missing in the hook's input; this version of the agent may not be supported"
    )]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A field that counts is of another type.
    #[error(
        "`{field}` is not {wanted} in the hook's input; this version of the agent may not be supported"
    )]
    Type {
        /// Its name.
        field: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// Two spellings of a field say different things.
    #[error("`{first}` and `{second}` differ in the hook's input; send one of them")]
    Contradiction {
        /// The one.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A field is longer than any real one.
    #[error("`{field}` is longer than {most} characters in the hook's input; send less")]
    LongField {
        /// Its name.
        field: &'static str,
        /// The limit.
        most: usize,
    },
    /// A patch in which no file is named.
    #[error(
        "the patch names no file; `*** Add File:`, `*** Update File:` or `*** Delete File:` is expected"
    )]
    Patch,
    /// A URI that is no plain path.
    #[error("`{uri}` is no plain path; name the file by its path")]
    Uri {
        /// What it is.
        uri: String,
    },
}
