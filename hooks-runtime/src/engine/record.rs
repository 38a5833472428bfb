//! Records of calls that the hooks write.

use jiff::Timestamp;
use serde::Serialize;

use super::call::ToolResult;

/// Fields of every line: the call that it is about.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Head {
    #[serde(serialize_with = "crate::timestamp::serialize")]
    at: Timestamp,
    intent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    tool: String,
}

impl Head {
    pub(crate) fn new(intent: &str, result: &ToolResult, request_id: Option<&str>) -> Self {
        let request = &result.request;
        Head {
            at: Timestamp::now(),
            intent_id: intent.to_owned(),
            session_id: request.session_id.clone(),
            request_id: request_id
                .map(str::to_owned)
                .or_else(|| request.request_id.clone()),
            tool: request.tool.clone(),
        }
    }

    /// Returns a line with these fields and more.
    pub(crate) fn with(&self, more: serde_json::Value) -> serde_json::Value {
        let mut line = serde_json::to_value(self).unwrap_or_default();
        if let (Some(line), serde_json::Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        line
    }
}

/// Returns the beginning of a text, of at most so many characters.
pub(crate) fn clip(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

// Names of the files.
pub(crate) const MUTATIONS: &str = "mutations.jsonl";
pub(crate) const AGENT_TRACE: &str = "agent_trace.jsonl";
pub(crate) const TRACE: &str = "trace.jsonl";
pub(crate) const VERIFICATION_FAILURES: &str = "verification_failures.jsonl";
pub(crate) const INTENT_PROGRESS: &str = "intent_progress.jsonl";
pub(crate) const SCOPE_DRIFT: &str = "scope_drift.jsonl";
pub(crate) const LESSONS: &str = "lessons.jsonl";

/// The files that hooks write to.
pub(crate) const FILES: [&str; 7] = [
    MUTATIONS,
    AGENT_TRACE,
    TRACE,
    VERIFICATION_FAILURES,
    INTENT_PROGRESS,
    SCOPE_DRIFT,
    LESSONS,
];
