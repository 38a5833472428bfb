//! Sessions of OpenHands: `~/.openhands/conversations/SESSION/events/event-NUMBER-ID.json`, one event per file, beside
//! `base_state.json` with the directory. From transcripts of OpenHands 1.16.0.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::{EntryReader, JsonObject, inner, owned, path, text};
use crate::files;
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session.
#[derive(Debug)]
pub(super) struct OpenHandsReader {
    session: String,
    cwd: Option<PathBuf>,
}

impl OpenHandsReader {
    pub(super) fn new(file: &Path) -> Self {
        let folder = file.ancestors().nth(2).unwrap_or(file);
        let state = files::read(&folder.join("base_state.json")).ok();
        let state = state.and_then(|text| serde_json::from_slice::<JsonObject>(&text).ok());
        let workspace = state.as_ref().and_then(|state| inner(state, "workspace"));
        let session = folder.file_name().unwrap_or_default().to_string_lossy();
        Self {
            session: session.into_owned(),
            cwd: workspace.and_then(|workspace| path(workspace, "working_dir")),
        }
    }
}

impl EntryReader for OpenHandsReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let Some(id) = text(entry, "tool_call_id") else {
            return;
        };
        match text(entry, "kind") {
            Some("ActionEvent") => {
                let Some(name) = text(entry, "tool_name") else {
                    return;
                };
                calls.start(TranscriptCall {
                    id: owned(entry, "tool_call_id"),
                    at: time(entry),
                    cwd: self.cwd.clone(),
                    arguments: entry.get("action").cloned().unwrap_or_default(),
                    ..TranscriptCall::new(Agent::OpenHands, &self.session, name)
                });
            }
            Some("ObservationEvent") => {
                let observation = inner(entry, "observation");
                let field = |name| observation.and_then(|observation| observation.get(name));
                let failed = field("is_error").and_then(Value::as_bool) == Some(true)
                    || field("exit_code")
                        .and_then(Value::as_i64)
                        .unwrap_or_default()
                        != 0;
                let result = match failed {
                    true => CallResult::Failed,
                    false => CallResult::Ran,
                };
                calls.finish(id, result, ClientPermission::Unknown);
            }
            _ => {}
        }
    }
}

/// Returns the time of an event, which has no time zone: that of the machine.
fn time(entry: &JsonObject) -> Option<Timestamp> {
    let at: DateTime = text(entry, "timestamp")?.parse().ok()?;
    Some(at.to_zoned(TimeZone::system()).ok()?.timestamp())
}
