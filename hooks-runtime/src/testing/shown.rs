//! Escapes untrusted text for the kit's messages.

use std::fmt::Display;

use serde::Serialize;

use crate::display::escape;

/// Maximum number of characters of a text in a message.
const LIMIT: usize = 160;

/// Returns a text on one line, without characters that move the cursor or reorder the line; the
/// middle of a long text is omitted.
pub(crate) fn text(text: &str) -> String {
    let count = text.chars().count();
    if count <= LIMIT {
        return escape(text);
    }
    let half = LIMIT / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    let (start, end) = (escape(&start), escape(&end));
    format!("{start}… ({} bytes) …{end}", text.len())
}

/// Returns [`text`] of a value's `Display`.
pub(crate) fn display(shown: &dyn Display) -> String {
    text(&crate::error::text(shown))
}

/// Returns [`text`] of a value's JSON form.
pub(crate) fn json(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(json) => text(&json),
        Err(error) => format!("what has no JSON form ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn control_and_bidirectional_characters_are_escaped() {
        assert_eq!(text("it's \"fine\""), "it's \"fine\"");
        assert_eq!(text("a\n\u{1b}[31m\u{202e}\0"), r"a\n\u{1b}[31m\u{202e}\0");
    }

    #[test]
    fn a_long_text_is_shown_by_its_ends_and_its_size() {
        let shown = text(&format!("begin{}end", "x".repeat(5000)));
        assert!(
            shown.starts_with("beginx") && shown.ends_with("xend"),
            "{shown}"
        );
        assert!(shown.contains("(5008 bytes)"), "{shown}");
        assert!(shown.len() < 250, "{shown}");
    }
}
