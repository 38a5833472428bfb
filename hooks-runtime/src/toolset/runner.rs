//! The owner of an executor and of the hooks of its tools.

use std::fmt;

use futures_util::future::Either;
use hooks_core::__private::registered;
use hooks_core::{BoxFuture, Innermost, Next, RegistrationError, RequestExtensions};
use serde_json::Value;

use super::call::{ToolCall, ToolCallContext, ToolCallOutput, carries_extensions};
use super::error::ToolError;
use super::set::{RunTools, ToolSet};
use crate::around_registry::{AroundHooks, AroundRegistry};
use crate::transform::TransformRegistry;

/// Parts of a [`ToolRunner`] without its hooks.
#[derive(Debug, Clone, Default)]
pub struct ToolParts<X> {
    executor: X,
    extensions: RequestExtensions,
}

impl<X> ToolParts<X> {
    /// Creates parts with an executor, without default extensions.
    pub fn new(executor: X) -> Self {
        ToolParts {
            executor,
            extensions: RequestExtensions::new(),
        }
    }

    carries_extensions! {
        /// Adds a default extension for calls that have none of its type.
        ext,
        /// Adds all values of a map as defaults.
        extensions,
    }
}

/// Runs the calls of a tool set: an executor, and the hooks before it.
///
/// The set is named, as in `ToolRunner::<Tools, _>::new(executor)`.
pub struct ToolRunner<'h, T: ToolSet, X> {
    parts: ToolParts<X>,
    hooks: T::Hooks<'h>,
    results: TransformRegistry<ToolCallOutput>,
    around: AroundRegistry<ToolCall>,
}

impl<'h, T: ToolSet, X> ToolRunner<'h, T, X> {
    /// Creates a runner without hooks.
    pub fn new(executor: X) -> Self {
        Self::with_hooks(executor, T::Hooks::default())
    }

    /// Creates a runner with these hooks.
    pub fn with_hooks(executor: X, hooks: T::Hooks<'h>) -> Self {
        Self::from_parts_with_hooks(ToolParts::new(executor), hooks)
    }

    /// Creates a runner from these parts, without hooks.
    pub fn from_parts(parts: ToolParts<X>) -> Self {
        Self::from_parts_with_hooks(parts, T::Hooks::default())
    }

    /// Creates a runner from these parts, with these hooks.
    pub fn from_parts_with_hooks(parts: ToolParts<X>, hooks: T::Hooks<'h>) -> Self {
        let results = TransformRegistry::new();
        results.set_tool_name(|result: &ToolCallOutput| Some(result.tool()));
        ToolRunner {
            parts,
            hooks,
            results,
            around: AroundRegistry::new(),
        }
    }

    /// Adds the hooks of another set after those of equal priority.
    ///
    /// # Panics
    /// If [`try_extend_hooks`](Self::try_extend_hooks) returns an error.
    #[track_caller]
    pub fn extend_hooks(&mut self, hooks: T::Hooks<'h>) -> &mut Self {
        registered(self.try_extend_hooks(hooks))
    }

    /// Like [`extend_hooks`](Self::extend_hooks), and returns an error if a hook is refused. The
    /// runner is then unchanged.
    ///
    /// # Errors
    /// If the order of the hooks would be a cycle.
    pub fn try_extend_hooks(
        &mut self,
        hooks: T::Hooks<'h>,
    ) -> Result<&mut Self, RegistrationError> {
        T::__hooks_extend(&mut self.hooks, hooks)?;
        Ok(self)
    }

    /// Like [`extend_hooks`](Self::extend_hooks), for builder chains.
    ///
    /// # Panics
    /// As [`extend_hooks`](Self::extend_hooks).
    #[track_caller]
    #[must_use]
    pub fn with_extended_hooks(mut self, hooks: T::Hooks<'h>) -> Self {
        self.extend_hooks(hooks);
        self
    }

    /// Returns the hooks.
    pub fn hooks(&self) -> &T::Hooks<'h> {
        &self.hooks
    }

    /// Returns the hooks, for changes of the set.
    pub fn hooks_mut(&mut self) -> &mut T::Hooks<'h> {
        &mut self.hooks
    }

    /// Returns a copy of the runner with changes, for one call or for some: of the hooks of the
    /// tools, of their results, and of the around hooks. The copy borrows the executor and shares
    /// the hooks; the runner stays unchanged.
    ///
    /// ```
    /// # use hooks_runtime::toolset::{ExecuteTool, ToolCall, ToolCallContext, ToolFailure, ToolSet};
    /// use hooks_runtime::Entry;
    /// use hooks_runtime::toolset::{ToolDecision, ToolRunner};
    /// # use serde_json::json;
    /// #
    /// # #[derive(serde::Deserialize)]
    /// # struct Fetch {}
    /// #
    /// # #[derive(ToolSet)]
    /// # enum Tools {
    /// #     #[tool(output = String)]
    /// #     Fetch(Fetch),
    /// # }
    /// #
    /// # struct Web;
    /// #
    /// # impl ExecuteTool<Fetch, String> for Web {
    /// #     async fn execute(&self, _: Fetch, _: ToolCallContext) -> Result<String, ToolFailure> {
    /// #         Ok("a page".to_owned())
    /// #     }
    /// # }
    ///
    /// let offline = async |_: Fetch, _: ToolCallContext| ToolDecision::reject("offline");
    /// let hooks = ToolsHooksSet::new().with_fetch(Entry::new(offline).key("offline"));
    /// let runner = ToolRunner::<Tools, _>::with_hooks(Web, hooks);
    ///
    /// let online = runner.for_call(|call| _ = call.hooks_mut().fetch_mut().remove("offline"));
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let call = ToolCall::new("call-1", "fetch", json!({}));
    /// assert_eq!(online.execute(call.clone()).await.unwrap(), "a page");
    /// assert!(runner.execute(call).await.is_err());
    /// # });
    /// ```
    #[must_use]
    pub fn for_call<'x>(
        &'x self,
        change: impl FnOnce(&mut ToolRunner<'h, T, &'x X>),
    ) -> ToolRunner<'h, T, &'x X> {
        let mut copy = ToolRunner {
            parts: ToolParts {
                executor: &self.parts.executor,
                extensions: self.parts.extensions.clone(),
            },
            hooks: self.hooks.clone(),
            results: self.results.copied(),
            around: self.around.copied(),
        };
        change(&mut copy);
        copy
    }

    /// Returns the hooks that may change the outputs of all tools. Clones of the runner share them.
    ///
    /// They receive the output of the tool, or of a hook that completed the call, as JSON. Errors of
    /// a call are not passed to them.
    ///
    /// ```
    /// # use hooks_runtime::toolset::{ExecuteTool, ToolCall, ToolCallContext, ToolFailure, ToolSet};
    /// use hooks_runtime::RegisterOptions;
    /// use hooks_runtime::toolset::{ToolCallOutput, ToolRunner};
    /// use hooks_runtime::transform::{TransformFn, TransformInput, Transformed};
    /// # use serde_json::json;
    /// #
    /// # #[derive(serde::Deserialize)]
    /// # struct Weather {}
    /// #
    /// # #[derive(ToolSet)]
    /// # enum Tools {
    /// #     #[tool(output = String)]
    /// #     Weather(Weather),
    /// # }
    /// #
    /// # struct Station;
    /// #
    /// # impl ExecuteTool<Weather, String> for Station {
    /// #     async fn execute(&self, _: Weather, _: ToolCallContext) -> Result<String, ToolFailure> {
    /// #         Ok("sunny".to_owned())
    /// #     }
    /// # }
    ///
    /// let runner = ToolRunner::<Tools, _>::new(Station);
    /// runner.results().register(
    ///     TransformFn::new("shout", |result: TransformInput<'_, ToolCallOutput>| {
    ///         match result.current().output.as_str() {
    ///             Some(text) => Transformed::changed(result.current().with_output(text.to_uppercase())),
    ///             None => Transformed::Unchanged,
    ///         }
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let call = ToolCall::new("call-1", "weather", json!({}));
    /// assert_eq!(runner.execute(call).await.unwrap(), "SUNNY");
    /// # });
    /// ```
    pub fn results(&self) -> &TransformRegistry<ToolCallOutput> {
        &self.results
    }

    /// Returns the around hooks of all tools. Each encloses a call: its hooks, the tool, and the
    /// hooks of its result; an around hook may call again, or return an output without a call.
    /// Clones of the runner share them.
    ///
    /// ```
    /// # use hooks_runtime::toolset::{ExecuteTool, ToolCallContext, ToolSet};
    /// use hooks_runtime::Entry;
    /// use hooks_runtime::around::Next;
    /// use hooks_runtime::toolset::{ToolCall, ToolError, ToolFailure, ToolRunner};
    /// # use serde_json::json;
    /// #
    /// # #[derive(serde::Deserialize)]
    /// # struct Fetch {}
    /// #
    /// # #[derive(ToolSet)]
    /// # enum Tools {
    /// #     #[tool(output = String)]
    /// #     Fetch(Fetch),
    /// # }
    /// #
    /// # struct Web;
    /// #
    /// # impl ExecuteTool<Fetch, String> for Web {
    /// #     async fn execute(&self, _: Fetch, _: ToolCallContext) -> Result<String, ToolFailure> {
    /// #         Err("offline".into())
    /// #     }
    /// # }
    ///
    /// let runner = ToolRunner::<Tools, _>::new(Web);
    /// runner.around().register(
    ///     Entry::new(async |call: ToolCall, next: Next<'_, ToolCall>| {
    ///         match next.call((call.clone(),)).await {
    ///             Err(ToolError::Failed { .. }) => next.call((call,)).await,
    ///             result => result,
    ///         }
    ///     }).key("retry"),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert!(runner.execute(ToolCall::new("call-1", "fetch", json!({}))).await.is_err());
    /// # });
    /// ```
    pub fn around(&self) -> &AroundRegistry<ToolCall> {
        &self.around
    }

    /// Returns the executor.
    pub fn executor(&self) -> &X {
        &self.parts.executor
    }

    /// Parses a call, runs its hooks, and runs the tool if they allow it. The hooks of the
    /// [results](Self::results) may then change the output. The call's extensions override those of
    /// the runner. Dropping the future cancels the call.
    ///
    /// # Errors
    /// If the call is refused or cannot be parsed, the tool has not run; see [`ToolError`].
    ///
    /// # Panics
    /// If a hook or the executor panics. After a panic in a hook the tool does not run.
    pub fn execute(
        &self,
        mut call: ToolCall,
    ) -> impl Future<Output = Result<Value, ToolError>> + Send
    where
        T: RunTools<X>,
        X: Sync,
    {
        if !self.parts.extensions.is_empty() {
            call.extensions = call.extensions.with_defaults(&self.parts.extensions);
        }
        if self.around.is_empty() {
            return Either::Left(self.execute_inner(call));
        }
        let innermost = RunnerCall { runner: self };
        Either::Right(enclosed(self.around.snapshot(), call, innermost))
    }

    /// Executes a call without around hooks.
    fn execute_inner(&self, call: ToolCall) -> impl Future<Output = Result<Value, ToolError>> + Send
    where
        T: RunTools<X>,
        X: Sync,
    {
        let context = self.result_context(&call);
        let run = T::execute(call, &self.hooks, &self.parts.executor);
        transformed(run, context, &self.results)
    }

    /// Returns the context for the hooks of the results, `None` if there are none.
    fn result_context(&self, call: &ToolCall) -> Option<ToolCallContext> {
        if self.results.is_empty() {
            return None;
        }
        let tool = T::tools().find(|tool| tool.name == call.name)?;
        let extensions = call.extensions.clone();
        Some(ToolCallContext::new(&*call.id, tool.name, extensions))
    }
}

/// The innermost call of around hooks.
struct RunnerCall<'r, 'h, T: ToolSet, X> {
    runner: &'r ToolRunner<'h, T, X>,
}

impl<T: RunTools<X>, X: Sync> Innermost<ToolCall> for RunnerCall<'_, '_, T, X> {
    fn call<'a>(&'a self, (call,): (ToolCall,)) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.runner.execute_inner(call))
    }
}

/// Performs a call by way of around hooks. Generic over the innermost call, for the reason that
/// [`transformed`] has.
async fn enclosed<N: Innermost<ToolCall>>(
    around: AroundHooks<ToolCall>,
    call: ToolCall,
    innermost: N,
) -> Result<Value, ToolError> {
    Next::new(&around, &innermost).call((call,)).await
}

/// Passes the output of a call to the hooks of the results. Generic over the type of the call,
/// because the compiler cannot prove `Send` for a coroutine that contains the hooks of any set.
async fn transformed<F>(
    run: F,
    context: Option<ToolCallContext>,
    results: &TransformRegistry<ToolCallOutput>,
) -> Result<Value, ToolError>
where
    F: Future<Output = Result<Value, ToolError>> + Send,
{
    let output = run.await?;
    let Some(context) = context else {
        return Ok(output);
    };
    let tool = context.tool();
    let changed = results.apply(ToolCallOutput::new(output, context)).await;
    match changed {
        Ok(outcome) => Ok(outcome.value.output.clone()),
        Err(source) => Err(ToolError::Withheld { tool, source }),
    }
}

impl<T: ToolSet, X: Clone> Clone for ToolRunner<'_, T, X> {
    fn clone(&self) -> Self {
        ToolRunner {
            parts: self.parts.clone(),
            hooks: self.hooks.clone(),
            results: self.results.clone(),
            around: self.around.clone(),
        }
    }
}

impl<T: ToolSet, X: fmt::Debug> fmt::Debug for ToolRunner<'_, T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRunner")
            .field("executor", &self.parts.executor)
            .field("extensions", &self.parts.extensions)
            .field("hooks", &self.hooks)
            .field("results", &self.results)
            .field("around", &self.around)
            .finish()
    }
}
