//! Where a provider is, and what it is asked without further words.

use std::fmt;

use hooks_core::RequestExtensions;

use super::limits::Limits;
use crate::model::input::GenerationOptions;

/// Where a provider is, the key for it, the defaults of what it is asked, and how large an
/// answer may become: one that passes a limit ends with
/// [`AdapterError::TooLarge`](crate::model::AdapterError::TooLarge).
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
    pub(crate) limits: Limits,
    defaults: GenerationOptions,
}

impl ProviderConfig {
    /// The bytes that the body of an answer may have, unless it is given another number: many
    /// times what the longest answers need.
    pub const MAX_ANSWER_BYTES: usize = 64 << 20;
    /// The tools that an answer may call, unless it is given another number.
    pub const MAX_TOOL_CALLS: usize = 256;
    /// The bytes that the arguments of one call may have, unless it is given another number.
    pub const MAX_ARGUMENT_BYTES: usize = 4 << 20;

    /// A key, and the model that is asked where neither a request nor a hook names another.
    pub fn new(api_key: impl Into<String>, model: impl Into<String>) -> Self {
        ProviderConfig {
            base_url: None,
            api_key: api_key.into(),
            limits: Limits {
                answer_bytes: ProviderConfig::MAX_ANSWER_BYTES,
                tool_calls: ProviderConfig::MAX_TOOL_CALLS,
                argument_bytes: ProviderConfig::MAX_ARGUMENT_BYTES,
            },
            defaults: GenerationOptions::new().model(model),
        }
    }

    /// Another address than the provider's own, up to and without the slash in front of
    /// `chat/completions` or `messages`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// How many tokens an answer may have, where the request does not say.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.defaults.max_output_tokens = Some(tokens);
        self
    }

    /// Limits the bytes of an answer's body, as it comes.
    #[must_use]
    pub fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.limits.answer_bytes = bytes;
        self
    }

    /// Limits the tools that one answer may call.
    #[must_use]
    pub fn max_tool_calls(mut self, calls: usize) -> Self {
        self.limits.tool_calls = calls;
        self
    }

    /// Limits the bytes of the arguments of each call.
    #[must_use]
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.limits.argument_bytes = bytes;
        self
    }

    /// The address of an endpoint.
    pub(crate) fn url(&self, own: &str, endpoint: &str) -> String {
        let base = self.base_url.as_deref().unwrap_or(own);
        format!("{}/{endpoint}", base.trim_end_matches('/'))
    }

    /// What the request says, field by field over the defaults.
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

/// How one answer is made.
pub(crate) struct Options {
    pub(crate) model: String,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) temperature: Option<f32>,
}

/// Without the key.
impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("base_url", &self.base_url)
            .field("limits", &self.limits)
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}
