//! What runs a tool.

use std::future::Future;
use std::sync::Arc;

use super::call::ToolCallContext;
use super::error::ToolFailure;

/// Runs the tool that takes `I` and answers `O`. Implement it once for each tool of a
/// set, with `execute` as an `async fn`. A borrow or an `Arc` of an executor is one, too.
///
/// It is called only with what every hook has let pass. When the future is dropped, the call is
/// cancelled: nothing of it runs any more.
///
/// ```
/// use hooks_runtime::toolset::{ExecuteTool, ToolCallContext, ToolFailure};
///
/// #[derive(serde::Deserialize)]
/// struct ReadFile {
///     path: String,
/// }
///
/// struct Disk;
///
/// impl ExecuteTool<ReadFile, String> for Disk {
///     async fn execute(&self, input: ReadFile, _: ToolCallContext) -> Result<String, ToolFailure> {
///         Ok(std::fs::read_to_string(input.path)?)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run the tool that takes `{I}` and answers `{O}`; implement `ExecuteTool<{I}, {O}>` for it",
    label = "does not implement `ExecuteTool<{I}, {O}>`"
)]
pub trait ExecuteTool<I, O>: Send + Sync {
    /// Runs the tool.
    ///
    /// # Errors
    /// Whatever goes wrong in the tool; the call ends with
    /// [`ToolError::Failed`](super::ToolError::Failed).
    fn execute(
        &self,
        input: I,
        context: ToolCallContext,
    ) -> impl Future<Output = Result<O, ToolFailure>> + Send;
}

#[diagnostic::do_not_recommend]
impl<I, O, X: ExecuteTool<I, O> + ?Sized> ExecuteTool<I, O> for &X {
    fn execute(
        &self,
        input: I,
        context: ToolCallContext,
    ) -> impl Future<Output = Result<O, ToolFailure>> + Send {
        (**self).execute(input, context)
    }
}

#[diagnostic::do_not_recommend]
impl<I, O, X: ExecuteTool<I, O> + ?Sized> ExecuteTool<I, O> for Arc<X> {
    fn execute(
        &self,
        input: I,
        context: ToolCallContext,
    ) -> impl Future<Output = Result<O, ToolFailure>> + Send {
        (**self).execute(input, context)
    }
}
