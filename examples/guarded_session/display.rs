//! Escapes untrusted text for display: characters that could move the cursor, reorder a line or be
//! invisible. Fits text to the width of the output.

use std::env;
use std::path::Path;

use console::{Term, measure_text_width};

pub(crate) use hooks_runtime::display::{escape, hides_text, shorten};

/// Escapes a path with any bytes, like [`escape`].
pub(crate) fn escape_path(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

/// Width of standard output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    /// `COLUMNS`, or the width of the terminal; `None` without both.
    columns: Option<usize>,
}

/// Minimum width for which lines are laid out.
const MIN_COLUMNS: usize = 40;

impl Width {
    /// Determines the width of standard output.
    pub(crate) fn of_stdout() -> Self {
        let columns = env::var("COLUMNS").ok();
        let columns = columns
            .and_then(|columns| columns.parse().ok())
            .filter(|&columns| columns > 0);
        let terminal = || Some(usize::from(Term::stdout().size_checked()?.1));
        Self {
            columns: columns.or_else(terminal),
        }
    }

    /// Returns the number of columns; `default` if the width is unknown.
    pub(crate) fn columns_or(self, default: usize) -> usize {
        self.columns.unwrap_or(default).max(MIN_COLUMNS)
    }

    /// Wraps `text`, which is one line if the width is unknown.
    pub(crate) fn wrap(self, text: &str) -> String {
        match self.columns {
            Some(columns) => wrap(text, columns.max(MIN_COLUMNS)),
            None => text.to_owned(),
        }
    }
}

/// Breaks `text` between words into lines of at most `columns`, and indents all lines after the
/// first. A longer word stays whole, so that a path can be copied.
pub(crate) fn wrap(text: &str, columns: usize) -> String {
    const INDENT: &str = "  ";
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let width = measure_text_width(word);
        if length > 0 && length + 1 + width > columns {
            lines.push('\n');
            lines.push_str(INDENT);
            length = INDENT.len();
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += width;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn text_is_wrapped_between_words_by_display_width() {
        let text = "a path: /folder/with/a/name/of/more/than/forty/columns and 語語語語語語語語語語 語語語語語語語語語";
        let lines = "a path:\n  /folder/with/a/name/of/more/than/forty/columns\n  and 語語語語語語語語語語\n  語語語語語語語語語";
        assert_eq!(wrap(text, 40), lines);
        assert_eq!(wrap("", 40), "");
        assert_eq!(wrap("one line", 8), "one line");
        assert_eq!(wrap("one line", 7), "one\n  line");
    }
}
