//! `concurrency`: no writes over unseen changes.

use crate::engine::context::EngineContext;
use crate::engine::error::ConcurrencyError;
use crate::engine::session::Lesson;
use crate::{HookError, HookResponse, PreHook, ToolRequest};

/// Fails for calls that would write to a file whose content is not what the agent last read or
/// wrote.
///
/// | | |
/// |---|---|
/// | Input | the files of the call, and for each its hash at the last read or write in this session, and its current hash |
/// | Effect | `Err` with a [`ConcurrencyError`] |
/// | Storage | reads the files; the known hashes are in the session, recorded by [`ReadFileBaseline`](crate::engine::ReadFileBaseline) and [`TurnUpdate`](crate::engine::TurnUpdate) |
///
/// A file that was never read may be written to, unless [reading is required](Self::require_read).
/// A file that is [too large to hash](crate::engine::Workspace) counts as never read. Without a
/// workspace every call passes. A path outside the workspace is left to
/// [`ScopeEnforcement`](crate::engine::ScopeEnforcement).
#[derive(Debug, Clone)]
pub struct Concurrency {
    context: EngineContext,
    require_read: bool,
}

impl Concurrency {
    /// Creates a hook that compares the files of this context.
    pub fn new(context: &EngineContext) -> Self {
        Concurrency {
            context: context.clone(),
            require_read: false,
        }
    }

    /// Also fails for files that exist and have never been read. Off by default.
    #[must_use]
    pub fn require_read(mut self, required: bool) -> Self {
        self.require_read = required;
        self
    }
}

/// Compares one file, by its path relative to the workspace.
fn compare(context: &EngineContext, path: &str, required: bool) -> Result<(), ConcurrencyError> {
    let expected = context.session().baseline(path);
    let (Some(workspace), true) = (context.workspace(), required || expected.is_some()) else {
        return Ok(());
    };
    let path = path.to_owned();
    let found = match workspace.hash(&path) {
        Ok(found) => found.map(|(hash, _)| hash),
        Err(source) => return Err(ConcurrencyError::Unreadable { path, source }),
    };
    match expected {
        Some(expected) if found.as_ref() != Some(&expected) => Err(ConcurrencyError::Stale {
            path,
            expected,
            found,
        }),
        None if found.is_some() => Err(ConcurrencyError::NotRead { path }),
        _ => Ok(()),
    }
}

#[diagnostic::do_not_recommend]
impl PreHook<ToolRequest> for Concurrency {
    fn id(&self) -> &str {
        "concurrency"
    }

    fn priority(&self) -> Option<i32> {
        Some(20)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let tools = self.context.tools();
        if !tools.is_file_destructive(&request.tool) || self.context.workspace().is_none() {
            return Ok(HookResponse::default());
        }
        let (paths, required) = (tools.mentioned(request), self.require_read);
        let compared = self.context.blocking(move |context| {
            let mut located = paths.iter().filter_map(|path| context.locate(path).ok());
            located.try_for_each(|path| compare(context, &path, required))
        });
        if let Err(error) = compared.await? {
            let intent = request.intent_id.as_deref();
            let lesson = Lesson::new("stale-write", intent, &request.tool, error.to_string());
            self.context.session().learn(lesson);
            return Err(error.into());
        }
        Ok(HookResponse::default())
    }
}
