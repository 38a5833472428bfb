//! Sessions of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`, and those of its sub-agents in
//! `SESSION/subagents/`. Each line is one entry. From transcripts of Claude Code 2.1.332 and 2.1.197.

use serde_json::Value;

use super::{EntryReader, JsonObject, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session.
#[derive(Debug, Default)]
pub(super) struct ClaudeCodeReader {
    /// Permission mode of the last prompt.
    mode: Option<String>,
}

/// Returns the parts of a message of the model or of the user.
fn content(entry: &JsonObject) -> Option<&Value> {
    let is_message = matches!(text(entry, "type")?, "assistant" | "user");
    text(entry, "sessionId").filter(|_| is_message)?;
    entry.get("message")?.get("content")
}

/// Returns `true` for a message.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    content(entry).is_some()
}

impl EntryReader for ClaudeCodeReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if let Some(mode) = text(entry, "permissionMode") {
            self.mode = Some(mode.to_owned());
        }
        let parts = content(entry).and_then(Value::as_array);
        for part in parts.into_iter().flatten().filter_map(Value::as_object) {
            match text(part, "type") {
                Some("tool_use") => self.start(entry, part, calls),
                Some("tool_result") => finish(entry, part, calls),
                _ => {}
            }
        }
    }
}

impl ClaudeCodeReader {
    fn start(&self, entry: &JsonObject, part: &JsonObject, calls: &mut CallBuffer) {
        let (Some(session), Some(tool)) = (text(entry, "sessionId"), text(part, "name")) else {
            return;
        };
        calls.start(TranscriptCall {
            mode: self.mode.clone(),
            id: text(part, "id").map(str::to_owned),
            at: time(entry, "timestamp"),
            cwd: path(entry, "cwd"),
            arguments: part.get("input").cloned().unwrap_or_default(),
            ..TranscriptCall::new(Agent::ClaudeCode, session, tool)
        });
    }
}

fn finish(entry: &JsonObject, part: &JsonObject, calls: &mut CallBuffer) {
    let Some(id) = text(part, "tool_use_id") else {
        return;
    };
    let failed = part.get("is_error").and_then(Value::as_bool) == Some(true);
    let ran = match failed {
        true => CallResult::Failed,
        false => CallResult::Ran,
    };
    let decided = entry.get("permissionDecision").and_then(Value::as_object);
    let (result, permission) = match decided {
        Some(decided) => {
            let by_user = text(decided, "source").is_some_and(|source| source.starts_with("user"));
            match (text(decided, "decision"), by_user) {
                (Some("accept"), true) => (ran, ClientPermission::Approved),
                (Some("accept"), false) => (ran, ClientPermission::NotAsked),
                (Some("reject"), true) => (CallResult::NotRun, ClientPermission::Rejected),
                (Some("reject"), false) => (CallResult::NotRun, ClientPermission::Refused),
                _ => (ran, ClientPermission::Unknown),
            }
        }
        None if is_rejected(entry) => (CallResult::NotRun, ClientPermission::Rejected),
        None => (ran, ClientPermission::Unknown),
    };
    calls.finish(id, result, permission);
}

/// Returns `true` for the result of a call that the user rejected in the prompt.
fn is_rejected(entry: &JsonObject) -> bool {
    text(entry, "toolUseResult") == Some("User rejected tool use")
}
