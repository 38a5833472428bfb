//! One pattern behind which a secret stands. In: a text. Out: the places that the pattern finds, and
//! whether what stands there is a secret.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::hidden::{Kind, Reader};
use super::need::Need;

/// A value as a shell or a file of settings writes it: quoted, escaped, bare,
/// or all of them in turn; from a quote that nothing closes, the rest of the line: what is on the
/// next one may run.
pub(super) const VALUE: &str = r#"(?:\\"(?:[^"\\]|\\[^"])*\\"|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s;|&<>)"'`\\])+|["'][^\n]*)"#;

/// A string as a language writes it, also within the quotes of a shell.
pub(super) const QUOTED: &str = r#"(?:\\"[^"\\\n]*(?:\\[^"\n][^"\\\n]*)*\\"|"(?:[^"\\\n]|\\.)*"|\\'[^'\\\n]*\\'|'(?:[^'\\\n]|\\.)*')"#;

/// What the name ends with of something that is no secret, although its name begins as one: where
/// a secret comes from, or what is run to get one.
pub(super) const SOURCES: &[&str] = &[
    "stdin", "file", "path", "_dir", "-dir", "_fd", "-fd", "-id", "-arn", "command", "_cmd",
    "-cmd", "cmd", "program", "helper", "prompt", "askpass", "extpass", "script", "name", "eval",
    "exec", "provider", "process", "plugin", "hook", "agent", "callback",
];

/// What the one group that takes part finds is hidden, without one the whole.
pub(super) struct Rule {
    /// Without which it finds nothing.
    pub(super) need: Need,
    /// Where it looks; everywhere without one. What it finds may end behind it.
    pub(super) scope: Option<Pattern>,
    pub(super) pattern: Pattern,
    pub(super) kind: Kind,
    pub(super) counts: Counts,
    pub(super) doubt: Doubt,
    /// Whether it finds the words of a shell, which within quotes end where the next one begins.
    pub(super) finds_words: bool,
}

/// Whether what a pattern found is a secret.
pub(super) type Counts = fn(&Captures<'_>, &str) -> bool;

/// How often what a rule finds is no secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Doubt {
    No,
    /// Unless it has letters of both cases and digits.
    Some,
    Much,
}

/// Returns a rule of which all that it finds is a secret, as far as `counts` says so.
pub(super) fn secret(need: Need, pattern: impl Into<Source>, counts: Counts) -> Rule {
    Rule {
        need,
        scope: None,
        pattern: Pattern::new(pattern),
        kind: Kind::Secret,
        counts,
        doubt: Doubt::No,
        finds_words: true,
    }
}

impl Rule {
    /// Says that what it finds may be of several strings.
    pub(super) fn strings(mut self) -> Self {
        self.finds_words = false;
        self
    }

    /// Looks for it only where this pattern matches.
    pub(super) fn within(mut self, scope: impl Into<Source>) -> Self {
        self.scope = Some(Pattern::new(scope));
        self
    }

    /// Returns where it looks in a text.
    pub(super) fn windows(&self, text: &str) -> Vec<Range<usize>> {
        match &self.scope {
            Some(scope) => (scope.get().find_iter(text).map(|found| found.range())).collect(),
            None => std::iter::once(0..text.len()).collect(),
        }
    }

    /// Returns whether a reader counts anything that the rule finds.
    pub(super) fn may_count(&self, reader: Reader) -> bool {
        match reader {
            Reader::Model => true,
            Reader::Trail => !matches!(self.doubt, Doubt::Much),
            #[cfg(any(feature = "sqlite", feature = "postgres"))]
            Reader::Names => matches!(self.doubt, Doubt::No),
        }
    }

    pub(super) fn counts(&self, reader: Reader, captures: &Captures<'_>, text: &str) -> bool {
        let any = |class: fn(&u8) -> bool| text.as_bytes().iter().any(class);
        let is_mixed = || {
            any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
        };
        let is_certain = match (reader, self.doubt) {
            (Reader::Trail, Doubt::Some) => is_mixed(),
            _ => true,
        };
        self.may_count(reader) && is_certain && (self.counts)(captures, text)
    }
}

/// The text of a pattern, as a rule writes it.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Literal(&'static str),
    /// Returns a text that has other constants in it. Called if the pattern is compiled.
    Built(fn() -> String),
}

impl From<&'static str> for Source {
    fn from(text: &'static str) -> Self {
        Self::Literal(text)
    }
}

/// A regular expression, compiled on first use: all of them take longer to compile than everything
/// else that a hook does. `\w` is what it is in ASCII, of which tokens are made: the letters of all
/// languages would be most of a pattern.
pub(super) struct Pattern {
    source: Source,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    pub(super) fn new(source: impl Into<Source>) -> Self {
        Self {
            source: source.into(),
            compiled: OnceLock::new(),
        }
    }

    /// Returns the text that is compiled.
    pub(super) fn text(&self) -> String {
        let text = match self.source {
            Source::Literal(text) => Cow::Borrowed(text),
            Source::Built(build) => Cow::Owned(build()),
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

/// A variable or a substitution is no secret, but says where one comes from.
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
    // Lower case could be a password that begins with a dollar sign.
    name.is_empty()
        || !name
            .bytes()
            .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

/// Whether a name, in lower case, says where a secret comes from, or what is run to get one.
pub(super) fn names_a_source(name: &str) -> bool {
    SOURCES.iter().any(|end| name.ends_with(end))
}

/// The value of a setting whose name and value are words, which may be the program that gets a secret.
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
