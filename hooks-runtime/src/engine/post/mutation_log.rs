//! `mutation-log`: changed files, with their intents.

use serde_json::json;

use crate::engine::record::Head;
use crate::engine::tools::ToolClass;
use crate::{HookError, PostHook, ToolResult};

hook_with_file! {
    /// Writes a line for each file that a destructive call has changed.
    ///
    /// | | |
    /// |---|---|
    /// | Input | results of destructive tools that succeeded, with an intent and files |
    /// | Effect | only the lines; a failure is logged, and other hooks still run |
    /// | Storage | `mutations.jsonl`: time, intent, session, request, tool, file, the hash and the size of its current content; without these the file is gone, or cannot be read |
    MutationLog, crate::engine::record::MUTATIONS
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for MutationLog {
    fn id(&self) -> &str {
        "mutation-log"
    }

    async fn execute(
        &self,
        result: &ToolResult,
        request_id: Option<&str>,
    ) -> Result<(), HookError> {
        let Some(intent) = self.context.intent_of(&result.request) else {
            return Ok(());
        };
        let class = self.context.tools().classify(&result.request.tool);
        if !result.success || class == ToolClass::Safe {
            return Ok(());
        }
        let head = Head::new(intent, result, request_id);
        let files = self.context.contents(result).await?;
        let lines = files.iter().map(|file| {
            let size = file.content.as_ref().map(|(_, size)| size);
            head.with(json!({"file": file.name(), "content_hash": file.hash(), "bytes": size}))
        });
        self.context.write(Self::FILE, lines.collect()).await
    }
}
