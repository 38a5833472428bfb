//! `read-file-baseline`: content that the agent has read.

use crate::engine::context::EngineContext;
use crate::engine::tools::ToolRole;
use crate::{HookError, PostHook, ToolResult};

/// Notes the hash of each file that was read, for [`Concurrency`](crate::engine::Concurrency) to
/// compare with later writes.
///
/// | | |
/// |---|---|
/// | Input | results of tools that read files, if they succeeded; also without an intent, because agents read before they choose one |
/// | Effect | the file's hash is known; content in the result has to be the whole file |
/// | Storage | reads files whose content the result does not contain; the hashes are in the [`Session`](crate::engine::Session) |
#[derive(Debug, Clone)]
pub struct ReadFileBaseline {
    context: EngineContext,
}

impl ReadFileBaseline {
    /// Creates a hook that records in the session of this context.
    pub fn new(context: &EngineContext) -> Self {
        ReadFileBaseline {
            context: context.clone(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for ReadFileBaseline {
    fn id(&self) -> &str {
        "read-file-baseline"
    }

    async fn execute(&self, result: &ToolResult, _: Option<&str>) -> Result<(), HookError> {
        let role = self.context.tools().role(&result.request.tool);
        if !result.success || role != ToolRole::Read {
            return Ok(());
        }
        for file in self.context.contents(result).await?.iter() {
            if let (Some(path), Some(hash)) = (&file.located, file.hash()) {
                self.context.session().set_baseline(path, Some(hash));
            }
        }
        Ok(())
    }
}
