//! Sessions of Kimi Code: `~/.kimi-code/sessions/FOLDER/SESSION/agents/AGENT/wire.jsonl`. Each line is one
//! entry. From transcripts of Kimi Code 2.1.0.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one agent of a session.
#[derive(Debug)]
pub(super) struct KimiCodeReader {
    session: String,
    cwd: Option<PathBuf>,
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
        }
    }
}

impl EntryReader for KimiCodeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if let Some(environment) = inner(entry, "environmentDisclosure") {
            self.cwd = path(environment, "cwd").or(self.cwd.take());
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
                ..TranscriptCall::new(Agent::KimiCode, &self.session, name)
            }),
            (Some("tool.result"), _, Some(id)) => {
                let result = inner(event, "result");
                let failed = result.and_then(|result| result.get("isError"));
                let result = match failed.and_then(Value::as_bool) {
                    Some(true) => CallResult::Failed,
                    _ => CallResult::Ran,
                };
                calls.finish(id, result, ClientPermission::Unknown);
            }
            _ => {}
        }
    }
}
