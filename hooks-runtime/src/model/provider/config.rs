//! Configuration of a provider: its address, and default options.

use std::fmt;

use hooks_core::RequestExtensions;

use super::limits::ResponseLimits;
use crate::model::input::GenerationOptions;

/// Configuration of a provider: address, key, default options, and limits of a response. A response
/// that exceeds a limit ends with [`AdapterError::TooLarge`](crate::model::AdapterError::TooLarge).
///
/// ```
/// use hooks_runtime::model::provider::ProviderConfig;
///
/// let config = ProviderConfig::new("no key is needed", "llama3.2")
///     .base_url("http://127.0.0.1:11434/v1")
///     .max_output_tokens(500)
///     .max_tool_calls(8);
/// ```
#[derive(Clone)]
pub struct ProviderConfig {
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: String,
    pub(crate) limits: ResponseLimits,
    defaults: GenerationOptions,
}

impl ProviderConfig {
    /// Default maximum size of a response's body in bytes: many times the size of the longest
    /// responses.
    pub const MAX_RESPONSE_BYTES: usize = 64 << 20;
    /// Default maximum number of tool calls in a response.
    pub const MAX_TOOL_CALLS: usize = 256;
    /// Default maximum size of a call's arguments in bytes.
    pub const MAX_ARGUMENT_BYTES: usize = 4 << 20;

    /// Creates a configuration with a key and the default model, which a request or a hook
    /// overrides.
    pub fn new(api_key: impl Into<String>, model: impl Into<String>) -> Self {
        ProviderConfig {
            base_url: None,
            api_key: api_key.into(),
            limits: ResponseLimits {
                response_bytes: ProviderConfig::MAX_RESPONSE_BYTES,
                tool_calls: ProviderConfig::MAX_TOOL_CALLS,
                argument_bytes: ProviderConfig::MAX_ARGUMENT_BYTES,
            },
            defaults: GenerationOptions::new().model(model),
        }
    }

    /// Sets the address of another server, without the slash before `chat/completions` or
    /// `messages`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the default maximum number of tokens of a response.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.defaults.max_output_tokens = Some(tokens);
        self
    }

    /// Limits the size of a response's body in bytes, while it arrives.
    #[must_use]
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.limits.response_bytes = bytes;
        self
    }

    /// Limits the number of tool calls in a response.
    #[must_use]
    pub fn max_tool_calls(mut self, calls: usize) -> Self {
        self.limits.tool_calls = calls;
        self
    }

    /// Limits the size of each call's arguments in bytes.
    #[must_use]
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.limits.argument_bytes = bytes;
        self
    }

    /// Returns the address of an endpoint.
    pub(crate) fn url(&self, own: &str, endpoint: &str) -> String {
        let base = self.base_url.as_deref().unwrap_or(own);
        format!("{}/{endpoint}", base.trim_end_matches('/'))
    }

    /// Returns the options: the request's fields override the defaults.
    pub(crate) fn options(&self, extensions: &RequestExtensions) -> Options {
        let of_request = extensions.get::<GenerationOptions>();
        let GenerationOptions {
            model,
            max_output_tokens,
            temperature,
        } = of_request.cloned().unwrap_or_default();
        Options {
            model: model
                .or_else(|| self.defaults.model.clone())
                .unwrap_or_default(),
            max_output_tokens: max_output_tokens.or(self.defaults.max_output_tokens),
            temperature,
        }
    }
}

/// Options of one response.
pub(crate) struct Options {
    pub(crate) model: String,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) temperature: Option<f32>,
}

/// Omits the key.
impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("base_url", &self.base_url)
            .field("limits", &self.limits)
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}
