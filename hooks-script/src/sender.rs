//! Sends the outbound requests of hooks to hosts that the operator allows.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Url};

use crate::consent::{Permit, PermitVoid};
use crate::guard::{self, AddressRefused, ExtraAddresses, UrlGuard};
use crate::hook::ScriptHook;
use crate::outbox::OutboundRequest;

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: usize = 64 << 10;

/// Sends the requests of hooks over `https`, to allowed hosts at public addresses only. It follows
/// no redirects, uses no proxy, and reads only the status of a response.
///
/// Needs a Tokio runtime. A clone shares the connections.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_script::OutboxSender;
///
/// let sender = OutboxSender::builder()
///     .allow_host("hooks.example.org")
///     .timeout(Duration::from_secs(5))
///     .build()?;
/// # Ok::<_, hooks_script::SendError>(())
/// ```
#[derive(Clone)]
pub struct OutboxSender {
    client: Client,
    guard: UrlGuard,
    settings: OutboxSenderBuilder,
}

/// Builder of an [`OutboxSender`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OutboxSenderBuilder {
    hosts: BTreeSet<String>,
    timeout: Duration,
    max_body: usize,
    allow_http: bool,
    allow_private: bool,
}

/// Error returned when a request was not sent, or did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The consent is no longer valid.
    #[error(transparent)]
    Permit(#[from] PermitVoid),
    /// The permit is not for requests of this version of this hook.
    #[error("the permit is not for requests of this hook; request one with `ConsentRequest::of`")]
    OtherPermit,
    /// Requests cannot be sent to the URL of the hook.
    #[error("`{url}` is refused: {why}")]
    Url {
        /// URL of the hook, without user and password.
        url: String,
        /// Description of the problem.
        why: &'static str,
    },
    /// The host of the URL is not allowed.
    #[error("`{host}` is not an allowed host; add it with `allow_host`")]
    Host {
        /// Host of the URL.
        host: String,
    },
    /// The host has an address that is not public.
    #[error("`{host}` has the address `{address}`, which is not public")]
    Address {
        /// Host of the URL.
        host: String,
        /// The refused address.
        address: IpAddr,
    },
    /// The body is too long.
    #[error("the body has {bytes} bytes; at most {limit} are sent")]
    Body {
        /// Length of the body in bytes.
        bytes: usize,
        /// Maximum length in bytes.
        limit: usize,
    },
    /// The request timed out.
    #[error("the request timed out after {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The server returned a status other than 2xx.
    #[error("the server returned status {0}")]
    Status(u16),
    /// The connection failed.
    #[error("the request cannot be sent: {0}")]
    Connection(#[source] Box<dyn Error + Send + Sync>),
}

impl OutboxSender {
    /// Returns a builder that allows no host yet.
    pub fn builder() -> OutboxSenderBuilder {
        OutboxSenderBuilder {
            hosts: BTreeSet::new(),
            timeout: TIMEOUT,
            max_body: MAX_BODY_BYTES,
            allow_http: false,
            allow_private: false,
        }
    }

    /// Sends one request of a run of this hook and returns the status. The consent is checked again
    /// immediately before. Dropping the future closes the connection; the server may have received
    /// the request by then.
    ///
    /// # Errors
    ///
    /// Returns the reason why the request was not sent or did not succeed.
    pub async fn send(
        &self,
        hook: &ScriptHook,
        permit: &Permit,
        request: &OutboundRequest,
    ) -> Result<u16, SendError> {
        if !hook.is_permitted_http(permit) {
            return Err(SendError::OtherPermit);
        }
        let url = self.admit(request)?;
        permit.check().await?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let sent = self.client.post(url).body(request.body.clone()).send();
        let limit = self.settings.timeout;
        let response = match tokio::time::timeout(limit, sent).await {
            Err(_) => return Err(SendError::Timeout(limit)),
            Ok(Err(error)) => return Err(explain(host, error)),
            Ok(Ok(response)) => response,
        };
        match response.status() {
            status if status.is_success() => Ok(status.as_u16()),
            status => Err(SendError::Status(status.as_u16())),
        }
    }

    fn admit(&self, request: &OutboundRequest) -> Result<Url, SendError> {
        let settings = &self.settings;
        let refused = |url: String, why| Err(SendError::Url { url, why });
        let Ok(url) = Url::parse(&request.url) else {
            // The text may contain a secret.
            return refused("…".to_owned(), "it is not a URL");
        };
        if let Err(why) = self.guard.check_form(&url) {
            return refused(url.origin().ascii_serialization(), why);
        }
        let host = url.host_str().unwrap_or_default();
        if !settings.hosts.contains(host) {
            let host = host.to_owned();
            return Err(SendError::Host { host });
        }
        if let Err(AddressRefused(address)) = self.guard.check_address(&url) {
            let host = host.to_owned();
            return Err(SendError::Address { host, address });
        }
        let (bytes, limit) = (request.body.len(), settings.max_body);
        if bytes > limit {
            return Err(SendError::Body { bytes, limit });
        }
        Ok(url)
    }
}

impl OutboxSenderBuilder {
    /// Allows this host: a name or an address, matched exactly, with any port.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.insert(host.into());
        self
    }

    /// Sets the timeout of a request. Default: 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum length of a body in bytes. Default: 64 KiB.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Allows `http` URLs too, which anyone on the network path can read.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.allow_http = allow;
        self
    }

    /// Allows addresses that are not public too.
    pub fn allow_private_addresses(mut self, allow: bool) -> Self {
        self.allow_private = allow;
        self
    }

    /// Builds the sender.
    ///
    /// # Errors
    ///
    /// Returns [`SendError::Connection`] if the system's trusted certificates cannot be used, and
    /// [`SendError::Url`] if an allowed host is invalid.
    pub fn build(mut self) -> Result<OutboxSender, SendError> {
        let hosts = std::mem::take(&mut self.hosts).into_iter();
        self.hosts = hosts
            .map(|host| {
                normalized_host(&host).ok_or(SendError::Url {
                    url: host,
                    why: "a host is a name or an address, without scheme, port and path",
                })
            })
            .collect::<Result<_, _>>()?;
        let guard = UrlGuard {
            allow_http: self.allow_http,
            allowed: match self.allow_private {
                true => ExtraAddresses::All,
                false => ExtraAddresses::These(Arc::default()),
            },
            lookup: guard::system_lookup(),
        };
        let client = guard
            .client()
            .map_err(|error| SendError::Connection(error.into()))?;
        let settings = self;
        Ok(OutboxSender {
            client,
            guard,
            settings,
        })
    }
}

/// Returns the host as a parsed URL spells it, or `None` if it is invalid.
fn normalized_host(host: &str) -> Option<String> {
    let mut url = Url::parse("https://host").ok()?;
    match host.parse() {
        Ok(address) => url.set_ip_host(address).ok()?,
        // For a name with a port, `set_host` would silently keep the name alone.
        Err(_) if host.contains(':') && !host.starts_with('[') => return None,
        Err(_) => url.set_host(Some(host)).ok()?,
    }
    url.host_str().map(str::to_owned)
}

fn explain(host: String, error: reqwest::Error) -> SendError {
    match guard::refused_address(&error) {
        Some(AddressRefused(address)) => SendError::Address { host, address },
        None => SendError::Connection(error.without_url().into()),
    }
}

impl fmt::Debug for OutboxSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutboxSender").field(&self.settings).finish()
    }
}
