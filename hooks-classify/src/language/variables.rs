//! Secret variables of the environment that a script names.

use crate::judge::Judge;
use crate::model::arg::Arg;
use crate::model::language::Language;

/// Names by which languages reach their environment, in small letters.
const ENVIRONMENTS: &[&str] = &[
    "env",
    "_env",
    "environ",
    "environb",
    "getenv",
    "getenvb",
    "strenv",
    "envsubst",
    "getenvironmentvariable",
];

/// Expressions before the name of a variable.
const ACCESS: &[&str] = &[
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

/// Calls and signs that make a truth value or a length of what follows them.
const HIDING: &[&str] = &["bool(", "Boolean(", "len(", "not ", "!", "typeof "];

impl Judge<'_> {
    /// Asks about a script that reads its environment and names a variable that is a secret.
    pub(super) fn variables_in(&mut self, language: Language, script: &Arg) {
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
        let reaches = |&(start, end): &(usize, usize)| {
            let name = text[start..end].to_ascii_lowercase();
            let member = text[..start].ends_with(['.', '"']) || text[end..].starts_with(':');
            ENVIRONMENTS.contains(&name.as_str()) && !(language == Language::Jq && member)
        };
        if !words.iter().any(reaches) {
            return;
        }
        for (start, end) in words {
            let name = &text[start..end];
            // Members and functions of scripts are seldom in capitals.
            let shouted = !name.contains(|c: char| c.is_ascii_lowercase());
            if shouted && !hides(&text[..start], &text[end..]) {
                self.prints_variable(name, script.span);
            }
        }
    }
}

/// Returns true if an expression is not the value of the variable that is named between two parts of
/// a script: it says whether the variable is set, or how long it is.
fn hides(before: &str, after: &str) -> bool {
    let quote = ['"', '\'', '`'];
    let before = before.strip_suffix(quote).unwrap_or(before);
    let after = after.strip_prefix(quote).unwrap_or(after);
    let listed = [" in os.environ", " in process.env", " in ENVIRON"];
    if before.ends_with("has(") || listed.iter().any(|list| after.starts_with(list)) {
        return true;
    }
    let Some(access) = ACCESS.iter().find(|access| before.ends_with(*access)) else {
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
    HIDING.iter().any(|word| outside.ends_with(word))
        || choice
        || compared.iter().any(|word| after.starts_with(word))
}
