//! Error of parsing a hook's input. In: a field and its problem. Out: one error with a message for
//! the user.

use thiserror::Error;

use super::model::AgentHook;
use crate::excerpt::Excerpt;

/// Maximum size of an input, in bytes.
pub const MAX_INPUT_BYTES: usize = 10 << 20;

/// Error returned when an input cannot be parsed; [`failure_reply`](super::failure_reply) makes the reply.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{problem}")]
pub struct ProtocolError {
    /// The problem.
    pub problem: Problem,
    /// The hook that was called, if it could be parsed.
    pub hook: Option<AgentHook>,
}

/// Problem of an input.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Longer than [`MAX_INPUT_BYTES`].
    #[error("the hook's input is longer than {MAX_INPUT_BYTES} bytes; send less")]
    TooLong,
    /// Not UTF-8.
    #[error("the hook's input is not valid UTF-8; encode it as UTF-8")]
    Encoding,
    /// Not JSON, truncated, or nested too deeply.
    #[error(
        "{place} is not valid JSON: line {}, column {}: {detail}; send one JSON object",
        excerpt.line, excerpt.column
    )]
    Json {
        /// The text that was parsed.
        place: &'static str,
        /// Line, column and text of the place.
        excerpt: Excerpt,
        /// Message of the parser.
        detail: String,
    },
    /// JSON, but not an object.
    #[error("the hook's input is not a JSON object; send one JSON object")]
    NotAnObject,
    /// A field that counts is not there.
    #[error(
        "`{field}` is missing in the hook's input; this version of the agent may not be supported"
    )]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// A field that counts is of another type.
    #[error(
        "`{field}` is not {wanted} in the hook's input; this version of the agent may not be supported"
    )]
    Type {
        /// Name of the field.
        field: &'static str,
        /// Expected type.
        wanted: &'static str,
    },
    /// Two spellings of a field have different values.
    #[error("`{first}` and `{second}` differ in the hook's input; send one of them")]
    Contradiction {
        /// First spelling.
        first: &'static str,
        /// Second spelling.
        second: &'static str,
    },
    /// A field exceeds its maximum length.
    #[error("`{field}` is longer than {most} characters in the hook's input; send less")]
    LongField {
        /// Name of the field.
        field: &'static str,
        /// The limit.
        most: usize,
    },
    /// An event before an action that is not known.
    #[error("unknown event `{event}`; this version of the agent may not be supported")]
    UnknownEvent {
        /// The event, in normalized spelling.
        event: String,
    },
    /// A patch in which no file is named.
    #[error(
        "the patch names no file; `*** Add File:`, `*** Update File:` or `*** Delete File:` is expected"
    )]
    Patch,
    /// A URI that is not a plain path.
    #[error("`{uri}` is not a plain path; name the file by its path")]
    Uri {
        /// The URI.
        uri: String,
    },
}

impl ProtocolError {
    /// Returns the error with the invalid line and carets, for a terminal; `None` if the error is
    /// none of the syntax.
    #[must_use]
    pub fn report(&self, color: bool) -> Option<String> {
        let Problem::Json {
            place,
            excerpt,
            detail,
        } = &self.problem
        else {
            return None;
        };
        let message = format!("not valid JSON: {detail}; send one JSON object");
        Some(excerpt.report(place, &message, color))
    }
}
