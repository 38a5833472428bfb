//! What became of a settings file. In: nothing; plain data. Out: the values that `install` and
//! `uninstall` return.

use std::path::PathBuf;

/// What was done with a settings file, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The settings file.
    pub file: PathBuf,
    /// What became of it.
    pub change: Change,
    /// A unified diff; empty if nothing changes.
    pub diff: String,
    /// Where the earlier content is, if it was kept.
    pub backup: Option<PathBuf>,
    /// What the user still has to do, or should know, a sentence each.
    pub to_do: Vec<String>,
    /// Another file that changed with this one: for Codex, its `config.toml`, which says which hooks
    /// it trusts; for opencode a `.npmrc`, which keeps its first start short.
    pub also: Option<Box<Report>>,
}

/// What became of a file, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is as it should be.
    None,
    /// It is new.
    Created,
    /// It was changed.
    Changed,
    /// It had nothing else in it, and is gone.
    Removed,
}
