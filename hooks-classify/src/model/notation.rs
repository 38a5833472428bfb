//! Notations in which the words of a program name files and programs.

/// Program-specific notation in which words name files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileNotation {
    /// `file://FILE`, `fileb://FILE`.
    Url,
    /// `@FILE`, `KEY=@FILE`.
    At,
    /// `--from-file=NAME=FILE`.
    FromFile,
    /// A file that is decrypted, with or without its ending.
    Encrypted,
    /// `KEY=@FILE`, `KEY:FILE`, `KEY%FILE`.
    Member,
    /// `file:FILE`.
    Source,
    /// A path in an expression, with or without quotes.
    Expression,
    /// A path in a string of a script.
    Quoted,
}

/// Program-specific notation in which words name programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramNotation {
    /// `ext::COMMAND`, `HELPER::ADDRESS`, in commands that connect.
    RemoteHelper,
    /// `:backend,key=value:`.
    Backend,
    /// A formula by its file or address.
    Formula,
}
