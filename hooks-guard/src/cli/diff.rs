//! Lines of file changes for a terminal. In: the changes of a question. Out: escaped lines with
//! their kind.

use hooks_guard::changes::{FileChanges, FileDiff};
use hooks_guard::client::ClientError;
use hooks_runtime::display::escape;

/// Kind of a line, which determines its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffLineKind {
    /// Names a file and counts its lines.
    File,
    /// Tells something about a file.
    Note,
    /// Begins a hunk.
    Hunk,
    Added,
    Removed,
    Same,
}

/// A line of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffLine {
    pub(super) kind: DiffLineKind,
    pub(super) text: String,
}

/// Returns the lines of the changes of a question, or why the service did not return them.
pub(super) fn of_result(result: Result<Option<FileChanges>, ClientError>) -> Vec<DiffLine> {
    match result {
        Ok(changes) => changes.as_ref().map(lines).unwrap_or_default(),
        Err(error) => {
            let why = escape(&error.to_string());
            vec![note(format!("the changes cannot be shown: {why}"))]
        }
    }
}

/// Returns the line that counts the lines beyond a screen.
pub(super) fn more_lines(count: usize) -> String {
    format!("… {count} more lines; d shows all")
}

fn note(text: String) -> DiffLine {
    let kind = DiffLineKind::Note;
    DiffLine { kind, text }
}

fn lines(changes: &FileChanges) -> Vec<DiffLine> {
    let mut lines: Vec<DiffLine> = changes.files.iter().flat_map(of_file).collect();
    if changes.dropped {
        lines.push(note(
            "the changed lines are no longer held, because too many changes wait".to_owned(),
        ));
    }
    if changes.omitted_files > 0 {
        lines.push(note(format!("… {} more files", changes.omitted_files)));
    }
    lines
}

fn of_file(file: &FileDiff) -> Vec<DiffLine> {
    let (verb, path) = (file.kind.verb(), escape(&file.path));
    let mut lines = vec![DiffLine {
        kind: DiffLineKind::File,
        text: format!("{verb} {path}  +{} -{}", file.added, file.removed),
    }];
    lines.extend(file.notes.iter().map(|text| note(escape(text))));
    if file.masked {
        lines.push(note(
            "secrets are hidden: a part of this change is not shown".to_owned(),
        ));
    }
    let mut numbers = None;
    for text in file.diff.split_terminator('\n') {
        lines.push(of_diff(text, &mut numbers));
    }
    if file.omitted_lines > 0 {
        lines.push(note(format!("… {} more lines", file.omitted_lines)));
    }
    lines
}

/// Returns a line of a diff. `numbers` are those of the next old and new line, if they are known.
fn of_diff(text: &str, numbers: &mut Option<(u32, u32)>) -> DiffLine {
    if text.starts_with("@@") {
        *numbers = starts(text);
        let (kind, text) = (DiffLineKind::Hunk, escape(text));
        return DiffLine { kind, text };
    }
    let (mark, rest) = text.split_at_checked(1).unwrap_or_default();
    if mark == "\\" {
        return note(escape(rest.trim_start()));
    }
    let kind = match mark {
        "+" => DiffLineKind::Added,
        "-" => DiffLineKind::Removed,
        _ => DiffLineKind::Same,
    };
    let (mut old, mut new) = (None, None);
    if let Some((next_old, next_new)) = numbers {
        if kind != DiffLineKind::Added {
            old = Some(*next_old);
            *next_old = next_old.saturating_add(1);
        }
        if kind != DiffLineKind::Removed {
            new = Some(*next_new);
            *next_new = next_new.saturating_add(1);
        }
    }
    let number = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    // Code is full of tabs, so they are not escaped.
    let rest = escape(&rest.replace('\t', "→   "));
    let text = format!("{:>4} {:>4} {mark}{rest}", number(old), number(new));
    DiffLine { kind, text }
}

/// Returns the numbers of the first lines of a hunk.
fn starts(header: &str) -> Option<(u32, u32)> {
    let mut words = header.split(' ').skip(1);
    let mut number = |mark: char| {
        let range = words.next()?.strip_prefix(mark)?;
        range.split(',').next()?.parse().ok()
    };
    Some((number('-')?, number('+')?))
}

#[cfg(test)]
mod tests {
    use hooks_guard::changes::{FileChangeKind, FileChanges, FileDiff};

    use super::{DiffLineKind, lines};

    #[test]
    fn lines_have_numbers_and_are_escaped() {
        let changes = FileChanges {
            files: vec![FileDiff {
                path: "src/a\u{202e}.rs".to_owned(),
                kind: FileChangeKind::Edit,
                added: 2,
                removed: 1,
                diff: "@@ -9,2 +9,3 @@\n same\n-\told\n+new\u{1b}[2J\n+\n@@\n+x\n\\ No newline at end of file\n"
                    .to_owned(),
                omitted_lines: 7,
                notes: vec!["a note".to_owned()],
                masked: true,
            }],
            omitted_files: 2,
            ..FileChanges::default()
        };
        let lines = lines(&changes);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "edits src/a\\u{202e}.rs  +2 -1",
                "a note",
                "secrets are hidden: a part of this change is not shown",
                "@@ -9,2 +9,3 @@",
                "   9    9  same",
                "  10      -→   old",
                "       10 +new\\u{1b}[2J",
                "       11 +",
                "@@",
                "          +x",
                "No newline at end of file",
                "… 7 more lines",
                "… 2 more files",
            ]
        );
        assert_eq!(lines[5].kind, DiffLineKind::Removed);
        assert_eq!(lines[7].kind, DiffLineKind::Added);
    }
}
