//! [`HookResult`] as JSON.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::HookResult;
use super::extras;
use crate::map::{Map, type_name};

/// A field of a [`HookResult`] is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}` is {found}; it is {expected}")]
#[non_exhaustive]
pub struct InvalidResult {
    /// The field.
    pub field: &'static str,
    /// Description of the value.
    pub found: String,
    /// Description of valid values.
    pub expected: &'static str,
}

/// The names of the fields.
const FIELDS: [&str; 15] = [
    "action",
    "data",
    "reason",
    "context_injection",
    "context_injection_role",
    "ephemeral",
    "append_to_last_tool_result",
    "approval_prompt",
    "approval_options",
    "approval_timeout",
    "approval_default",
    "suppress_output",
    "user_message",
    "user_message_level",
    "changes",
];

const OPTIONAL_TEXT: &str = "a string or null";
const SWITCH: &str = "`true` or `false`";

impl HookResult {
    /// Reads the JSON form; missing fields have their defaults.
    ///
    /// # Errors
    /// If a field has the wrong type or an unknown value.
    pub fn from_map(mut map: Map) -> Result<Self, InvalidResult> {
        let fields = &mut map;
        let default = HookResult::default();
        let result = HookResult {
            action: one_of(
                fields,
                "action",
                default.action,
                "one of `continue`, `deny`, `modify`, `inject_context`, `ask_user`",
            )?,
            data: field(fields, "data", None, "an object or null")?,
            reason: field(fields, "reason", None, OPTIONAL_TEXT)?,
            context_injection: field(fields, "context_injection", None, OPTIONAL_TEXT)?,
            context_injection_role: one_of(
                fields,
                "context_injection_role",
                default.context_injection_role,
                "one of `system`, `user`, `assistant`",
            )?,
            ephemeral: field(fields, "ephemeral", default.ephemeral, SWITCH)?,
            append_to_last_tool_result: field(
                fields,
                "append_to_last_tool_result",
                default.append_to_last_tool_result,
                SWITCH,
            )?,
            approval_prompt: field(fields, "approval_prompt", None, OPTIONAL_TEXT)?,
            approval_options: field(
                fields,
                "approval_options",
                None,
                "an array of strings or null",
            )?,
            approval_timeout: seconds(fields, "approval_timeout", default.approval_timeout)?,
            approval_default: one_of(
                fields,
                "approval_default",
                default.approval_default,
                "`allow` or `deny`",
            )?,
            suppress_output: field(fields, "suppress_output", default.suppress_output, SWITCH)?,
            user_message: field(fields, "user_message", None, OPTIONAL_TEXT)?,
            user_message_level: one_of(
                fields,
                "user_message_level",
                default.user_message_level,
                "one of `info`, `warning`, `error`",
            )?,
            // A field like the others: an invalid change must not be kept as an unknown key.
            changes: field::<Option<Map>>(fields, "changes", None, "an object or null")?
                .unwrap_or_default()
                .into(),
            extra: None,
        };
        check_extras(&map)?;
        Ok(HookResult {
            extra: (!map.is_empty()).then(|| Box::new(map)),
            ..result
        })
    }

    /// Returns the first invalid field; Rust's types do not exclude all invalid values.
    pub(crate) fn check(&self) -> Result<(), InvalidResult> {
        check_seconds("approval_timeout", self.approval_timeout)?;
        self.extra.as_deref().map_or(Ok(()), check_extras)
    }
}

/// Returns `true` if a field is one of a result. A `context_injections` is not: without an `action`
/// it would have no effect.
#[cfg(feature = "command")]
pub(crate) fn is_field(name: &str) -> bool {
    FIELDS.contains(&name) || name == super::USER_MESSAGE_SOURCE
}

fn check_extras(extra: &Map) -> Result<(), InvalidResult> {
    extras::check(extra).map_err(|invalid| InvalidResult {
        field: invalid.field,
        found: found(&invalid.found),
        expected: invalid.expected,
    })
}

/// Takes a field out of the map, and reads it.
fn field<T: DeserializeOwned>(
    map: &mut Map,
    field: &'static str,
    default: T,
    expected: &'static str,
) -> Result<T, InvalidResult> {
    let Some(value) = map.shift_remove(field) else {
        return Ok(default);
    };
    T::deserialize(&value).map_err(|_| InvalidResult {
        field,
        found: found(&value),
        expected,
    })
}

/// Like [`field`], but rejects serde's other form of an enum, the key of an object.
fn one_of<T: DeserializeOwned>(
    map: &mut Map,
    name: &'static str,
    default: T,
    expected: &'static str,
) -> Result<T, InvalidResult> {
    match map.get(name) {
        Some(value) if !value.is_string() => Err(InvalidResult {
            field: name,
            found: found(value),
            expected,
        }),
        _ => field(map, name, default, expected),
    }
}

fn seconds(map: &mut Map, name: &'static str, default: f64) -> Result<f64, InvalidResult> {
    let seconds = field(map, name, default, SECONDS)?;
    check_seconds(name, seconds)?;
    Ok(seconds)
}

const SECONDS: &str = "a number of seconds, 0 or more";

fn check_seconds(field: &'static str, seconds: f64) -> Result<(), InvalidResult> {
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(());
    }
    Err(InvalidResult {
        field,
        found: seconds.to_string(),
        expected: SECONDS,
    })
}

/// Describes a value: the value itself if it is short, else its type.
fn found(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() <= 40 => format!("`{text}`"),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        other => type_name(other).to_owned(),
    }
}

impl<'de> Deserialize<'de> for HookResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Members::deserialize(deserializer)?.into_map();
        let map = map.map_err(|(_, twice)| de::Error::custom(twice))?;
        HookResult::from_map(map).map_err(de::Error::custom)
    }
}

/// Members of an object in the written order: a field may occur twice.
pub(crate) struct Members(pub(crate) Vec<(String, Value)>);

/// A repeated field, whose value is ambiguous.
#[derive(Debug, thiserror::Error)]
#[error("field `{0}` is there twice; remove one")]
pub(crate) struct Twice(String);

impl Members {
    /// Returns the object, unless a field occurs twice.
    pub(crate) fn into_map(self) -> Result<Map, (Self, Twice)> {
        let mut names = HashSet::new();
        let twice = self.0.iter().find(|(field, _)| !names.insert(field));
        match twice.map(|(field, _)| Twice(field.clone())) {
            Some(twice) => Err((self, twice)),
            None => Ok(self.0.into_iter().collect()),
        }
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Members, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = object.next_entry()? {
                    fields.push(field);
                }
                Ok(Members(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for HookResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let HookResult {
            action,
            data,
            reason,
            context_injection,
            context_injection_role,
            ephemeral,
            append_to_last_tool_result,
            approval_prompt,
            approval_options,
            approval_timeout,
            approval_default,
            suppress_output,
            user_message,
            user_message_level,
            changes,
            extra,
        } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("action", action)?;
        map.serialize_entry("data", data)?;
        map.serialize_entry("reason", reason)?;
        map.serialize_entry("context_injection", context_injection)?;
        map.serialize_entry("context_injection_role", context_injection_role)?;
        map.serialize_entry("ephemeral", ephemeral)?;
        map.serialize_entry("append_to_last_tool_result", append_to_last_tool_result)?;
        map.serialize_entry("approval_prompt", approval_prompt)?;
        map.serialize_entry("approval_options", approval_options)?;
        map.serialize_entry("approval_timeout", approval_timeout)?;
        map.serialize_entry("approval_default", approval_default)?;
        map.serialize_entry("suppress_output", suppress_output)?;
        map.serialize_entry("user_message", user_message)?;
        map.serialize_entry("user_message_level", user_message_level)?;
        if !changes.is_empty() {
            map.serialize_entry("changes", changes)?;
        }
        // A repeated key would be read as its last value.
        let unknown = |(key, _): &(&String, &Value)| !FIELDS.contains(&key.as_str());
        for (key, value) in extra.iter().flat_map(|extra| extra.iter()).filter(unknown) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
