//! Languages of scripts that commands run.

/// The language of a script that a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the languages")]
pub enum Language {
    Sed,
    Awk,
    Python,
    Perl,
    Ruby,
    Node,
    Php,
    Lua,
    Jq,
    Sql,
    Redis,
    PowerShell,
    Mongo,
    Cmd,
    /// One that has no judge of its own.
    Code,
}

impl Language {
    /// Returns whether programs of the language read data from their standard input: the script
    /// of `sed`, `awk` and `jq` is one of their words or a file.
    pub(crate) fn filters(self) -> bool {
        matches!(self, Self::Sed | Self::Awk | Self::Jq)
    }
}
