//! The owner of an executor and of the hooks of its tools.

use std::fmt;

use hooks_core::RequestExtensions;
use serde_json::Value;

use super::call::{ToolCall, carries_extensions};
use super::error::ToolError;
use super::set::{RunTools, ToolSet};

/// What a [`ToolRunner`] is made of besides its hooks.
#[derive(Debug, Clone, Default)]
pub struct ToolParts<X> {
    executor: X,
    extensions: RequestExtensions,
}

impl<X> ToolParts<X> {
    /// An executor, and no default extensions.
    pub fn new(executor: X) -> Self {
        ToolParts {
            executor,
            extensions: RequestExtensions::new(),
        }
    }

    carries_extensions! {
        /// Adds a value that every call has whose own extensions lack its type.
        ext,
        /// Adds all values of a map in this way.
        extensions,
    }
}

/// Runs the calls of a tool set: an executor, and the hooks in front of it.
///
/// The set is named, as in `ToolRunner::<Tools, _>::new(executor)`.
pub struct ToolRunner<'h, T: ToolSet, X> {
    parts: ToolParts<X>,
    hooks: T::Hooks<'h>,
}

impl<'h, T: ToolSet, X> ToolRunner<'h, T, X> {
    /// A runner without hooks.
    pub fn new(executor: X) -> Self {
        Self::with_hooks(executor, T::Hooks::default())
    }

    /// A runner with these hooks.
    pub fn with_hooks(executor: X, hooks: T::Hooks<'h>) -> Self {
        Self::from_parts_with_hooks(ToolParts::new(executor), hooks)
    }

    /// A runner of these parts, without hooks.
    pub fn from_parts(parts: ToolParts<X>) -> Self {
        Self::from_parts_with_hooks(parts, T::Hooks::default())
    }

    /// A runner of these parts, with these hooks.
    pub fn from_parts_with_hooks(parts: ToolParts<X>, hooks: T::Hooks<'h>) -> Self {
        ToolRunner { parts, hooks }
    }

    /// Adds the hooks of another set behind those of equal priority.
    pub fn extend_hooks(&mut self, hooks: T::Hooks<'h>) -> &mut Self {
        T::__hooks_extend(&mut self.hooks, hooks);
        self
    }

    /// Adds the hooks of another set behind those of equal priority.
    #[must_use]
    pub fn with_extended_hooks(mut self, hooks: T::Hooks<'h>) -> Self {
        self.extend_hooks(hooks);
        self
    }

    /// The hooks.
    pub fn hooks(&self) -> &T::Hooks<'h> {
        &self.hooks
    }

    /// What runs the tools.
    pub fn executor(&self) -> &X {
        &self.parts.executor
    }

    /// Reads a call, has its hooks decide, and runs the tool if they let it pass. The call's
    /// extensions lie over those of the runner. When the future is dropped, the call is cancelled.
    ///
    /// # Errors
    /// Why there is no output. A call that was refused, or cannot be read, has not run.
    ///
    /// # Panics
    /// Where a hook or the executor panics. After a panic in a hook the tool does not run.
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
