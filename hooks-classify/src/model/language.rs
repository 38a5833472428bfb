//! [`Language`] of a script that a command runs.

/// Language of a script that a command runs.
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
    Tcl,
    /// A language without a dedicated reader.
    Code,
}

impl Language {
    /// Returns `true` for the languages of filters and queries, whose text is data apart from
    /// functions that run programs.
    pub(crate) fn is_query(self) -> bool {
        matches!(self, Self::Sed | Self::Jq | Self::Sql | Self::Redis)
    }

    /// Returns `true` if programs of the language read data from standard input: the script of
    /// `sed`, `awk` and `jq` is one of their words or a file.
    pub(crate) fn reads_data_from_stdin(self) -> bool {
        matches!(self, Self::Sed | Self::Awk | Self::Jq)
    }
}
