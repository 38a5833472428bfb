//! Content of the files that a call has touched.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::call::ToolResult;
use super::context::EngineContext;
use super::workspace::content_hash;
use crate::HookError;

/// A file that a call has touched.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    /// Path in the spelling of the call.
    pub(crate) path: String,
    /// Path relative to the workspace, if the file is inside.
    pub(crate) located: Option<String>,
    /// Hash and size of the content; `None` if there is no file, or it cannot be read.
    pub(crate) content: Option<(String, u64)>,
}

impl Touched {
    /// Returns the name used in records.
    pub(crate) fn name(&self) -> &str {
        self.located.as_deref().unwrap_or(&self.path)
    }

    /// Returns the hash of the content.
    pub(crate) fn hash(&self) -> Option<String> {
        self.content.as_ref().map(|(hash, _)| hash.clone())
    }
}

tokio::task_local! {
    /// Cache for the result that the POST hooks are handling.
    static SEEN: Seen;
}

#[derive(Clone)]
struct Seen {
    /// Addresses of the context and the result. Both are borrowed while the hooks run.
    of: (usize, usize),
    files: Arc<OnceCell<Arc<[Touched]>>>,
}

impl EngineContext {
    /// Runs hooks on a result with a shared cache: they all see equal content, and each file is
    /// read once.
    pub(crate) async fn seen_once<T>(
        &self,
        result: &ToolResult,
        told: impl Future<Output = T>,
    ) -> T {
        let seen = Seen {
            of: self.place(result),
            files: Arc::default(),
        };
        SEEN.scope(seen, told).await
    }

    fn place(&self, result: &ToolResult) -> (usize, usize) {
        (self.address(), std::ptr::from_ref(result).addr())
    }

    /// Returns the files that a call has touched, with their content: from the result, else from
    /// the workspace. Cached for the hooks of one run.
    pub(crate) async fn contents(&self, result: &ToolResult) -> Result<Arc<[Touched]>, HookError> {
        let seen = SEEN.try_with(Seen::clone).ok();
        match seen.filter(|seen| seen.of == self.place(result)) {
            Some(seen) => {
                let files = seen.files.get_or_try_init(|| self.look(result)).await?;
                Ok(Arc::clone(files))
            }
            None => self.look(result).await,
        }
    }

    async fn look(&self, result: &ToolResult) -> Result<Arc<[Touched]>, HookError> {
        let paths = self.tools().touched(result).into_iter();
        let given: Vec<_> = paths
            .map(|path| {
                let content = result.files.get(&path).cloned().flatten();
                (path, content)
            })
            .collect();
        if given.is_empty() {
            return Ok(Arc::default());
        }
        self.blocking(move |context| {
            let given = given.into_iter();
            given
                .map(|(path, content)| context.look_at(path, content))
                .collect()
        })
        .await
    }

    fn look_at(&self, path: String, given: Option<String>) -> Touched {
        let located = self.locate(&path).ok();
        let given = given.map(|text| (content_hash(&text), text.len() as u64));
        let content = given.or_else(|| {
            let (workspace, path) = (self.workspace()?, located.as_deref()?);
            // An unreadable file has no hash; PRE checks whether it may be written.
            workspace.hash(path).ok().flatten()
        });
        Touched {
            path,
            located,
            content,
        }
    }
}
