//! A call as the data of an event, and back: `tool_name`, `tool_input`, after it
//! `tool_result`, and where it did not succeed `error_message`.

use hooks_runtime::{Event, HookResult, Map};
use serde_json::{Value, json};

use super::Class;
use crate::hooks::Change;
use crate::report::{Record, Status};
use crate::session::{Call, ProblemKind};

pub(super) const TOOL_NAME: &str = "tool_name";
pub(super) const TOOL_INPUT: &str = "tool_input";
pub(super) const TOOL_RESULT: &str = "tool_result";

/// Where a hook that changes the input signs for it: an emission names only the hook whose
/// answer won.
const REWRITES: &str = "rewrites";

/// What the classifiers say of a command, for hooks to ask about.
const CLASSIFICATION: &str = "classification";
const REASONING: &str = "reasoning";

/// The data of `tool:pre`.
pub(super) fn announcing(call: &Call, class: Option<&Class>) -> Map {
    let mut data = about(call);
    if let Some(class) = class {
        data.insert(CLASSIFICATION.to_owned(), class.name.as_str().into());
        data.insert(REASONING.to_owned(), class.reasoning.as_str().into());
    }
    data
}

/// The class in the data of `tool:pre`.
pub(super) fn class(event: Event<'_>) -> Option<Class> {
    Some(Class {
        name: event.str(CLASSIFICATION)?.to_owned(),
        reasoning: event.str(REASONING)?.to_owned(),
    })
}

/// Whether the data still have the class that they were announced with: a hook that could make a
/// read of a deletion would spare it the question.
pub(super) fn keeps_class(data: &Map, class: Option<&Class>) -> bool {
    let is = |field: &str, value: Option<&String>| {
        data.get(field).and_then(Value::as_str) == value.map(String::as_str)
    };
    is(CLASSIFICATION, class.map(|class| &class.name))
        && is(REASONING, class.map(|class| &class.reasoning))
}

fn about(call: &Call) -> Map {
    let mut input = serde_json::to_value(call).unwrap_or_default();
    if let Some(fields) = input.as_object_mut() {
        fields.shift_remove("tool");
    }
    let mut data = Map::new();
    data.insert(TOOL_NAME.to_owned(), call.tool().into());
    data.insert(TOOL_INPUT.to_owned(), input);
    data
}

/// The data of `tool:post`, or of `error:tool`, of a call that ran.
pub(super) fn concluding(call: &Call, record: &Record) -> Map {
    let mut data = about(call);
    let result = json!({
        "status": record.status,
        "exit_code": record.exit_code,
        "redactions": record.redactions,
        "output": record.output,
    });
    data.insert(TOOL_RESULT.to_owned(), result);
    if record.status != Status::Succeeded {
        data.insert("error_message".to_owned(), record.result().into());
    }
    data
}

/// The call that the data of `tool:pre` hold, checked as one of a session is: hooks may have
/// made anything of them.
pub(super) fn call(data: &Map) -> Result<Call, ProblemKind> {
    let mut fields = match data.get(TOOL_INPUT) {
        Some(Value::Object(input)) => input.clone(),
        _ => return Err(ProblemKind::NotAnObject),
    };
    let tool = data.get(TOOL_NAME).cloned().unwrap_or_default();
    fields.insert("tool".to_owned(), tool);
    Call::from_fields(fields)
}

/// The answer that gives the tool new input, signed.
pub(super) fn rewrite(event: Event<'_>, input: Value, change: &Change) -> HookResult {
    let before = event.get(REWRITES).and_then(Value::as_array);
    let mut rewrites = before.cloned().unwrap_or_default();
    rewrites.push(json!(change));
    HookResult::set(TOOL_INPUT, input).and_set(REWRITES, rewrites)
}

/// Takes from hooks that nobody vouches for, which have been asked already, what they signed
/// with the names of others.
pub(super) fn unsign(event: Event<'_>) -> HookResult {
    let Some(signed) = event.get(REWRITES) else {
        return HookResult::proceed();
    };
    let reason = |change: &Value| change.get("reason")?.as_str().map(str::to_owned);
    let reasons = signed.as_array().into_iter().flatten().filter_map(reason);
    let changes: Vec<_> = reasons
        .map(|reason| Change::new("a script", &reason))
        .collect();
    HookResult::set(REWRITES, json!(changes))
}

/// Who changed the input, and why. Where nobody has signed, it is the hook whose answer counts.
pub(super) fn changes(data: &Map, by: &str) -> Vec<Change> {
    let signed = data.get(REWRITES).cloned().unwrap_or_default();
    match serde_json::from_value::<Vec<Change>>(signed) {
        Ok(changes) if !changes.is_empty() => changes,
        _ => vec![Change::new(by, "it does not say why")],
    }
}
