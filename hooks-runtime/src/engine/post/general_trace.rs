//! `general-trace`: every call that ended.

use serde_json::{Value, json};

use crate::engine::record::{Head, clip};
use crate::engine::workspace::content_hash;
use crate::{HookError, PostHook, ToolResult};

hook_with_file! {
    /// Writes a line for each call.
    ///
    /// | | |
    /// |---|---|
    /// | Input | every result with an intent |
    /// | Effect | only the line |
    /// | Storage | `trace.jsonl`: time, intent, session, request, tool, parameters, files, success, the first 200 characters of the output. A text of more than 200 characters in the parameters is cut, with the hash of the whole |
    ///
    /// Parameters are written unchanged: if agents receive secrets in parameters, the host replaces
    /// this hook.
    GeneralTrace, crate::engine::record::TRACE
}

/// Maximum length of a text, in characters.
const LENGTH: usize = 200;

/// Returns the value with long texts cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if clip(text, LENGTH).len() < text.len() => {
            json!({"begins": clip(text, LENGTH), "content_hash": content_hash(text)})
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), shortened(value)))
            .collect(),
        other => other.clone(),
    }
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for GeneralTrace {
    fn id(&self) -> &str {
        "general-trace"
    }

    async fn execute(
        &self,
        result: &ToolResult,
        request_id: Option<&str>,
    ) -> Result<(), HookError> {
        let request = &result.request;
        let Some(intent) = self.context.intent_of(request) else {
            return Ok(());
        };
        if self.context.storage().is_none() {
            return Ok(());
        }
        let params = Value::Object(request.params.clone());
        // The whole of a cut text is hashed, however long it is.
        let params = self.context.blocking(move |_| shortened(&params)).await?;
        let line = Head::new(intent, result, request_id).with(json!({
            "params": params,
            "files": self.context.tools().touched(result),
            "status": if result.success { "SUCCESS" } else { "FAILURE" },
            "exit_code": result.exit_code,
            "output": result.output.as_deref().map(|output| clip(output, LENGTH)),
            "summary": result.summary,
            "usage": result.usage,
        }));
        self.context.write(Self::FILE, vec![line]).await
    }
}
