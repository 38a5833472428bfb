//! Sessions of Factory Droid: `~/.factory/sessions/FOLDER/SESSION.jsonl`, those of its sub-agents, too. Each
//! line is one message. From transcripts of Factory Droid 0.225.2.

use std::path::PathBuf;

use super::parts::{MessagePlace, read_parts};
use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::CallBuffer;

/// Reader of one session.
#[derive(Debug, Default)]
pub(super) struct DroidReader {
    session: String,
    cwd: Option<PathBuf>,
}

/// Returns `true` for the first line of a session.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    text(entry, "type") == Some("session_start") && text(entry, "id").is_some()
}

impl EntryReader for DroidReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if recognizes(entry) {
            self.session = owned(entry, "id").unwrap_or_default();
            self.cwd = path(entry, "cwd");
        }
        if let Some(message) = inner(entry, "message") {
            let place = MessagePlace {
                agent: Agent::Droid,
                session: &self.session,
                cwd: self.cwd.as_deref(),
                at: time(entry, "timestamp"),
            };
            read_parts(&place, message, calls);
        }
    }
}
