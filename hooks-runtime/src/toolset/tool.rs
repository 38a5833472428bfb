//! A tool: its input, and what runs it.

use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::ToolCallContext;
use super::error::ToolFailure;

/// The input of a tool, read from JSON (`T-75`).
///
/// ```
/// use hooks_runtime::toolset::Tool;
///
/// #[derive(serde::Deserialize)]
/// struct Weather {
///     city: String,
/// }
///
/// impl Tool for Weather {
///     type Output = String;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the input of a tool; implement `Tool` for it, and `serde::Deserialize`",
    label = "does not implement `Tool`"
)]
pub trait Tool: DeserializeOwned + Send + 'static {
    /// What the tool answers, written as JSON.
    type Output: Serialize + Send + 'static;
}

/// Runs the tool with the input `I`. Implement it once for each tool of a set, with `execute`
/// as an `async fn`. A borrow or an `Arc` of an executor is one, too.
///
/// It is called only with what every hook has let pass. When the future is dropped, the call is
/// cancelled: nothing of it runs any more.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run the tool that takes `{I}`; implement `ExecuteTool<{I}>` for it",
    label = "does not implement `ExecuteTool<{I}>`"
)]
pub trait ExecuteTool<I: Tool>: Send + Sync {
    /// Runs the tool.
    ///
    /// # Errors
    /// Whatever goes wrong in the tool; the call ends with
    /// [`ToolError::Failed`](super::ToolError::Failed).
    fn execute(
        &self,
        input: I,
        context: ToolCallContext,
    ) -> impl Future<Output = Result<I::Output, ToolFailure>> + Send;
}

#[diagnostic::do_not_recommend]
impl<I: Tool, X: ExecuteTool<I> + ?Sized> ExecuteTool<I> for &X {
    fn execute(
        &self,
        input: I,
        context: ToolCallContext,
    ) -> impl Future<Output = Result<I::Output, ToolFailure>> + Send {
        (**self).execute(input, context)
    }
}

#[diagnostic::do_not_recommend]
impl<I: Tool, X: ExecuteTool<I> + ?Sized> ExecuteTool<I> for Arc<X> {
    fn execute(
        &self,
        input: I,
        context: ToolCallContext,
    ) -> impl Future<Output = Result<I::Output, ToolFailure>> + Send {
        (**self).execute(input, context)
    }
}
