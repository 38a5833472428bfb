//! A set of tools: its names, its hooks, and the processing of a call.

use std::fmt;
use std::future::Future;

use hooks_core::RegistrationError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::{ToolCall, ToolCallContext};
use super::decision::ToolDecision;
use super::error::ToolError;
use super::tool::ExecuteTool;

/// An enum whose variants each contain the input of one tool. Derive it:
/// [`#[derive(ToolSet)]`](derive@super::ToolSet).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool set; add `#[derive(ToolSet)]` to the enum of the tools",
    label = "does not implement `ToolSet`"
)]
pub trait ToolSet: Sized + Send + 'static {
    /// The hook set of the tools, `{Tools}HooksSet<'h>`.
    type Hooks<'h>: Default + Clone + fmt::Debug + Send + Sync + 'h;

    /// The tools in the order of their variants.
    #[doc(hidden)]
    const __HOOKS_TOOLS: &'static [Listed<Self>];

    /// Returns the name of the tool that takes this input.
    fn name(&self) -> &'static str;

    #[doc(hidden)]
    fn __hooks_extend<'h>(
        hooks: &mut Self::Hooks<'h>,
        other: Self::Hooks<'h>,
    ) -> Result<(), RegistrationError>;

    /// Returns the tools, in the order of the variants, as a model receives them.
    fn tools() -> impl ExactSizeIterator<Item = &'static ToolDescriptor> {
        Self::__HOOKS_TOOLS.iter().map(|tool| &tool.descriptor)
    }

    /// Parses a call.
    ///
    /// # Errors
    /// [`ToolError::Unknown`] if no tool has this name, and [`ToolError::Input`] if the input does
    /// not have the tool's type.
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

/// A set whose tools `X` runs: implemented for every `X` that is an [`ExecuteTool`] for each
/// variant.
pub trait RunTools<X: ?Sized>: ToolSet {
    /// Runs the hooks of a call, and the tool if they allow it. Returns the tool's output as JSON,
    /// or the output of a hook that completed the call.
    ///
    /// # Errors
    /// [`ToolError::Rejected`], [`ToolError::Failed`] and [`ToolError::Output`].
    ///
    /// # Panics
    /// If a hook or the executor panics. After a panic in a hook the tool does not run.
    fn run<'a>(
        self,
        context: ToolCallContext,
        hooks: &'a Self::Hooks<'_>,
        executor: &'a X,
    ) -> impl Future<Output = Result<Value, ToolError>> + Send;

    /// Parses a call, and [runs](Self::run) it when the future is polled. If the call cannot be
    /// parsed, no hook and no tool runs.
    ///
    /// # Errors
    /// Every [`ToolError`].
    ///
    /// # Panics
    /// If a hook or the executor panics.
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

/// Awaits the run of a call that was parsed. Generic over its type, because the compiler cannot
/// prove `Send` for a coroutine that contains the hooks of any set.
async fn started<F>(run: Result<F, ToolError>) -> Result<Value, ToolError>
where
    F: Future<Output = Result<Value, ToolError>> + Send,
{
    run?.await
}

/// Description of a tool, from its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolDescriptor {
    /// Name in calls.
    pub name: &'static str,
    /// Documentation of the variant; empty if it has none.
    pub description: &'static str,
}

/// An entry of a set's table of tools.
pub struct Listed<T> {
    descriptor: ToolDescriptor,
    read: fn(&'static str, Value) -> Result<T, ToolError>,
}

impl<T> Listed<T> {
    /// Creates an entry, with the conversion of the tool's input into the set.
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

/// Requirements on the input of a tool. Implemented for every matching type; without this trait the
/// compiler would list other types that `serde` reads, which depend on the other crates of the
/// build.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a tool, which is read from JSON; derive `serde::Deserialize`",
    label = "does not implement `serde::Deserialize`"
)]
pub trait ToolInput: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<I: DeserializeOwned> ToolInput for I {}

/// Requirements on the output of a tool. Implemented for every matching type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool, which is written as JSON; derive `serde::Serialize`",
    label = "does not implement `serde::Serialize`"
)]
pub trait ToolOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<O: Serialize> ToolOutput for O {}

/// Parses the input of a tool, and converts it into the set's enum.
///
/// # Errors
/// [`ToolError::Input`], with the path of the invalid value.
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

/// Serialises the output of a tool.
///
/// # Errors
/// If its `Serialize` fails, or produces a value that JSON does not have.
pub fn write<O: ToolOutput>(output: O) -> serde_json::Result<Value> {
    serde_json::to_value(output)
}

/// Applies the decision of the hooks.
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
