//! [`CodeSpan`]: text of a command that runs, or may run.

use std::ops::Range;

/// Part of a command that determines what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeSpan {
    /// Start in the command, in bytes.
    pub start: usize,
    /// End in the command, in bytes.
    pub end: usize,
    /// How the text runs.
    pub kind: CodeKind,
}

/// How a text of a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeKind {
    /// The name of a program that runs.
    Program,
    /// Text of a variable that a shell runs.
    ShellText,
    /// A file that is deleted, or that is named by its path.
    File,
    /// Text that may become code when the command runs.
    MayRun,
}

impl CodeSpan {
    pub(crate) fn new(range: Range<usize>, kind: CodeKind) -> Self {
        Self {
            start: range.start,
            end: range.end,
            kind,
        }
    }

    /// Returns the range in the command, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}
