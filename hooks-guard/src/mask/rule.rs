//! A masking rule: a pattern for the context of a secret. Takes a text; returns the matches, and
//! checks that a match is a secret.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::hidden::{HiddenKind, MaskReader};
use super::precondition::Precondition;

/// A value in the syntax of a shell or a settings file: quoted, escaped, bare, or a sequence of
/// these. After an unclosed quote, the rest of the line; the next line may be a command.
pub(super) const VALUE: &str = r#"(?:\\"(?:[^"\\]|\\[^"])*\\"|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s;|&<>)"'`\\])+|["'][^\n]*)"#;

/// A string in the syntax of a programming language, also within shell quotes.
pub(super) const QUOTED: &str = r#"(?:\\"[^"\\\n]*(?:\\[^"\n][^"\\\n]*)*\\"|"(?:[^"\\\n]|\\.)*"|\\'[^'\\\n]*\\'|'(?:[^'\\\n]|\\.)*')"#;

/// Suffixes of names that begin like the name of a secret but denote its source, or the program
/// that provides it.
pub(super) const SOURCES: &[&str] = &[
    "stdin", "file", "path", "_dir", "-dir", "_fd", "-fd", "-id", "-arn", "command", "_cmd",
    "-cmd", "cmd", "program", "helper", "prompt", "askpass", "extpass", "script", "name", "eval",
    "exec", "provider", "process", "plugin", "hook", "agent", "callback",
];

/// A masking rule. Hides the capture group that matches, or the whole match if there is none.
pub(super) struct MaskRule {
    /// Precondition of a match.
    pub(super) need: Precondition,
    /// Pattern of the text in which the rule matches; the whole text if `None`. A match may extend
    /// beyond it.
    pub(super) scope: Option<LazyRegex>,
    pub(super) pattern: LazyRegex,
    pub(super) kind: HiddenKind,
    pub(super) counts: IsSecret,
    pub(super) risk: FalsePositiveRisk,
    /// If `true`, the rule matches shell words, which end within quotes where the next word begins.
    pub(super) finds_words: bool,
}

/// Returns `true` if the match is a secret.
pub(super) type IsSecret = fn(&Captures<'_>, &str) -> bool;

/// Probability that a match is not a secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FalsePositiveRisk {
    No,
    /// Not a secret, unless it has letters of both cases and digits.
    Some,
    High,
}

/// Returns a rule whose matches are secrets if `counts` returns `true`.
pub(super) fn secret(
    need: Precondition,
    pattern: impl Into<PatternSource>,
    counts: IsSecret,
) -> MaskRule {
    MaskRule {
        need,
        scope: None,
        pattern: LazyRegex::new(pattern),
        kind: HiddenKind::Secret,
        counts,
        risk: FalsePositiveRisk::No,
        finds_words: true,
    }
}

impl MaskRule {
    /// Sets that a match may consist of several strings.
    pub(super) fn strings(mut self) -> Self {
        self.finds_words = false;
        self
    }

    /// Restricts the rule to matches of `scope`.
    pub(super) fn within(mut self, scope: impl Into<PatternSource>) -> Self {
        self.scope = Some(LazyRegex::new(scope));
        self
    }

    /// Returns the ranges of a text in which the rule matches.
    pub(super) fn windows(&self, text: &str) -> Vec<Range<usize>> {
        match &self.scope {
            Some(scope) => (scope.get().find_iter(text).map(|found| found.range())).collect(),
            None => std::iter::once(0..text.len()).collect(),
        }
    }

    /// Returns `true` if the rule may have matches for a reader.
    pub(super) fn may_count(&self, reader: MaskReader) -> bool {
        match reader {
            MaskReader::Model => true,
            MaskReader::Trail => !matches!(self.risk, FalsePositiveRisk::High),
            #[cfg(any(feature = "sqlite", feature = "postgres"))]
            MaskReader::Names => matches!(self.risk, FalsePositiveRisk::No),
        }
    }

    pub(super) fn counts(&self, reader: MaskReader, captures: &Captures<'_>, text: &str) -> bool {
        let any = |class: fn(&u8) -> bool| text.as_bytes().iter().any(class);
        let is_mixed = || {
            any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
        };
        let is_certain = match (reader, self.risk) {
            (MaskReader::Trail, FalsePositiveRisk::Some) => is_mixed(),
            _ => true,
        };
        self.may_count(reader) && is_certain && (self.counts)(captures, text)
    }
}

/// The text of a pattern, as a rule writes it.
#[derive(Clone, Copy)]
pub(super) enum PatternSource {
    Literal(&'static str),
    /// Returns a text that has other constants in it. Called if the pattern is compiled.
    Built(fn() -> String),
}

impl From<&'static str> for PatternSource {
    fn from(text: &'static str) -> Self {
        Self::Literal(text)
    }
}

/// Regular expression that is compiled on first use: compiling all patterns takes longer than
/// everything else in a hook. `\w` is restricted to ASCII, the alphabet of tokens: with all Unicode
/// letters it would be most of a pattern.
pub(super) struct LazyRegex {
    source: PatternSource,
    compiled: OnceLock<Regex>,
}

impl LazyRegex {
    pub(super) fn new(source: impl Into<PatternSource>) -> Self {
        Self {
            source: source.into(),
            compiled: OnceLock::new(),
        }
    }

    /// Returns the text that is compiled.
    pub(super) fn text(&self) -> String {
        let text = match self.source {
            PatternSource::Literal(text) => Cow::Borrowed(text),
            PatternSource::Built(build) => Cow::Owned(build()),
        };
        text.replace(r"\w", "[[:word:]]")
            // A command goes on behind an escaped line break.
            .replace(r"[^;|&\n]*", r"(?:[^;|&\n\\]|\\(?s:.))*")
    }

    pub(super) fn get(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            Regex::new(&self.text()).expect("the pattern is part of this file, and a test uses it")
        })
    }
}

pub(super) fn always(_: &Captures<'_>, _: &str) -> bool {
    true
}

/// Returns `false` for a variable or a substitution, which only shows where a secret comes from.
pub(super) fn literal(_: &Captures<'_>, text: &str) -> bool {
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

/// Returns `true` if a name, in lower case, denotes the source of a secret, or the program that
/// provides it.
pub(super) fn names_a_source(name: &str) -> bool {
    SOURCES.iter().any(|end| name.ends_with(end))
}

/// Returns `true` if the value of a setting with name and value in separate words is a secret, and
/// not the program that provides one.
pub(super) fn of_a_setting(captures: &Captures<'_>, text: &str) -> bool {
    let whole = captures.get(0).map_or("", |group| group.as_str());
    let name = whole.strip_suffix(text).unwrap_or(whole).to_lowercase();
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    !text
        .trim_start_matches(['"', '\''])
        .starts_with(['-', '/', '~', '!'])
        && !names_a_source(name)
        && literal(captures, text)
}

pub(super) fn literal_no_option(captures: &Captures<'_>, text: &str) -> bool {
    !text.starts_with('-') && literal(captures, text)
}
