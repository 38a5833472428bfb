//! Data of events.

use serde_json::Value;

/// Fields of an event: a JSON object that keeps the order of its keys.
pub type Map = serde_json::Map<String, Value>;

/// Returns the type of a value with its article, for messages.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
