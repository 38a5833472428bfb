//! The edits that a tool's arguments describe. In: nothing; plain data. Out: [`ProposedChange`].

use std::path::PathBuf;

/// A change of one file that a tool would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    /// The file, as the agent names it.
    pub path: PathBuf,
    /// The edit.
    pub edit: ProposedEdit,
}

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposedEdit {
    /// Writes the whole file.
    Write(String),
    /// Replaces texts, in this order.
    Replace(Vec<Replacement>),
    /// Inserts a text after a line.
    Insert {
        /// Number of the line; 0 is the start of the file.
        line: u64,
        /// The text.
        text: String,
    },
    /// Applies hunks of a patch.
    Patch {
        /// The hunks, in the order of the file.
        hunks: Vec<PatchHunk>,
        /// New path of the file.
        moved_to: Option<PathBuf>,
    },
    /// Changes a cell of a notebook.
    Cell(CellEdit),
    /// Writes a text at a place that the agent determines later.
    Fragment(String),
    /// Deletes the file.
    Delete,
    /// The arguments have no content.
    Unknown,
}

/// Replacement of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The text to replace.
    pub old: String,
    /// The text in its place.
    pub new: String,
    /// `true` to replace each occurrence.
    pub all: bool,
}

/// A hunk of a patch of `apply_patch`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk {
    /// A line before the hunk.
    pub anchor: Option<String>,
    /// The lines with their marks: a space, `+` or `-`.
    pub lines: Vec<(char, String)>,
}

/// Change of a notebook's cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellEdit {
    /// The cell, by its id or number.
    pub cell: Option<String>,
    /// `replace`, `insert` or `delete`.
    pub mode: String,
    /// The new source.
    pub source: String,
}
