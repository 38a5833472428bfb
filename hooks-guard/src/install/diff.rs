//! What changes in a file, as a unified diff with one hunk.

use std::fmt::Write as _;
use std::path::Path;

use hooks_runtime::display::escape;

/// Lines around the change.
const CONTEXT: usize = 3;

/// The diff between two contents, of which one may be no file; empty if they are the same.
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
    let old: Vec<_> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<_> = new.unwrap_or_default().split_inclusive('\n').collect();
    let most = old.len().min(new.len());
    let head = (0..most).take_while(|&i| old[i] == new[i]).count();
    let tail = (0..most - head)
        .take_while(|&i| old[old.len() - 1 - i] == new[new.len() - 1 - i])
        .count();
    let from = head.saturating_sub(CONTEXT);
    let until = |lines: &[&str]| (lines.len() - tail + CONTEXT).min(lines.len());
    let range = |until: usize| match until - from {
        0 => format!("{from},0"),
        lines => format!("{},{lines}", from + 1),
    };
    // Writing to a text does not fail.
    let _ = writeln!(
        diff,
        "@@ -{} +{} @@",
        range(until(&old)),
        range(until(&new))
    );
    let mut lines = |mark: char, lines: &[&str]| {
        for line in lines {
            let text = line.strip_suffix('\n');
            let _ = writeln!(diff, "{mark}{}", escape(text.unwrap_or(line)));
            if text.is_none() {
                diff.push_str("\\ No newline at end of file\n");
            }
        }
    };
    lines(' ', &old[from..head]);
    lines('-', &old[head..old.len() - tail]);
    lines('+', &new[head..new.len() - tail]);
    lines(' ', &old[old.len() - tail..until(&old)]);
    diff
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::unified;

    #[test]
    fn a_diff_has_what_changes_and_three_lines_around() {
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
            "--- a.json\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"
        );
    }
}
