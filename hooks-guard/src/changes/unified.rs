//! Writes unified diffs within a budget of lines and bytes. In: two texts. Out: the diff, with the
//! number of its lines.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::{MAX_CHANGE_BYTES, MAX_DIFF_LINES};

/// Number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// Maximum number of characters of a line; the rest is counted.
const MAX_LINE_CHARS: usize = 2_000;
/// Time after which a diff is simplified.
const DIFF_TIMEOUT: Duration = Duration::from_millis(100);
/// Header of a hunk whose place in the file is unknown.
const UNNUMBERED: &str = "@@";

/// Lines and bytes that are left for the diffs of a question.
#[derive(Debug)]
pub(super) struct DiffBudget {
    lines: usize,
    bytes: usize,
}

impl Default for DiffBudget {
    fn default() -> Self {
        Self {
            lines: MAX_DIFF_LINES,
            bytes: MAX_CHANGE_BYTES,
        }
    }
}

impl DiffBudget {
    /// Returns `true` if so many bytes are left.
    pub(super) fn has(&self, bytes: usize) -> bool {
        bytes <= self.bytes
    }

    /// Takes bytes for other texts; returns `false` if too few are left.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

/// A diff that is being written.
#[derive(Debug, Default)]
pub(super) struct DiffText {
    pub(super) text: String,
    pub(super) added: u32,
    pub(super) removed: u32,
    pub(super) omitted: u32,
}

impl DiffText {
    /// Adds the hunks between two texts. `numbered` is `false` if their place in the file is
    /// unknown.
    pub(super) fn compare(
        &mut self,
        old: &str,
        new: &str,
        numbered: bool,
        budget: &mut DiffBudget,
    ) {
        // The lines of one text need no comparison.
        if old.is_empty() || new.is_empty() {
            return self.whole(old, new, numbered, budget);
        }
        let lines = TextDiff::configure()
            .timeout(DIFF_TIMEOUT)
            .diff_lines(old, new);
        for hunk in lines
            .unified_diff()
            .context_radius(CONTEXT_LINES)
            .iter_hunks()
        {
            let header = match numbered {
                true => hunk.header().to_string(),
                false => UNNUMBERED.to_owned(),
            };
            self.push(&header, budget);
            for change in hunk.iter_changes() {
                let mark = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                self.line(mark, change.value(), budget);
            }
        }
    }

    fn whole(&mut self, old: &str, new: &str, numbered: bool, budget: &mut DiffBudget) {
        let (mark, text) = match new.is_empty() {
            true => ('-', old),
            false => ('+', new),
        };
        if text.is_empty() {
            return;
        }
        let count = text.split_inclusive('\n').count();
        let header = match (numbered, mark) {
            (false, _) => UNNUMBERED.to_owned(),
            (true, '-') => format!("@@ -1,{count} +0,0 @@"),
            (true, _) => format!("@@ -0,0 +1,{count} @@"),
        };
        self.push(&header, budget);
        for line in text.split_inclusive('\n') {
            self.line(mark, line, budget);
        }
    }

    /// Adds a hunk whose place is unknown.
    pub(super) fn hunk(&mut self, anchor: &str, lines: &[(char, String)], budget: &mut DiffBudget) {
        let header = format!("{UNNUMBERED} {anchor}");
        self.push(&clip(header.trim_end()).0, budget);
        for (mark, line) in lines {
            self.line(*mark, &format!("{line}\n"), budget);
        }
    }

    /// Adds a line of a text, with its end.
    fn line(&mut self, mark: char, line: &str, budget: &mut DiffBudget) {
        match mark {
            '+' => self.added += 1,
            '-' => self.removed += 1,
            _ => {}
        }
        let content = line.strip_suffix('\n');
        let (shown, hidden) = clip(content.unwrap_or(line));
        // A lone carriage return ends a line of the comparison, too.
        let shown = format!("{mark}{}", shown.replace('\n', ""));
        if !self.push(&shown, budget) {
            return;
        }
        if hidden > 0 {
            self.push(&format!("\\ {hidden} more characters of this line"), budget);
        }
        if content.is_none() && !line.ends_with('\r') {
            self.push("\\ No newline at end of file", budget);
        }
    }

    /// Adds a line if the budget allows it and no line was omitted before; else counts it.
    fn push(&mut self, line: &str, budget: &mut DiffBudget) -> bool {
        if self.omitted > 0 || budget.lines == 0 || !budget.take(line.len() + 1) {
            self.omitted += 1;
            return false;
        }
        budget.lines -= 1;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }
}

/// Returns the beginning of a line, and the number of characters after it.
fn clip(line: &str) -> (String, usize) {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => (line.to_owned(), 0),
        Some((end, _)) => (line[..end].to_owned(), line[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::{DiffBudget, DiffText};

    fn diff(old: &str, new: &str) -> DiffText {
        let mut text = DiffText::default();
        text.compare(old, new, true, &mut DiffBudget::default());
        text
    }

    #[test]
    fn a_diff_has_context_and_counts_its_lines() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let found = diff(old, &old.replace("5\n", "five\nsix\n"));
        assert_eq!(
            found.text,
            "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+six\n 6\n 7\n 8\n"
        );
        assert_eq!((found.added, found.removed, found.omitted), (2, 1, 0));
        assert_eq!(diff(old, old).text, "");
    }

    #[test]
    fn a_new_and_a_deleted_file_are_shown_whole() {
        let found = diff("", "a\nb");
        assert_eq!(
            found.text,
            "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(diff("a\n", "").text, "@@ -1,1 +0,0 @@\n-a\n");
    }

    #[test]
    fn lines_beyond_the_budget_are_counted() {
        let new: String = (0..1_602).map(|line| format!("{line}\n")).collect();
        let found = diff("", &new);
        assert_eq!(found.text.lines().count(), 400);
        assert_eq!((found.added, found.omitted), (1_602, 1_203));
        let wide: String = (0..100)
            .map(|_| format!("{}\n", "é".repeat(1_000)))
            .collect();
        let found = diff("", &wide);
        assert!(found.text.len() <= 64 << 10, "{}", found.text.len());
        assert_eq!(found.text.lines().count() + found.omitted as usize, 101);
    }

    #[test]
    fn the_end_of_a_long_line_is_counted() {
        let found = diff("", &format!("{}\n", "x".repeat(5_000)));
        assert!(
            found
                .text
                .ends_with("\n\\ 3000 more characters of this line\n")
        );
        assert_eq!((found.added, found.omitted), (1, 0));
    }

    #[test]
    fn carriage_returns_stay_in_the_lines() {
        let found = diff("a\r\nb\r\n", "a\r\nc\rd\r\n");
        assert!(!found.text.contains("No newline"), "{}", found.text);
        assert!(
            found
                .text
                .lines()
                .all(|line| line.starts_with(['@', ' ', '+', '-']))
        );
    }
}
