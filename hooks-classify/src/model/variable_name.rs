//! Names of variables and parameters: a word in, its name and its assignment out.

use super::arg::Arg;

/// Returns `true` if a text can be the name of a variable.
pub(crate) fn is_variable_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the name of a variable without the index and the `+` that may follow it.
pub(crate) fn base_name(name: &str) -> &str {
    name.split(['+', '[']).next().unwrap_or(name)
}

/// Splits `NAME=VALUE`; the name keeps its index and the `+` of `+=`.
pub(crate) fn split_assignment(arg: &Arg) -> Option<(String, Arg)> {
    let (name, value) = arg.text.split_once('=')?;
    let base = name.trim_end_matches('+').split('[').next()?;
    is_variable_name(base).then(|| (name.to_owned(), arg.with_text(value)))
}

/// Returns `true` for the parameters that contain a number or flags: `$?`, `$#`, `$$`, `$!`, `$-`.
pub(crate) fn is_numeric_parameter(name: &str) -> bool {
    matches!(name, "?" | "#" | "$" | "!" | "-")
}
