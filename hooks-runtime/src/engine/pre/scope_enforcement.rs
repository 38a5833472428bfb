//! `scope-enforcement`: an intent changes only files that it owns.

use crate::engine::context::EngineContext;
use crate::engine::scope::Verdict;
use crate::engine::session::Lesson;
use crate::engine::tools::{ToolClass, UnreadablePath};
use crate::{HookError, HookResponse, PreHook, ResponseAction, ToolRequest};

/// Denies changes to files that the intent does not own.
///
/// | | |
/// |---|---|
/// | Input | the files and the intent of a call that changes files, the [intents](crate::engine::IntentCatalogue), the ignore file `.intentignore` of the workspace |
/// | Effect | `DENY` with the classification, a reason, details and a hint; the session gets a lesson |
/// | Storage | reads the ignore file |
///
/// The first row that matches decides, file by file:
///
/// | Finding | Reason |
/// |---|---|
/// | an unknown tool, because the parameters that name its files are unknown | `Scope Violation` |
/// | a path that is absolute, contains `..`, or follows a link out of the workspace; a call that names no file, or no intent; a patch without headers that name files | `Scope Violation` |
/// | the ignore file names the file, or cannot be read | `Protected by .intentignore` |
/// | the file is the engine's own: its storage, its intents, the ignore file | `Scope Violation` |
/// | the intent does not exist, its status does not allow work, or none of its globs matches | `Scope Violation` |
/// | another intent owns the file as well | `File Ownership Contention` |
/// | the path is a folder, whose content would be changed too | `Scope Violation` |
///
/// A link is checked by its own name and by its target; the intent has to own both.
#[derive(Debug, Clone)]
pub struct ScopeEnforcement {
    context: EngineContext,
}

impl ScopeEnforcement {
    /// Creates a hook for the intents and the workspace of this context.
    pub fn new(context: &EngineContext) -> Self {
        ScopeEnforcement {
            context: context.clone(),
        }
    }

    /// Returns the denial of the call, if there is a violation.
    async fn wrong(&self, request: &ToolRequest) -> Result<Option<Denial>, HookError> {
        let violation = |why: String, hint| {
            let tool = request.tool.clone();
            Ok(Some(Denial::violation(tool, why, hint)))
        };
        let paths = match self.context.tools().paths(request) {
            Ok(paths) if paths.is_empty() => {
                let why = format!("`{}` names no file that it changes", request.tool);
                return violation(why, NAME_FILES);
            }
            Ok(paths) => paths,
            Err(unknown @ UnreadablePath::Unknown(_)) => {
                return violation(unknown.to_string(), DESCRIBE);
            }
            Err(unreadable) => return violation(unreadable.to_string(), NAME_FILES),
        };
        let Some(intent) = request.intent_id.clone() else {
            return violation(format!("`{}` names no intent", request.tool), OWN_FILES);
        };
        let judged = self.context.blocking(move |context| {
            paths.into_iter().find_map(|path| {
                let verdict = context.judge_change(&intent, &path);
                Denial::of(path, verdict)
            })
        });
        judged.await
    }
}

const OWN_FILES: &str = "change a file in the scope of the intent, named from the workspace on, or select the intent that owns it";
const NAME_FILES: &str = "name the files that the call changes, from the workspace on";
const DESCRIBE: &str =
    "use a tool that is known; the host describes others with `file_tool` or `safe_tool`";

/// Reason of a denial.
struct Denial {
    subject: String,
    kind: &'static str,
    reason: &'static str,
    details: String,
    hint: &'static str,
}

impl Denial {
    fn violation(subject: String, details: String, hint: &'static str) -> Self {
        Denial {
            subject,
            kind: "scope-violation",
            reason: "Scope Violation",
            details,
            hint,
        }
    }

    fn of(path: String, verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Allowed => None,
            Verdict::Violation(why) => Some(Denial::violation(path, why, OWN_FILES)),
            Verdict::Folder(why) => {
                let hint = "name each file in it that the call is to change";
                Some(Denial::violation(path, why, hint))
            }
            Verdict::Ignored(details) => Some(Denial {
                subject: path,
                kind: "protected-file",
                reason: "Protected by .intentignore",
                details,
                hint: "no intent may change this file; change another one",
            }),
            Verdict::Contention(other) => Some(Denial {
                details: format!("`{path}` is also owned by intent `{other}`"),
                subject: path,
                kind: "ownership-contention",
                reason: "File Ownership Contention",
                hint: "wait until the other intent is done, or select it",
            }),
        }
    }
}

#[diagnostic::do_not_recommend]
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
        let Some(denial) = self.wrong(request).await? else {
            return Ok(HookResponse::default());
        };
        let intent = request.intent_id.as_deref();
        let lesson = Lesson::new(denial.kind, intent, denial.subject, &denial.details);
        self.context.session().learn(lesson);
        Ok(HookResponse::new(ResponseAction::Deny)
            .classification(ToolClass::Destructive.name())
            .reason(denial.reason)
            .error_type(denial.kind.replace('-', "_"))
            .details(denial.details)
            .recovery_hint(denial.hint))
    }
}
