//! Agreement: a text in, the scripts of both parsers out, with the result of their comparison.

use super::nesting::{MAX_NESTING, MAX_SHALLOW_NESTING, nesting_bound};
use super::{brush, tree};
use crate::model::script::ShellScript;

/// Result of both parsers.
#[derive(Debug)]
pub(crate) enum ParseResult {
    /// Both parsers agree on the script.
    Agreed(ShellScript),
    /// The parsers read different scripts.
    Disputed(ShellScript, ShellScript),
    /// Only one parser reads the text.
    Single(ShellScript),
    /// Neither parser reads the text, or the text is nested too deeply to try.
    Unreadable(&'static str),
}

/// Reads `text` with both parsers.
pub(crate) fn parse(text: &str) -> ParseResult {
    let depth = nesting_bound(text);
    if depth > MAX_NESTING {
        return ParseResult::Unreadable("it is nested too deeply to be parsed");
    }
    if depth <= MAX_SHALLOW_NESTING {
        return parse_with_both(text, depth);
    }
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || parse_with_both(text, depth))
            .ok()
            .and_then(|thread| thread.join().ok())
            .unwrap_or(ParseResult::Unreadable("it could not be parsed"))
    })
}

/// Depth beyond which a text rejected by one parser is not passed to the other parser, which
/// backtracks: its time may double with every level.
const MAX_BACKTRACKING_DEPTH: usize = 6;

fn parse_with_both(text: &str, depth: usize) -> ParseResult {
    let other = tree::parse(text);
    // A here-document in a substitution is not given to it either: it may allocate without limit.
    let document = text.contains("<<")
        && ["$(", "${", "$[", "<(", ">("]
            .iter()
            .any(|open| text.contains(open));
    if other.is_none() && (depth > MAX_BACKTRACKING_DEPTH || document) {
        return ParseResult::Unreadable("incomplete shell command");
    }
    let one = brush::parse(text);
    if one != other
        && let Some(script) = agree_after_rewrite(text, depth, one.as_ref(), other.as_ref())
    {
        return ParseResult::Agreed(script);
    }
    match (one, other) {
        (Some(one), Some(other)) if one == other => ParseResult::Agreed(one),
        (Some(one), Some(other)) => ParseResult::Disputed(one, other),
        (Some(one), None) | (None, Some(one)) => ParseResult::Single(one),
        (None, None) => ParseResult::Unreadable("incomplete shell command"),
    }
}

/// Returns the script of a text on which the parsers differ only because one grammar lacks a
/// harmless notation.
fn agree_after_rewrite(
    text: &str,
    depth: usize,
    one: Option<&ShellScript>,
    other: Option<&ShellScript>,
) -> Option<ShellScript> {
    let words = rewrite_words(text).is_some_and(|eased| {
        let one = brush::parse(&eased);
        one.is_some() && tree::parse(&eased) == one
    });
    let time = || {
        one.is_some() && rewrite_time(text).is_some_and(|eased| tree::parse(&eased).as_ref() == one)
    };
    if words || time() {
        return one.or(other).cloned();
    }
    let nested = depth <= MAX_BACKTRACKING_DEPTH
        && other.is_some()
        && rewrite_nested_subshells(text)
            .is_some_and(|eased| brush::parse(&eased).as_ref() == other);
    nested.then(|| other.cloned()).flatten()
}

/// Returns the text with `!` between `( (`, which one parser reads as arithmetic. Its script of
/// this text must equal the script of the other parser for the original: a script does not contain
/// `!`.
fn rewrite_nested_subshells(text: &str) -> Option<String> {
    let mut eased = text.to_owned();
    while let Some(at) = eased.find("( (") {
        eased.replace_range(at..at + 3, "( ! (");
    }
    (eased != text).then_some(eased)
}

/// Returns the text without `time` before groups, which one grammar does not know. Its script of
/// this text must equal the script of the other parser for the original.
fn rewrite_time(text: &str) -> Option<String> {
    let mut eased = text.to_owned();
    for (at, word) in text.match_indices("time") {
        let before = text[..at].trim_end_matches([' ', '\t']);
        let after = text[at + word.len()..].trim_start_matches([' ', '\t']);
        if (before.is_empty() || before.ends_with([';', '&', '|', '(', '{', '\n']))
            && after.starts_with(['(', '{'])
        {
            eased.replace_range(at..at + word.len(), "    ");
        }
    }
    (eased != text).then_some(eased)
}

/// Returns the text with other plain words for `\\>`, `\\<` and `-`: one grammar reads them as
/// operators in `[ … ]` and as a descriptor before `<<`. Both parsers must agree on the result.
fn rewrite_words(text: &str) -> Option<String> {
    let mut eased = text.to_owned();
    for (word, plain) in [
        (" \\> ", " == "),
        (" \\< ", " == "),
        (" - <<", " _ <<"),
        (" - <", " _ <"),
        (" - >", " _ >"),
    ] {
        eased = eased.replace(word, plain);
    }
    (eased != text).then_some(eased)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parsers_agree() {
        for text in [
            "a && b > c",
            "a - <<'X'\nt\nX",
            "a - <<X | b\nt $(c)\nX",
            "time (a | b)",
            "a; time { b; }",
            "[ \"$a\" \\> \"$b\" ] && c",
            "a && b 2>&1 | d",
            "a && b < c | d && e",
            "( ( a ) )",
            "( ( ( a; b ) && c ) )",
            "pid=$(ss -l 'sport = :3000' | grep -oP 'pid=\\K\\d+' | head -1); [ -n \"$pid\" ] && tr '\\0' ' ' < \"/proc/$pid/cmdline\"",
            "psql \"$U\" <<'SQL'\n\\timing on\nSELECT a\nLIMIT 5;\nSQL",
            "a <<X && b\nt\nX",
            "cat <<X | grep y > z\nt $(ls)\nX",
        ] {
            match parse(text) {
                ParseResult::Agreed(_) => {}
                other => panic!("{text:?}: {other:#?}"),
            }
        }
    }
}
