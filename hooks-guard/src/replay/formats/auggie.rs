//! Sessions of Auggie: `~/.augment/sessions/SESSION.json`, one object whose `chatHistory` has the exchanges. From
//! transcripts of Auggie 0.36.0.

use std::path::PathBuf;

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, objects, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session.
#[derive(Debug, Default)]
pub(super) struct AuggieReader {
    session: String,
    cwd: Option<PathBuf>,
}

impl EntryReader for AuggieReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if let Some(session) = owned(entry, "sessionId") {
            self.session = session;
        }
        let Some(exchange) = inner(entry, "exchange") else {
            return;
        };
        for node in objects(exchange, "request_nodes") {
            let terminal = inner(node, "ide_state_node");
            let terminal = terminal.and_then(|state| inner(state, "current_terminal"));
            let cwd = terminal.and_then(|state| path(state, "current_working_directory"));
            self.cwd = cwd.or(self.cwd.take());
            if let Some(result) = inner(node, "tool_result_node")
                && let Some(id) = text(result, "tool_use_id")
            {
                let failed = result.get("is_error").and_then(Value::as_bool) == Some(true);
                let result = match failed {
                    true => CallResult::Failed,
                    false => CallResult::Ran,
                };
                calls.finish(id, result, ClientPermission::Unknown);
            }
        }
        for node in objects(exchange, "response_nodes") {
            let Some(call) = inner(node, "tool_use") else {
                continue;
            };
            let Some(name) = text(call, "tool_name") else {
                continue;
            };
            let arguments =
                text(call, "input_json").and_then(|text| serde_json::from_str(text).ok());
            calls.start(TranscriptCall {
                id: owned(call, "tool_use_id"),
                at: time(node, "timestamp_ms").or_else(|| time(entry, "finishedAt")),
                cwd: self.cwd.clone(),
                arguments: arguments.unwrap_or_default(),
                ..TranscriptCall::new(Agent::Auggie, &self.session, name)
            });
        }
    }
}
