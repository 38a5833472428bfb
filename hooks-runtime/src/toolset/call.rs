//! A tool call from outside, and the context for hooks and tools.

use std::sync::Arc;

use hooks_core::{AroundCall, RequestExtensions};
use serde_json::Value;

use super::error::ToolError;

/// Defines the methods that add values to the `extensions` of a builder.
macro_rules! carries_extensions {
    ($(#[$of_one:meta])* ext, $(#[$of_all:meta])* extensions $(,)?) => {
        $(#[$of_one])*
        #[must_use]
        pub fn ext<T: std::any::Any + hooks_core::HookObject>(mut self, value: T) -> Self {
            self.extensions.insert(value);
            self
        }

        $(#[$of_all])*
        #[must_use]
        pub fn extensions(mut self, extensions: hooks_core::RequestExtensions) -> Self {
            self.extensions.extend(extensions);
            self
        }
    };
}

pub(crate) use carries_extensions;

/// A call that a model or a host makes: an unchecked name and JSON.
///
/// ```
/// use hooks_runtime::toolset::ToolCall;
/// use serde_json::json;
///
/// struct Tenant(&'static str);
///
/// // Extensions reach the hooks and the tool through their context.
/// let call = ToolCall::new("call-1", "weather", json!({"city": "Oslo"})).ext(Tenant("eu"));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolCall {
    /// Id of the call, chosen by the caller.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// Its input.
    pub input: Value,
    /// Values for hooks and tools, which the model does not see.
    pub extensions: RequestExtensions,
}

/// A call, as around hooks enclose it: [`ToolRunner::around`](super::ToolRunner::around).
impl AroundCall for ToolCall {
    type Args<'a> = (ToolCall,);
    type Output = Result<Value, ToolError>;
}

impl ToolCall {
    /// Creates a call without extensions.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        ToolCall {
            id: id.into(),
            name: name.into(),
            input,
            extensions: RequestExtensions::new(),
        }
    }

    carries_extensions! {
        /// Attaches a value; replaces an existing value of its type.
        ext,
        /// Attaches all values of a map.
        extensions,
    }
}

/// Output of a call, for the hooks that may change it:
/// [`ToolRunner::results`](super::ToolRunner::results).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolCallOutput {
    /// The output of the tool, or of a hook in its place.
    pub output: Value,
    /// The context of the call.
    pub context: ToolCallContext,
}

impl ToolCallOutput {
    /// Creates the output of a call.
    pub fn new(output: Value, context: ToolCallContext) -> Self {
        ToolCallOutput { output, context }
    }

    /// Returns the output with another value, for the same call.
    #[must_use]
    pub fn with_output(&self, output: impl Into<Value>) -> Self {
        ToolCallOutput::new(output.into(), self.context.clone())
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn tool(&self) -> &'static str {
        self.context.tool()
    }
}

/// Context of a call, for hooks and tools. Clones share it.
#[derive(Debug, Clone)]
pub struct ToolCallContext(Arc<Context>);

#[derive(Debug)]
struct Context {
    id: String,
    tool: &'static str,
    extensions: RequestExtensions,
}

impl ToolCallContext {
    /// Creates the context of a call of this tool.
    pub fn new(id: impl Into<String>, tool: &'static str, extensions: RequestExtensions) -> Self {
        ToolCallContext(Arc::new(Context {
            id: id.into(),
            tool,
            extensions,
        }))
    }

    /// Returns the id of the call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn tool(&self) -> &'static str {
        self.0.tool
    }

    /// Returns the extensions of the request.
    #[must_use]
    pub fn extensions(&self) -> &RequestExtensions {
        &self.0.extensions
    }
}
