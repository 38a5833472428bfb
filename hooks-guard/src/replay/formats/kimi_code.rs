//! Sessions of Kimi Code: `~/.kimi-code/sessions/FOLDER/SESSION/agents/AGENT/wire.jsonl`. Each line is one
//! entry. From transcripts of Kimi Code 2.1.0.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one agent of a session.
#[derive(Debug)]
pub(super) struct KimiCodeReader {
    session: String,
    cwd: Option<PathBuf>,
    /// Answers of the user, by the ids of calls, which follow.
    answers: BTreeMap<String, ClientPermission>,
}

/// Returns `true` for the first line of a session.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    text(entry, "type") == Some("metadata") && entry.contains_key("protocol_version")
}

impl KimiCodeReader {
    pub(super) fn new(file: &Path) -> Self {
        let session = file.ancestors().nth(3).and_then(Path::file_name);
        let session = session.unwrap_or_default().to_string_lossy();
        Self {
            session: session.into_owned(),
            cwd: None,
            answers: BTreeMap::new(),
        }
    }
}

impl EntryReader for KimiCodeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if let Some(environment) = inner(entry, "environmentDisclosure") {
            self.cwd = path(environment, "cwd").or(self.cwd.take());
        }
        if text(entry, "type") == Some("permission.record_approval_result") {
            self.answers.extend(answer(entry));
        }
        let Some(event) = inner(entry, "event") else {
            return;
        };
        let id = text(event, "toolCallId");
        match (text(event, "type"), text(event, "name"), id) {
            (Some("tool.call"), Some(name), id) => calls.start(TranscriptCall {
                id: id.map(str::to_owned),
                at: time(entry, "time"),
                cwd: self.cwd.clone(),
                arguments: event.get("args").cloned().unwrap_or_default(),
                permission: id
                    .and_then(|id| self.answers.remove(id))
                    .unwrap_or_default(),
                ..TranscriptCall::new(Agent::KimiCode, &self.session, name)
            }),
            (Some("tool.result"), _, Some(id)) => {
                let result = inner(event, "result");
                let failed = result.and_then(|result| result.get("isError"));
                let is_rejected = (calls.waiting(id))
                    .is_some_and(|call| call.permission == ClientPermission::Rejected);
                let result = match failed.and_then(Value::as_bool) {
                    _ if is_rejected => CallResult::NotRun,
                    Some(true) => CallResult::Failed,
                    _ => CallResult::Ran,
                };
                calls.finish(id, result, ClientPermission::Unknown);
            }
            _ => {}
        }
    }
}

/// Returns the call and the answer of the user in the prompt about it.
fn answer(entry: &JsonObject) -> Option<(String, ClientPermission)> {
    let decision = inner(entry, "result").and_then(|result| text(result, "decision"));
    let permission = match decision? {
        "approved" => ClientPermission::Approved,
        "rejected" => ClientPermission::Rejected,
        _ => return None,
    };
    Some((owned(entry, "toolCallId")?, permission))
}
