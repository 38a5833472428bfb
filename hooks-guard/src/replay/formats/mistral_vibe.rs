//! Sessions of Mistral Vibe: `~/.vibe/logs/session/unified/SESSION/chunks/HASH.json`, each a list of entries, beside
//! `meta.json` with the directory. The journal of the session has the turn that runs, and is not read. From
//! transcripts of Mistral Vibe 3.0.3.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::files;
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one list of entries.
#[derive(Debug)]
pub(super) struct MistralVibeReader {
    cwd: Option<PathBuf>,
}

impl MistralVibeReader {
    pub(super) fn new(file: &Path) -> Self {
        let folder = file.ancestors().nth(2).unwrap_or(file);
        let meta = files::read(&folder.join("meta.json")).ok();
        let meta = meta.and_then(|text| serde_json::from_slice::<JsonObject>(&text).ok());
        let environment = meta.as_ref().and_then(|meta| inner(meta, "environment"));
        Self {
            cwd: environment.and_then(|environment| path(environment, "working_directory")),
        }
    }
}

impl EntryReader for MistralVibeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let detail = inner(entry, "detail").filter(|_| text(entry, "type") == Some("effect"));
        let state = inner(entry, "state");
        let (Some(detail), Some(state), Some(session)) = (detail, state, text(entry, "sessionId"))
        else {
            return;
        };
        if let Some(name) = text(detail, "toolName") {
            let (result, permission) = outcome(state);
            calls.add(TranscriptCall {
                id: owned(entry, "id"),
                at: time(entry, "createdAt"),
                cwd: self.cwd.clone(),
                arguments: detail.get("input").cloned().unwrap_or_default(),
                result,
                permission,
                ..TranscriptCall::new(Agent::MistralVibe, session, name)
            });
        }
    }
}

fn outcome(state: &JsonObject) -> (CallResult, ClientPermission) {
    let decision = text(state, "decision");
    let asks = text(state, "approvalType") == Some("ask");
    let permission = match (decision, asks) {
        (Some("execute"), true) => ClientPermission::Approved,
        (Some("execute"), false) => ClientPermission::NotAsked,
        (Some("skip"), true) => ClientPermission::Rejected,
        (Some("skip"), false) => ClientPermission::Refused,
        _ => ClientPermission::Unknown,
    };
    let content = inner(state, "output").and_then(|output| inner(output, "structured_content"));
    let status = content.and_then(|content| content.get("returncode"));
    let is_zero = status.and_then(Value::as_i64).unwrap_or_default() == 0;
    let result = match (decision, text(state, "status")) {
        (Some("skip"), _) => CallResult::NotRun,
        (_, Some("completed")) if is_zero => CallResult::Ran,
        (_, Some("completed" | "failed")) => CallResult::Failed,
        _ => CallResult::Unknown,
    };
    (result, permission)
}
