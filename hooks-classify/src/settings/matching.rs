//! A [`SettingPattern`] and [`Settings`] in, the values that fulfil the pattern out.
//!
//! A value that only the program knows fulfils every condition: a text with references, a word that
//! some versions of YAML take for a boolean, a text of INI with a comment that some readers cut off.

use super::pattern::{SettingCondition, SettingPattern};
use super::tree::Settings;
use super::value::{SettingKind, SettingValue};
use crate::model::wildcard::matches;

/// Value that fulfils a [`SettingPattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingMatch {
    /// Path of the key: `tool.ruff.fix`, `plugins[0]`.
    pub(crate) path: String,
    pub(crate) value: SettingValue,
}

impl SettingPattern {
    /// Returns the first value that fulfils the pattern.
    pub(crate) fn matches(&self, settings: &Settings) -> Option<SettingMatch> {
        self.all_matches(settings).next()
    }

    /// Returns all values that fulfil the pattern, in the order of the text.
    ///
    /// A pattern with the condition `!=` is not fulfilled if the key is absent.
    pub(crate) fn all_matches(&self, settings: &Settings) -> impl Iterator<Item = SettingMatch> {
        settings
            .nodes_at(&self.keys)
            .filter(|node| self.condition.holds(settings.value(*node)))
            .map(|node| SettingMatch {
                path: settings.path_text(node),
                value: settings.value(node).clone(),
            })
    }
}

/// Result of a comparison of a value with a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equality {
    Equal,
    /// Some programs read the value as equal to the text, others as different.
    Unknown,
    Different,
}

impl SettingCondition {
    fn holds(&self, value: &SettingValue) -> bool {
        match self {
            Self::Present => true,
            Self::Set => is_set(value),
            Self::OneOf(texts) => texts
                .iter()
                .any(|text| compare(value, text) != Equality::Different),
            Self::NoneOf(texts) => texts
                .iter()
                .all(|text| compare(value, text) != Equality::Equal),
        }
    }
}

fn is_set(value: &SettingValue) -> bool {
    let text = value.text.as_str();
    match value.kind {
        SettingKind::Null | SettingKind::EmptyCollection => false,
        SettingKind::Flag
        | SettingKind::Collection
        | SettingKind::Expression
        | SettingKind::BooleanOrText => true,
        SettingKind::Text => !text.is_empty(),
        SettingKind::Number => text.parse::<f64>() != Ok(0.0),
        SettingKind::Boolean => text == "true",
        SettingKind::Untyped => !text.is_empty() && boolean(text) != Some(false),
    }
}

fn compare(value: &SettingValue, text: &str) -> Equality {
    let is_same_boolean = || boolean(&value.text).is_some_and(|known| boolean(text) == Some(known));
    match value.kind {
        SettingKind::Expression => Equality::Unknown,
        SettingKind::Collection | SettingKind::EmptyCollection | SettingKind::Flag => {
            Equality::Different
        }
        SettingKind::Null if text == "null" => Equality::Equal,
        _ if value.text == text || text.contains('*') && matches(text, &value.text) => {
            Equality::Equal
        }
        SettingKind::Untyped if is_same_boolean() => Equality::Equal,
        SettingKind::Untyped if text_before_comment(&value.text) == Some(text) => Equality::Unknown,
        SettingKind::BooleanOrText if is_same_boolean() => Equality::Unknown,
        _ => Equality::Different,
    }
}

/// Returns the boolean that git, Python's `getboolean` or YAML 1.1 reads in a text.
fn boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(&["true", "yes", "on", "1", "y"]) {
        return Some(true);
    }
    is_one_of(&["false", "no", "off", "0", "n"]).then_some(false)
}

/// Returns the text before a comment at the end of the line, which some readers of INI cut off.
fn text_before_comment(text: &str) -> Option<&str> {
    let is_start = |(at, c): &(usize, char)| {
        matches!(c, '#' | ';') && text[..*at].ends_with(char::is_whitespace)
    };
    let (at, _) = text.char_indices().find(is_start)?;
    Some(text[..at].trim_end())
}
