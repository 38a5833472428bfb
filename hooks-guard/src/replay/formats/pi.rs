//! Sessions of Pi: `~/.pi/agent/sessions/FOLDER/TIME_SESSION.jsonl`. Each line is one entry. From
//! transcripts of Pi 1.6.0.

use std::path::PathBuf;

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, objects, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session, of Pi or of an agent that stores it in the same form.
#[derive(Debug)]
pub(super) struct PiReader {
    agent: Agent,
    session: String,
    cwd: Option<PathBuf>,
}

/// Returns `true` for the first line of a session.
pub(super) fn is_session(entry: &JsonObject) -> bool {
    text(entry, "type") == Some("session") && path(entry, "cwd").is_some()
}

impl PiReader {
    pub(super) fn new(agent: Agent) -> Self {
        Self {
            agent,
            session: String::new(),
            cwd: None,
        }
    }
}

impl EntryReader for PiReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if is_session(entry) {
            self.session = owned(entry, "id").unwrap_or_default();
            self.cwd = path(entry, "cwd");
        }
        let Some(message) = inner(entry, "message") else {
            return;
        };
        for part in objects(message, "content") {
            if text(part, "type") == Some("toolCall")
                && let Some(name) = text(part, "name")
            {
                calls.start(TranscriptCall {
                    id: owned(part, "id"),
                    at: time(entry, "timestamp"),
                    cwd: self.cwd.clone(),
                    arguments: part.get("arguments").cloned().unwrap_or_default(),
                    ..TranscriptCall::new(self.agent, &self.session, name)
                });
            }
        }
        if text(message, "role") == Some("toolResult")
            && let Some(id) = text(message, "toolCallId")
        {
            let failed = message.get("isError").and_then(Value::as_bool) == Some(true);
            let result = match failed {
                true => CallResult::Failed,
                false => CallResult::Ran,
            };
            calls.finish(id, result, ClientPermission::Unknown);
        }
    }
}
