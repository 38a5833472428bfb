//! A position in the source of a hook.

use std::fmt;

use serde::Serialize;

/// A position in the source of a hook. Both numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in bytes.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
