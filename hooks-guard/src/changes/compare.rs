//! Compares a tool's edits with the present files. In: edits, and the directory of relative paths.
//! Out: [`FileChanges`]; files that cannot be read or shown say why.
//!
//! Runs in the agent's hook, which sees the files as the tool does: as the same user, in the same
//! container. The service reads no file for a client.

use std::borrow::Cow;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::unified::{DiffBudget, DiffText};
use super::{
    CellEdit, FileChangeKind, FileChanges, FileDiff, MAX_CHANGED_FILES, MAX_PATH_CHARS,
    ProposedChange, ProposedEdit, apply,
};
use crate::files::open;

/// Maximum size of a file that is read.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum size of all files that are read.
const MAX_TOTAL_BYTES: u64 = 8 << 20;

/// Compares edits with the present files. Reads regular files of at most 1 MiB only, through the
/// links that the tool would write through.
#[must_use]
pub fn compare(changes: &[ProposedChange], cwd: Option<&Path>) -> FileChanges {
    let mut readable = MAX_TOTAL_BYTES;
    compare_each(changes, |path| PresentFile::read(path, cwd, &mut readable))
}

/// Returns the files of edits that could not be compared in time, with a note.
#[must_use]
pub fn not_compared(changes: &[ProposedChange]) -> FileChanges {
    let note = "not compared with the present file: it could not be read in time";
    let mut compared = compare_each(changes, |_| PresentFile {
        content: PresentContent::Hidden,
        notes: Vec::new(),
    });
    // As short as the notes of the edit.
    for file in &mut compared.files {
        file.notes.insert(0, note.to_owned());
    }
    compared
}

/// Compares the edits within the limits of a question, and counts the other files. `read` returns
/// the present file of a path; files beyond the limits are not read.
fn compare_each(
    changes: &[ProposedChange],
    mut read: impl FnMut(&Path) -> PresentFile,
) -> FileChanges {
    let mut compared = FileChanges::default();
    let mut budget = DiffBudget::default();
    for change in changes {
        let path = change.path.to_string_lossy();
        let is_long = path.chars().count() > MAX_PATH_CHARS;
        // Notes of the edit are short.
        let texts = path.len() + 500;
        let fits = compared.files.len() < MAX_CHANGED_FILES && !is_long && budget.has(texts);
        let present = fits.then(|| read(&change.path)).filter(|present| {
            let notes = present.notes.iter().map(String::len);
            budget.take(texts + notes.sum::<usize>())
        });
        match present {
            Some(present) => {
                let file = compare_file(path, present, &change.edit, &mut budget);
                compared.files.push(file);
            }
            None => compared.omitted_files += 1,
        }
    }
    compared
}

/// Content of a file before an edit.
#[derive(Debug)]
enum PresentContent {
    Absent,
    Text(String),
    /// The content is not shown.
    Hidden,
}

#[derive(Debug)]
struct PresentFile {
    content: PresentContent,
    notes: Vec<String>,
}

impl PresentFile {
    fn read(path: &Path, cwd: Option<&Path>, readable: &mut u64) -> Self {
        let unknown = |why: &str| Self {
            content: PresentContent::Hidden,
            notes: vec![format!("not compared with the present file: {why}")],
        };
        let full = match cwd {
            // Tools disagree on `~`.
            _ if path.starts_with("~") => return unknown("the path begins with `~`"),
            _ if path.is_absolute() => path.to_owned(),
            Some(cwd) => cwd.join(path),
            None => return unknown("the agent's directory is unknown"),
        };
        let mut notes = Vec::new();
        if let Some(target) = link_target(&full) {
            notes.push(format!("leads through a link to {}", target.display()));
        }
        let hidden = |mut notes: Vec<String>, why: &str| {
            notes.push(format!("the present content is not shown: {why}"));
            let content = PresentContent::Hidden;
            Self { content, notes }
        };
        let metadata = match std::fs::metadata(&full) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => {
                let content = PresentContent::Absent;
                return Self { content, notes };
            }
            Err(error) => return hidden(notes, &reason(&error)),
        };
        match read(&full, &metadata, readable) {
            Ok(text) => Self {
                content: PresentContent::Text(text),
                notes,
            },
            Err(why) => hidden(notes, &why),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the reason of an error without the number of the system.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads the text of a regular file.
fn read(path: &Path, metadata: &Metadata, readable: &mut u64) -> Result<String, String> {
    if metadata.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let too_large = || format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20);
    if metadata.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    if metadata.len() > *readable {
        return Err(format!(
            "all files together exceed {} MiB",
            MAX_TOTAL_BYTES >> 20
        ));
    }
    let file = open(path).map_err(|error| reason(&error))?;
    let mut bytes = Vec::new();
    let most = MAX_FILE_BYTES.min(*readable);
    // The file may grow while it is read.
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| reason(&error))?;
    let length = bytes.len() as u64;
    if length > most {
        return Err(too_large());
    }
    *readable -= length;
    let binary = "it is binary or not UTF-8";
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(binary.to_owned()),
    }
}

/// Returns the real path of a file if a component of its path is a link.
fn link_target(path: &Path) -> Option<PathBuf> {
    if !has_link(path) {
        return None;
    }
    if let Ok(real) = std::fs::canonicalize(path) {
        return Some(real);
    }
    // The file, or the target of the link, does not exist yet.
    let folder = path.parent()?;
    match std::fs::read_link(path) {
        Ok(target) => Some(folder.join(target)),
        Err(_) => Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?)),
    }
}

/// Returns `true` if a component of a path is a link.
fn has_link(path: &Path) -> bool {
    path.ancestors()
        .any(|part| std::fs::symlink_metadata(part).is_ok_and(|part| part.is_symlink()))
}

fn compare_file(
    path: Cow<'_, str>,
    present: PresentFile,
    edit: &ProposedEdit,
    budget: &mut DiffBudget,
) -> FileDiff {
    let PresentFile { content, mut notes } = present;
    let mut diff = DiffText::default();
    let kind = match (edit, &content) {
        (ProposedEdit::Delete, _) => FileChangeKind::Delete,
        (_, PresentContent::Absent) => FileChangeKind::Create,
        (ProposedEdit::Write(_), _) => FileChangeKind::Overwrite,
        _ => FileChangeKind::Edit,
    };
    // An edit of an unreadable file cannot be applied to it, but its texts are known.
    let text = match &content {
        PresentContent::Absent => Some(""),
        PresentContent::Text(text) => Some(text.as_str()),
        PresentContent::Hidden => None,
    };
    let mut outcome = |new: Result<String, String>, budget: &mut DiffBudget| match (text, new) {
        (Some(text), Ok(new)) => {
            diff.compare(text, &new, true, budget);
            if text == new {
                notes.push("the content stays as it is".to_owned());
            }
            true
        }
        (_, Ok(_)) => false,
        (_, Err(why)) => {
            notes.push(format!("the edit will probably fail: {why}"));
            false
        }
    };
    let old = text.unwrap_or_default();
    match edit {
        ProposedEdit::Write(new) => {
            if !outcome(Ok(new.clone()), budget) {
                diff.compare("", new, false, budget);
            }
        }
        ProposedEdit::Replace(replacements) => {
            let new = text.map_or(Ok(String::new()), |text| apply::replace(text, replacements));
            if !outcome(new, budget) {
                for one in replacements {
                    diff.compare(&one.old, &one.new, false, budget);
                }
            }
        }
        ProposedEdit::Insert { line, text: added } => {
            let new = text.map_or(Ok(String::new()), |text| apply::insert(text, *line, added));
            if !outcome(new, budget) {
                diff.compare("", added, false, budget);
                notes.push(format!("inserted after line {line}"));
            }
        }
        ProposedEdit::Patch { hunks, moved_to } => {
            let new = text.map_or(Ok(String::new()), |text| apply::patch(text, hunks));
            // A patch may only move a file.
            if !hunks.is_empty() && !outcome(new, budget) {
                for hunk in hunks {
                    let anchor = hunk.anchor.as_deref().unwrap_or_default();
                    diff.hunk(anchor, &hunk.lines, budget);
                }
            }
            if let Some(target) = moved_to {
                let target: String = target.to_string_lossy().chars().take(50).collect();
                notes.push(format!("moves the file to {target}"));
            }
        }
        ProposedEdit::Cell(cell) => compare_cell(text, cell, &mut diff, &mut notes, budget),
        ProposedEdit::Fragment(new) => {
            diff.compare("", new, false, budget);
            notes.push(
                "the agent decides where this text goes, and may change other lines".to_owned(),
            );
        }
        ProposedEdit::Delete => {
            diff.compare(old, "", true, budget);
            if matches!(content, PresentContent::Absent) {
                notes.push("the file does not exist".to_owned());
            }
        }
        ProposedEdit::Unknown => {
            notes.push("the agent sends no content, so the change is not shown".to_owned());
        }
    }
    FileDiff {
        path: path.into_owned(),
        kind,
        added: diff.added,
        removed: diff.removed,
        diff: diff.text,
        omitted_lines: diff.omitted,
        notes,
        masked: false,
    }
}

fn compare_cell(
    notebook: Option<&str>,
    edit: &CellEdit,
    diff: &mut DiffText,
    notes: &mut Vec<String>,
    budget: &mut DiffBudget,
) {
    let name: String = edit
        .cell
        .as_deref()
        .unwrap_or("-")
        .chars()
        .take(50)
        .collect();
    notes.push(format!(
        "{} of cell {name}; lines count from the start of the cell",
        edit.mode
    ));
    let is_new = edit.mode == "insert";
    let old = match notebook {
        Some(notebook) if !is_new => apply::cell(notebook, edit).unwrap_or_else(|why| {
            notes.push(format!("the edit will probably fail: {why}"));
            String::new()
        }),
        _ => String::new(),
    };
    let new = match edit.mode.as_str() {
        "delete" => "",
        _ => &edit.source,
    };
    diff.compare(&old, new, true, budget);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::{PresentContent, PresentFile, compare, compare_each, not_compared};
    use crate::changes::{FileChangeKind, FileDiff, ProposedChange, ProposedEdit, Replacement};

    fn write(path: &str, text: &str) -> ProposedChange {
        ProposedChange {
            path: path.into(),
            edit: ProposedEdit::Write(text.to_owned()),
        }
    }

    fn one(change: ProposedChange, cwd: &Path) -> FileDiff {
        let mut changes = compare(&[change], Some(cwd));
        assert_eq!(changes.check("changes"), Ok(()));
        changes.files.remove(0)
    }

    #[test]
    fn a_write_creates_or_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let created = one(write("a", "x\n"), folder.path());
        assert_eq!(created.kind, FileChangeKind::Create);
        assert_eq!(created.diff, "@@ -0,0 +1,1 @@\n+x\n");
        fs::write(folder.path().join("a"), "y\n").unwrap();
        let overwritten = one(write("a", "x\n"), folder.path());
        assert_eq!(overwritten.kind, FileChangeKind::Overwrite);
        assert_eq!(overwritten.diff, "@@ -1 +1 @@\n-y\n+x\n");
        assert_eq!((overwritten.added, overwritten.removed), (1, 1));
        assert_eq!(overwritten.notes, [""; 0]);
    }

    #[test]
    fn files_that_are_not_readable_text_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("binary"), [0x7f, b'E', b'L', b'F', 0]).unwrap();
        fs::write(at("latin1"), [b'a', 0xe9, b'\n']).unwrap();
        fs::File::create(at("large"))
            .unwrap()
            .set_len(2 << 20)
            .unwrap();
        fs::create_dir(at("folder")).unwrap();
        let fifo = at("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        symlink("loop", at("loop")).unwrap();
        for (name, why) in [
            ("binary", "binary or not UTF-8"),
            ("latin1", "binary or not UTF-8"),
            ("large", "larger than 1 MiB"),
            ("folder", "a directory"),
            ("fifo", "not a regular file"),
            ("/dev/zero", "not a regular file"),
            ("loop", "symbolic links"),
        ] {
            let file = one(write(name, "x\n"), folder.path());
            let note = file.notes.join("; ");
            assert!(note.contains(why), "{name}: {note}");
            // The new content is shown all the same.
            assert_eq!(file.diff, "@@\n+x\n", "{name}");
            assert_eq!(file.kind, FileChangeKind::Overwrite, "{name}");
        }
    }

    #[test]
    fn an_unreadable_file_says_permission_denied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
        // The administrator reads every file.
        if fs::read(&path).is_ok() {
            return;
        }
        let file = one(write("a", "y"), folder.path());
        assert!(
            file.notes[0].contains("permission denied"),
            "{:?}",
            file.notes
        );
    }

    #[test]
    fn links_are_followed_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        fs::create_dir(real.join("other")).unwrap();
        fs::write(real.join("other/b"), "old\n").unwrap();
        symlink("other/b", real.join("a")).unwrap();
        symlink("other", real.join("c")).unwrap();
        symlink("nowhere", real.join("dangling")).unwrap();
        for (path, target) in [("a", "other/b"), ("c/b", "other/b"), ("c/new", "other/new")] {
            let file = one(write(path, "new\n"), &real);
            let note = format!("leads through a link to {}", real.join(target).display());
            assert_eq!(file.notes, [note], "{path}");
            assert_eq!(file.diff.contains("-old"), target.ends_with('b'), "{path}");
        }
        let file = one(write("dangling", "new\n"), &real);
        assert!(file.notes[0].contains("nowhere"), "{:?}", file.notes);
        assert_eq!(file.kind, FileChangeKind::Create);
        let file = one(write("other/../other/b", "new\n"), &real);
        assert_eq!(file.notes, [""; 0], "no link");
    }

    #[test]
    fn an_edit_that_does_not_apply_shows_its_texts() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "one\n").unwrap();
        let edit = ProposedEdit::Replace(vec![Replacement {
            old: "two\n".to_owned(),
            new: "three\n".to_owned(),
            all: false,
        }]);
        let path = "a".into();
        let file = one(ProposedChange { path, edit }, folder.path());
        assert_eq!(file.diff, "@@\n-two\n+three\n");
        assert!(
            file.notes[0].contains("will probably fail"),
            "{:?}",
            file.notes
        );
    }

    #[test]
    fn files_share_one_budget() {
        let folder = tempfile::tempdir().unwrap();
        let text = "line\n".repeat(300);
        let many: Vec<_> = (0..60).map(|at| write(&at.to_string(), &text)).collect();
        let changes = compare(&many, Some(folder.path()));
        assert_eq!(changes.check("changes"), Ok(()));
        assert_eq!((changes.files.len(), changes.omitted_files), (50, 10));
        assert_eq!(changes.files[0].omitted_lines, 0);
        assert_eq!(changes.files[1].omitted_lines, 202);
        assert_eq!(changes.totals().added, 50 * 300);
    }

    #[test]
    fn files_beyond_the_limits_are_not_read() {
        // The lines leave less of the budget than a file needs.
        let wide = format!("{}\n", "x".repeat(998)).repeat(66);
        for (text, expected) in [("x\n", 50), (&*wide, 1)] {
            let many: Vec<_> = (0..60).map(|at| write(&at.to_string(), text)).collect();
            let mut reads = 0;
            let changes = compare_each(&many, |_| {
                reads += 1;
                PresentFile {
                    content: PresentContent::Absent,
                    notes: Vec::new(),
                }
            });
            assert_eq!((reads, changes.files.len()), (expected, expected));
            assert_eq!(changes.totals().files, 60);
        }
    }

    #[test]
    fn an_edit_that_is_not_compared_in_time_shows_its_texts() {
        let edit = ProposedEdit::Insert {
            line: 3,
            text: "x\n".to_owned(),
        };
        let path = "a".into();
        let changes = not_compared(&[ProposedChange { path, edit }]);
        let file = &changes.files[0];
        assert_eq!((&*file.diff, file.kind), ("@@\n+x\n", FileChangeKind::Edit));
        let notes = [
            "not compared with the present file: it could not be read in time",
            "inserted after line 3",
        ];
        assert_eq!(file.notes, notes);
    }

    #[test]
    fn relative_paths_without_a_directory_are_not_read() {
        for path in ["a", "~/a"] {
            let changes = compare(&[write(path, "x\n")], None);
            let note = &changes.files[0].notes[0];
            assert!(note.contains("not compared"), "{note}");
        }
    }
}
