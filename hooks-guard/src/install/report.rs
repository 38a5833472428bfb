//! The report of an installation. In: nothing; plain data. Out: the values that `install` and
//! `uninstall` return.

use std::path::PathBuf;

/// Report of a change to a settings file, made or planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The settings file.
    pub file: PathBuf,
    /// Kind of the change.
    pub change: FileChange,
    /// Unified diff; empty if nothing changes.
    pub diff: String,
    /// Path of the backup, if one was written.
    pub backup: Option<PathBuf>,
    /// Steps left to the user and notes, one sentence each.
    pub to_do: Vec<String>,
    /// Report of another changed file: Codex's `config.toml` with its trust in hooks, the `.npmrc`
    /// of opencode or Kilo Code, which shortens its first start, or the manifest of Goose's plugin.
    pub also: Option<Box<Report>>,
}

/// Kind of a change to a file, made or planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Already up to date.
    None,
    /// Created.
    Created,
    /// Changed.
    Changed,
    /// Removed because it had no other content.
    Removed,
}
