//! A set of tools: its names, its hooks, and the way of a call through them.

use std::fmt;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::{ToolCall, ToolCallContext};
use super::decision::ToolDecision;
use super::error::ToolError;
use super::tool::ExecuteTool;

/// An enum each of whose variants holds the input of one tool. Derive it:
/// [`#[derive(ToolSet)]`](derive@super::ToolSet).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of tools; put `#[derive(ToolSet)]` on the enum of its tools",
    label = "does not implement `ToolSet`"
)]
pub trait ToolSet: Sized + Send + 'static {
    /// The hook set of the tools, `{Tools}HooksSet<'h>`.
    type Hooks<'h>: Default + Clone + fmt::Debug + Send + Sync + 'h;

    /// The tools in the order of their variants.
    #[doc(hidden)]
    const __HOOKS_TOOLS: &'static [Listed<Self>];

    /// The name of the tool whose input this is.
    fn name(&self) -> &'static str;

    #[doc(hidden)]
    fn __hooks_extend<'h>(hooks: &mut Self::Hooks<'h>, other: Self::Hooks<'h>);

    /// The tools, in the order of the variants, as a model is told of them.
    fn tools() -> impl ExactSizeIterator<Item = &'static ToolDescriptor> {
        Self::__HOOKS_TOOLS.iter().map(|tool| &tool.descriptor)
    }

    /// Reads a call.
    ///
    /// # Errors
    /// [`ToolError::Unknown`] where there is no tool of this name, and [`ToolError::Input`] where
    /// the input is not what the tool takes.
    fn parse(name: &str, input: Value) -> Result<Self, ToolError> {
        let tools = Self::__HOOKS_TOOLS;
        match tools.iter().find(|tool| tool.descriptor.name == name) {
            Some(tool) => (tool.read)(tool.descriptor.name, input),
            None => Err(ToolError::Unknown {
                name: name.to_owned(),
                known: tools.iter().map(|tool| tool.descriptor.name).collect(),
            }),
        }
    }
}

/// A set each of whose tools `X` runs: every `X` that is an [`ExecuteTool`] for each
/// variant.
pub trait RunTools<X: ?Sized>: ToolSet {
    /// Has the hooks of a call decide, and runs the tool if they let it pass. The answer is the
    /// tool's output as JSON, or the one of a hook that completed the call.
    ///
    /// # Errors
    /// [`ToolError::Rejected`], [`ToolError::Failed`] and [`ToolError::Output`].
    ///
    /// # Panics
    /// Where a hook or the executor panics. After a panic in a hook the tool does not run.
    fn run<'a>(
        self,
        context: ToolCallContext,
        hooks: &'a Self::Hooks<'_>,
        executor: &'a X,
    ) -> impl Future<Output = Result<Value, ToolError>> + Send;

    /// Reads a call, and [runs](Self::run) it when the future is polled. What cannot be read meets
    /// neither hook nor tool.
    ///
    /// # Errors
    /// Every [`ToolError`].
    ///
    /// # Panics
    /// Where a hook or the executor panics.
    fn execute<'a>(
        call: ToolCall,
        hooks: &'a Self::Hooks<'_>,
        executor: &'a X,
    ) -> impl Future<Output = Result<Value, ToolError>> + Send
    where
        X: Sync,
    {
        let tool = Self::parse(&call.name, call.input);
        started(tool.map(|tool| {
            let context = ToolCallContext::new(call.id, tool.name(), call.extensions);
            tool.run(context, hooks, executor)
        }))
    }
}

/// The run of a call that has been read. Its type is a parameter here, because the compiler
/// does not see in a coroutine that holds the hooks of any set that these are `Send`.
async fn started<F>(run: Result<F, ToolError>) -> Result<Value, ToolError>
where
    F: Future<Output = Result<Value, ToolError>> + Send,
{
    run?.await
}

/// What is known of a tool from its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolDescriptor {
    /// The name that calls of it give.
    pub name: &'static str,
    /// The documentation of the variant; empty where there is none.
    pub description: &'static str,
}

/// One tool of a set, as it is found by its name.
pub struct Listed<T> {
    descriptor: ToolDescriptor,
    read: fn(&'static str, Value) -> Result<T, ToolError>,
}

impl<T> Listed<T> {
    /// A tool, and how its input becomes one of the set's.
    pub const fn new(
        name: &'static str,
        description: &'static str,
        read: fn(&'static str, Value) -> Result<T, ToolError>,
    ) -> Self {
        Listed {
            descriptor: ToolDescriptor { name, description },
            read,
        }
    }
}

impl<T> fmt::Debug for Listed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.descriptor.fmt(f)
    }
}

/// What the input of a tool must be. Implemented for everything that fits; the
/// compiler would list what other types `serde` reads, in words that change with what else is
/// compiled.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a tool, which is read from JSON; derive `serde::Deserialize` for it",
    label = "does not implement `serde::Deserialize`"
)]
pub trait ToolInput: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<I: DeserializeOwned> ToolInput for I {}

/// What the output of a tool must be. Implemented for everything that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool, which is written as JSON; derive `serde::Serialize` for it",
    label = "does not implement `serde::Serialize`"
)]
pub trait ToolOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<O: Serialize> ToolOutput for O {}

/// Reads the input of a tool, and makes a tool of the set of it.
///
/// # Errors
/// [`ToolError::Input`], with the place of what does not fit.
pub fn read<I: ToolInput, T>(
    tool: &'static str,
    input: Value,
    variant: fn(I) -> T,
) -> Result<T, ToolError> {
    match serde_path_to_error::deserialize(input) {
        Ok(input) => Ok(variant(input)),
        Err(error) => {
            let path = error.path();
            let path = match path.iter().next() {
                Some(_) => path.to_string(),
                None => String::new(),
            };
            Err(ToolError::Input {
                tool,
                path,
                source: error.into_inner(),
            })
        }
    }
}

/// Writes the output of a tool.
///
/// # Errors
/// Where its `Serialize` fails, or makes what JSON does not have.
pub fn write<O: ToolOutput>(output: O) -> serde_json::Result<Value> {
    serde_json::to_value(output)
}

/// Does what the hooks have decided.
///
/// # Errors
/// [`ToolError::Rejected`], [`ToolError::Failed`] and [`ToolError::Output`].
pub async fn finish<I, O, X>(
    decision: impl Future<Output = ToolDecision<I, O>> + Send,
    context: ToolCallContext,
    executor: &X,
    write: fn(O) -> serde_json::Result<Value>,
) -> Result<Value, ToolError>
where
    I: Send,
    O: Send,
    X: ExecuteTool<I, O> + ?Sized,
{
    let tool = context.tool();
    let output = match decision.await {
        ToolDecision::Run(input) => executor
            .execute(input, context)
            .await
            .map_err(|source| ToolError::Failed { tool, source })?,
        ToolDecision::Complete(output) => output,
        ToolDecision::Reject(reason) => return Err(ToolError::Rejected { tool, reason }),
    };
    write(output).map_err(|source| ToolError::Output { tool, source })
}
