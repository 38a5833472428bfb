//! Sessions of Copilot CLI: `~/.copilot/session-state/SESSION/events.jsonl`. Each line is one event. From
//! transcripts of Copilot CLI 1.0.102.

use std::path::PathBuf;

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session.
#[derive(Debug, Default)]
pub(super) struct CopilotReader {
    session: String,
    cwd: Option<PathBuf>,
}

/// Returns `true` for an event.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    let is_event = text(entry, "type").is_some_and(|kind| kind.contains('.'));
    is_event && entry.contains_key("parentId") && inner(entry, "data").is_some()
}

impl EntryReader for CopilotReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let (Some(kind), Some(data)) = (text(entry, "type"), inner(entry, "data")) else {
            return;
        };
        let id = text(data, "toolCallId");
        match kind {
            "session.start" | "session.resume" => {
                if let Some(session) = owned(data, "sessionId") {
                    self.session = session;
                }
                let context = inner(data, "context");
                let cwd = context.and_then(|context| path(context, "cwd"));
                self.cwd = cwd.or(self.cwd.take());
            }
            "tool.execution_start" => {
                let Some(name) = text(data, "toolName") else {
                    return;
                };
                calls.start(TranscriptCall {
                    id: id.map(str::to_owned),
                    at: time(entry, "timestamp"),
                    cwd: self.cwd.clone(),
                    arguments: data.get("arguments").cloned().unwrap_or_default(),
                    ..TranscriptCall::new(Agent::Copilot, &self.session, name)
                });
            }
            "permission.completed" => {
                let call = id.and_then(|id| calls.waiting(id));
                let kind = inner(data, "result").and_then(|result| text(result, "kind"));
                if let (Some(call), Some(kind)) = (call, kind) {
                    let by_user = text(data, "decisionSource") == Some("human_response");
                    call.permission = match (kind, by_user) {
                        ("approved", true) => ClientPermission::Approved,
                        ("approved", false) => ClientPermission::NotAsked,
                        // The user ended the turn at the prompt; no further event follows.
                        (_, true) | ("cancelled", _) => ClientPermission::Rejected,
                        _ => ClientPermission::Refused,
                    };
                    if kind != "approved" {
                        call.result = CallResult::NotRun;
                    }
                }
            }
            "tool.execution_complete" => {
                if let Some(id) = id {
                    calls.finish(id, result(data), ClientPermission::Unknown);
                }
            }
            _ => {}
        }
    }
}

fn result(data: &JsonObject) -> CallResult {
    let error = inner(data, "error").and_then(|error| text(error, "code"));
    let exit = inner(data, "shellExecution").and_then(|shell| shell.get("exitCode"));
    match (error, data.get("success").and_then(Value::as_bool)) {
        (Some("denied"), _) => CallResult::NotRun,
        (_, Some(true)) if exit.and_then(Value::as_i64).unwrap_or_default() == 0 => CallResult::Ran,
        (_, Some(_)) => CallResult::Failed,
        _ => CallResult::Unknown,
    }
}
