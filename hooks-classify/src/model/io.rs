//! [`Input`] and [`Output`]: the known standard input and output of a command.

/// Standard input of a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// The standard input of the whole command.
    Inherited,
    Known(String),
    /// A pipe or a file with unknown contents.
    Unknown,
}

impl Input {
    /// Returns `true` if a program that searches its standard input, if that is a pipe or a file,
    /// may search the working directory instead: `/dev/null` is neither.
    pub(crate) fn may_be_absent(&self) -> bool {
        match self {
            Self::Inherited => true,
            Self::Known(text) => text.is_empty(),
            Self::Unknown => false,
        }
    }
}

/// Standard output of a command; `None` if it is unknown.
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
    pub(crate) fn followed_by(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Numbers, counted) | (counted, Self::Numbers) => counted,
            _ => Self::Anything,
        }
    }
}
