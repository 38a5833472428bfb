//! `scope-drift`: changes outside of an intent's scope.

use serde_json::json;

use crate::engine::record::Head;
use crate::engine::scope::Verdict;
use crate::engine::session::Lesson;
use crate::engine::tools::ToolClass;
use crate::{HookError, PostHook, ToolResult};

hook_with_file! {
    /// Records changes to files that the intent does not own: by a command, a task, or a tool that
    /// did more than its parameters declared.
    ///
    /// | | |
    /// |---|---|
    /// | Input | results of destructive tools that succeeded, with an intent and files; the rules of [`ScopeEnforcement`](crate::engine::ScopeEnforcement) |
    /// | Effect | the session gets a lesson, for [`SharedBrain`](crate::engine::SharedBrain); nothing is undone |
    /// | Storage | `scope_drift.jsonl`: time, intent, session, request, tool, the file, the violation |
    ScopeDrift, crate::engine::record::SCOPE_DRIFT
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for ScopeDrift {
    fn id(&self) -> &str {
        "scope-drift"
    }

    async fn execute(
        &self,
        result: &ToolResult,
        request_id: Option<&str>,
    ) -> Result<(), HookError> {
        let Some(intent) = self.context.intent_of(&result.request) else {
            return Ok(());
        };
        let tools = self.context.tools();
        let paths = tools.touched(result);
        let safe = tools.classify(&result.request.tool) == ToolClass::Safe;
        if !result.success || safe || paths.is_empty() {
            return Ok(());
        }
        let owner = intent.to_owned();
        let judged = self.context.blocking(move |context| {
            let judge = |path: String| {
                let why = match context.judge(&owner, &path) {
                    Verdict::Allowed => return None,
                    Verdict::Ignored(why) | Verdict::Violation(why) | Verdict::Folder(why) => why,
                    Verdict::Contention(other) => format!("intent `{other}` owns it as well"),
                };
                Some((path, why))
            };
            paths.into_iter().filter_map(judge).collect::<Vec<_>>()
        });
        let head = Head::new(intent, result, request_id);
        let mut lines = Vec::new();
        for (path, why) in judged.await? {
            lines.push(head.with(json!({"file": path, "details": why})));
            let lesson = Lesson::new("scope-drift", Some(intent), path, why);
            self.context.session().learn(lesson);
        }
        self.context.write(Self::FILE, lines).await
    }
}
