//! Compares two contents of a file. In: both texts. Out: a unified diff, escaped for a terminal.

use std::fmt::Write as _;
use std::path::Path;

use hooks_runtime::display::escape;
use similar::TextDiff;

/// Number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the diff between two contents; `None` is a missing file. The diff of equal contents is
/// empty.
pub(super) fn unified(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    if old == new {
        return String::new();
    }
    let name = escape(&path.display().to_string());
    let name = |text: Option<&str>| match text {
        Some(_) => name.clone(),
        None => "/dev/null".to_owned(),
    };
    let mut diff = format!("--- {}\n+++ {}\n", name(old), name(new));
    let lines = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
    // Writing to a `String` does not fail.
    for hunk in lines
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .iter_hunks()
    {
        let _ = writeln!(diff, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let line = change.value();
            let text = escape(line.strip_suffix('\n').unwrap_or(line));
            let _ = writeln!(diff, "{}{text}", change.tag());
            if change.missing_newline() {
                diff.push_str("\\ No newline at end of file\n");
            }
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::unified;

    #[test]
    fn distant_changes_are_separate_hunks() {
        let old: String = (0..40).map(|line| format!("{line}\n")).collect();
        let new = old.replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
        let diff = unified(Path::new("a.json"), Some(&old), Some(&new));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
        assert!(
            diff.contains("-5\n+five\n") && diff.contains("-30\n"),
            "{diff}"
        );
    }

    #[test]
    fn control_characters_are_escaped() {
        let diff = unified(Path::new("a"), Some("x\n"), Some("\u{1b}[2J\r\n"));
        assert!(diff.contains(r"+\u{1b}[2J\r"), "{diff}");
    }

    #[test]
    fn a_diff_has_three_context_lines_around_a_change() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let path = Path::new("a.json");
        assert_eq!(unified(path, Some(old), Some(old)), "");
        assert_eq!(
            unified(path, Some(old), Some(new)),
            "--- a.json\n+++ a.json\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(
            unified(path, None, Some("a\nb")),
            "--- /dev/null\n+++ a.json\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(
            unified(path, Some("a\n"), None),
            "--- a.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        );
    }
}
