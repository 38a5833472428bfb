//! Reads `.npmrc` as the package `ini` of npm does. It accepts every text.

use super::tree::{NodeKey, Settings};
use super::value::{SettingKind, SettingValue, SettingsError};

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let mut parent = None;
    for (number, line) in text.split('\n').enumerate() {
        let number = number + 1;
        for line in line.split('\r') {
            if line.trim().is_empty() || line.trim_start().starts_with([';', '#']) {
                continue;
            }
            if let Some(name) = section_name(line) {
                parent = Some(add_section(&unquote(name), number, settings)?);
                continue;
            }
            let (key, value) = match line.split_once('=') {
                Some((key, value)) => (key, Some(value)),
                None => (line, None),
            };
            if key.is_empty() {
                continue;
            }
            let value = setting_value(value, number);
            let key = unquote(key);
            match key.strip_suffix("[]") {
                Some(list) if !list.is_empty() => {
                    let node = settings.add_collection(parent, list, number)?;
                    settings.add(Some(node), NodeKey::Index(0), value)?;
                }
                _ => {
                    settings.add(parent, key.as_str(), value)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the text between brackets that are alone on the line.
fn section_name(line: &str) -> Option<&str> {
    let (name, after) = line.strip_prefix('[')?.split_once(']')?;
    after.trim().is_empty().then_some(name)
}

/// Adds the tables of a section: `a` and `b` of `[a.b]`. `\.` is a dot in a name.
fn add_section(name: &str, line: usize, settings: &mut Settings) -> Result<usize, SettingsError> {
    let mut node = None;
    let mut part = String::new();
    for c in name.chars() {
        match c {
            '.' if !part.ends_with('\\') => {
                node = Some(settings.add_collection(node, part.as_str(), line)?);
                part.clear();
            }
            c => part.push(c),
        }
    }
    settings.add_collection(node, part.replace("\\.", ".").as_str(), line)
}

fn setting_value(text: Option<&str>, line: usize) -> SettingValue {
    // A key without `=` is true.
    let text = text.map_or_else(|| "true".to_owned(), unquote);
    let kind = match text.as_str() {
        "true" | "false" => SettingKind::Boolean,
        "null" => SettingKind::Null,
        // npm converts the text of an option that is a number or a boolean.
        "0" => SettingKind::Number,
        // npm replaces variables.
        text if text.contains("${") => SettingKind::Expression,
        _ => SettingKind::Text,
    };
    SettingValue::new(kind, text, line)
}

/// Removes quotes, or the comment and the escapes of a text without quotes. A comment starts at `;` or
/// `#`, without a blank before it.
fn unquote(text: &str) -> String {
    let text = text.trim();
    let is_quoted = |quote| text.starts_with(quote) && text.ends_with(quote);
    if is_quoted('"') || is_quoted('\'') {
        // Within single quotes, the text may be JSON again.
        let json = match text.strip_prefix('\'') {
            Some(inner) => inner.strip_suffix('\'').unwrap_or(inner),
            None => text,
        };
        return match serde_json::from_str(json) {
            Ok(serde_json::Value::String(value)) => value,
            _ => json.to_owned(),
        };
    }
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ';' | '#' => break,
            '\\' => match chars.next() {
                Some(c @ ('\\' | ';' | '#')) => value.push(c),
                Some(c) => value.extend(['\\', c]),
                None => value.push('\\'),
            },
            c => value.push(c),
        }
    }
    value.trim().to_owned()
}
