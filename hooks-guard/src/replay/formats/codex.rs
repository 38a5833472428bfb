//! Sessions of Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`. Each line is one item. From
//! transcripts of Codex 0.171.0.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{EntryReader, JsonObject, inner, owned, path, text, time};
use crate::protocol::Agent;
use crate::replay::call::{CallBuffer, CallResult, ClientPermission, TranscriptCall};

/// Reader of one session.
#[derive(Debug, Default)]
pub(super) struct CodexReader {
    session: String,
    cwd: Option<PathBuf>,
    mode: Option<&'static str>,
}

/// Mode that Codex sends to its hook if it can ask its user.
const ASKING_MODE: &str = "default";
/// Name of the tool for commands in the input of the hook.
const SHELL: &str = "Bash";
/// Field of a shell command and of a patch in the input of the hook.
const COMMAND: &str = "command";

/// Returns the kind of an item and its content.
fn item(entry: &JsonObject) -> Option<(&str, &JsonObject)> {
    let kind = text(entry, "type")?;
    let is_item = matches!(
        kind,
        "session_meta" | "turn_context" | "response_item" | "event_msg"
    );
    let payload = entry.get("payload")?.as_object()?;
    is_item.then_some((kind, payload))
}

/// Returns `true` for an item of a session.
pub(super) fn recognizes(entry: &JsonObject) -> bool {
    item(entry).is_some()
}

impl EntryReader for CodexReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        let Some((kind, payload)) = item(entry) else {
            return;
        };
        match kind {
            "session_meta" | "turn_context" => {
                if let Some(id) = text(payload, "id") {
                    id.clone_into(&mut self.session);
                }
                self.cwd = path(payload, "cwd").or(self.cwd.take());
                // Codex sends this mode to its hook if it never asks.
                if let Some(policy) = text(payload, "approval_policy") {
                    let never = policy == "never";
                    self.mode = Some(if never {
                        "bypassPermissions"
                    } else {
                        ASKING_MODE
                    });
                }
            }
            "response_item" => match text(payload, "type") {
                Some("function_call" | "custom_tool_call") => self.start(entry, payload, calls),
                Some("function_call_output" | "custom_tool_call_output") => {
                    if let Some(id) = text(payload, "call_id") {
                        finish(id, payload, calls);
                    }
                }
                _ => {}
            },
            _ => {
                if text(payload, "type") == Some("item_completed")
                    && let Some(item) = inner(payload, "item")
                {
                    self.completed(entry, item, calls);
                }
            }
        }
    }
}

impl CodexReader {
    /// Returns a call with the names that Codex sends to its hook.
    fn call(&self, entry: &JsonObject, tool: &str, arguments: Value) -> TranscriptCall {
        TranscriptCall {
            at: time(entry, "timestamp"),
            cwd: self.cwd.clone(),
            mode: self.mode.map(str::to_owned),
            arguments,
            ..TranscriptCall::new(Agent::Codex, &self.session, tool)
        }
    }

    fn start(&self, entry: &JsonObject, payload: &JsonObject, calls: &mut CallBuffer) {
        let Some(name) = text(payload, "name") else {
            return;
        };
        let given = text(payload, "arguments").and_then(|text| serde_json::from_str(text).ok());
        let given: Value = given.unwrap_or_default();
        // Codex asks its user about a command outside of its sandbox.
        let escalated = given.get("sandbox_permissions").and_then(Value::as_str);
        let asks = escalated == Some("require_escalated") && self.mode == Some(ASKING_MODE);
        let permission = match asks {
            true => ClientPermission::Approved,
            false => ClientPermission::Unknown,
        };
        let (tool, arguments) = match (name, text(payload, "input")) {
            // A script, whose commands and patches are items of their own.
            ("exec", Some(_)) => return,
            (_, Some(input)) => (name.to_owned(), json!({COMMAND: input})),
            ("exec_command", None) => (SHELL.to_owned(), json!({COMMAND: given.get("cmd")})),
            _ => {
                let server = text(payload, "namespace").filter(|name| name.starts_with("mcp__"));
                let name = match server {
                    Some(server) => format!("{server}__{name}"),
                    None => name.to_owned(),
                };
                (name, given)
            }
        };
        calls.start(TranscriptCall {
            id: owned(payload, "call_id"),
            permission,
            ..self.call(entry, &tool, arguments)
        });
    }
}

impl CodexReader {
    /// Reads an item that has ended: the result of a call, or a call of a script.
    fn completed(&self, entry: &JsonObject, item: &JsonObject, calls: &mut CallBuffer) {
        let result = match text(item, "status") {
            Some("completed") => CallResult::Ran,
            Some("failed") => CallResult::Failed,
            _ => return,
        };
        let Some(id) = text(item, "id") else {
            return;
        };
        if let Some(call) = calls.waiting(id) {
            call.result = result;
            return;
        }
        let (tool, arguments) = match text(item, "type") {
            Some("CommandExecution") => {
                let words = item.get("command").and_then(Value::as_array);
                (
                    SHELL,
                    json!({COMMAND: words.and_then(|words| words.last())}),
                )
            }
            Some("FileChange") => ("apply_patch", json!({COMMAND: patch(item)})),
            _ => return,
        };
        calls.add(TranscriptCall {
            id: Some(id.to_owned()),
            result,
            ..self.call(entry, tool, arguments)
        });
    }
}

/// Returns a patch of the files that an item changed, without their content.
fn patch(item: &JsonObject) -> String {
    let mut patch = "*** Begin Patch\n".to_owned();
    for (file, change) in inner(item, "changes").into_iter().flatten() {
        let action = match change.get("type").and_then(Value::as_str) {
            Some("add") => "Add",
            Some("delete") => "Delete",
            _ => "Update",
        };
        patch.push_str(&format!("*** {action} File: {file}\n"));
    }
    patch.push_str("*** End Patch");
    patch
}

/// Completes a call with its output. An item that ended before has the result.
fn finish(id: &str, payload: &JsonObject, calls: &mut CallBuffer) {
    let Some(call) = calls.waiting(id) else {
        return;
    };
    // Codex has no item for a call that its user rejects.
    let is_rejected = text(payload, "output").is_some_and(|output| output.ends_with(ABORTED));
    let (result, permission) = match (call.result, is_rejected) {
        (CallResult::Unknown, true) => (CallResult::NotRun, ClientPermission::Rejected),
        (CallResult::Unknown, false) => (CallResult::Ran, ClientPermission::Unknown),
        (result, _) => (result, ClientPermission::Unknown),
    };
    calls.finish(id, result, permission);
}

/// End of the output of a call that the user rejected.
const ABORTED: &str = "aborted by user";
