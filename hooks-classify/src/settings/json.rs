//! Reads JSON with the crate `jsonc-parser`, which bounds the nesting. Comments, trailing commas and
//! JSON5 are accepted, since a program that rejects them does not run with this file.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::lines::LineStarts;
use super::tree::{NodeKey, Settings};
use super::value::{SettingKind, SettingValue, SettingsError};

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let lines = LineStarts::new(text);
    let document = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| {
            SettingsError::syntax(lines.line(error.range().start), error.kind().to_string())
        })?;
    match document.value {
        Some(value) => add_values(&value, None, &lines, settings),
        None => Ok(()),
    }
}

/// Adds the values of an object or an array below a node.
fn add_values(
    value: &Value<'_>,
    parent: Option<usize>,
    lines: &LineStarts,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    match value {
        Value::Object(object) => {
            for property in &object.properties {
                let name = match &property.name {
                    ObjectPropName::String(name) => name.value.as_ref(),
                    ObjectPropName::Word(name) => name.value,
                };
                let line = lines.line(property.range.start);
                add(&property.value, parent, name.into(), line, lines, settings)?;
            }
        }
        Value::Array(array) => {
            for (index, value) in array.elements.iter().enumerate() {
                let line = lines.line(value.range().start);
                let key = NodeKey::Index(index);
                add(value, parent, key, line, lines, settings)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn add(
    value: &Value<'_>,
    parent: Option<usize>,
    key: NodeKey,
    line: usize,
    lines: &LineStarts,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    let (kind, text) = match value {
        Value::StringLit(text) => (SettingKind::Text, text.value.to_string()),
        Value::NumberLit(number) => (SettingKind::Number, number.value.to_owned()),
        Value::BooleanLit(literal) => (SettingKind::Boolean, literal.value.to_string()),
        Value::NullKeyword(_) => (SettingKind::Null, String::new()),
        Value::Object(_) | Value::Array(_) => {
            let node = settings.add_collection(parent, key, line)?;
            return add_values(value, Some(node), lines, settings);
        }
    };
    settings.add(parent, key, SettingValue::new(kind, text, line))?;
    Ok(())
}
