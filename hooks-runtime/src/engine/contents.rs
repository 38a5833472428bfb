//! What is in the files that a call has touched.

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
    /// As the call spells it.
    pub(crate) path: String,
    /// From the workspace on, if it lies there.
    pub(crate) located: Option<String>,
    /// The hash and the size of what it holds; `None` if there is none, or nobody can tell.
    pub(crate) content: Option<(String, u64)>,
}

impl Touched {
    /// The name by which it is written down.
    pub(crate) fn name(&self) -> &str {
        self.located.as_deref().unwrap_or(&self.path)
    }

    /// The hash of what it holds.
    pub(crate) fn hash(&self) -> Option<String> {
        self.content.as_ref().map(|(hash, _)| hash.clone())
    }
}

tokio::task_local! {
    /// What was found for the result that hooks are being told of.
    static SEEN: Seen;
}

#[derive(Clone)]
struct Seen {
    /// Where the context and the result are. Both stay there while hooks are being told.
    of: (usize, usize),
    files: Arc<OnceCell<Arc<[Touched]>>>,
}

impl EngineContext {
    /// Tells hooks of a result: they all see the same in its files, and each file is read once.
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

    /// The files that a call has touched, with what is in each: what the tool gave, else what
    /// the workspace has. What was found for a hook before is found again.
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
            // What cannot be read has no hash; whether it may be written is asked before.
            workspace.hash(path).ok().flatten()
        });
        Touched {
            path,
            located,
            content,
        }
    }
}
