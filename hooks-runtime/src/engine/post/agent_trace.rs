//! `agent-trace`: changes of the agent, and their reasons.

use serde_json::json;

use crate::engine::record::Head;
use crate::{HookError, PostHook, ToolResult};

hook_with_file! {
    /// Writes a line for each call that has changed files, with all of them.
    ///
    /// | | |
    /// |---|---|
    /// | Input | results of tools that change files, if they succeeded, with an intent |
    /// | Effect | only the line |
    /// | Storage | `agent_trace.jsonl`: time, intent, session, request (the intent if there is none), tool, the kind of change, a summary, the files with the hash of each |
    AgentTrace, crate::engine::record::AGENT_TRACE
}

impl AgentTrace {
    /// The kind of change, if neither the result nor the parameter `mutation_class` names one.
    pub const MUTATION_CLASS: &'static str = "INTENT_EVOLUTION";
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for AgentTrace {
    fn id(&self) -> &str {
        "agent-trace"
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
        if !result.success || !self.context.tools().is_file_destructive(&request.tool) {
            return Ok(());
        }
        let files = self.context.contents(result).await?;
        if files.is_empty() {
            return Ok(());
        }
        let files = files.iter();
        let files = files.map(|file| json!({"file": file.name(), "content_hash": file.hash()}));
        let class = result.mutation_class.as_deref();
        let class = class.or_else(|| request.text("mutation_class"));
        let summary = result.summary.clone();
        let known = request_id.or(request.request_id.as_deref());
        let line = Head::new(intent, result, Some(known.unwrap_or(intent))).with(json!({
            "mutation_class": class.unwrap_or(Self::MUTATION_CLASS),
            "summary": summary.unwrap_or_else(|| format!("change by `{}`", request.tool)),
            "files": files.collect::<Vec<_>>(),
        }));
        self.context.write(Self::FILE, vec![line]).await
    }
}
