//! Sessions of Goose: the database `~/.local/share/goose/sessions/sessions.db`, whose table `messages` has the parts of
//! each message. From databases of Goose 1.52.0.

use std::path::PathBuf;

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, objects, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// The messages with calls or results, each with its session, its time in milliseconds and the directory.
pub(super) const QUERY: &str = "SELECT m.id AS place, m.session_id AS session, \
     m.created_timestamp * 1000 AS at, s.working_dir AS cwd, m.content_json AS data \
     FROM messages m LEFT JOIN sessions s ON s.id = m.session_id \
     WHERE m.id > ? AND m.content_json LIKE '%\"tool%' ORDER BY m.id LIMIT ?";

/// Reader of the messages.
#[derive(Debug, Default)]
pub(super) struct GooseReader;

impl EntryReader for GooseReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let session = text(entry, "session").unwrap_or_default();
        let cwd: Option<PathBuf> = path(entry, "cwd");
        for part in objects(entry, "data") {
            // The ids of calls are unique in a session only.
            let id = owned(part, "id").map(|id| format!("{session}/{id}"));
            match text(part, "type") {
                Some("toolRequest") => {
                    let call = inner(part, "toolCall").and_then(|call| inner(call, "value"));
                    let Some((call, name)) =
                        call.and_then(|call| Some((call, text(call, "name")?)))
                    else {
                        continue;
                    };
                    calls.start(TranscriptCall {
                        id,
                        at: time(entry, "at"),
                        cwd: cwd.clone(),
                        arguments: call.get("arguments").cloned().unwrap_or_default(),
                        ..TranscriptCall::new(Agent::Goose, session, name)
                    });
                }
                Some("toolResponse") => {
                    if let Some(id) = id {
                        calls.finish(&id, result(part), ClientPermission::Unknown);
                    }
                }
                _ => {}
            }
        }
    }
}

fn result(part: &JsonObject) -> CallResult {
    let result = inner(part, "toolResult");
    let value = result.and_then(|result| inner(result, "value"));
    let failed = value.and_then(|value| value.get("isError")?.as_bool()) == Some(true);
    let status = value.and_then(|value| inner(value, "structuredContent")?.get("exit_code"));
    let is_nonzero = status.and_then(Value::as_i64).unwrap_or_default() != 0;
    match result.and_then(|result| text(result, "status")) {
        Some("success") if !failed && !is_nonzero => CallResult::Ran,
        _ => CallResult::Failed,
    }
}
