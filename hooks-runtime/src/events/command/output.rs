//! Reads the result of a program from its standard output.

use std::fmt;
use std::ops::Range;

use serde::de::value::{self, StrDeserializer};
use serde::de::{IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::scan::{
    BYTE_ORDER_MARK, find_objects, is_blank, line_start, names_action, trim, utf_16_as_utf_8,
    without_colour_codes,
};
use crate::Map;
use crate::display::{escape, json_message, shorten};
use crate::events::result::json::{InvalidResult, Members, Twice, is_field};
use crate::events::result::{Action, HookResult};

/// Parsed standard output of a program: JSON objects, and text around them.
pub(crate) struct ProgramOutput {
    /// The output in UTF-8, as far as it is text, without colour codes.
    text: Vec<u8>,
    traits: EncodingTraits,
    objects: Vec<JsonObject>,
    /// Reason for which the last other `{` does not begin an object.
    broken: Option<serde_json::Error>,
}

/// Properties of an output that JSON in UTF-8 does not have.
struct EncodingTraits {
    is_utf_16: bool,
    has_byte_order_mark: bool,
    has_colour_codes: bool,
    has_nul: bool,
}

/// An object that is not part of another object.
struct JsonObject {
    range: Range<usize>,
    content: ObjectContent,
}

enum ObjectContent {
    Fields(Map),
    /// A denial or question beside fields that cannot be read, or that occur twice.
    DenialOnly(Box<HookResult>, String),
    Unreadable {
        why: OutputError,
        has_action: bool,
    },
}

/// Result that applies, and the text that is printed into the transcript.
pub(crate) struct SelectedResult {
    pub(crate) result: Result<HookResult, OutputError>,
    /// The output before the object with the result.
    pub(crate) before: String,
    /// Reasons for which the result differs from the output.
    pub(crate) notes: Vec<String>,
    /// The output after the object with the result.
    pub(crate) after: String,
    /// `true` if the object at the end has no `action`.
    pub(crate) lacks_action: bool,
}

/// Reason for which a standard output is not a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("its standard output does not end with a JSON object: {0}")]
    NoObject(String),
    #[error("its standard output is JSON, but not an object{0}; print one object")]
    OtherJson(String),
    #[error("in the JSON object on its standard output {0}")]
    Twice(Twice),
    #[error("in the JSON object on its standard output {0}")]
    Unrecognised(Unrecognised),
    #[error(transparent)]
    InvalidField(InvalidResult),
    #[error(
        "its standard output has {count} results that differ, none of which denies or asks; print one"
    )]
    Several { count: usize },
    #[error(
        "its standard output has an `action` in text that is not a JSON object, `{0}`; print one JSON object, and messages to standard error"
    )]
    ActionInText(String),
}

/// A JSON object is not a [`HookResult`]: it has no `action`, and a field that a result does not
/// have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no `action`, and `{field}` is not a field of a result; give an `action`, such as `deny`, or print nothing to continue"
)]
pub(crate) struct Unrecognised {
    field: String,
}

/// Maximum length of an unknown field's name in a message, in characters.
const MAX_FIELD_CHARS: usize = 40;
/// Maximum length of a part of the output in a message, in characters.
const MAX_EXCERPT_CHARS: usize = 80;

impl ProgramOutput {
    pub(crate) fn parse(output: &[u8]) -> Self {
        let utf_8 = utf_16_as_utf_8(output);
        let is_utf_16 = utf_8.is_some();
        let text = utf_8.unwrap_or_else(|| output.to_vec());
        let has_byte_order_mark = text.trim_ascii_start().starts_with(BYTE_ORDER_MARK);
        let plain = without_colour_codes(&text);
        let has_colour_codes = plain.len() < text.len();
        let traits = EncodingTraits {
            is_utf_16,
            has_byte_order_mark,
            has_colour_codes,
            has_nul: plain.contains(&0),
        };
        let (ranges, broken) = find_objects(&plain);
        let objects = ranges
            .into_iter()
            .map(|range| {
                let content = ObjectContent::parse(&plain[range.clone()]);
                JsonObject { range, content }
            })
            .collect();
        ProgramOutput {
            text: plain,
            traits,
            objects,
            broken,
        }
    }

    /// Returns the result that applies.
    ///
    /// If objects deny or ask, the strictest applies, wherever it is; of equally strict ones, the
    /// first. Otherwise, the result is the object at the end, and all objects with an `action` are
    /// equal to it.
    pub(crate) fn select(mut self) -> SelectedResult {
        let strictest = self.strictest();
        let checked = match strictest {
            Some(_) => Ok(()),
            None => self.check_last(),
        };
        let last = self.objects.last();
        let lacks_action = strictest.is_none() && last.is_some_and(JsonObject::lacks_action);
        let mut notes = Vec::new();
        let count = self.count_results();
        if strictest.is_some() && count > 1 {
            notes.push(format!(
                "the strictest of {count} results on standard output applies"
            ));
        }
        let at = strictest.or(self.objects.len().checked_sub(1));
        let Some(at) = at else {
            return SelectedResult {
                result: checked.map(|()| HookResult::proceed()),
                before: String::from_utf8_lossy(&self.text).into_owned(),
                notes,
                after: String::new(),
                lacks_action,
            };
        };
        let JsonObject { range, content } = self.objects.swap_remove(at);
        SelectedResult {
            result: checked.and_then(|()| content.into_result(&mut notes)),
            before: String::from_utf8_lossy(&self.text[..range.start]).into_owned(),
            notes,
            after: String::from_utf8_lossy(&self.text[range.end..]).into_owned(),
            lacks_action,
        }
    }

    /// Describes how the output differs from one JSON object in UTF-8, if it does in more than its
    /// syntax.
    pub(crate) fn describe(&self) -> Option<String> {
        let mut parts = self.encoding();
        let several = self.objects.len();
        if several > 1 {
            parts.push(format!("{several} JSON objects"));
        }
        let mut texts = self.texts().filter(|text| !is_blank(text));
        if let (1.., Some(text)) = (several, texts.next()) {
            parts.push(format!("text around the JSON, `{}`", excerpt(text)));
        }
        list(parts)
    }

    /// Returns the properties of the encoding that JSON in UTF-8 does not have.
    fn encoding(&self) -> Vec<String> {
        let traits = &self.traits;
        let names = [
            (traits.is_utf_16, "UTF-16 text"),
            (traits.has_byte_order_mark, "a byte order mark"),
            (traits.has_colour_codes, "colour codes"),
            (traits.has_nul, "NUL bytes"),
        ];
        let names = names.into_iter().filter(|(has, _)| *has);
        names.map(|(_, name)| name.to_owned()).collect()
    }

    /// Returns the first of the strictest objects that deny or ask.
    fn strictest(&self) -> Option<usize> {
        let mut strictest: Option<(usize, u8)> = None;
        for (at, object) in self.objects.iter().enumerate() {
            let Some(action) = object.content.held_back() else {
                continue;
            };
            let strength = action.strength();
            if strictest.is_none_or(|(_, other)| strength > other) {
                strictest = Some((at, strength));
            }
        }
        strictest.map(|(at, _)| at)
    }

    fn count_results(&self) -> usize {
        let results = self.objects.iter();
        results.filter(|object| !object.lacks_action()).count()
    }

    /// Checks that the object at the end is the only result; none denies or asks.
    fn check_last(&self) -> Result<(), OutputError> {
        let whole = trim(&self.text);
        if !whole.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(whole).is_ok() {
            return Err(OutputError::OtherJson(self.with_encoding()));
        }
        let Some((last, others)) = self.objects.split_last() else {
            let why = match &self.broken {
                Some(error) if error.is_eof() => "an object in it is incomplete".to_owned(),
                Some(error) => format!("an object in it is invalid, {}", json_message(error)),
                None => format!("it is text, `{}`", excerpt(&self.text)),
            };
            let encoding = self.with_encoding();
            return Err(OutputError::NoObject(format!(
                "{why}{encoding}; print one JSON object, or nothing to continue"
            )));
        };
        let (after, line) = (&self.text[last.range.end..], self.line_before(last));
        if !is_blank(line) {
            let why = format!("the text `{}` precedes it on its line", excerpt(line));
            return Err(self.text_around(why));
        }
        if !is_blank(after) && !self.is_fenced(last) {
            let why = format!("the text `{}` follows it", excerpt(after));
            return Err(self.text_around(why));
        }
        if let ObjectContent::Fields(map) = &last.content {
            check_recognised(map).map_err(OutputError::Unrecognised)?;
        }
        let mut results = others.iter().filter(|other| !other.lacks_action());
        let count = results.clone().count() + 1;
        if results.any(|other| !other.content.is_equal_to(&last.content)) {
            return Err(OutputError::Several { count });
        }
        match self.texts().find(|text| names_action(text)) {
            Some(text) => Err(OutputError::ActionInText(excerpt(text))),
            None => Ok(()),
        }
    }

    fn text_around(&self, why: String) -> OutputError {
        OutputError::NoObject(format!(
            "{why}{}; print messages to standard error",
            self.with_encoding()
        ))
    }

    /// Returns the part of a message that names properties of the encoding.
    fn with_encoding(&self) -> String {
        match list(self.encoding()) {
            Some(names) => format!(", in an output with {names}"),
            None => String::new(),
        }
    }

    /// Returns the texts around the objects.
    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.objects.iter().map(|object| object.range.end);
        let starts = self.objects.iter().map(|object| object.range.start);
        std::iter::once(0)
            .chain(ends)
            .zip(starts.chain([self.text.len()]))
            .map(|(start, end)| &self.text[start..end])
    }

    /// Returns the text between an object and the previous object or line.
    fn line_before(&self, object: &JsonObject) -> &[u8] {
        let ends = self.objects.iter().map(|object| object.range.end);
        let previous = ends.take_while(|end| *end <= object.range.start).last();
        let text = &self.text[previous.unwrap_or(0)..object.range.start];
        &text[line_start(text)..]
    }

    /// Returns `true` if the object is a code block of Markdown at the end of the output.
    fn is_fenced(&self, object: &JsonObject) -> bool {
        const FENCE: &[u8] = b"```";
        let before = self.text[..object.range.start].trim_ascii_end();
        let opening = &before[line_start(before)..];
        opening.trim_ascii_start().starts_with(FENCE)
            && self.text[object.range.end..].trim_ascii() == FENCE
    }
}

impl JsonObject {
    fn lacks_action(&self) -> bool {
        match &self.content {
            ObjectContent::Fields(map) => !map.contains_key("action"),
            ObjectContent::DenialOnly(..) => false,
            ObjectContent::Unreadable { has_action, .. } => !has_action,
        }
    }
}

impl ObjectContent {
    fn parse(object: &[u8]) -> Self {
        // The second parse keeps repeated fields; the first one also limits the depth.
        let members = serde_json::from_slice::<Value>(object)
            .and_then(|_| serde_json::from_slice::<Members>(object));
        let members = match members {
            Ok(members) => members,
            Err(why) => {
                return match unreadable_no(object) {
                    Some(no) => ObjectContent::DenialOnly(Box::new(no), why.to_string()),
                    None => ObjectContent::Unreadable {
                        why: OutputError::NoObject(why.to_string()),
                        has_action: names_action(object),
                    },
                };
            }
        };
        match members.into_map() {
            Ok(map) => ObjectContent::Fields(map),
            Err((members, why)) => match strictest_no(&members) {
                Some(no) => ObjectContent::DenialOnly(Box::new(no), why.to_string()),
                None => ObjectContent::Unreadable {
                    why: OutputError::Twice(why),
                    has_action: members.0.iter().any(|(field, _)| field == "action"),
                },
            },
        }
    }

    /// Returns the action of an object that denies or asks.
    fn held_back(&self) -> Option<Action> {
        match self {
            ObjectContent::Fields(map) => held_back(map).map(|no| no.action),
            ObjectContent::DenialOnly(no, _) => Some(no.action),
            ObjectContent::Unreadable { .. } => None,
        }
    }

    fn is_equal_to(&self, other: &ObjectContent) -> bool {
        match (self, other) {
            (ObjectContent::Fields(map), ObjectContent::Fields(other)) => map == other,
            _ => false,
        }
    }

    fn into_result(self, notes: &mut Vec<String>) -> Result<HookResult, OutputError> {
        let mut alone = |no: HookResult, why: &dyn fmt::Display| {
            notes.push(format!(
                "the answer is taken without its other fields: {why}"
            ));
            Ok(no)
        };
        match self {
            ObjectContent::Fields(map) => {
                let no = held_back(&map);
                match (HookResult::from_map(map), no) {
                    (Ok(result), _) => Ok(result),
                    (Err(why), Some(no)) => alone(no, &why),
                    (Err(why), None) => Err(OutputError::InvalidField(why)),
                }
            }
            ObjectContent::DenialOnly(no, why) => alone(*no, &why),
            ObjectContent::Unreadable { why, .. } => Err(why),
        }
    }
}

/// Returns an error if an object without `action` has a field that a [`HookResult`] does not have.
///
/// Such an object has another format, is misspelt, or is an echo of the input. Its defaults would
/// mean `continue`. Beside an `action`, and in an object that is not the output
/// of a program, unknown fields are kept.
pub(crate) fn check_recognised(map: &Map) -> Result<(), Unrecognised> {
    if map.contains_key("action") {
        return Ok(());
    }
    match map.keys().find(|field| !is_field(field)) {
        None => Ok(()),
        Some(field) => Err(Unrecognised {
            field: shorten(field, MAX_FIELD_CHARS),
        }),
    }
}

/// Returns the result of a denial with this reason.
pub(crate) fn denial(reason: Option<&str>) -> HookResult {
    HookResult {
        action: Action::Deny,
        reason: reason
            .filter(|reason| !reason.is_empty())
            .map(str::to_owned),
        ..HookResult::default()
    }
}

/// Joins the parts of a sentence.
fn list(mut parts: Vec<String>) -> Option<String> {
    let last = parts.pop()?;
    match &parts[..] {
        [] => Some(last),
        parts => Some(format!("{} and {last}", parts.join(", "))),
    }
}

/// Returns the first line with text, for a message.
fn excerpt(text: &[u8]) -> String {
    let text = trim(text);
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or(text);
    // The limit keeps a long line from being escaped completely.
    let line = &line[..line.len().min(4 * MAX_EXCERPT_CHARS)];
    let shown = escape(String::from_utf8_lossy(line).trim_end());
    shorten(&shown, MAX_EXCERPT_CHARS)
}

/// Returns the strictest denial or question in an object with repeated fields, with the texts that
/// follow it most closely.
fn strictest_no(Members(fields): &Members) -> Option<HookResult> {
    let texts = |name| {
        let fields = fields.iter().enumerate();
        fields.filter_map(move |(at, (field, value))| {
            Some((at, value.as_str()?)).filter(|_| field == name)
        })
    };
    let nos = texts("action").filter_map(|(at, action)| {
        let near = |name| {
            let near = texts(name).min_by_key(|(other, _)| other.abs_diff(at));
            near.map(|(_, text)| text)
        };
        no(action, near("reason"), near("approval_prompt"))
    });
    nos.max_by_key(|no| no.action.strength())
}

/// Returns the denial or question in an object with a value that cannot be read: a number out of
/// range, an incomplete character, lists nested without a limit.
fn unreadable_no(answer: &[u8]) -> Option<HookResult> {
    let text = |field| Field(field).of(answer);
    let (action, reason) = (text("action")?, text("reason"));
    no(
        &action,
        reason.as_deref(),
        text("approval_prompt").as_deref(),
    )
}

/// Returns the part of a result that denies or asks, which applies whatever the other fields are.
fn held_back(map: &Map) -> Option<HookResult> {
    let text = |field| map.get(field).and_then(Value::as_str);
    no(text("action")?, text("reason"), text("approval_prompt"))
}

fn no(action: &str, reason: Option<&str>, approval_prompt: Option<&str>) -> Option<HookResult> {
    let action: StrDeserializer<'_, value::Error> = action.into_deserializer();
    match Action::deserialize(action).ok()? {
        Action::Deny => Some(denial(reason)),
        action @ Action::AskUser => Some(HookResult {
            action,
            approval_prompt: approval_prompt.map(str::to_owned),
            reason: reason.map(str::to_owned),
            ..HookResult::default()
        }),
        Action::Continue | Action::Modify | Action::InjectContext => None,
    }
}

/// A field of an object; the other fields need not be readable.
struct Field(&'static str);

impl Field {
    /// Returns the value of the field, if it is text.
    fn of(self, object: &[u8]) -> Option<String> {
        let mut reader = serde_json::Deserializer::from_slice(object);
        let text = reader.deserialize_map(self).ok()?;
        reader.end().ok()?;
        text
    }
}

impl<'de> Visitor<'de> for Field {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut text = None;
        while let Some(Lossy(key)) = object.next_key()? {
            if key == self.0 {
                let Lossy(value) = object.next_value()?;
                text = Some(value);
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(text)
    }
}

/// A text, with U+FFFD for invalid characters.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}
