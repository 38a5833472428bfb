//! Reads TOML with the crate `toml`. It bounds the levels of brackets and the keys of each path, but
//! not their product, which overflows the stack when the tables are dropped.

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::lines::LineStarts;
use super::tree::{NodeKey, Settings};
use super::value::{MAX_SETTINGS_DEPTH, SettingKind, SettingValue, SettingsError};

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let lines = LineStarts::new(text);
    check_depth(text, &lines)?;
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.line(span.start));
        SettingsError::syntax(line, error.message())
    })?;
    add_table(document.get_ref(), None, &lines, settings)
}

/// Checks the levels of each value: brackets around it, and keys in front of the brackets.
fn check_depth(text: &str, lines: &LineStarts) -> Result<(), SettingsError> {
    // Levels at each open bracket.
    let mut open = Vec::new();
    let (mut levels, mut dots) = (0, 0);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                open.push(levels);
                levels += dots + 1;
                dots = 0;
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                levels = open.pop().unwrap_or(0);
            }
            TokenKind::Comma | TokenKind::Newline => dots = 0,
            _ => {}
        }
        if levels + dots > MAX_SETTINGS_DEPTH {
            let line = lines.line(token.span().start());
            return Err(SettingsError::TooDeep { line });
        }
    }
    Ok(())
}

fn add_table(
    table: &DeTable<'_>,
    parent: Option<usize>,
    lines: &LineStarts,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    for (name, value) in table {
        let line = lines.line(name.span().start);
        let key = NodeKey::from(name.get_ref().as_ref());
        add(value, parent, key, line, lines, settings)?;
    }
    Ok(())
}

fn add(
    value: &Spanned<DeValue<'_>>,
    parent: Option<usize>,
    key: NodeKey,
    line: usize,
    lines: &LineStarts,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    let (kind, text) = match value.get_ref() {
        DeValue::String(text) => (SettingKind::Text, text.to_string()),
        DeValue::Integer(number) => (SettingKind::Number, number.to_string()),
        DeValue::Float(number) => (SettingKind::Number, number.to_string()),
        DeValue::Boolean(value) => (SettingKind::Boolean, value.to_string()),
        DeValue::Datetime(time) => (SettingKind::Text, time.to_string()),
        DeValue::Array(values) => {
            let node = settings.add_collection(parent, key, line)?;
            for (index, value) in values.iter().enumerate() {
                let line = lines.line(value.span().start);
                let key = NodeKey::Index(index);
                add(value, Some(node), key, line, lines, settings)?;
            }
            return Ok(());
        }
        DeValue::Table(table) => {
            let node = settings.add_collection(parent, key, line)?;
            return add_table(table, Some(node), lines, settings);
        }
    };
    settings.add(parent, key, SettingValue::new(kind, text, line))?;
    Ok(())
}
