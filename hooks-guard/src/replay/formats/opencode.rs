//! Sessions of opencode and of Kilo Code, which descends from it: the databases `~/.local/share/opencode/opencode.db`
//! and `~/.local/share/kilo/kilo.db`, whose table `part` has a row for each call. From databases of opencode
//! 1.18.33 and Kilo Code 7.7.9.

use serde_json::Value;

use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// The calls, each with its session, its time in milliseconds and the directory.
pub(super) const QUERY: &str = "SELECT p.rowid AS place, p.session_id AS session, \
     p.time_created AS at, s.directory AS cwd, p.data AS data \
     FROM part p LEFT JOIN session s ON s.id = p.session_id \
     WHERE p.rowid > ? AND p.data LIKE '%\"type\":\"tool\"%' ORDER BY p.rowid LIMIT ?";

/// Start of the error of a call that the user rejected.
const REJECTED: &str = "The user rejected permission";

/// Reader of the calls.
#[derive(Debug)]
pub(super) struct OpenCodeReader(pub(super) Agent);

impl EntryReader for OpenCodeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let Some(part) = inner(entry, "data").filter(|part| text(part, "type") == Some("tool"))
        else {
            return;
        };
        let (Some(name), Some(state)) = (text(part, "tool"), inner(part, "state")) else {
            return;
        };
        let status = inner(state, "metadata").and_then(|metadata| metadata.get("exit"));
        let status = status.and_then(Value::as_i64).unwrap_or_default();
        let is_rejected = text(state, "error").is_some_and(|error| error.starts_with(REJECTED));
        let result = match text(state, "status") {
            Some("completed") if status == 0 => CallResult::Ran,
            Some("error") if is_rejected => CallResult::NotRun,
            Some("completed" | "error") => CallResult::Failed,
            _ => CallResult::Unknown,
        };
        // Kilo Code.
        let approval = inner(state, "metadata").and_then(|metadata| inner(metadata, "approval"));
        let permission = match approval.and_then(|approval| text(approval, "source")) {
            _ if is_rejected => ClientPermission::Rejected,
            Some("manual") => ClientPermission::Approved,
            _ => ClientPermission::Unknown,
        };
        let session = text(entry, "session").unwrap_or_default();
        calls.add(TranscriptCall {
            id: owned(part, "callID"),
            at: time(entry, "at"),
            cwd: path(entry, "cwd"),
            arguments: state.get("input").cloned().unwrap_or_default(),
            result,
            permission,
            ..TranscriptCall::new(self.0, session, name)
        });
    }
}
