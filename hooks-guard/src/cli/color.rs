//! Colours of the commands. In: an output stream. Out: whether its text has colours.

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
