//! Converts a call to event data and back. Fields: `tool_name`, `tool_input`, after the call
//! `tool_result`, and `error_message` if it did not succeed.

use hooks_runtime::{Event, HookResult, Map};
use serde_json::{Value, json};

use super::Class;
use crate::hooks::Change;
use crate::report::{Record, Status};
use crate::session::{Call, ProblemKind};

pub(super) const TOOL_NAME: &str = "tool_name";
pub(super) const TOOL_INPUT: &str = "tool_input";
pub(super) const TOOL_RESULT: &str = "tool_result";

/// Field in which hooks record their changes of the input: an emission names only the hook that
/// decided.
const REWRITES: &str = "rewrites";

/// Class of a command, for use by hooks.
const CLASSIFICATION: &str = "classification";
const REASONING: &str = "reasoning";

/// Returns the data of `tool:pre`.
pub(super) fn announcing(call: &Call, class: Option<&Class>) -> Map {
    let mut data = about(call);
    if let Some(class) = class {
        data.insert(CLASSIFICATION.to_owned(), class.name.as_str().into());
        data.insert(REASONING.to_owned(), class.reasoning.as_str().into());
    }
    data
}

/// Returns the class in the data of `tool:pre`.
pub(super) fn class(event: Event<'_>) -> Option<Class> {
    Some(Class {
        name: event.str(CLASSIFICATION)?.to_owned(),
        reasoning: event.str(REASONING)?.to_owned(),
    })
}

/// Returns `true` if the class is unchanged: otherwise a hook could relabel a delete as a read and
/// skip the question.
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

/// Returns the data of `tool:post` or `error:tool` for a call that ran.
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

/// Parses the call in the data of `tool:pre` under the rules for sessions, because hooks may have
/// changed the data arbitrarily.
pub(super) fn call(data: &Map) -> Result<Call, ProblemKind> {
    let mut fields = match data.get(TOOL_INPUT) {
        Some(Value::Object(input)) => input.clone(),
        _ => return Err(ProblemKind::NotAnObject),
    };
    let tool = data.get(TOOL_NAME).cloned().unwrap_or_default();
    fields.insert("tool".to_owned(), tool);
    Call::from_fields(fields)
}

/// Returns a result that replaces the input and records the change.
pub(super) fn rewrite(event: Event<'_>, input: Value, change: &Change) -> HookResult {
    let before = event.get(REWRITES).and_then(Value::as_array);
    let mut rewrites = before.cloned().unwrap_or_default();
    rewrites.push(json!(change));
    HookResult::set(TOOL_INPUT, input).and_set(REWRITES, rewrites)
}

/// Removes changes that untrusted hooks, which have run already, recorded under other names.
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

/// Returns the hooks that changed the input, and their reasons. If none is recorded, returns the
/// hook that decided.
pub(super) fn changes(data: &Map, by: &str) -> Vec<Change> {
    let signed = data.get(REWRITES).cloned().unwrap_or_default();
    match serde_json::from_value::<Vec<Change>>(signed) {
        Ok(changes) if !changes.is_empty() => changes,
        _ => vec![Change::new(by, "no reason given")],
    }
}
