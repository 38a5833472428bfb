//! [`UnseenCode`]: the source of code that is only known when it runs.

/// Source of code that is only known when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenCode {
    /// The input of an interpreter: a pipe, a file or a document.
    Input,
    /// A word that is a script in another language than the shell.
    Script,
    /// Text that the shell runs.
    Text,
    /// The name of a program.
    Program,
    /// The value of an alias.
    Alias,
    /// An expression that the shell evaluates, or an index in it.
    Expression,
}

impl UnseenCode {
    /// Returns the effect of such code as the end of a sentence.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Input => "runs its input",
            Self::Script => "runs a script that is only known when it runs",
            Self::Text => "runs text that is only known when it runs",
            Self::Program => "runs a program that is only known when it runs",
            Self::Alias => "runs an unknown alias",
            Self::Expression => "computes an expression that is only known when it runs",
        }
    }

    /// Returns the source of a part that has two sources.
    pub(crate) fn merge(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            // Neither source may hide the other.
            (Self::Input | Self::Script, Self::Input | Self::Script) => Self::Text,
            (Self::Input | Self::Script, _) => other,
            _ => self,
        }
    }
}
