//! Sessions of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-….jsonl`, beside `.project_root` with
//! the project's directory. Each line is one message with its calls and their results, or a change of the
//! session; a message that grows has further lines. From transcripts of Gemini CLI 0.61.0.

use std::path::{Path, PathBuf};

use super::{EntryReader, JsonObject, inner, objects, owned, text, time};
use crate::files;
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// File with the project's directory, beside the folder of the sessions.
const PROJECT_ROOT: &str = ".project_root";

/// Reader of one session.
#[derive(Debug)]
pub(super) struct GeminiReader {
    session: String,
    cwd: Option<PathBuf>,
}

/// Returns `true` for the first line of a session.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    entry.contains_key("projectHash") && text(entry, "sessionId").is_some()
}

impl GeminiReader {
    pub(super) fn new(file: &Path) -> Self {
        // The sessions of sub-agents are in a folder of their own.
        let folders = file.ancestors().skip(1).take(4);
        let root = folders.filter_map(|folder| files::read(&folder.join(PROJECT_ROOT)).ok());
        let root = root.filter_map(|root| String::from_utf8(root).ok()).next();
        let cwd = root.map(|root| PathBuf::from(root.trim_end_matches(['\r', '\n'])));
        Self {
            session: String::new(),
            cwd: cwd.filter(|cwd| cwd.is_absolute()),
        }
    }

    fn message(&self, message: &JsonObject, calls: &mut CallBuffer) {
        for call in objects(message, "toolCalls") {
            let Some(name) = text(call, "name") else {
                continue;
            };
            // The other states are of a call that has not ended.
            let (result, permission) = match text(call, "status") {
                Some("success") => (CallResult::Ran, ClientPermission::Unknown),
                Some("error") => (CallResult::Failed, ClientPermission::Unknown),
                Some("cancelled") => (CallResult::NotRun, ClientPermission::Rejected),
                _ => continue,
            };
            calls.add(TranscriptCall {
                id: owned(call, "id"),
                at: time(call, "timestamp").or_else(|| time(message, "timestamp")),
                cwd: self.cwd.clone(),
                arguments: call.get("args").cloned().unwrap_or_default(),
                result,
                permission,
                ..TranscriptCall::new(Agent::Gemini, &self.session, name)
            });
        }
    }
}

impl EntryReader for GeminiReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if recognizes(entry) {
            self.session = owned(entry, "sessionId").unwrap_or_default();
        }
        self.message(entry, calls);
        for message in inner(entry, "$set")
            .into_iter()
            .flat_map(|change| objects(change, "messages"))
        {
            self.message(message, calls);
        }
    }
}
