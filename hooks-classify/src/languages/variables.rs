//! Variables that scripts name: a script in, the variables of the environment that it reads out.

use super::names::ANY;
use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::language::Language;

/// Expressions before the name of a variable.
const VARIABLE_ACCESS: &[&str] = &[
    "os.getenv(",
    "getenv(",
    "os.environ.get(",
    "environ.get(",
    "os.environ[",
    "environ[",
    "process.env.",
    "process.env[",
    "$ENV.",
    "$ENV[",
    "env.",
    "env[",
    "ENVIRON[",
    "ENV[",
];

/// Calls and signs that convert their operand to a truth value or a length.
const VALUE_HIDING: &[&str] = &["bool(", "Boolean(", "len(", "not ", "!", "typeof "];

/// Returns the words that may be variables, if a script reads its environment. The interpreter
/// requires confirmation for those that are secrets.
pub(super) fn analyze(language: Language, script: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    let text = script.text.as_str();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(plain).map(|at| rest + at) {
        let end = text[start..]
            .find(|c| !plain(c))
            .map_or(text.len(), |at| start + at);
        words.push((start, end));
        rest = end;
    }
    let is_environment = |&(start, end): &(usize, usize)| {
        let name = text[start..end].to_ascii_lowercase();
        let member = text[..start].ends_with(['.', '"']) || text[end..].starts_with(':');
        ANY.environments.contains(name.as_str()) && !(language == Language::Jq && member)
    };
    if !words.iter().any(is_environment) {
        return analysis;
    }
    for (start, end) in words {
        let name = &text[start..end];
        // Members and functions are rarely in capitals.
        let is_in_capitals = !name.contains(|c: char| c.is_ascii_lowercase());
        if is_in_capitals && !hides_value(&text[..start], &text[end..]) {
            analysis.check_printed_variable(name, script.span);
        }
    }
    analysis
}

/// Returns `true` if the expression around the name of a variable is not its value, but the fact
/// that it is set, or its length.
fn hides_value(before: &str, after: &str) -> bool {
    let quote = ['"', '\'', '`'];
    let before = before.strip_suffix(quote).unwrap_or(before);
    let after = after.strip_prefix(quote).unwrap_or(after);
    let listed = [" in os.environ", " in process.env", " in ENVIRON"];
    if before.ends_with("has(") || listed.iter().any(|list| after.starts_with(list)) {
        return true;
    }
    let Some(access) = VARIABLE_ACCESS
        .iter()
        .find(|access| before.ends_with(*access))
    else {
        return false;
    };
    let outside = &before[..before.len() - access.len()];
    let after = match access.ends_with(['(', '[']) {
        true => after.strip_prefix([')', ']']),
        false => Some(after),
    };
    let Some(after) = after else { return false };
    let after = after.trim_start();
    let choice = after.starts_with('?') && !after.starts_with("??") && !after.starts_with("?.");
    let compared = ["is None", "is not None", "==", "!=", ".length", "?.length"];
    VALUE_HIDING.iter().any(|word| outside.ends_with(word))
        || choice
        || compared.iter().any(|word| after.starts_with(word))
}
