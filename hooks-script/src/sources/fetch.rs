//! Downloads a source from a URL that an untrusted user chose.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    AGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, LOCATION,
};
use reqwest::{Client, StatusCode, Url};

use super::caching::CacheDirectives;
use super::versions::StoredVersion;
use crate::guard::{self, AddressRefused, ExtraAddresses, Lookup, UrlGuard};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

/// Loads sources from `https` URLs. It connects to public addresses only
/// ([`is_public_address`](crate::is_public_address)), and exactly to the addresses that it checked:
/// a name is resolved once per connection. Redirects follow the same rule. Proxies from the
/// environment are ignored.
///
/// Needs a Tokio runtime. A clone shares the connections.
#[derive(Clone)]
pub struct Fetcher {
    client: Client,
    timeout: Duration,
    redirects: usize,
    guard: UrlGuard,
}

/// Builder of a [`Fetcher`].
#[must_use]
pub struct FetcherBuilder {
    timeout: Duration,
    redirects: usize,
    allow_http: bool,
    allowed: Vec<IpAddr>,
    lookup: Lookup,
}

/// Error returned when a URL cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is invalid or has an unsupported scheme.
    #[error("`{url}` cannot be read: {why}; give an `https` URL without user and password")]
    Url {
        /// The URL, or the target of a redirect.
        url: String,
        /// Description of the problem.
        why: String,
    },
    /// The host has an address that is not public.
    #[error(
        "`{host}` has the address `{address}`, which is not public; serve the hook from a public one"
    )]
    Address {
        /// Host of the URL.
        host: String,
        /// The refused address.
        address: IpAddr,
    },
    /// There are too many redirects.
    #[error("`{url}` redirects more than {limit} times; use the final URL")]
    Redirects {
        /// The first URL.
        url: String,
        /// Maximum number of redirects.
        limit: usize,
    },
    /// The server returned a status other than 200.
    #[error("the server returned status {0}; open the URL in a browser")]
    Status(u16),
    /// The content type of the response is not JavaScript.
    #[error("the server returned content type `{0}`; serve the hook as `text/javascript`")]
    ContentType(String),
    /// The response has a content encoding, which was not requested.
    #[error("the server returned content encoding `{0}`; serve the hook unencoded")]
    Encoding(String),
    /// The response is too large.
    #[error("the server returned more than {limit} bytes; shorten the hook, or raise the limit")]
    TooLarge {
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The response is not valid UTF-8.
    #[error("the response is not UTF-8; save the hook as UTF-8")]
    NotText,
    /// The request, with all redirects, timed out.
    #[error("the request timed out after {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The connection failed.
    #[error("`{url}` cannot be read: {source}")]
    Connection {
        /// URL of the request.
        url: String,
        /// Cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Response of a server.
pub(super) struct Response {
    /// The code; `None` if it is unchanged.
    pub(super) code: Option<String>,
    /// URL after all redirects.
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) caching: CacheDirectives,
}

impl Fetcher {
    /// Returns a builder with default settings.
    pub fn builder() -> FetcherBuilder {
        FetcherBuilder {
            timeout: TIMEOUT,
            redirects: MAX_REDIRECTS,
            allow_http: false,
            allowed: Vec::new(),
            lookup: guard::system_lookup(),
        }
    }

    /// Downloads a URL, or confirms that the stored version is unchanged.
    pub(super) async fn fetch(
        &self,
        url: &str,
        kept: Option<&StoredVersion>,
        max_bytes: usize,
    ) -> Result<Response, FetchError> {
        let fetched = tokio::time::timeout(self.timeout, self.follow(url, kept, max_bytes));
        fetched
            .await
            .unwrap_or(Err(FetchError::Timeout(self.timeout)))
    }

    async fn follow(
        &self,
        start: &str,
        kept: Option<&StoredVersion>,
        max_bytes: usize,
    ) -> Result<Response, FetchError> {
        let mut url = Url::parse(start).map_err(|error| FetchError::Url {
            url: start.to_owned(),
            why: error.to_string(),
        })?;
        let mut redirects: Vec<CacheDirectives> = Vec::new();
        for _ in 0..=self.redirects {
            self.admit(&url)?;
            // A validator is valid only on the server that issued it.
            let mut kept = kept.filter(|kept| kept.url.as_deref() == Some(url.as_str()));
            let mut response = self.ask(&url, kept).await?;
            if kept.is_some_and(|kept| is_about_another(&response, kept)) {
                kept = None;
                response = self.ask(&url, None).await?;
            }
            let status = response.status();
            match response.headers().get(LOCATION) {
                Some(location) if status.is_redirection() && status != StatusCode::NOT_MODIFIED => {
                    let location = String::from_utf8_lossy(location.as_bytes());
                    url = url.join(&location).map_err(|error| FetchError::Url {
                        url: location.into_owned(),
                        why: error.to_string(),
                    })?;
                    url.set_fragment(None);
                    redirects.push(caching(&response));
                }
                _ => {
                    let mut answer = read(&url, response, kept, max_bytes).await?;
                    answer.caching = redirects
                        .iter()
                        .fold(answer.caching, CacheDirectives::behind);
                    return Ok(answer);
                }
            }
        }
        Err(FetchError::Redirects {
            url: start.to_owned(),
            limit: self.redirects,
        })
    }

    fn admit(&self, url: &Url) -> Result<(), FetchError> {
        self.guard.check_form(url).map_err(|why| FetchError::Url {
            url: without_user(url),
            why: why.to_owned(),
        })?;
        self.guard
            .check_address(url)
            .map_err(|refused| refusal(url, refused))
    }

    async fn ask(
        &self,
        url: &Url,
        kept: Option<&StoredVersion>,
    ) -> Result<reqwest::Response, FetchError> {
        let mut request = self.client.get(url.clone());
        if let Some(StoredVersion { version, .. }) = kept {
            let validators = [
                (IF_NONE_MATCH, &version.etag),
                (IF_MODIFIED_SINCE, &version.last_modified),
            ];
            for (name, value) in validators {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
        }
        request.send().await.map_err(|error| explain(url, error))
    }
}

fn without_user(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for URLs that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

fn refusal(url: &Url, AddressRefused(address): AddressRefused) -> FetchError {
    FetchError::Address {
        host: url.host_str().unwrap_or_default().to_owned(),
        address,
    }
}

fn explain(url: &Url, error: reqwest::Error) -> FetchError {
    match guard::refused_address(&error) {
        Some(refused) => refusal(url, refused),
        None => FetchError::Connection {
            url: url.to_string(),
            source: error.without_url().into(),
        },
    }
}

fn header(response: &reqwest::Response, name: HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn caching(response: &reqwest::Response) -> CacheDirectives {
    let cache_control = response.headers().get_all(CACHE_CONTROL).iter();
    CacheDirectives::read(
        // Treat an unreadable header as forbidding storage.
        cache_control.map(|value| value.to_str().unwrap_or("no-store")),
        header(response, AGE).as_deref(),
    )
}

/// Returns `true` if a "not modified" response carries a validator that differs from the stored
/// one: then it is about another version (RFC 9111, 4.3.4).
fn is_about_another(response: &reqwest::Response, kept: &StoredVersion) -> bool {
    let named = header(response, ETAG);
    response.status() == StatusCode::NOT_MODIFIED && named.is_some() && named != kept.version.etag
}

async fn read(
    url: &Url,
    mut response: reqwest::Response,
    kept: Option<&StoredVersion>,
    limit: usize,
) -> Result<Response, FetchError> {
    let header = |name: HeaderName| header(&response, name);
    let mut answer = Response {
        code: None,
        url: url.to_string(),
        etag: header(ETAG),
        last_modified: header(LAST_MODIFIED),
        caching: caching(&response),
    };
    match (response.status(), kept) {
        (StatusCode::OK, _) => {}
        (StatusCode::NOT_MODIFIED, Some(kept)) => {
            // Validators that the response does not repeat are unchanged.
            answer.etag = answer.etag.or_else(|| kept.version.etag.clone());
            answer.last_modified = answer
                .last_modified
                .or_else(|| kept.version.last_modified.clone());
            return Ok(answer);
        }
        (status, _) => return Err(FetchError::Status(status.as_u16())),
    }
    if let Some(kind) = header(CONTENT_TYPE).filter(|kind| !may_be_script(kind)) {
        return Err(FetchError::ContentType(kind));
    }
    if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| encoding != "identity") {
        return Err(FetchError::Encoding(encoding));
    }
    if response
        .content_length()
        .is_some_and(|length| length > limit as u64)
    {
        return Err(FetchError::TooLarge { limit });
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| explain(url, error))?
    {
        if chunk.len() > limit - bytes.len() {
            return Err(FetchError::TooLarge { limit });
        }
        bytes.extend_from_slice(&chunk);
    }
    answer.code = Some(String::from_utf8(bytes).map_err(|_| FetchError::NotText)?);
    Ok(answer)
}

/// Returns `true` if a content type may be a script. Servers use many types for scripts, but not
/// those of an error page.
fn may_be_script(content_type: &str) -> bool {
    let kind = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    kind.contains("javascript")
        || kind.contains("ecmascript")
        || matches!(
            kind.as_str(),
            "" | "text/plain" | "application/octet-stream"
        )
}

impl FetcherBuilder {
    /// Sets the timeout of a download with all redirects. Default: 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum number of consecutive redirects. Default: 5.
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most;
        self
    }

    /// Allows `http` URLs too. For tests: the code can be modified in transit.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.allow_http = allow;
        self
    }

    /// Allows connections to this address although it is not public. For tests, and for a host that
    /// serves sources itself: anyone who chooses a URL can reach all services at that address.
    pub fn allow_address(mut self, address: IpAddr) -> Self {
        self.allowed.push(address);
        self
    }

    /// Sets the resolver of names. Its results are checked like those of the default, the system's
    /// resolver.
    pub fn lookup<F, R>(mut self, lookup: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        self.lookup = Arc::new(move |name| Box::pin(lookup(name)));
        self
    }

    /// Builds the fetcher.
    ///
    /// # Errors
    ///
    /// Returns [`FetchError::Connection`] if the system's trusted certificates cannot be used.
    pub fn build(self) -> Result<Fetcher, FetchError> {
        let guard = UrlGuard {
            allow_http: self.allow_http,
            allowed: ExtraAddresses::These(self.allowed.into()),
            lookup: self.lookup,
        };
        let client = guard.client().map_err(|error| FetchError::Connection {
            url: "https:".to_owned(),
            source: error.into(),
        })?;
        Ok(Fetcher {
            client,
            timeout: self.timeout,
            redirects: self.redirects,
            guard,
        })
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("timeout", &self.timeout)
            .field("redirects", &self.redirects)
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FetcherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetcherBuilder")
            .field("timeout", &self.timeout)
            .field("redirects", &self.redirects)
            .field("allow_http", &self.allow_http)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}
