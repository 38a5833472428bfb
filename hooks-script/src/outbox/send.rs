//! Sends what hooks asked for, to where the host allows it.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Url};

use crate::consent::{Permit, PermitVoid};
use crate::guard::{self, Allowed, Guard, Refused};
use crate::hook::ScriptHook;
use crate::outbox::{OutboundRequest, permits_http};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY: usize = 64 << 10;

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
    guard: Guard,
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
    /// The consent does not hold any more.
    #[error(transparent)]
    Permit(#[from] PermitVoid),
    /// The consent is for something else than requests of this version of this hook.
    #[error("the permit is not for requests of this hook; ask for one with `ConsentRequest::of`")]
    OtherPermit,
    /// What the hook gave as URL cannot be sent to.
    #[error("`{url}` is refused: {why}")]
    Url {
        /// What the hook gave, without user and password.
        url: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The host does not send there.
    #[error("`{host}` is not among the hosts that requests go to; add it with `allow_host`")]
    Host {
        /// Where the hook wants to send.
        host: String,
    },
    /// It leads to an address that is not public.
    #[error("`{host}` has the address `{address}`, which is not public")]
    Address {
        /// Where the hook wants to send.
        host: String,
        /// What that is.
        address: IpAddr,
    },
    /// The body is too long.
    #[error("the body has {bytes} bytes; at most {limit} are sent")]
    Body {
        /// What it has.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },
    /// It took too long.
    #[error("the server takes longer than {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The server answers with a status that is no success.
    #[error("the server answers with status {0}")]
    Status(u16),
    /// The connection fails.
    #[error("the request cannot be sent: {0}")]
    Connection(#[source] Box<dyn Error + Send + Sync>),
}

impl OutboxSender {
    /// The settings: no host is allowed yet.
    pub fn builder() -> OutboxSenderBuilder {
        OutboxSenderBuilder {
            hosts: BTreeSet::new(),
            timeout: TIMEOUT,
            max_body: MAX_BODY,
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
    /// Why it was not sent, or what came of it.
    pub async fn send(
        &self,
        hook: &ScriptHook,
        permit: &Permit,
        request: &OutboundRequest,
    ) -> Result<u16, SendError> {
        if !permits_http(permit, hook) {
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
            // It may hold anything.
            return refused("…".to_owned(), "it is no URL");
        };
        if let Err(why) = self.guard.check_form(&url) {
            return refused(url.origin().ascii_serialization(), why);
        }
        let host = url.host_str().unwrap_or_default();
        if !settings.hosts.contains(host) {
            let host = host.to_owned();
            return Err(SendError::Host { host });
        }
        if let Err(Refused(address)) = self.guard.check_address(&url) {
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
    /// Sends to this host: a name or an address, exactly, with any port.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.insert(host.into());
        self
    }

    /// How long a request may take; 10 seconds, unless given.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The most bytes of a body; 64 KiB, unless given.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sends to `http` URLs too, where everybody on the way can read along.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.allow_http = allow;
        self
    }

    /// Sends to addresses that are not public too.
    pub fn allow_private_addresses(mut self, allow: bool) -> Self {
        self.allow_private = allow;
        self
    }

    /// The sender.
    ///
    /// # Errors
    ///
    /// [`SendError::Connection`] if the system's trusted certificates cannot be used, and
    /// [`SendError::Url`] if a host that is allowed is none.
    pub fn build(mut self) -> Result<OutboxSender, SendError> {
        let hosts = std::mem::take(&mut self.hosts).into_iter();
        self.hosts = hosts
            .map(|host| {
                as_in_urls(&host).ok_or(SendError::Url {
                    url: host,
                    why: "a host is a name or an address, without scheme, port and path",
                })
            })
            .collect::<Result<_, _>>()?;
        let guard = Guard {
            allow_http: self.allow_http,
            allowed: match self.allow_private {
                true => Allowed::All,
                false => Allowed::These(Arc::default()),
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

/// A host as a parsed URL spells it, if it is one.
fn as_in_urls(host: &str) -> Option<String> {
    let mut url = Url::parse("https://host").ok()?;
    match host.parse() {
        Ok(address) => url.set_ip_host(address).ok()?,
        // Of a name with a port it would be the name alone.
        Err(_) if host.contains(':') && !host.starts_with('[') => return None,
        Err(_) => url.set_host(Some(host)).ok()?,
    }
    url.host_str().map(str::to_owned)
}

fn explain(host: String, error: reqwest::Error) -> SendError {
    match guard::refused(&error) {
        Some(Refused(address)) => SendError::Address { host, address },
        None => SendError::Connection(error.without_url().into()),
    }
}

impl fmt::Debug for OutboxSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutboxSender").field(&self.settings).finish()
    }
}
