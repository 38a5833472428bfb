//! Sessions of Grok CLI: `~/.grok/sessions/FOLDER/SESSION/updates.jsonl`, beside `summary.json` with the
//! directory. Each line is an update of the Agent Client Protocol. From transcripts of Grok CLI 1.0.41.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::{EntryReader, JsonObject, inner, path, text};
use crate::files;
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Tool that calls the tools of MCP servers.
const CALLER: &str = "use_tool";

/// Reader of one session.
#[derive(Debug)]
pub(super) struct GrokReader {
    cwd: Option<PathBuf>,
}

/// Returns the session and the update.
fn update(entry: &JsonObject) -> Option<(&str, &JsonObject)> {
    text(entry, "method").filter(|method| *method == "session/update")?;
    let params = inner(entry, "params")?;
    Some((text(params, "sessionId")?, inner(params, "update")?))
}

/// Returns `true` for an update.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    update(entry).is_some()
}

impl GrokReader {
    pub(super) fn new(file: &Path) -> Self {
        let summary = files::read(&file.with_file_name("summary.json")).ok();
        let summary = summary.and_then(|text| serde_json::from_slice::<JsonObject>(&text).ok());
        let info = summary.as_ref().and_then(|summary| inner(summary, "info"));
        Self {
            cwd: info.and_then(|info| path(info, "cwd")),
        }
    }

    fn start(&self, entry: &JsonObject, session: &str, update: &JsonObject) -> TranscriptCall {
        let meta = inner(update, "_meta").and_then(|meta| inner(meta, "x.ai/tool"));
        let name = meta.and_then(|meta| text(meta, "name"));
        let name = name.or_else(|| text(update, "title")).unwrap_or_default();
        // Grok CLI calls the tools of MCP servers by a tool of its own, and sends their names to its hook.
        let called = inner(update, "rawInput").and_then(|input| text(input, "tool_name"));
        let name = called.filter(|_| name == CALLER).unwrap_or(name);
        let at = entry.get("timestamp").and_then(Value::as_i64);
        TranscriptCall {
            id: text(update, "toolCallId").map(str::to_owned),
            at: at.and_then(|seconds| Timestamp::from_second(seconds).ok()),
            cwd: self.cwd.clone(),
            arguments: update.get("rawInput").cloned().unwrap_or_default(),
            ..TranscriptCall::new(Agent::Grok, session, name)
        }
    }
}

impl EntryReader for GrokReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let Some((session, update)) = update(entry) else {
            return;
        };
        match text(update, "sessionUpdate") {
            Some("tool_call") => calls.start(self.start(entry, session, update)),
            Some("tool_call_update") => {
                let output = inner(update, "rawOutput");
                let exit = output.and_then(|output| output.get("exit_code"));
                let exit = exit.and_then(Value::as_i64).unwrap_or_default();
                let (result, permission) = match (text(update, "status"), output) {
                    (Some("completed"), _) if exit == 0 => {
                        (CallResult::Ran, ClientPermission::Unknown)
                    }
                    (Some("completed"), _) | (Some("failed"), Some(_)) => {
                        (CallResult::Failed, ClientPermission::Unknown)
                    }
                    // A call that did not run has no output.
                    (Some("failed"), None) => (CallResult::NotRun, ClientPermission::Unknown),
                    _ => return,
                };
                if let Some(id) = text(update, "toolCallId") {
                    calls.finish(id, result, permission);
                }
            }
            _ => {}
        }
    }
}
