//! Sessions of Mistral Vibe: `~/.vibe/logs/session/unified/SESSION/journal/NUMBER.jsonl`, beside `meta.json` with the
//! directory. Each line is one record. From transcripts of Mistral Vibe 3.0.3.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::files;
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one journal.
#[derive(Debug)]
pub(super) struct MistralVibeReader {
    session: String,
    cwd: Option<PathBuf>,
    /// Time of the last record with a time.
    at: Option<Timestamp>,
}

/// Returns `true` for a record.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    entry.contains_key("recovery_journal_record_version") && inner(entry, "payload").is_some()
}

impl MistralVibeReader {
    pub(super) fn new(file: &Path) -> Self {
        let folder = file.ancestors().nth(2).unwrap_or(file);
        let meta = files::read(&folder.join("meta.json")).ok();
        let meta = meta.and_then(|text| serde_json::from_slice::<JsonObject>(&text).ok());
        let environment = meta.as_ref().and_then(|meta| inner(meta, "environment"));
        let session = folder.file_name().unwrap_or_default().to_string_lossy();
        Self {
            session: session.into_owned(),
            cwd: environment.and_then(|environment| path(environment, "working_directory")),
            at: None,
        }
    }

    fn start(&self, payload: &JsonObject, calls: &mut CallBuffer) -> Option<()> {
        let request = inner(payload, "request")?;
        let call = inner(request, "call")?;
        let name = match text(call, "name") {
            Some(name) => name.to_owned(),
            None => format!("{}.{}", text(call, "group_name")?, text(call, "tool_name")?),
        };
        calls.start(TranscriptCall {
            id: owned(payload, "action_id"),
            at: self.at,
            cwd: self.cwd.clone(),
            arguments: call.get("arguments").cloned().unwrap_or_default(),
            ..TranscriptCall::new(Agent::MistralVibe, &self.session, &name)
        });
        Some(())
    }
}

impl EntryReader for MistralVibeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let Some(payload) = inner(entry, "payload") else {
            return;
        };
        let input = inner(payload, "input").and_then(|input| inner(input, "determinism"));
        let at = input.and_then(|input| time(input, "time_unix_ms"));
        self.at = at.or(self.at);
        match (text(entry, "type"), text(payload, "kind")) {
            (Some("action_intent"), Some("tool")) => {
                self.start(payload, calls);
            }
            (Some("action_result"), _) => {
                let result = inner(payload, "result");
                if let (Some(id), Some(result)) = (text(payload, "action_id"), result) {
                    let (result, permission) = outcome(result);
                    calls.finish(id, result, permission);
                }
            }
            _ => {}
        }
    }
}

fn outcome(result: &JsonObject) -> (CallResult, ClientPermission) {
    let output = inner(result, "result").or_else(|| inner(result, "output"));
    let approval = output.and_then(|output| inner(inner(output, "_meta")?, "approval"));
    let decision = approval.and_then(|approval| text(approval, "decision"));
    let asks = approval.and_then(|approval| text(approval, "approvalType")) == Some("ask");
    let permission = match (decision, asks) {
        (Some("execute"), true) => ClientPermission::Approved,
        (Some("execute"), false) => ClientPermission::NotAsked,
        (Some("skip"), true) => ClientPermission::Rejected,
        (Some("skip"), false) => ClientPermission::Refused,
        _ => ClientPermission::Unknown,
    };
    let content = output.and_then(|output| inner(output, "structured_content"));
    let status = content.and_then(|content| content.get("returncode"));
    let succeeded = text(result, "type") == Some("tool_succeeded")
        && status.and_then(Value::as_i64).unwrap_or_default() == 0;
    let result = match (decision, succeeded) {
        (Some("skip"), _) => CallResult::NotRun,
        (_, true) => CallResult::Ran,
        (_, false) => CallResult::Failed,
    };
    (result, permission)
}
