//! `scope-enforcement`: an intent changes the files that it owns.

use crate::engine::context::EngineContext;
use crate::engine::scope::Verdict;
use crate::engine::session::Lesson;
use crate::engine::tools::ToolClass;
use crate::{HookError, HookResponse, PreHook, ResponseAction, ToolRequest};

/// Denies changes to files that are not the intent's (`R-28`).
///
/// | | |
/// |---|---|
/// | Input | the files and the intent of a call that changes files, the [intents](crate::engine::IntentCatalogue), the ignore file `.intentignore` of the workspace |
/// | Effect | `DENY` with the classification, a reason, details and a hint; the session learns of it |
/// | Storage | reads the ignore file |
///
/// The first of these decides, file by file:
///
/// | What is found | Reason |
/// |---|---|
/// | a path that is absolute, goes up, or follows a link out of the workspace; a call that names no file, or no intent | `Scope Violation` |
/// | the ignore file names the file, or cannot be read | `Protected by .intentignore` |
/// | the file is the engine's own: its storage, its intents, the ignore file | `Scope Violation` |
/// | there is no such intent, or it may not be worked on, or no glob of it matches | `Scope Violation` |
/// | another intent owns the file as well | `File Ownership Contention` |
#[derive(Debug, Clone)]
pub struct ScopeEnforcement {
    context: EngineContext,
}

impl ScopeEnforcement {
    /// Looks at the intents and the workspace of this context.
    pub fn new(context: &EngineContext) -> Self {
        ScopeEnforcement {
            context: context.clone(),
        }
    }

    /// What is wrong with the call, and with which file of it.
    async fn wrong(&self, request: &ToolRequest) -> Result<Option<(String, Verdict)>, HookError> {
        let violation = |why: String| {
            let subject = request.tool.clone();
            Ok(Some((subject, Verdict::Violation(why))))
        };
        let paths = match self.context.tools().paths(request) {
            Ok(paths) if paths.is_empty() => {
                return violation(format!("`{}` names no file that it changes", request.tool));
            }
            Ok(paths) => paths,
            Err(unreadable) => return violation(unreadable.to_string()),
        };
        let Some(intent) = request.intent_id.clone() else {
            return violation(format!("`{}` names no intent", request.tool));
        };
        let judged = self.context.blocking(move |context| {
            paths.into_iter().find_map(|path| {
                let verdict = context.judge(&intent, &path);
                (verdict != Verdict::Allowed).then_some((path, verdict))
            })
        });
        judged.await
    }
}

impl PreHook<ToolRequest> for ScopeEnforcement {
    fn id(&self) -> &str {
        "scope-enforcement"
    }

    fn priority(&self) -> Option<i32> {
        Some(30)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        if !self.context.tools().is_file_destructive(&request.tool) {
            return Ok(HookResponse::default());
        }
        let Some((subject, verdict)) = self.wrong(request).await? else {
            return Ok(HookResponse::default());
        };
        let (kind, reason, details, hint) = match verdict {
            Verdict::Allowed => return Ok(HookResponse::default()),
            Verdict::Ignored(why) => (
                "protected-file",
                "Protected by .intentignore",
                why,
                "no intent may change this file; change another one",
            ),
            Verdict::Violation(why) => (
                "scope-violation",
                "Scope Violation",
                why,
                "change a file in the scope of the intent, named from the workspace on, or select the intent that owns it",
            ),
            Verdict::Contention(other) => (
                "ownership-contention",
                "File Ownership Contention",
                format!("`{subject}` is also owned by intent `{other}`"),
                "wait until the other intent is done, or select it",
            ),
        };
        let intent = request.intent_id.as_deref();
        let session = self.context.session();
        session.learn(Lesson::new(kind, intent, subject, &details));
        Ok(HookResponse::new(ResponseAction::Deny)
            .classification(ToolClass::Destructive.name())
            .reason(reason)
            .error_type(kind.replace('-', "_"))
            .details(details)
            .recovery_hint(hint))
    }
}
