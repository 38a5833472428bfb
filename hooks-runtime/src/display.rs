//! Displays of messages, and the escapes that keep hooks from manipulating a terminal.

use std::fmt;
use std::io::Write;

use hooks_core::__private;

use crate::{HookOutput, MessageLevel, UserMessage};

/// Shows hooks' messages to the user. A panic in it is logged, and changes no decision. Implemented
/// for closures that take a message.
///
/// ```
/// use hooks_runtime::{Coordinator, UserDisplay, UserMessage};
///
/// struct Window;
///
/// impl UserDisplay for Window {
///     fn message(&self, message: &UserMessage) {
///         println!("{} says: {}", message.hook, hooks_runtime::display::escape(&message.text));
///     }
/// }
///
/// let coordinator = Coordinator::builder().display(Window).build();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a user display; implement `UserDisplay`, or pass a closure `|message: &UserMessage| …`",
    label = "not a display"
)]
pub trait UserDisplay: Send + Sync {
    /// Shows a message, with its level and its hook.
    fn message(&self, message: &UserMessage);

    /// Shows the output of a hook that did not suppress it. Does nothing by default.
    fn output(&self, output: &HookOutput) {
        let _ = output;
    }
}

impl<F: Fn(&UserMessage) + Send + Sync> UserDisplay for F {
    fn message(&self, message: &UserMessage) {
        self(message);
    }
}

/// Shows messages and the output of hooks on standard error, a line each, escaped.
#[derive(Debug, Clone, Copy, Default)]
pub struct StderrDisplay;

impl UserDisplay for StderrDisplay {
    fn message(&self, message: &UserMessage) {
        let UserMessage {
            text,
            level,
            hook,
            source,
        } = message;
        let level = match level {
            MessageLevel::Info => "info",
            MessageLevel::Warning => "warning",
            MessageLevel::Error => "error",
        };
        let (text, hook) = (escape(text), escape(hook));
        match source {
            Some(source) => print(format_args!("{level}: {text} ({}, {hook})", escape(source))),
            None => print(format_args!("{level}: {text} ({hook})")),
        }
    }

    fn output(&self, HookOutput { text, hook }: &HookOutput) {
        for line in text.lines() {
            print(format_args!("{}: {}", escape(hook), escape(line)));
        }
    }
}

fn print(line: fmt::Arguments<'_>) {
    // A write to a closed stream fails; ignore it.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns the message of an error of `serde_json` without its line and column, which
/// [`serde_json::Error::line`] and [`column`](serde_json::Error::column) return.
///
/// ```
/// let error = serde_json::from_str::<u8>("x").unwrap_err();
/// assert_eq!(hooks_runtime::display::json_message(&error), "expected value");
/// ```
#[must_use]
pub fn json_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// Returns `text` on one line, safe for a terminal, a table and a log: control characters (also
/// ANSI sequences), bidirectional marks, invisible characters such as zero-width ones, and
/// combining marks become `\n`, `\t`, `\r`, `\0` or `\u{…}`; everything else stays.
pub fn escape(text: &str) -> String {
    __private::escape(text)
}

/// Returns `shown`, which is escaped already, in at most `limit` characters. A longer text ends
/// with an ellipsis, which is present for every limit.
pub fn shorten(shown: &str, limit: usize) -> String {
    if shown.chars().count() <= limit {
        return shown.to_owned();
    }
    let mut short: String = shown.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns `true` if `text` contains characters that make it look like another text. Line breaks,
/// tabs and accents do not count, although [`escape`] rewrites them.
pub fn hides_text(text: &str) -> bool {
    text.chars()
        .any(|character| !matches!(character, '\n' | '\t') && is_deceptive(character))
}

/// Returns `true` for characters that make a command look like another one.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || __private::is_blank(character)
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::{escape, hides_text, shorten};

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in [
            "ls -la | grep 'x' > out",
            r"sed 's/\./x/'",
            "größe 日本語 ✓",
            "",
        ] {
            assert_eq!(escape(text), text);
            assert!(!hides_text(text));
        }
    }

    #[test]
    fn control_and_ansi_characters_are_escaped() {
        assert_eq!(escape("a\nb\tc\rd"), r"a\nb\tc\rd");
        assert_eq!(
            escape("\u{1b}[31mred\u{7}\0\u{7f}\u{9b}"),
            r"\u{1b}[31mred\u{7}\0\u{7f}\u{9b}"
        );
    }

    #[test]
    fn bidirectional_zero_width_and_blank_characters_are_escaped() {
        for character in "\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{200d}\u{feff}\u{ad}\u{2028}\u{a0}\u{3000}\u{fe0f}\u{e0041}\u{115f}\u{3164}\u{ffa0}\u{2800}\u{fff9}\u{e000}\u{301}".chars() {
            let shown = escape(&format!("a{character}b"));
            assert!(shown.is_ascii(), "{character:?} is shown as {shown}");
            assert!(shown.starts_with(r"a\u{"), "{character:?} is shown as {shown}");
        }
    }

    #[test]
    fn every_character_that_hides_text_is_escaped() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            if hides_text(&character.to_string()) {
                assert!(escape(&character.to_string()).is_ascii(), "{character:?}");
            }
        }
    }

    #[test]
    fn long_text_is_truncated_with_an_ellipsis() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefg", 6), "abcde…");
    }
}
