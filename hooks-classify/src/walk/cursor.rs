//! Cursor: the place in the text at which the interpreter is, and the depth that it has reached.

use super::braces::BraceSyntax;
use crate::model::script::SubstitutionText;
use crate::model::shells::Shells;
use crate::model::span::Span;

/// Limit of nesting: a text deeper within other texts is not followed.
pub(crate) const MAX_DEPTH: usize = 25;

/// Maximum number of commands that are followed; a simple command counts twice. Loops and functions
/// are followed more than once, so a short text may have many commands.
pub(crate) const MAX_COMMANDS: usize = 3000;

/// Maps positions in a text to positions in the whole command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpanMap {
    /// The text is a part of the command that begins at this byte.
    Offset(usize),
    /// The text is computed: every position in it is this part of the command.
    Fixed(Span),
}

impl SpanMap {
    pub(crate) fn map(self, span: Span) -> Span {
        match self {
            Self::Offset(offset) => Span::new(span.start + offset, span.end + offset),
            Self::Fixed(span) => span,
        }
    }

    /// Returns the place of a substitution in the word `around`.
    pub(crate) fn of_substitution(self, inner: &SubstitutionText, around: Span) -> Self {
        match (self, inner.start) {
            (Self::Offset(offset), Some(at)) => Self::Offset(offset + at),
            _ => Self::Fixed(self.map(around)),
        }
    }
}

/// Position of the interpreter in the text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// Place of the text that is followed.
    pub(crate) span_map: SpanMap,
    /// Number of texts and commands around the present command.
    pub(crate) depth: usize,
    /// Number of commands that were followed.
    pub(crate) commands: usize,
    /// `true` if one of the texts contains the word `function`.
    pub(crate) saw_function_keyword: bool,
    /// `true` if standard output is captured, redirected or piped, and so reaches no terminal.
    pub(crate) stdout_captured: bool,
    /// Shells that may read the text.
    pub(crate) shells: Shells,
    /// Rules by which braces are expanded.
    pub(crate) braces: BraceSyntax,
}

impl Default for Cursor {
    fn default() -> Self {
        Self {
            span_map: SpanMap::Offset(0),
            depth: 0,
            commands: 0,
            saw_function_keyword: false,
            stdout_captured: false,
            shells: Shells::ALL,
            braces: BraceSyntax::Bash,
        }
    }
}

impl Cursor {
    /// Counts one more command.
    pub(crate) fn count_command(&mut self) {
        self.commands += 1;
    }

    /// Returns `true` if there were more commands than are followed.
    pub(crate) fn has_too_many_commands(&self) -> bool {
        self.commands > MAX_COMMANDS
    }

    /// Returns `true` if commands are nested more deeply than they are followed.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.depth > MAX_DEPTH
    }

    /// Returns `true` if everything up to here was followed.
    pub(crate) fn is_within_limits(&self) -> bool {
        self.commands <= MAX_COMMANDS && self.depth < MAX_DEPTH
    }
}
