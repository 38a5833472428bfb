//! The owner of an executor and of the hooks of its tools.

use std::fmt;

use hooks_core::RequestExtensions;
use serde_json::Value;

use super::call::{ToolCall, carries_extensions};
use super::error::ToolError;
use super::set::{RunTools, ToolSet};

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
        ToolRunner { parts, hooks }
    }

    /// Adds the hooks of another set after those of equal priority.
    pub fn extend_hooks(&mut self, hooks: T::Hooks<'h>) -> &mut Self {
        T::__hooks_extend(&mut self.hooks, hooks);
        self
    }

    /// Like [`extend_hooks`](Self::extend_hooks), for builder chains.
    #[must_use]
    pub fn with_extended_hooks(mut self, hooks: T::Hooks<'h>) -> Self {
        self.extend_hooks(hooks);
        self
    }

    /// Returns the hooks.
    pub fn hooks(&self) -> &T::Hooks<'h> {
        &self.hooks
    }

    /// Returns the executor.
    pub fn executor(&self) -> &X {
        &self.parts.executor
    }

    /// Parses a call, runs its hooks, and runs the tool if they allow it. The call's extensions
    /// override those of the runner. Dropping the future cancels the call.
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
        T::execute(call, &self.hooks, &self.parts.executor)
    }
}

impl<T: ToolSet, X: Clone> Clone for ToolRunner<'_, T, X> {
    fn clone(&self) -> Self {
        ToolRunner {
            parts: self.parts.clone(),
            hooks: self.hooks.clone(),
        }
    }
}

impl<T: ToolSet, X: fmt::Debug> fmt::Debug for ToolRunner<'_, T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRunner")
            .field("executor", &self.parts.executor)
            .field("extensions", &self.parts.extensions)
            .field("hooks", &self.hooks)
            .finish()
    }
}
