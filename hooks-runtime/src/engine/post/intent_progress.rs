//! `intent-progress`: progress of an intent.

use std::sync::Arc;

use serde_json::json;

use crate::engine::error::EngineError;
use crate::engine::record::Head;
use crate::engine::tools::{ToolClass, ToolRole};
use crate::{HookError, PostHook, ToolResult};

hook_with_file! {
    /// Counts the calls for an intent, and completes it when the agent declares completion.
    ///
    /// | | |
    /// |---|---|
    /// | Input | every result with an intent |
    /// | Effect | calls, failures and changed files of the intent are counted; a successful `attempt_completion` sets its status to `COMPLETED`, if it is the session's selected intent and its status allows work: it then may neither change files nor keep others from them; `Err` otherwise |
    /// | Storage | `intent_progress.jsonl`, a line for each destructive call and for the end: time, intent, session, request, tool, the counts, the status. The counts are in the [`Session`](crate::engine::Session) |
    IntentProgress, crate::engine::record::INTENT_PROGRESS
}

impl IntentProgress {
    /// Completes the intent, if it is the session's. The call only names it: it may name a foreign
    /// intent, whose completion would release its files.
    fn complete(&self, intent: &str) -> bool {
        let active = self.context.session().active_intent();
        active.as_deref() == Some(intent) && self.context.intents().complete(intent)
    }
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for IntentProgress {
    fn id(&self) -> &str {
        "intent-progress"
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
        let role = self.context.tools().role(&request.tool);
        let destructive = role.class() == ToolClass::Destructive;
        let files = match result.success && destructive {
            true => self.context.contents(result).await?,
            false => Arc::default(),
        };
        let progress = self.context.session().advance(intent, |progress| {
            progress.calls = progress.calls.saturating_add(1);
            progress.failures = progress.failures.saturating_add(u64::from(!result.success));
            let files = files.iter().map(|file| file.name().to_owned());
            progress.files.extend(files);
        });
        let done = result.success && role == ToolRole::Complete;
        if done && !self.complete(intent) {
            return Err(EngineError::NotCompletable(intent.to_owned()).into());
        }
        if !destructive && !done {
            return Ok(());
        }
        let status = self.context.intents().status(intent);
        let line = Head::new(intent, result, request_id).with(json!({
            "calls": progress.calls,
            "failures": progress.failures,
            "files": progress.files.len(),
            "status": status,
        }));
        self.context.write(Self::FILE, vec![line]).await
    }
}
