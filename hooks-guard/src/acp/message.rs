//! Reads one line as a JSON-RPC message. In: the bytes of a line. Out: a message, or the reason why
//! it is broken.
//!
//! The proxy decides about a message that another program parses again. A message that parsers may
//! read differently is therefore broken: duplicate keys, keys of the envelope in another case, a
//! line break inside the message, numbers as ids that JavaScript rounds.

use std::collections::HashSet;
use std::fmt;

use hooks_runtime::display::json_message;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

/// Maximum length of an id that is a text, in bytes.
const MAX_ID_BYTES: usize = 500;
/// Largest integer that every JSON parser reads exactly.
const MAX_ID_NUMBER: i64 = (1 << 53) - 1;
/// Keys of the envelope of a message.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Id of a request. `"1"` and `1` are different ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum MessageId {
    /// An integer that every JSON parser reads exactly.
    Number(i64),
    /// A text of at most 500 bytes.
    Text(String),
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The envelope of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Envelope {
    /// Calls a method; the receiver answers with a response of the same id.
    Request {
        /// Id of the request.
        id: MessageId,
        /// Name of the method.
        method: String,
    },
    /// Calls a method without a response.
    Notification {
        /// Name of the method.
        method: String,
    },
    /// Answers a request; without an id if the request's id could not be read.
    Response {
        /// Id of the request.
        id: Option<MessageId>,
        /// `true` if the response has an error instead of a result.
        is_error: bool,
    },
}

/// Error returned for a broken message.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{problem}")]
pub(super) struct BrokenMessage {
    /// Id of the message, if it is certain.
    pub id: Option<MessageId>,
    /// `true` if the message is a response with this id.
    pub is_response: bool,
    /// Error code of JSON-RPC.
    pub code: i64,
    /// The reason.
    pub problem: String,
}

/// Codes of errors.
pub(super) mod code {
    /// The line is not JSON.
    pub(in crate::acp) const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a valid message.
    pub(in crate::acp) const INVALID_REQUEST: i64 = -32600;
    /// The parameters of the method are not valid.
    pub(in crate::acp) const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub(in crate::acp) const INTERNAL_ERROR: i64 = -32603;
    /// The request was cancelled.
    pub(in crate::acp) const CANCELLED: i64 = -32800;
    /// The guard denies the request.
    pub(in crate::acp) const DENIED: i64 = -32003;
}

impl BrokenMessage {
    /// Creates an error without an id.
    pub(super) fn new(code: i64, problem: impl Into<String>) -> Self {
        Self {
            id: None,
            is_response: false,
            code,
            problem: problem.into(),
        }
    }

    /// Returns the response that reports the error to the sender.
    #[must_use]
    pub(super) fn reply(&self) -> Vec<u8> {
        let id = self.id.as_ref().filter(|_| !self.is_response);
        error_reply(id, self.code, &format!("broken message: {}", self.problem))
    }
}

/// Returns a response with an error, as a line.
#[must_use]
pub(super) fn error_reply(id: Option<&MessageId>, code: i64, message: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

/// Returns a response with a result, as a line.
#[must_use]
pub(super) fn result_reply(id: &MessageId, result: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Returns a message as a line.
#[must_use]
pub(super) fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Reads the envelope of a message and checks all of it. `line` may end with a line break.
///
/// # Errors
/// If the message is broken.
pub(super) fn read(line: &[u8]) -> Result<Envelope, BrokenMessage> {
    let text = without_line_break(line);
    if text.contains(&b'\r') {
        let problem = "a line break inside a message";
        return Err(BrokenMessage::new(code::INVALID_REQUEST, problem));
    }
    let text = std::str::from_utf8(text)
        .map_err(|_| BrokenMessage::new(code::PARSE_ERROR, "the message is not UTF-8"))?;
    let first = text.trim_start_matches([' ', '\t']);
    if first.starts_with('[') {
        let problem = "batches are not part of the protocol; send each message on a line";
        return Err(BrokenMessage::new(code::INVALID_REQUEST, problem));
    }
    match serde_json::from_str::<Fields>(text) {
        Ok(fields) => fields.envelope(),
        Err(error) => {
            let broken = match error.is_data() {
                true => code::INVALID_REQUEST,
                false => code::PARSE_ERROR,
            };
            let lenient = serde_json::from_str::<Lenient>(text).unwrap_or_default();
            Err(BrokenMessage {
                id: lenient.id,
                is_response: !lenient.has_method,
                code: broken,
                problem: json_message(&error),
            })
        }
    }
}

/// Reads the parameters of a message that [`read`] has accepted; `None` if it has none.
///
/// # Errors
/// If the message is not JSON.
pub(super) fn params(line: &[u8]) -> Result<Option<Value>, BrokenMessage> {
    #[derive(Deserialize)]
    struct WithParams {
        params: Option<Value>,
    }
    parse::<WithParams>(line).map(|message| message.params)
}

/// Reads the result of a response that [`read`] has accepted; `None` if it has none.
///
/// # Errors
/// If the message is not JSON.
pub(super) fn result(line: &[u8]) -> Result<Option<Value>, BrokenMessage> {
    #[derive(Deserialize)]
    struct WithResult {
        result: Option<Value>,
    }
    parse::<WithResult>(line).map(|message| message.result)
}

/// Reads fields of a message that [`read`] has accepted.
///
/// # Errors
/// If the message has not these fields.
pub(super) fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, BrokenMessage> {
    serde_json::from_slice(line)
        .map_err(|error| BrokenMessage::new(code::PARSE_ERROR, json_message(&error)))
}

/// Returns `true` if a line has only spaces: it is not a message, and receivers ignore it.
#[must_use]
pub(super) fn is_blank(line: &[u8]) -> bool {
    without_line_break(line)
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t'))
}

fn without_line_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns a key as parsers that ignore case compare it.
pub(super) fn folded(key: &str) -> String {
    key.to_lowercase().replace('ſ', "s")
}

/// The fields of an envelope, each present at most once.
#[derive(Default)]
struct Fields {
    version: Option<String>,
    /// `Some(None)` for `null`.
    id: Option<Option<MessageId>>,
    method: Option<String>,
    has_params: bool,
    /// `Some(false)` for `null`.
    result: Option<bool>,
    /// `Some(false)` for `null`.
    error: Option<bool>,
}

impl Fields {
    fn envelope(self) -> Result<Envelope, BrokenMessage> {
        let id = self.id.clone().flatten();
        let is_response = self.method.is_none();
        let broken = |problem: &str| BrokenMessage {
            id: id.clone(),
            is_response,
            ..BrokenMessage::new(code::INVALID_REQUEST, problem)
        };
        if self.version.as_deref() != Some("2.0") {
            return Err(broken("`jsonrpc` is not `2.0`"));
        }
        match (self.method, self.id) {
            (Some(_), _) if self.result.is_some() || self.error.is_some() => {
                Err(broken("a request with a result or an error"))
            }
            (Some(_), Some(None)) => Err(broken("the id of a request is `null`")),
            (Some(method), Some(Some(id))) => Ok(Envelope::Request { id, method }),
            (Some(method), None) => Ok(Envelope::Notification { method }),
            (None, None) => Err(broken("neither `method` nor `id`")),
            (None, Some(_)) if self.has_params => Err(broken("a response with `params`")),
            (None, Some(_)) if self.error == Some(true) && self.result == Some(true) => {
                Err(broken("a response with a result and an error"))
            }
            (None, Some(_)) if self.result.is_none() && self.error.is_none() => {
                Err(broken("a response without a result and an error"))
            }
            (None, Some(id)) => Ok(Envelope::Response {
                id,
                is_error: self.error == Some(true),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EnvelopeVisitor;
        impl<'de> Visitor<'de> for EnvelopeVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                let mut keys = Keys::default();
                while let Some(key) = map.next_key::<String>()? {
                    keys.add::<A::Error>(&key)?;
                    match key.as_str() {
                        "jsonrpc" => fields.version = Some(map.next_value()?),
                        "id" => fields.id = Some(map.next_value_seed(Id)?),
                        "method" => fields.method = Some(map.next_value()?),
                        "params" => {
                            fields.has_params = true;
                            map.next_value_seed(Checked)?;
                        }
                        "result" => fields.result = Some(map.next_value_seed(Checked)?),
                        "error" => fields.error = Some(map.next_value_seed(Checked)?),
                        other if ENVELOPE.contains(&folded(other).as_str()) => {
                            let problem =
                                format!("the key `{other}` differs from `{}`", folded(other));
                            return Err(de::Error::custom(problem));
                        }
                        _ => {
                            map.next_value_seed(Checked)?;
                        }
                    }
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

/// Reads an id; `null` is `None`.
struct Id;

impl<'de> DeserializeSeed<'de> for Id {
    type Value = Option<MessageId>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        let value = Value::deserialize(from)?;
        let exact = |number: &i64| number.abs() <= MAX_ID_NUMBER;
        match value {
            Value::Null => Ok(None),
            Value::Number(number) => match number.as_i64().filter(exact) {
                Some(number) => Ok(Some(MessageId::Number(number))),
                None => Err(de::Error::custom("the id is not an integer below 2^53")),
            },
            Value::String(text) if text.len() <= MAX_ID_BYTES => Ok(Some(MessageId::Text(text))),
            Value::String(_) => Err(de::Error::custom("the id is longer than 500 bytes")),
            _ => Err(de::Error::custom("the id is neither a text nor a number")),
        }
    }
}

/// The keys of an object.
#[derive(Default)]
struct Keys(HashSet<String>);

impl Keys {
    fn add<E: de::Error>(&mut self, key: &str) -> Result<(), E> {
        match self.0.insert(key.to_owned()) {
            true => Ok(()),
            false => {
                let shown: String = key.chars().take(100).collect();
                Err(E::custom(format_args!("duplicate key `{shown}`")))
            }
        }
    }
}

/// Checks a value without storing it. Returns `false` for `null`.
struct Checked;

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = bool;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        while items.next_element_seed(Checked)?.is_some() {}
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut keys = Keys::default();
        while let Some(key) = map.next_key::<String>()? {
            keys.add::<A::Error>(&key)?;
            map.next_value_seed(Checked)?;
        }
        Ok(true)
    }
}

/// The id of a message that is broken elsewhere, if the id is certain.
#[derive(Default)]
struct Lenient {
    id: Option<MessageId>,
    has_method: bool,
}

impl<'de> Deserialize<'de> for Lenient {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl<'de> Visitor<'de> for IdVisitor {
            type Value = Lenient;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Lenient, A::Error> {
                let mut found = Lenient::default();
                let mut ids = 0;
                while let Some(key) = map.next_key::<String>()? {
                    match folded(&key).as_str() {
                        "id" => {
                            ids += 1;
                            found.id = map.next_value_seed(Id)?;
                        }
                        other => {
                            found.has_method |= other == "method";
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                found.id = found.id.filter(|_| ids == 1);
                Ok(found)
            }
        }
        deserializer.deserialize_map(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Envelope, MessageId, code, is_blank, params, read};

    fn problem(line: &str) -> String {
        read(line.as_bytes()).expect_err(line).problem
    }

    #[test]
    fn messages_are_told_apart_by_their_envelope() {
        let request = read(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"x"]}}"#);
        let id = MessageId::Number(1);
        let method = "m".to_owned();
        assert_eq!(request, Ok(Envelope::Request { id, method }));
        let escaped = read(br#"{"jsonrpc":"2.0","id":"1","\u006dethod":"terminal\/create"}"#);
        let id = MessageId::Text("1".to_owned());
        let method = "terminal/create".to_owned();
        assert_eq!(escaped, Ok(Envelope::Request { id, method }));
        let notification = read(b"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\r\n");
        let method = "m".to_owned();
        assert_eq!(notification, Ok(Envelope::Notification { method }));
        for (text, is_error) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, false),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
                false,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, true),
        ] {
            let id = Some(MessageId::Number(1));
            assert_eq!(
                read(text.as_bytes()),
                Ok(Envelope::Response { id, is_error }),
                "{text}"
            );
        }
    }

    #[test]
    fn a_message_that_parsers_read_differently_is_broken() {
        for (text, why) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
                "duplicate key `method`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}"#,
                "duplicate key `method`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"c":1,"c":2}}}"#,
                "duplicate key `c`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}"#,
                "`Method` differs",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","paramſ":{}}"#,
                "differs from `params`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}"#,
                "2^53",
            ),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"a"}"#, "2^53"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "`null`"),
            (
                r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#,
                "neither a text nor",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#,
                "with a result",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
                "result and an error",
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, "without a result"),
            (r#"{"jsonrpc":"2.0"}"#, "neither"),
            (r#"{"id":1,"method":"a"}"#, "`jsonrpc`"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "`jsonrpc`"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, "batches"),
            (
                r#"{"jsonrpc":"2.0","method":"a"} {"jsonrpc":"2.0","method":"b"}"#,
                "trailing",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"params\":\r{\"method\":1}\r,\"method\":\"a\"}",
                "line break",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"a","params":1e999}"#,
                "number out of range",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"a","params":"\ud800"}"#,
                "hex escape",
            ),
            (
                "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"a\"}",
                "expected value",
            ),
            ("1", "invalid type"),
            ("log: started", "expected value"),
        ] {
            let found = problem(text);
            assert!(found.contains(why), "{text}: {found}");
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","method":"a","params":{}1{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        assert!(problem(&deep).contains("recursion"));
        let error = read(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}").expect_err("not UTF-8");
        assert_eq!(error.code, code::PARSE_ERROR);
    }

    #[test]
    fn the_error_has_the_id_if_the_id_is_certain() {
        let id = |text: &str| read(text.as_bytes()).expect_err(text).id;
        let one = Some(MessageId::Number(1));
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"c":1,"c":2}}"#),
            one
        );
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#), None);
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":1,"Id":2,"method":"a"}"#), None);
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":1,"#), None);
    }

    #[test]
    fn a_line_without_a_message_is_blank() {
        assert!(is_blank(b"\n") && is_blank(b" \t\r\n") && !is_blank(b"x\n"));
    }

    /// Returns JSON values of all kinds.
    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_valid_message_is_read_as_serde_json_reads_it(params in json_value(), method in ".*") {
            let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
            let line = message.to_string();
            let id = MessageId::Number(7);
            prop_assert_eq!(read(line.as_bytes()), Ok(Envelope::Request { id, method }));
            let read = super::params(line.as_bytes()).expect("it is JSON");
            prop_assert_eq!(read.unwrap_or(Value::Null), message["params"].clone());
        }

        /// An accepted line is one JSON object for `serde_json`, too, with the same method and id.
        #[test]
        fn nothing_broken_is_accepted(
            params in json_value(),
            at in any::<prop::sample::Index>(),
            bytes in prop::collection::vec(any::<u8>(), 0..6),
            removed in 0usize..6,
        ) {
            let message = json!({"jsonrpc": "2.0", "id": 7, "method": "m", "params": params});
            let mut line = message.to_string().into_bytes();
            let at = at.index(line.len());
            let end = (at + removed).min(line.len());
            line.splice(at..end, bytes);
            if let Ok(envelope) = read(&line) {
                let value: Value = serde_json::from_slice(&line).expect("accepted, so it is JSON");
                prop_assert_eq!(&value["jsonrpc"], "2.0");
                match envelope {
                    Envelope::Request { id, method } => {
                        prop_assert_eq!(&value["method"], &method);
                        prop_assert_eq!(&value["id"], &serde_json::to_value(id).expect("JSON"));
                    }
                    Envelope::Notification { method } => {
                        prop_assert_eq!(&value["method"], &method);
                        prop_assert!(value.get("id").is_none());
                    }
                    Envelope::Response { .. } => prop_assert!(value.get("method").is_none()),
                }
                prop_assert!(params_of(&line));
            }
        }
    }

    fn params_of(line: &[u8]) -> bool {
        params(line).is_ok()
    }
}
