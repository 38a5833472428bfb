//! Two readings of one text, and whether they mean the same.

use super::meaning::is_same;
use super::nesting::{CAP, SHALLOW, depth};
use super::{Script, brush, tree};

/// What the two parsers made of a text.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Both read the same.
    Agreed(Script),
    /// Each read something else.
    Disputed(Script, Script),
    /// Only one could read it.
    Single(Script),
    /// Neither could, or the text nests too deeply to try.
    Unreadable(&'static str),
}

/// Reads `text` with both parsers.
pub(crate) fn parse(text: &str) -> Reading {
    let depth = depth(text);
    if depth > CAP {
        return Reading::Unreadable("it is nested too deeply to be parsed");
    }
    if depth <= SHALLOW {
        return compare(text, depth);
    }
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || compare(text, depth))
            .ok()
            .and_then(|thread| thread.join().ok())
            .unwrap_or(Reading::Unreadable("it could not be parsed"))
    })
}

/// Deeper than this, a text that one parser cannot read is not given to the
/// other, which backtracks and may take time that doubles with every level.
const BACKTRACKS: usize = 6;

fn compare(text: &str, depth: usize) -> Reading {
    let other = tree::parse(text);
    // Nor is one with a document in a substitution: that may take memory without end.
    let document = text.contains("<<")
        && ["$(", "${", "$[", "<(", ">("]
            .iter()
            .any(|open| text.contains(open));
    if other.is_none() && (depth > BACKTRACKS || document) {
        return Reading::Unreadable("it is no complete shell command");
    }
    let one = brush::parse(text);
    let agreed = is_same(one.as_ref(), other.as_ref());
    if !agreed && let Some(script) = eased(text, depth, one.as_ref(), other.as_ref()) {
        return Reading::Agreed(script);
    }
    match (one, other) {
        (Some(one), Some(_)) if agreed => Reading::Agreed(one),
        (Some(one), Some(other)) => Reading::Disputed(one, other),
        (Some(one), None) | (None, Some(one)) => Reading::Single(one),
        (None, None) => Reading::Unreadable("it is no complete shell command"),
    }
}

/// What a text means of which the parsers differ only because one grammar does
/// not know something plain.
fn eased(text: &str, depth: usize, one: Option<&Script>, other: Option<&Script>) -> Option<Script> {
    let words = eased_words(text).is_some_and(|eased| {
        let one = brush::parse(&eased);
        one.is_some() && is_same(tree::parse(&eased).as_ref(), one.as_ref())
    });
    let time = || {
        one.is_some()
            && eased_time(text).is_some_and(|eased| is_same(tree::parse(&eased).as_ref(), one))
    };
    if words || time() {
        return one.or(other).cloned();
    }
    let nested = depth <= BACKTRACKS
        && other.is_some()
        && eased_nested(text).is_some_and(|eased| is_same(brush::parse(&eased).as_ref(), other));
    nested.then(|| other.cloned()).flatten()
}

/// The text with `!` between the brackets of subshells that begin together,
/// which one parser takes for arithmetic. What it reads then must be what the
/// other parser read of the whole text: `!` is no part of what a script means.
fn eased_nested(text: &str) -> Option<String> {
    let mut eased = text.to_owned();
    while let Some(at) = eased.find("( (") {
        eased.replace_range(at..at + 3, "( ! (");
    }
    (eased != text).then_some(eased)
}

/// The text without `time` before groups, which one grammar does not know.
/// What it reads then must be what the other parser read of the whole text.
fn eased_time(text: &str) -> Option<String> {
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

/// The text with `\\>`, `\\<` and `-`, words of their own, as words that are as
/// plain to a shell: one grammar takes them for operators in `[ … ]` and for a
/// descriptor before `<<`. Both parsers must read the result alike.
fn eased_words(text: &str) -> Option<String> {
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
    fn both_parsers_mean_the_same() {
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
                Reading::Agreed(_) => {}
                other => panic!("{text:?}: {other:#?}"),
            }
        }
    }
}
