//! Where a provider is, and what it is asked without further words.

use std::fmt;

use hooks_core::RequestExtensions;

use crate::model::input::GenerationOptions;

/// Where a provider is, the key for it, and the defaults of what it is asked.
#[derive(Clone)]
pub struct ProviderConfig {
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: String,
    defaults: GenerationOptions,
}

impl ProviderConfig {
    /// A key, and the model that is asked where neither a request nor a hook names another.
    pub fn new(api_key: impl Into<String>, model: impl Into<String>) -> Self {
        ProviderConfig {
            base_url: None,
            api_key: api_key.into(),
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
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}
