//! Colours of the commands. In: an output stream. Out: whether its text has colours, and the words
//! with which the lines of a report begin.

use std::io::IsTerminal;

/// Returns `true` if text for this stream has colours: it is a terminal, and the user has not turned
/// colours off.
pub(super) fn has_color(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !is_turned_off()
}

/// Returns `true` if the user has turned colours off.
pub(super) fn is_turned_off() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// State of what one line of a report is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineState {
    Good,
    Warning,
    Bad,
}

/// Returns the word with which the line of a report begins, in the colour of its state if `has_color`.
pub(super) fn label(state: LineState, word: &str, has_color: bool) -> String {
    // Colours of a terminal: green, yellow, bold red.
    let code = match state {
        LineState::Good => "32",
        LineState::Warning => "33",
        LineState::Bad => "1;31",
    };
    match has_color {
        true => format!("\u{1b}[{code}m{word:<4}\u{1b}[0m"),
        false => format!("{word:<4}"),
    }
}
