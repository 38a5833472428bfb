//! Text of a setting pattern in, its keys and its condition out.
//!
//! Part of the crate and of its build script, so it uses the standard library only.
//!
//! ```text
//! pattern   = path [ "?" | "=" texts | "!=" texts ]
//! path      = ( key | index ) { "." key | index }
//! key       = "*" | name | quoted
//! index     = "[" { digit } "]"
//! texts     = text { "|" text }
//! text      = quoted | characters other than `|` and `"`
//! name      = characters other than blanks and `.` `*` `"` `[` `]` `=` `!` `?` `|`
//! quoted    = '"' characters, `\"` and `\\` '"'
//! ```
//!
//! | Pattern | Meaning |
//! |---|---|
//! | `tool.ruff.fix` | the key is set to something other than false, null, zero or nothing |
//! | `codespell.write-changes ?` | the key is present, with any value or without one |
//! | `tool.ruff.fix = true` | the value is `true` |
//! | `core.fsmonitor != false\|""\|true` | the value is none of these texts |
//! | `core.pager = less *` | `*` in a text is any characters |
//! | `plugins[0]` | the first value of the list |
//! | `plugins[]` | each value of the list; a single value is a list of one |
//! | `filter.*.clean` | `*` is any one key or index |
//! | `"a.b".c` | a key with a dot in it |

use std::fmt;

/// Pattern of a setting: a path of keys and a condition on the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingPattern {
    pub(crate) keys: Vec<PatternKey>,
    pub(crate) condition: SettingCondition,
}

/// Key of a [`SettingPattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternKey {
    /// `*`: any key or index.
    Any,
    /// `[]`: each value of a list. At the end of a path, also a value that is not in a list.
    Item,
    /// A name, or an index of a list in decimal digits.
    Name(String),
}

/// Condition of a [`SettingPattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingCondition {
    /// No condition: the key is present and its value is not false, null, zero, an empty text, an
    /// empty list or an empty table. A key without a value counts as set.
    Set,
    /// `?`: the key is present.
    Present,
    /// `=`: the value is one of the texts.
    OneOf(Vec<String>),
    /// `!=`: the value is none of the texts.
    NoneOf(Vec<String>),
}

/// Error for a text that is no [`SettingPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingPatternError {
    MissingKey,
    MissingText,
    MissingQuote,
    MissingBracket,
    Unexpected(char),
}

impl fmt::Display for SettingPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingKey => f.write_str("a key is missing; quote a key that is empty"),
            Self::MissingText => {
                f.write_str("a text of the condition is missing; write `\"\"` for an empty text")
            }
            Self::MissingQuote => f.write_str("a `\"` is missing; close the quoted text"),
            Self::MissingBracket => f.write_str("a `]` is missing; close the index"),
            Self::Unexpected(c) => write!(f, "unexpected `{c}`; quote the key or the text"),
        }
    }
}

impl std::error::Error for SettingPatternError {}

/// Characters that end a name without quotes.
const SPECIAL: &str = ".*\"[]=!?|";

fn is_special(c: char) -> bool {
    c.is_whitespace() || SPECIAL.contains(c)
}

impl SettingPattern {
    /// Parses the text of a pattern.
    ///
    /// # Errors
    /// If the text does not follow the grammar of this module.
    pub(crate) fn parse(text: &str) -> Result<Self, SettingPatternError> {
        let mut rest = text.trim();
        let mut keys = Vec::new();
        loop {
            if let Some(after) = rest.strip_prefix('*') {
                keys.push(PatternKey::Any);
                rest = after;
            } else if !(keys.is_empty() && rest.starts_with('[')) {
                keys.push(PatternKey::Name(take_name(&mut rest)?));
            }
            while let Some(after) = rest.strip_prefix('[') {
                keys.push(take_index(after, &mut rest)?);
            }
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None => break,
            }
        }
        let condition = parse_condition(rest.trim_start())?;
        Ok(Self { keys, condition })
    }
}

impl PatternKey {
    /// Appends a name as the grammar writes it: in quotes if it needs them.
    pub(crate) fn push_name(name: &str, text: &mut String) {
        if !name.is_empty() && !name.contains(is_special) {
            text.push_str(name);
            return;
        }
        text.push('"');
        for c in name.chars() {
            if matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.push('"');
    }
}

fn parse_condition(text: &str) -> Result<SettingCondition, SettingPatternError> {
    if let Some(texts) = text.strip_prefix("!=") {
        return parse_texts(texts).map(SettingCondition::NoneOf);
    }
    if let Some(texts) = text.strip_prefix('=') {
        return parse_texts(texts).map(SettingCondition::OneOf);
    }
    let (condition, rest) = match text.strip_prefix('?') {
        Some(rest) => (SettingCondition::Present, rest),
        None => (SettingCondition::Set, text),
    };
    match rest.trim_start().chars().next() {
        Some(c) => Err(SettingPatternError::Unexpected(c)),
        None => Ok(condition),
    }
}

fn parse_texts(text: &str) -> Result<Vec<String>, SettingPatternError> {
    let mut texts = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('"') {
            texts.push(take_quoted(&mut rest)?);
        } else {
            let end = rest.find(['|', '"']).unwrap_or(rest.len());
            let (bare, after) = rest.split_at(end);
            match bare.trim_end() {
                "" => return Err(SettingPatternError::MissingText),
                bare => texts.push(bare.to_owned()),
            }
            rest = after;
        }
        rest = rest.trim_start();
        let mut after = rest.chars();
        match after.next() {
            None => return Ok(texts),
            Some('|') => rest = after.as_str(),
            Some(c) => return Err(SettingPatternError::Unexpected(c)),
        }
    }
}

/// Takes an index after its `[`.
fn take_index<'a>(text: &'a str, rest: &mut &'a str) -> Result<PatternKey, SettingPatternError> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - after.len()];
    *rest = match after.chars().next() {
        Some(']') => &after[1..],
        Some(c) => return Err(SettingPatternError::Unexpected(c)),
        None => return Err(SettingPatternError::MissingBracket),
    };
    Ok(match digits {
        "" => PatternKey::Item,
        digits => PatternKey::Name(digits.to_owned()),
    })
}

/// Takes a name from the start of the text, with or without quotes.
fn take_name(text: &mut &str) -> Result<String, SettingPatternError> {
    if text.starts_with('"') {
        return take_quoted(text);
    }
    let end = text.find(is_special).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return Err(SettingPatternError::MissingKey);
    }
    *text = rest;
    Ok(name.to_owned())
}

/// Takes a quoted text, which starts with `"`, from the start of the text.
fn take_quoted(text: &mut &str) -> Result<String, SettingPatternError> {
    let mut value = String::new();
    let mut chars = text.chars();
    chars.next();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                *text = chars.as_str();
                return Ok(value);
            }
            '\\' => match chars.next() {
                Some(escaped @ ('"' | '\\')) => value.push(escaped),
                Some(other) => return Err(SettingPatternError::Unexpected(other)),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err(SettingPatternError::MissingQuote)
}
