//! The changes that a file tool would make. In: a tool's edits, or changes that a client sends. Out:
//! unified diffs within limits, for the operator who approves them.
//!
//! | Module | Contents |
//! |---|---|
//! | [`proposal`](ProposedEdit) | The edits that a tool's arguments describe |
//! | `compare` | Compares edits with the present files; feature `http` |
//! | `apply`, `unified` | Applies edits to a text; writes a unified diff |
//! | `masked`, `held` | Masks secrets; holds the changes of pending questions in memory |

#[cfg(feature = "http")]
mod apply;
#[cfg(feature = "http")]
mod compare;
mod held;
mod masked;
mod proposal;
#[cfg(feature = "http")]
mod unified;

use serde::{Deserialize, Serialize};

#[cfg(feature = "http")]
pub use self::compare::{compare, not_compared};
pub use self::held::AttachResult;
pub(crate) use self::held::HeldChanges;
pub use self::proposal::{CellEdit, PatchHunk, ProposedChange, ProposedEdit, Replacement};

/// Returns a text after replacements; `None` if they do not apply to it.
#[cfg(feature = "acp")]
pub(crate) fn replaced(present: &str, replacements: &[Replacement]) -> Option<String> {
    apply::replace(present, replacements).ok()
}

/// Maximum number of files of one question.
pub const MAX_CHANGED_FILES: usize = 50;
/// Maximum number of lines of all diffs of one question, with their headers.
pub const MAX_DIFF_LINES: usize = 400;
/// Maximum size of all texts of one question in bytes: paths, notes and diffs.
pub const MAX_CHANGE_BYTES: usize = 64 << 10;
/// Maximum length of a path in characters.
#[cfg(feature = "http")]
const MAX_PATH_CHARS: usize = 4_096;
/// Maximum number of notes of one file.
#[cfg(feature = "http")]
const MAX_NOTES: usize = 8;
/// Maximum length of a note in characters; of a note that the guard writes, its path may be as long.
#[cfg(feature = "http")]
const MAX_NOTE_CHARS: usize = MAX_PATH_CHARS + 500;

/// The changes that a file tool would make.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChanges {
    /// The files, at most 50. Their paths, notes and diffs have at most 64 KiB together.
    pub files: Vec<FileDiff>,
    /// Number of further files that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_files: u32,
    /// `true` if the service has dropped the files, because the changes of all pending questions
    /// exceed 16 MiB. Set by the service.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dropped: bool,
}

/// The change of one file, as a diff.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The file, as the agent names it.
    pub path: String,
    /// What happens to the file.
    pub kind: FileChangeKind,
    /// Number of added lines, also of those that the diff omits.
    #[serde(default)]
    pub added: u32,
    /// Number of removed lines, also of those that the diff omits.
    #[serde(default)]
    pub removed: u32,
    /// The hunks of a unified diff, without the lines that name the file. Each line begins with
    /// `@@`, a space, `+`, `-` or `\`. A header without line numbers, `@@`, begins a hunk whose
    /// place is unknown. At most 400 lines, of all files together.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// Number of lines that the diff omits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_lines: u32,
    /// Notes for the operator, such as the reason why the present content is not shown. At most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// `true` if secrets are hidden in the diff. Set by the service.
    #[serde(default, skip_serializing_if = "is_false")]
    pub masked: bool,
}

/// What happens to a file.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// The file is created.
    Create,
    /// The whole content of an existing file is replaced.
    Overwrite,
    /// A part of the file is changed.
    Edit,
    /// The file is deleted.
    Delete,
}

impl FileChangeKind {
    /// Returns the verb for people, such as `creates`.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Create => "creates",
            Self::Overwrite => "overwrites",
            Self::Edit => "edits",
            Self::Delete => "deletes",
        }
    }
}

/// Size of the changes of a question.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeTotals {
    /// Number of files.
    pub files: u32,
    /// Number of added lines.
    pub added: u32,
    /// Number of removed lines.
    pub removed: u32,
}

/// Invalid changes of a client.
#[cfg(feature = "http")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangesError {
    /// A field is longer than a number of characters.
    TooLong(String, usize),
    /// A field is invalid, for this reason.
    Invalid(String, String),
}

impl FileChanges {
    /// Returns the number of files and lines.
    #[must_use]
    pub fn totals(&self) -> ChangeTotals {
        let files = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let sum = |count: fn(&FileDiff) -> u32| {
            let counts = self.files.iter().map(count);
            counts.fold(0, u32::saturating_add)
        };
        ChangeTotals {
            files: files.saturating_add(self.omitted_files),
            added: sum(|file| file.added),
            removed: sum(|file| file.removed),
        }
    }

    /// Checks the limits and the form of changes. `field` is their name in messages.
    #[cfg(feature = "http")]
    pub(crate) fn check(&self, field: &str) -> Result<(), ChangesError> {
        let invalid = |field: String, why: &str| Err(ChangesError::Invalid(field, why.to_owned()));
        if self.files.is_empty() || self.files.len() > MAX_CHANGED_FILES {
            let why = format!("expected 1 to {MAX_CHANGED_FILES} files");
            return invalid(format!("{field}.files"), &why);
        }
        let (mut bytes, mut lines) = (0, 0);
        for (at, file) in self.files.iter().enumerate() {
            let name = |part: &str| format!("{field}.files[{at}].{part}");
            if file.path.is_empty() {
                return invalid(name("path"), "expected a path");
            }
            if file.path.chars().count() > MAX_PATH_CHARS {
                return Err(ChangesError::TooLong(name("path"), MAX_PATH_CHARS));
            }
            if file.notes.len() > MAX_NOTES {
                return invalid(
                    name("notes"),
                    &format!("expected at most {MAX_NOTES} notes"),
                );
            }
            if file
                .notes
                .iter()
                .any(|note| note.chars().count() > MAX_NOTE_CHARS)
            {
                return Err(ChangesError::TooLong(name("notes"), MAX_NOTE_CHARS));
            }
            for (number, line) in file.diff.lines().enumerate() {
                if !(line.starts_with("@@") || line.starts_with([' ', '+', '-', '\\'])) {
                    let number = number + 1;
                    let why =
                        format!("line {number} must begin with `@@`, a space, `+`, `-` or `\\`");
                    return invalid(name("diff"), &why);
                }
            }
            bytes += file.bytes();
            lines += file.diff.lines().count();
        }
        if bytes > MAX_CHANGE_BYTES {
            return invalid(
                field.to_owned(),
                &format!("longer than {MAX_CHANGE_BYTES} bytes"),
            );
        }
        if lines > MAX_DIFF_LINES {
            let why = format!("the diffs have more than {MAX_DIFF_LINES} lines");
            return invalid(field.to_owned(), &why);
        }
        Ok(())
    }
}

impl FileDiff {
    /// Returns the size of the texts in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let notes = self.notes.iter().map(String::len);
        self.path.len() + self.diff.len() + notes.sum::<usize>()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::{ChangesError, FileChangeKind, FileChanges, FileDiff};

    fn one(diff: &str) -> FileChanges {
        FileChanges {
            files: vec![FileDiff {
                path: "a".to_owned(),
                kind: FileChangeKind::Edit,
                added: 0,
                removed: 0,
                diff: diff.to_owned(),
                omitted_lines: 0,
                notes: Vec::new(),
                masked: false,
            }],
            ..FileChanges::default()
        }
    }

    #[test]
    fn changes_within_the_limits_are_accepted() {
        let diff = "@@ -1 +1 @@\n-a\n+b\n \n\\ No newline at end of file\n";
        assert_eq!(one(diff).check("changes"), Ok(()));
        assert_eq!(one(&"+a\n".repeat(400)).check("changes"), Ok(()));
        assert_eq!(
            one(&format!("+{}", "x".repeat(65_500))).check("changes"),
            Ok(())
        );
    }

    #[test]
    fn changes_beyond_the_limits_are_refused() {
        let field = |changes: FileChanges| match changes.check("changes") {
            Err(ChangesError::TooLong(field, _) | ChangesError::Invalid(field, _)) => field,
            Ok(()) => "none".to_owned(),
        };
        assert_eq!(field(FileChanges::default()), "changes.files");
        assert_eq!(field(one("+a\nb\n")), "changes.files[0].diff");
        assert_eq!(field(one(&"+a\n".repeat(401))), "changes");
        assert_eq!(field(one(&format!("+{}", "x".repeat(65_536)))), "changes");
        let mut many = one("");
        many.files = vec![many.files[0].clone(); 51];
        assert_eq!(field(many), "changes.files");
        let mut long = one("");
        long.files[0].path = "é".repeat(4097);
        assert_eq!(field(long), "changes.files[0].path");
        let mut noted = one("");
        noted.files[0].notes = vec![String::new(); 9];
        assert_eq!(field(noted), "changes.files[0].notes");
    }
}
