//! Data that the cases send: usual and unusual.

use serde_json::{Value, json};

use crate::Map;

/// Returns data with the keys that hooks look for, as a host sets them.
pub(super) fn ordinary() -> Map {
    let data = json!({
        "session_id": "session-1",
        "timestamp": "2025-01-01T00:00:00Z",
        "tool_name": "write_file",
        "tool_input": {
            "file_path": "src/main.rs",
            "path": "src/main.rs",
            "content": "fn main() {}\n",
            "command": "ls -l",
            "url": "https://example.org/",
        },
        "tool_result": {"success": true, "output": "done"},
        "tool_response": {"success": true, "output": "done"},
        "file_path": "src/main.rs",
        "path": "src/main.rs",
        "command": "ls -l",
        "content": "fn main() {}\n",
        "cwd": ".",
        "prompt": "Add a test.",
        "agent_name": "reviewer",
        "message": "The tests pass.",
        "error": "the file is not there",
        "tools": ["read_file", "write_file"],
    });
    match data {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Returns [`ordinary`] data with every value replaced by this one.
pub(super) fn with_all(value: &Value) -> Value {
    let keys = ordinary().into_iter();
    Value::Object(keys.map(|(key, _)| (key, value.clone())).collect())
}

/// Returns [`ordinary`] data with every value of the tool's input replaced by this one.
pub(super) fn with_all_input(value: &Value) -> Value {
    let mut data = ordinary();
    if let Some(Value::Object(input)) = data.get_mut("tool_input") {
        for (_, old) in input.iter_mut() {
            *old = value.clone();
        }
    }
    Value::Object(data)
}

/// Returns values of types that a field usually does not have.
pub(super) fn wrong_types() -> Vec<Value> {
    vec![
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1.5e300),
        json!(""),
        json!([]),
        json!([[], {}, null]),
        json!({}),
        json!({"": {"tool_name": []}}),
    ]
}

/// Returns valid text that often causes errors. A lone surrogate cannot be in a text, but its
/// escape can.
pub(super) fn odd_texts() -> Vec<String> {
    let controls: String = (0..0x20)
        .chain(0x7f..0xa0)
        .filter_map(char::from_u32)
        .collect();
    vec![
        controls,
        "before\0after".to_owned(),
        "\u{1b}[2J\u{1b}]0;title\u{7}".to_owned(),
        "a\u{202e}b\u{2066}c\u{200b}d\u{feff}e".to_owned(),
        r"\ud800 \udfff \u0000 \x00 \".to_owned(),
        "\u{fffd}\u{ffff}\u{10ffff}".to_owned(),
        "line\r\nline\u{2028}line\u{85}line".to_owned(),
        "'; rm -rf -- \"$HOME\" #`$(id)`".to_owned(),
        "../../../../etc/passwd".to_owned(),
        "{\"action\": \"deny\"}".to_owned(),
        "%s%n{}{0}%00".to_owned(),
        "   ".to_owned(),
    ]
}

/// Returns data whose keys are a key of 64 KiB, the empty key, and odd texts.
pub(super) fn odd_keys() -> Value {
    let mut map = Map::new();
    map.insert("k".repeat(1 << 16), json!("a long key"));
    map.insert(String::new(), json!("no key"));
    for text in odd_texts() {
        map.insert(text, json!("an odd key"));
    }
    Value::Object(map)
}

/// Returns [`ordinary`] data with a file's content and a command of 1 MiB.
pub(super) fn huge_text() -> Value {
    let text = "0123456789abcdef".repeat(1 << 16);
    let mut data = ordinary();
    data.insert("content".to_owned(), json!(text));
    data.insert("tool_input".to_owned(), json!({"content": text}));
    Value::Object(data)
}

/// Returns [`ordinary`] data with 10 000 more fields.
pub(super) fn many_fields() -> Value {
    let mut data = ordinary();
    data.extend((0..10_000).map(|index| (format!("field_{index}"), json!(index))));
    Value::Object(data)
}

/// Depth of [`nested`] data with the surrounding object: JSON parsers accept it, and recursive
/// functions have to.
const DEPTH: usize = 110;

/// Returns [`ordinary`] data with the tool's input nested deeply, in arrays or objects.
pub(super) fn nested(wrap: fn(Value) -> Value) -> Value {
    let mut data = ordinary();
    let deep = (1..DEPTH).fold(json!("the bottom"), |inner, _| wrap(inner));
    data.insert("tool_input".to_owned(), deep);
    Value::Object(data)
}
