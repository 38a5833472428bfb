//! A pattern for the context of a secret: a text in, the ranges of its matches out.

use std::ops::Range;

use regex::Captures;

use crate::model::lazy_regex::LazyRegex;

/// A value in the syntax of a shell or a settings file: quoted, escaped, bare, or a sequence of
/// these. After an unclosed quote, the rest of the line.
pub(super) const VALUE: &str = r#"(?:\\"(?:[^"\\]|\\[^"])*\\"|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s;|&<>)"'`\\])+|["'][^\n]*)"#;

/// A string in the syntax of a programming language, also within quotes of a shell.
pub(super) const QUOTED: &str = r#"(?:\\"[^"\\\n]*(?:\\[^"\n][^"\\\n]*)*\\"|"(?:[^"\\\n]|\\.)*"|\\'[^'\\\n]*\\'|'(?:[^'\\\n]|\\.)*')"#;

/// Context of a secret. The secret is the first group that matches, or the whole match.
pub(super) struct ContextRule {
    /// Texts, in lower case, one of which every match has.
    pub(super) needs: &'static [&'static str],
    /// Pattern of the text in which a match begins; the whole text if `None`.
    pub(super) scope: Option<LazyRegex>,
    pub(super) pattern: LazyRegex,
    pub(super) is_secret: IsSecret,
}

/// Returns `true` if the text of a match is a secret.
pub(super) type IsSecret = fn(&Captures<'_>, &str) -> bool;

pub(super) const fn rule(
    needs: &'static [&'static str],
    pattern: fn() -> String,
    is_secret: IsSecret,
) -> ContextRule {
    ContextRule {
        needs,
        scope: None,
        pattern: LazyRegex::new(pattern),
        is_secret,
    }
}

/// Returns a rule for matches that begin in a match of `scope`.
pub(super) const fn rule_within(
    needs: &'static [&'static str],
    scope: fn() -> String,
    pattern: fn() -> String,
    is_secret: IsSecret,
) -> ContextRule {
    ContextRule {
        needs,
        scope: Some(LazyRegex::new(scope)),
        pattern: LazyRegex::new(pattern),
        is_secret,
    }
}

impl ContextRule {
    /// Adds the secrets of a text. `lower` is the text in lower case.
    fn find(&self, text: &str, lower: &str, found: &mut Vec<Range<usize>>) {
        if !self.needs.iter().any(|need| lower.contains(need)) {
            return;
        }
        match &self.scope {
            None => self.find_in(text, 0..text.len(), found),
            Some(scope) => {
                for window in scope.get().find_iter(text) {
                    self.find_in(text, window.range(), found);
                }
            }
        }
    }

    /// Adds the secrets of matches that begin in a window.
    fn find_in(&self, text: &str, window: Range<usize>, found: &mut Vec<Range<usize>>) {
        let mut from = window.start;
        while let Some(captures) = self.pattern.get().captures_at(text, from) {
            let whole = captures.get(0).map_or(from..from, |group| group.range());
            if whole.start >= window.end {
                return;
            }
            let groups = captures.iter().skip(1).flatten();
            let secret = groups.map(|group| group.range()).next();
            let secret = secret.unwrap_or_else(|| whole.clone());
            let is_secret = (self.is_secret)(&captures, &text[secret.clone()]);
            from = match is_secret || whole.len() == secret.len() {
                true => secret.end,
                // A text that is not a secret may contain one.
                false => secret.start,
            }
            .max(from + 1);
            if is_secret && !secret.is_empty() {
                found.push(secret);
            }
            while from < text.len() && !text.is_char_boundary(from) {
                from += 1;
            }
            if from > text.len() {
                return;
            }
        }
    }
}

/// Returns the secrets that some of the rules find in a text, in no order.
pub(super) fn find_all<'r>(
    rules: impl IntoIterator<Item = &'r ContextRule>,
    text: &str,
) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for rule in rules {
        rule.find(text, &lower, &mut found);
    }
    found
}

pub(super) fn always(_: &Captures<'_>, _: &str) -> bool {
    true
}

/// Returns `false` for a variable or a substitution, which only shows where a secret comes from.
pub(super) fn literal(_: &Captures<'_>, text: &str) -> bool {
    is_literal(text)
}

/// Returns `false` for a variable or a substitution, which only shows where a secret comes from.
pub(crate) fn is_literal(text: &str) -> bool {
    let bare = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    if matches!(text, "''" | "\\\"\\\"" | "%s") || bare.starts_with("$(") || bare.starts_with('`') {
        return false;
    }
    let Some(name) = bare.strip_prefix('$') else {
        return !bare.is_empty();
    };
    let name = name
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'))
        .unwrap_or(name);
    // A lower-case name could be a password that begins with a dollar sign.
    name.is_empty()
        || !name
            .bytes()
            .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}
