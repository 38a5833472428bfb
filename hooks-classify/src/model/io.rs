//! What a command reads and prints, as far as that is known.

/// What a command reads on its standard input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// Whatever it was for the whole command.
    Inherited,
    Known(String),
    /// A pipe or a file of which nothing is known.
    Unknown,
}

/// What a command prints, where that is known.
pub(crate) type Output = Option<String>;

/// Kind of an unknown output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Anything,
    /// Lines of a number, this character, and more.
    Counted(char),
    Numbers,
}

impl OutputKind {
    /// Returns the kind of two outputs one after the other.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Numbers, counted) | (counted, Self::Numbers) => counted,
            _ => Self::Anything,
        }
    }
}
