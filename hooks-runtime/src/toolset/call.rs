//! A call of a tool, as it comes from outside, and what hooks and tools know of it.

use std::sync::Arc;

use hooks_core::RequestExtensions;
use serde_json::Value;

/// The methods that put values among the `extensions` of a builder.
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

/// A call that a model or a host makes: a name and JSON, neither looked at yet.
///
/// ```
/// use hooks_runtime::toolset::ToolCall;
/// use serde_json::json;
///
/// struct Tenant(&'static str);
///
/// // What is attached reaches the hooks and the tool by way of their context.
/// let call = ToolCall::new("call-1", "weather", json!({"city": "Oslo"})).ext(Tenant("eu"));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolCall {
    /// Tells the call from others of the conversation; the caller's choice.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// Its input.
    pub input: Value,
    /// What the request carries for hooks and tools, past the model.
    pub extensions: RequestExtensions,
}

impl ToolCall {
    /// A call without extensions.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        ToolCall {
            id: id.into(),
            name: name.into(),
            input,
            extensions: RequestExtensions::new(),
        }
    }

    carries_extensions! {
        /// Attaches a value; replaces the one of the same type.
        ext,
        /// Attaches all values of a map.
        extensions,
    }
}

/// What hooks and tools know of a call besides its input. Clones share it.
#[derive(Debug, Clone)]
pub struct ToolCallContext(Arc<Context>);

#[derive(Debug)]
struct Context {
    id: String,
    tool: &'static str,
    extensions: RequestExtensions,
}

impl ToolCallContext {
    /// The context of a call of this tool.
    pub fn new(id: impl Into<String>, tool: &'static str, extensions: RequestExtensions) -> Self {
        ToolCallContext(Arc::new(Context {
            id: id.into(),
            tool,
            extensions,
        }))
    }

    /// The id of the call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &'static str {
        self.0.tool
    }

    /// What the request carries.
    #[must_use]
    pub fn extensions(&self) -> &RequestExtensions {
        &self.0.extensions
    }
}
