//! Reads fields of an input: ignores unknown ones and checks required ones strictly. In: JSON. Out:
//! fields, or the problem of one.

use std::path::PathBuf;

use hooks_runtime::display::json_message;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) use super::description::JsonObject;
use super::error::{MAX_INPUT_BYTES, Problem};
use crate::excerpt::Excerpt;
use crate::request::MAX_NAME_CHARS;

/// Returns the object in the input.
pub(crate) fn object(input: &[u8]) -> Result<JsonObject, Problem> {
    if input.len() > MAX_INPUT_BYTES {
        return Err(Problem::TooLong);
    }
    let text = std::str::from_utf8(input).map_err(|_| Problem::Encoding)?;
    parse(text.strip_prefix('\u{feff}').unwrap_or(text), INPUT)
}

/// The whole input in messages.
const INPUT: &str = "the hook's input";

/// Parses an object; `place` is the name of the text in messages.
fn parse(text: &str, place: &'static str) -> Result<JsonObject, Problem> {
    // serde_json stops at 128 levels.
    let value = serde_json::from_str(text).map_err(|error| Problem::Json {
        place,
        excerpt: Excerpt::of_json(text, &error),
        detail: json_message(&error),
    })?;
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(Problem::NotAnObject),
    }
}

/// Returns the SHA-256 of a tool's arguments, in hexadecimal.
pub(crate) fn hash(arguments: &impl Serialize) -> String {
    let text = serde_json::to_vec(arguments).unwrap_or_default();
    hex::encode(Sha256::digest(text))
}

/// Returns a text, if the field is present and not null.
pub(crate) fn text<'a>(
    object: &'a JsonObject,
    field: &'static str,
) -> Result<Option<&'a str>, Problem> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Problem::Type {
            field,
            wanted: "a text",
        }),
    }
}

/// Returns the text of a field with several spellings, which must not differ.
pub(crate) fn text_of_spellings<'a>(
    object: &'a JsonObject,
    spellings: &[&'static str],
) -> Result<Option<&'a str>, Problem> {
    let mut found: Option<(&'static str, &str)> = None;
    for &second in spellings {
        let Some(text) = text(object, second)? else {
            continue;
        };
        match found {
            Some((first, other)) if other != text => {
                return Err(Problem::Contradiction { first, second });
            }
            _ => found = Some((second, text)),
        }
    }
    Ok(found.map(|(_, text)| text))
}

/// Returns a short text that names something.
pub(crate) fn name<'a>(
    object: &'a JsonObject,
    spellings: &[&'static str],
) -> Result<Option<&'a str>, Problem> {
    let name = text_of_spellings(object, spellings)?;
    if let (Some(name), Some(&field)) = (name, spellings.first())
        && name.len() > MAX_NAME_CHARS
        && name.chars().count() > MAX_NAME_CHARS
    {
        return Err(Problem::LongField {
            field,
            most: MAX_NAME_CHARS,
        });
    }
    Ok(name.filter(|name| !name.is_empty()))
}

/// Returns the directory of the session.
pub(crate) fn cwd(object: &JsonObject) -> Result<Option<PathBuf>, Problem> {
    let spellings = ["cwd", "directory", "working_dir", "working_directory"];
    let cwd = text_of_spellings(object, &spellings)?.filter(|cwd| !cwd.is_empty());
    let roots = ["workspace_roots", "workspacePaths", "workspaceRoots"];
    let first_root = || {
        let mut roots = roots
            .iter()
            .filter_map(|field| object.get(*field)?.as_array());
        roots.find_map(|roots| roots.first()?.as_str())
    };
    let cwd = cwd.or_else(first_root).map(PathBuf::from);
    Ok(cwd.filter(|cwd| cwd.is_absolute()))
}

/// Returns the arguments of the tool: an object, or (Copilot) JSON in a text.
pub(crate) fn arguments(value: &Value, field: &'static str) -> Result<JsonObject, Problem> {
    match value {
        Value::Object(object) => Ok(object.clone()),
        Value::String(text) => parse(text, field).map_err(|problem| match problem {
            Problem::NotAnObject => Problem::Type {
                field,
                wanted: "an object",
            },
            other => other,
        }),
        _ => Err(Problem::Type {
            field,
            wanted: "an object",
        }),
    }
}
