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
