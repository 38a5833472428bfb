//! Excerpts of invalid text. In: a text and the place of a mistake. Out: its line and column, and
//! the line with carets below the mistake.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use hooks_runtime::display::escape;

/// Maximum number of characters of the line before and after the start of the mistake.
const MOST_AROUND: usize = 60;
/// Width that no excerpt reaches, so that the renderer does not cut the line a second time.
const WIDTH: usize = 1_000;

/// A line of a text with a marked mistake. The line is escaped, and a long one is cut around the
/// mistake.
///
/// ```
/// use hooks_guard::excerpt::Excerpt;
///
/// let excerpt = Excerpt::new("listen = 3000\nenabled = yes\n", 24..27);
/// assert_eq!(excerpt.to_string(), "2:11");
/// assert_eq!(excerpt.lines(), ["enabled = yes", "          ^^^"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Line, starting at 1.
    pub line: usize,
    /// Column in characters, starting at 1.
    pub column: usize,
    /// The escaped line.
    text: String,
    /// The mistake in `text`, in bytes.
    marked: Range<usize>,
}

impl Excerpt {
    /// Returns the line at the start of a range of bytes. The mark ends with the line.
    #[must_use]
    pub fn new(text: &str, at: Range<usize>) -> Self {
        let start = text.floor_char_boundary(at.start);
        let first = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let rest = &text[start..];
        let rest = rest
            .split('\n')
            .next()
            .unwrap_or(rest)
            .trim_end_matches('\r');
        let before = &text[first..start];
        let end = text.floor_char_boundary(at.end.max(start));
        let found = &rest[..rest.len().min(end - start)];
        Self::of_parts(
            text[..first].matches('\n').count() + 1,
            before,
            found,
            &rest[found.len()..],
        )
    }

    /// Returns the line of an error of `serde_json` about this text.
    #[must_use]
    pub fn of_json(text: &str, error: &serde_json::Error) -> Self {
        let before: usize = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum();
        // Columns are bytes, starting at 1; 0 is the end of the line before.
        let at = before + error.column().saturating_sub(1);
        Self::new(text, at..at + 1)
    }

    fn of_parts(line: usize, before: &str, found: &str, after: &str) -> Self {
        let column = before.chars().count() + 1;
        let skipped = column.saturating_sub(1 + MOST_AROUND);
        let cut = |text: &str| text.chars().take(MOST_AROUND).collect::<String>();
        let mut text = match skipped {
            0 => escape(before),
            _ => format!(
                "…{}",
                escape(&before.chars().skip(skipped).collect::<String>())
            ),
        };
        let start = text.len();
        text.push_str(&escape(&cut(found)));
        let end = text.len();
        let is_found_whole = found.chars().count() <= MOST_AROUND;
        if is_found_whole {
            text.push_str(&escape(&cut(after)));
        }
        if !is_found_whole || after.chars().count() > MOST_AROUND {
            text.push('…');
        }
        Self {
            line,
            column,
            text,
            marked: start..end,
        }
    }

    /// Returns the line, and a line with carets below the mistake.
    #[must_use]
    pub fn lines(&self) -> [String; 2] {
        let before = self.text[..self.marked.start].chars().count();
        let marked = self.text[self.marked.clone()].chars().count().max(1);
        let carets = format!("{}{}", " ".repeat(before), "^".repeat(marked));
        [self.text.clone(), carets]
    }

    /// Returns the message, the place and the line with carets, for a terminal; the message is
    /// escaped.
    #[must_use]
    pub fn report(&self, file: &str, message: &str, color: bool) -> String {
        let (file, message) = (escape(file), escape(message));
        let renderer = match color {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        let snippet = Snippet::source(&self.text)
            .line_start(self.line)
            .annotation(AnnotationKind::Primary.span(self.marked.clone()));
        let title = Level::ERROR.primary_title(&message);
        let is_cut = self.text[..self.marked.start].chars().count() + 1 != self.column;
        let report = [match is_cut {
            // The renderer would take the column from the shown text.
            true => title
                .element(Origin::path(&file).line(self.line).char_column(self.column))
                .element(snippet),
            false => title.element(snippet.path(&file)),
        }];
        renderer.term_width(WIDTH).render(&report)
    }
}

/// Writes line and column, such as `2:11`.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use hooks_runtime::display::json_message;

    use super::Excerpt;

    /// Returns the characters above the carets.
    fn marked(excerpt: &Excerpt) -> String {
        let [line, carets] = excerpt.lines();
        let pairs = line.chars().zip(carets.chars());
        pairs
            .filter(|(_, caret)| *caret == '^')
            .map(|(character, _)| character)
            .collect()
    }

    #[test]
    fn the_mark_is_below_the_marked_range() {
        let text = "größe = 1\r\nname = \"ä日\" # x\n";
        let at = text.find('ä').expect("it is there");
        let excerpt = Excerpt::new(text, at..at + "ä日".len());
        assert_eq!((excerpt.line, excerpt.column), (2, 9));
        assert_eq!(marked(&excerpt), "ä日");
        // The end of the text, and a range beyond it.
        for at in [text.len()..text.len(), text.len() + 5..text.len() + 9] {
            let excerpt = Excerpt::new(text, at);
            assert_eq!((excerpt.line, excerpt.column), (3, 1));
            assert_eq!(excerpt.lines(), ["", "^"]);
        }
        // A range of several lines is marked up to the end of the first.
        assert_eq!(marked(&Excerpt::new("a = [\n1\n]", 4..9)), "[");
        // In the middle of a character.
        assert_eq!(Excerpt::new("ä", 1..2).column, 1);
    }

    #[test]
    fn long_lines_are_cut_and_deceptive_characters_are_escaped() {
        let text = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let excerpt = Excerpt::new(&text, 5000..5004);
        assert_eq!(excerpt.column, 5001);
        assert_eq!(marked(&excerpt), "HERE");
        let [line, _] = excerpt.lines();
        assert_eq!(line.chars().count(), 60 + 4 + 60 + 2, "{line}");
        let report = excerpt.report("x.toml", "wrong", false);
        assert!(report.contains("--> x.toml:1:5001\n"), "{report}");
        let all = Excerpt::new(&text, 0..text.len()).lines();
        assert!(
            all[0].chars().count() < 70 && all[0].ends_with('…'),
            "{all:?}"
        );
        let excerpt = Excerpt::new("a\t\u{202e}b = \u{1b}[31m", 5..6);
        assert_eq!(excerpt.lines()[0], "a\\t\\u{202e}b = \\u{1b}[31m");
        assert_eq!(marked(&excerpt), "b");
    }

    #[test]
    fn json_errors_have_their_position() {
        for (text, line, column, message) in [
            ("{\n \"a\": }", 2, 7, "expected value"),
            ("", 1, 1, "EOF while parsing a value"),
            ("{\"größe\": x}", 1, 11, "expected value"),
            ("{} {}", 1, 4, "trailing characters"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).expect_err("no JSON");
            let excerpt = Excerpt::of_json(text, &error);
            assert_eq!((excerpt.line, excerpt.column), (line, column), "{text}");
            assert_eq!(json_message(&error), message);
        }
    }
}
