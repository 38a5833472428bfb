//! Passwords in commands of Redis: a text in, the ranges of its passwords out.

use std::ops::Range;

use super::rule::{ContextRule, find_all, literal, rule, rule_within};

const WORD: &str = r#"(?:\\"[^"\\]*\\"|"[^"\n]*"|'[^'\n]*'|[^\s;|&"'\\]+)"#;
/// The password after a user, which is not an option, a redirection or a comment.
const PASSWORD: &str =
    r#"(?:\\"[^"\\]*\\"|"[^"\n]*"|'[^'\n]*'|[^\s;|&"'\\<>#(){}-][^\s;|&"'\\<>(){}]*)"#;

/// Returns the passwords of commands of Redis.
pub(crate) fn redis_secrets(text: &str) -> Vec<Range<usize>> {
    find_all(&REDIS_RULES, text)
}

static REDIS_RULES: [ContextRule; 4] = [
    rule(
        &["auth"],
        || {
            format!(
                r#"(?im)(?:^(?:\s*-\S+\s+(?:[^-\s]\S*\s+)??)*\s*|\bhello\s+[0-9]\s+)auth[ \t]+(?:{WORD}[ \t]+({PASSWORD})(?:[\s;|&"'\\)]|\z)|({WORD}))"#
            )
        },
        literal,
    ),
    rule(
        &["requirepass", "masterauth"],
        || format!(r"(?i)\b(?:requirepass|masterauth)\s+({WORD})"),
        |captures, text| !text.starts_with(".*") && literal(captures, text),
    ),
    rule_within(
        &["migrate "],
        || r"(?i)\bmigrate\s[^;|&\n]*".to_owned(),
        || format!(r"(?i)\sauth(?:2\s+{WORD})?\s+({WORD})"),
        literal,
    ),
    rule_within(
        &["setuser"],
        || r"(?i)\bacl\s+setuser\s[^;|\n]*".to_owned(),
        || r#"[\s"'\\][<>]([^\s"'<>;|&\\]+)"#.to_owned(),
        literal,
    ),
];
