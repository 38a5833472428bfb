//! Sessions of Qwen Code: `~/.qwen/projects/FOLDER/chats/SESSION.jsonl`, and those of its sub-agents in
//! `subagents/SESSION/`. Each line is one entry. From transcripts of Qwen Code 0.24.4.

use super::{EntryReader, JsonObject, inner, objects, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session.
#[derive(Debug, Default)]
pub(super) struct QwenCodeReader;

/// Returns `true` for a message.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    let message = inner(entry, "message");
    text(entry, "sessionId").is_some() && message.is_some_and(|one| one.contains_key("parts"))
}

impl EntryReader for QwenCodeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let (Some(session), Some(message)) = (text(entry, "sessionId"), inner(entry, "message"))
        else {
            return;
        };
        for part in objects(message, "parts") {
            if let Some(call) = inner(part, "functionCall")
                && let Some(name) = text(call, "name")
            {
                calls.start(TranscriptCall {
                    id: owned(call, "id"),
                    at: time(entry, "timestamp"),
                    cwd: path(entry, "cwd"),
                    arguments: call.get("args").cloned().unwrap_or_default(),
                    ..TranscriptCall::new(Agent::QwenCode, session, name)
                });
            }
            if let Some(response) = inner(part, "functionResponse")
                && let Some(id) = text(response, "id")
            {
                let (result, permission) = outcome(inner(entry, "toolCallResult"), response);
                calls.finish(id, result, permission);
            }
        }
    }
}

/// Returns the outcome of a call; the entries of sub-agents have the response only.
fn outcome(result: Option<&JsonObject>, response: &JsonObject) -> (CallResult, ClientPermission) {
    let failed = inner(response, "response").is_some_and(|response| response.contains_key("error"));
    let declined = result.and_then(|result| text(result, "errorType"));
    match (result.and_then(|result| text(result, "status")), declined) {
        (Some("cancelled"), _) => (CallResult::NotRun, ClientPermission::Rejected),
        (_, Some("execution_denied")) => (CallResult::NotRun, ClientPermission::Refused),
        _ if failed => (CallResult::Failed, ClientPermission::Unknown),
        _ => (CallResult::Ran, ClientPermission::Unknown),
    }
}
