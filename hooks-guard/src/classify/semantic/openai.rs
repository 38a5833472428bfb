//! A language model behind an HTTP endpoint. Takes a question; returns the model's answer, or an
//! error.

use std::fmt;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Url, redirect};
use thiserror::Error;

use super::ask::{CLASSIFY_BUDGET, Semantic, SemanticError, SemanticInput, SemanticOutput};
use super::prompt;

/// Default maximum length of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// An OpenAI-compatible chat endpoint, such as those of Ollama, llama.cpp and vLLM. The endpoint
/// must support output that is constrained to a JSON schema.
///
/// It follows no redirects, and uses the proxies of the environment only if enabled. Needs a Tokio
/// runtime. Clones share the connections.
///
/// ```
/// use hooks_guard::classify::{StagedClassifier, OpenAiCompatible};
///
/// let model = OpenAiCompatible::builder("http://localhost:11434/v1", "qwen2.5-coder:3b").build()?;
/// let classifier = StagedClassifier::new().with_semantic(model);
/// # let _ = classifier;
/// # Ok::<(), hooks_guard::classify::EndpointError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiCompatible {
    client: Client,
    url: Url,
    key: Option<HeaderValue>,
    model: String,
    temperature: f64,
    max_bytes: usize,
}

/// Builder of an [`OpenAiCompatible`].
#[derive(Clone)]
#[must_use]
pub struct OpenAiCompatibleBuilder {
    base_url: String,
    model: String,
    api_key: Option<String>,
    temperature: f64,
    timeout: Duration,
    max_bytes: usize,
    allow_http: bool,
    system_proxy: bool,
}

/// Error returned when an endpoint cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The URL is not usable.
    #[error("invalid base URL: {0}")]
    Url(&'static str),
    /// Requests to the URL would be unencrypted.
    #[error(
        "the base URL is unencrypted and not on this machine; use `https`, or set `allow_http(true)`"
    )]
    Http,
    /// The key contains characters that are invalid in a header.
    #[error("the API key contains characters that cannot be sent; check it for a line break")]
    Key,
    /// The temperature is out of range.
    #[error("invalid temperature {0}; use a value from 0 to 2")]
    Temperature(f64),
    /// The certificates or proxies of the system cannot be used.
    #[error("cannot create the HTTP client: {0}")]
    Client(#[source] reqwest::Error),
}

impl OpenAiCompatible {
    /// Returns a builder for a base URL, to which `/chat/completions` is appended, and a model
    /// name. All other settings have defaults.
    pub fn builder(
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> OpenAiCompatibleBuilder {
        OpenAiCompatibleBuilder {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            temperature: 0.0,
            timeout: CLASSIFY_BUDGET,
            max_bytes: MAX_RESPONSE_BYTES,
            allow_http: false,
            system_proxy: false,
        }
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<SemanticOutput, SemanticError> {
        let status = response.status();
        if !status.is_success() {
            return Err(SemanticError::Status(status.as_u16()));
        }
        let limit = self.max_bytes;
        if response
            .content_length()
            .is_some_and(|length| length > limit as u64)
        {
            return Err(SemanticError::TooLarge { limit });
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if chunk.len() > limit - bytes.len() {
                return Err(SemanticError::TooLarge { limit });
            }
            bytes.extend_from_slice(&chunk);
        }
        prompt::read(&bytes)
    }
}

impl Semantic for OpenAiCompatible {
    async fn ask(&self, question: &SemanticInput) -> Result<SemanticOutput, SemanticError> {
        let body = prompt::body(&self.model, self.temperature, question).to_string();
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(body);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        self.read(request.send().await.map_err(failed)?).await
    }
}

/// Converts an error and removes its URL, which may contain secrets.
fn failed(error: reqwest::Error) -> SemanticError {
    if error.is_timeout() {
        return SemanticError::Timeout;
    }
    SemanticError::Failed(error.without_url().into())
}

impl OpenAiCompatibleBuilder {
    /// Sets the key that every request sends as `Authorization: Bearer`. Default: none.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Sets the temperature, from 0 to 2. Default: 0, which selects the most likely answer and
    /// makes it reproducible as far as the server permits.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = temperature;
        self
    }

    /// Sets the timeout for an answer. Default: 2 seconds. The classifier never waits longer than
    /// [`CLASSIFY_BUDGET`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum length of a response in bytes, without its headers. Default: 64 KiB.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Allows an `http` URL of another machine. Commands and the key are then sent unencrypted.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.allow_http = allow;
        self
    }

    /// Uses the proxies of the environment or the system.
    pub fn system_proxy(mut self, allow: bool) -> Self {
        self.system_proxy = allow;
        self
    }

    /// Builds the endpoint. Sends no request.
    ///
    /// # Errors
    /// Returns an error if a setting is invalid, or if the system's certificates cannot be used.
    pub fn build(self) -> Result<OpenAiCompatible, EndpointError> {
        let url = endpoint(&self.base_url, self.allow_http)?;
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err(EndpointError::Temperature(self.temperature));
        }
        let key = match self.api_key {
            None => None,
            Some(key) => {
                let header = HeaderValue::try_from(format!("Bearer {key}"));
                let mut header = header.map_err(|_| EndpointError::Key)?;
                header.set_sensitive(true);
                Some(header)
            }
        };
        let mut client = Client::builder()
            .redirect(redirect::Policy::none())
            .referer(false)
            .timeout(self.timeout)
            .user_agent(concat!("hooks-guard/", env!("CARGO_PKG_VERSION")));
        if !self.system_proxy {
            client = client.no_proxy();
        }
        Ok(OpenAiCompatible {
            client: client.build().map_err(EndpointError::Client)?,
            url,
            key,
            model: self.model,
            temperature: self.temperature,
            max_bytes: self.max_bytes,
        })
    }
}

fn endpoint(base: &str, allow_http: bool) -> Result<Url, EndpointError> {
    let mut url = Url::parse(base).map_err(|_| {
        EndpointError::Url("not a URL; use one such as `http://localhost:11434/v1`")
    })?;
    match url.scheme() {
        "https" => {}
        "http" if allow_http || local(&url) => {}
        "http" => return Err(EndpointError::Http),
        _ => {
            return Err(EndpointError::Url(
                "the scheme is neither `https` nor `http`; use one of them",
            ));
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Url(
            "it contains a user or a password; set a key with `api_key`",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(EndpointError::Url(
            "it contains a query or a fragment; remove it",
        ));
    }
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

fn local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl fmt::Debug for OpenAiCompatibleBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The base URL is not validated yet and may contain a password.
        f.debug_struct("OpenAiCompatibleBuilder")
            .field("model", &self.model)
            .field("temperature", &self.temperature)
            .field("timeout", &self.timeout)
            .field("most_bytes", &self.max_bytes)
            .field("allow_http", &self.allow_http)
            .field("system_proxy", &self.system_proxy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str) -> Result<String, String> {
        endpoint(base, false)
            .map(String::from)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_path_is_appended_to_the_base() {
        for base in ["http://localhost:11434/v1", "http://localhost:11434/v1/"] {
            assert_eq!(
                url(base).unwrap(),
                "http://localhost:11434/v1/chat/completions"
            );
        }
        assert_eq!(
            url("https://llm.example").unwrap(),
            "https://llm.example/chat/completions"
        );
        assert!(url("http://[::1]:8080/v1").is_ok() && url("http://127.0.0.2/v1").is_ok());
    }

    #[test]
    fn insecure_endpoint_urls_are_refused() {
        for base in [
            "http://llm.example/v1",
            "http://localhost.example/v1",
            "http://10.0.0.1/v1",
            "https://u:p@llm.example",
            "https://llm.example/?key=1",
            "file:///etc",
            "llm",
        ] {
            assert!(url(base).is_err(), "{base}");
        }
        assert!(endpoint("http://llm.example/v1", true).is_ok());
    }

    #[test]
    fn invalid_settings_are_refused() {
        let builder = || OpenAiCompatible::builder("http://localhost/v1", "m");
        assert!(matches!(
            builder().temperature(f64::NAN).build(),
            Err(EndpointError::Temperature(_))
        ));
        assert!(matches!(
            builder().temperature(-1.0).build(),
            Err(EndpointError::Temperature(_))
        ));
        assert!(matches!(
            builder().api_key("a\nb").build(),
            Err(EndpointError::Key)
        ));
    }

    #[test]
    fn debug_output_does_not_contain_the_key() {
        let builder = OpenAiCompatible::builder("http://localhost/v1", "m").api_key("hunter2");
        assert!(!format!("{builder:?}").contains("hunter2"));
        let built = builder.build().unwrap();
        assert!(!format!("{built:?}").contains("hunter2"));
    }
}
