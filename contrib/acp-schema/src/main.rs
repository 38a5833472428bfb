//! Compares the parameters of `hooks-guard acp` with the types of the published crate.

#[path = "../../../hooks-guard/src/acp/parameters.rs"]
#[allow(dead_code, reason = "the fields are read through serde")]
mod parameters;

use agent_client_protocol_schema::{v1, v2};
use fastrand::Rng;
use parameters::{
    CreateTerminal, FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE, PermissionSubject, ReadTextFile,
    RequestPermission, RequestPermissionV2, SESSION_REQUEST_PERMISSION, TERMINAL_CREATE,
    WriteTextFile,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Random parameters of each kind.
const ROUNDS: usize = 100_000;

/// Returns a value of any type, often one that fits somewhere.
fn any(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(..if depth == 0 { 9 } else { 11 }) {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 => json!(rng.i64(-2..5)),
        3 => json!(1.5),
        4 => json!(u64::from(u32::MAX) + 1),
        5 => json!(""),
        6 => json!("allow_once"),
        7 => json!("/work/a"),
        8 => json!("a b"),
        9 => (0..rng.usize(..3)).map(|_| any(rng, depth - 1)).collect(),
        _ => {
            let keys = ["type", "name", "value", "path", "toolCallId", "x"];
            let pairs = (0..rng.usize(..4)).map(|_| {
                let key = keys[rng.usize(..keys.len())].to_owned();
                (key, any(rng, depth - 1))
            });
            Value::Object(pairs.collect())
        }
    }
}

/// Returns an object with these fields, some of which are left out or have any value.
fn object(rng: &mut Rng, fields: &[(&str, Value)]) -> Value {
    let mut object = Map::new();
    for (key, value) in fields {
        match rng.u8(..16) {
            0 => {}
            1 => match any(rng, 2) {
                // Some derived types read a list as the fields of an object.
                Value::Array(_) if value.is_object() => {}
                other => drop(object.insert((*key).to_owned(), other)),
            },
            _ => drop(object.insert((*key).to_owned(), value.clone())),
        }
    }
    if rng.u8(..8) == 0 {
        object.insert("unknown".to_owned(), any(rng, 1));
    }
    Value::Object(object)
}

fn options(rng: &mut Rng) -> Value {
    let kinds = [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
        "_other",
    ];
    let count = rng.usize(..3);
    let options = (0..count).map(|_| {
        let kind = kinds[rng.usize(..kinds.len())];
        object(
            rng,
            &[
                ("optionId", json!("o")),
                ("name", json!("n")),
                ("kind", json!(kind)),
            ],
        )
    });
    options.collect()
}

fn terminal(rng: &mut Rng) -> Value {
    let variable = object(
        rng,
        &[
            ("name", json!("A")),
            ("value", json!("b")),
            ("_meta", json!({})),
        ],
    );
    let fields = [
        ("sessionId", json!("s")),
        ("command", json!("ls")),
        ("args", json!(["-l", "a b"])),
        ("env", json!([variable])),
        ("cwd", json!("/work")),
        ("outputByteLimit", json!(9)),
        ("_meta", any(rng, 1)),
    ];
    object(rng, &fields)
}

fn file(rng: &mut Rng) -> Value {
    let fields = [
        ("sessionId", json!("s")),
        ("path", json!("/work/a")),
        ("content", json!("text")),
        ("line", json!(3)),
        ("limit", json!(9)),
    ];
    object(rng, &fields)
}

fn call(rng: &mut Rng) -> Value {
    let fields = [
        ("toolCallId", json!("c")),
        ("kind", json!("execute")),
        ("title", json!("t")),
        ("rawInput", any(rng, 2)),
        ("content", any(rng, 2)),
        ("locations", any(rng, 2)),
    ];
    object(rng, &fields)
}

fn permission(rng: &mut Rng) -> Value {
    let call = call(rng);
    let options = options(rng);
    let mut subject = match rng.u8(..4) {
        0 => object(
            rng,
            &[("type", json!("tool_call")), ("toolCall", call.clone())],
        ),
        1 => object(rng, &[("type", json!("_other")), ("x", json!(1))]),
        _ => {
            let fields = [
                ("type", json!("command")),
                ("command", json!("ls")),
                ("cwd", json!("/work")),
                ("toolCallId", json!("c")),
                ("terminalId", json!("t")),
            ];
            object(rng, &fields)
        }
    };
    // Derived types read a number as the place of a variant.
    if subject["type"].is_number() {
        subject["type"] = Value::Null;
    }
    let fields = [
        ("sessionId", json!("s")),
        ("toolCall", call),
        ("title", json!("t")),
        ("subject", subject),
        ("options", options),
    ];
    object(rng, &fields)
}

/// Returns `true` if both types are valid, and panics if only one is, or the texts differ.
fn agree<Own: DeserializeOwned, Published: DeserializeOwned>(
    parameters: &Value,
    same: impl Fn(&Own, &Published) -> bool,
) -> bool {
    let own = serde_json::from_value::<Own>(parameters.clone());
    let published = serde_json::from_value::<Published>(parameters.clone());
    match (own, published) {
        (Ok(own), Ok(published)) => {
            assert!(same(&own, &published), "different values: {parameters}");
            true
        }
        (Err(_), Err(_)) => false,
        (own, published) => panic!(
            "own: {:?}, published: {:?}: {parameters}",
            own.err(),
            published.err()
        ),
    }
}

/// Returns `true` if a type keeps each of the fields that the other keeps. `null`, `_meta` and empty
/// lists count as missing.
fn same_fields<One: Serialize, Other: Serialize>(one: &One, other: &Other) -> bool {
    fn clean(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, value)| (key, clean(value)));
                let fields = fields.filter(|(key, value)| {
                    key != "_meta"
                        && !value.is_null()
                        && value.as_array().is_none_or(|list| !list.is_empty())
                });
                Value::Object(fields.collect())
            }
            Value::Array(list) => list.into_iter().map(clean).collect(),
            other => other,
        }
    }
    let value = |it: Result<Value, _>| {
        it.map(clean)
            .map_err(|error: serde_json::Error| error.to_string())
    };
    value(serde_json::to_value(one)) == value(serde_json::to_value(other))
}

fn main() {
    let names = v1::CLIENT_METHOD_NAMES;
    assert_eq!(names.terminal_create, TERMINAL_CREATE);
    assert_eq!(names.fs_write_text_file, FS_WRITE_TEXT_FILE);
    assert_eq!(names.fs_read_text_file, FS_READ_TEXT_FILE);
    assert_eq!(names.session_request_permission, SESSION_REQUEST_PERMISSION);
    let mut rng = Rng::with_seed(1);
    let mut valid = 0;
    for _ in 0..ROUNDS {
        let parameters = terminal(&mut rng);
        valid += usize::from(agree(
            &parameters,
            same_fields::<CreateTerminal, v1::CreateTerminalRequest>,
        ));
        let parameters = file(&mut rng);
        valid += usize::from(agree(
            &parameters,
            same_fields::<WriteTextFile, v1::WriteTextFileRequest>,
        ));
        valid += usize::from(agree(
            &parameters,
            same_fields::<ReadTextFile, v1::ReadTextFileRequest>,
        ));
        let parameters = permission(&mut rng);
        let same = |own: &RequestPermission, published: &v1::RequestPermissionRequest| {
            own.session_id == published.session_id.to_string()
        };
        valid += usize::from(agree(&parameters, same));
        let same = |own: &RequestPermissionV2, published: &v2::RequestPermissionRequest| {
            use v2::RequestPermissionSubject as Published;
            own.session_id == published.session_id.to_string()
                && match (&own.subject, &published.subject) {
                    (None, None)
                    | (Some(PermissionSubject::ToolCall), Some(Published::ToolCall(_)))
                    | (Some(PermissionSubject::Other), Some(Published::Other(_))) => true,
                    (
                        Some(PermissionSubject::Command(own)),
                        Some(published @ Published::Command(_)),
                    ) => same_fields(own, published),
                    _ => false,
                }
        };
        valid += usize::from(agree(&parameters, same));
    }
    println!("{} parameters, {valid} valid: the types agree", 5 * ROUNDS);
}
