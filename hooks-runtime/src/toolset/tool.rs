//! The trait of tool executors.

use std::future::Future;
use std::sync::Arc;

use super::call::ToolCallContext;
use super::error::ToolFailure;

/// Runs the tool that takes `I` and returns `O`. Implement it once for each tool of a set, with
/// `execute` as an `async fn`. Also implemented for references and `Arc`s of an executor.
///
/// It is called only for input that every hook has allowed. Dropping the future cancels the call.
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
    message = "`{Self}` does not execute the tool with input `{I}` and output `{O}`; implement `ExecuteTool<{I}, {O}>`",
    label = "does not implement `ExecuteTool<{I}, {O}>`"
)]
pub trait ExecuteTool<I, O>: Send + Sync {
    /// Runs the tool.
    ///
    /// # Errors
    /// If the tool fails; the call ends with
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
