//! Outbound requests of hooks after an action. A run leaves them in its outbox; the host decides
//! whether to send them.

/// Name of the capability to make requests, as used in consents.
pub const HTTP: &str = "http";

/// A `POST` that a hook requested with `context.http.post(url, body)`. It is unchecked input from a
/// script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboundRequest {
    /// Target URL.
    pub url: String,
    /// Request body.
    pub body: String,
}

/// The requests of one run, within its limits.
#[derive(Debug)]
pub(crate) struct Outbox {
    requests: Vec<OutboundRequest>,
    max_requests: usize,
    bytes_left: usize,
}

impl Outbox {
    pub(crate) fn new(most: usize, bytes: usize) -> Self {
        Outbox {
            requests: Vec::new(),
            max_requests: most,
            bytes_left: bytes,
        }
    }

    /// Stores a request. Returns `false` if there is no room.
    pub(crate) fn add(&mut self, url: &[u8], body: &[u8]) -> bool {
        let room = self.bytes_left;
        let fits = |url: usize, body: usize| url.saturating_add(body) <= room;
        if self.requests.len() >= self.max_requests || !fits(url.len(), body.len()) {
            return false;
        }
        // Invalid UTF-8 grows when it is replaced.
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (url, body) = (text(url), text(body));
        if !fits(url.len(), body.len()) {
            return false;
        }
        self.bytes_left -= url.len() + body.len();
        self.requests.push(OutboundRequest { url, body });
        true
    }

    pub(crate) fn into_requests(self) -> Vec<OutboundRequest> {
        self.requests
    }
}
