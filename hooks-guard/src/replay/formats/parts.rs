//! Messages with parts in the form of Anthropic's interface, as Factory Droid and Cline store them. In: a
//! message. Out: its calls and results.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::{JsonObject, objects, owned, text};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Place of a message.
pub(super) struct MessagePlace<'a> {
    pub(super) agent: Agent,
    pub(super) session: &'a str,
    pub(super) cwd: Option<&'a Path>,
    pub(super) at: Option<Timestamp>,
}

/// Adds the calls and the results in a message.
pub(super) fn read_parts(place: &MessagePlace<'_>, message: &JsonObject, calls: &mut CallBuffer) {
    for part in objects(message, "content") {
        match text(part, "type") {
            Some("tool_use") => {
                let Some(name) = text(part, "name") else {
                    continue;
                };
                calls.start(TranscriptCall {
                    id: owned(part, "id"),
                    at: place.at,
                    cwd: place.cwd.map(Path::to_owned),
                    arguments: part.get("input").cloned().unwrap_or_default(),
                    ..TranscriptCall::new(place.agent, place.session, name)
                });
            }
            Some("tool_result") => {
                if let Some(id) = text(part, "tool_use_id") {
                    calls.finish(id, result(part), ClientPermission::Unknown);
                }
            }
            _ => {}
        }
    }
}

/// Returns the result of a call. Cline has `success` in each of its results.
fn result(part: &JsonObject) -> CallResult {
    let is = |object: &JsonObject, field: &str, value: bool| {
        object.get(field).and_then(Value::as_bool) == Some(value)
    };
    let failed =
        is(part, "is_error", true) || objects(part, "content").any(|one| is(one, "success", false));
    match failed {
        true => CallResult::Failed,
        false => CallResult::Ran,
    }
}
