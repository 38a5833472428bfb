//! Client of a running service. In: an address, and optionally a key and a token. Out: responses as
//! JSON, and the stream of events.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode, header, request};
use hooks_runtime::model::provider::{SseEvent, SseParser};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::proof::{self, Handshake, ServiceKey};

/// Maximum size of a response, in bytes: a page of the trail has at most 1000 records.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Maximum size of a handshake's response, in bytes.
const MAX_IDENTITY_BYTES: usize = 4 << 10;

/// Address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address of this machine.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Client of a running service. It opens a connection for each request.
///
/// With a [key](Self::with_key), each connection begins with a handshake: the client sends only a
/// random challenge before the service has proved that it has the key, and ignores responses
/// without a proof. Without a key, the client never sends the operator's token.
#[derive(Clone, Debug)]
pub struct Client {
    address: Address,
    token: Option<String>,
    key: Option<ServiceKey>,
    handshake: Duration,
}

/// Error returned when a request has no valid response.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nothing listens at the address.
    #[error("no service listens there; start it with `hooks-guard serve`")]
    Unreachable(#[source] std::io::Error),
    /// The response took too long.
    #[error("no response within {} ms; check whether the service is busy", .0.as_millis())]
    Timeout(Duration),
    /// The service does not prove that it has the key: another program listens at the address, or a
    /// service of another version or user.
    #[error(
        "the program at {0} is not this user's hooks-guard; check which program listens there, \
         and restart `hooks-guard serve`"
    )]
    Unproved(String),
    /// The response does not have the format of the service.
    #[error("not a hooks-guard server; check which program listens there")]
    UnexpectedResponse,
    /// The service refused the request.
    #[error("{error} ({code})")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Error code, for programs.
        code: String,
        /// Error message, for people.
        error: String,
    },
}

impl Client {
    /// Creates a client of the service at this address.
    #[must_use]
    pub fn new(address: Address) -> Self {
        Self {
            address,
            token: None,
            key: None,
            handshake: Duration::MAX,
        }
    }

    /// Requires the service to prove that it has this key before anything is sent to it.
    #[must_use]
    pub fn with_key(mut self, key: ServiceKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Limits the time of connecting and of the proof.
    #[must_use]
    pub fn with_handshake_timeout(mut self, limit: Duration) -> Self {
        self.handshake = limit;
        self
    }

    /// Sends the operator's token with answers to questions, with deletions, and with reads of
    /// events, of pending questions and of the trail, for which the service reserves capacity for
    /// the operator, and of the changes of a question. Other requests are sent without it, because a program that intercepts the
    /// connection would get the token.
    ///
    /// Without a [key](Self::with_key), those requests fail, because any program that listens at
    /// the address would get the token.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sends a `GET` request.
    ///
    /// # Errors
    /// If there is no response within `limit`, or if it is an error.
    pub async fn get(&self, path: &str, limit: Duration) -> Result<Value, ClientError> {
        self.send(Method::GET, path, None, limit).await
    }

    /// Sends a `POST` request.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn post(
        &self,
        path: &str,
        body: &Value,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        self.send(Method::POST, path, Some(body), limit).await
    }

    /// Sends a `DELETE` request.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn delete(&self, path: &str, limit: Duration) -> Result<Value, ClientError> {
        self.send(Method::DELETE, path, None, limit).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        let whole = async { self.connect().await?.round_trip(method, path, body).await };
        timeout(limit, whole)
            .await
            .map_err(|_| ClientError::Timeout(limit))?
    }

    /// Subscribes to events, from now on or after the event with this id.
    ///
    /// # Errors
    /// As for [`get`](Self::get), if the first response does not arrive within `limit`.
    pub async fn events(
        &self,
        after: Option<&str>,
        limit: Duration,
    ) -> Result<ServiceEvents, ClientError> {
        let path = match after {
            Some(id) => format!("/api/hooks/events?after={id}"),
            None => "/api/hooks/events".to_owned(),
        };
        let begun = timeout(limit, async {
            let connected = self.connect().await?;
            let (response, connection, proved) =
                connected.send_request(Method::GET, &path, None).await?;
            let (status, given) = (response.status(), proof_of(&response));
            let body = response.into_body();
            if status != StatusCode::OK {
                let bytes = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
                let bytes = bytes
                    .map_err(|_| ClientError::UnexpectedResponse)?
                    .to_bytes();
                self.check(proved.as_ref(), status, &given, &bytes)?;
                answer(status, &bytes)?;
                return Err(ClientError::UnexpectedResponse);
            }
            self.check(proved.as_ref(), status, &given, proof::STREAM)?;
            Ok(ServiceEvents {
                body,
                parser: SseParser::with_limit(MAX_RESPONSE_BYTES),
                read: VecDeque::new(),
                _connection: connection,
            })
        });
        begun.await.map_err(|_| ClientError::Timeout(limit))?
    }

    /// Returns `true` if a program listens at the address. Sends nothing.
    pub async fn is_reachable(&self, limit: Duration) -> bool {
        let connected = async {
            match &self.address {
                Address::Tcp(address) => TcpStream::connect(address).await.is_ok(),
                Address::Unix(socket) => UnixStream::connect(socket).await.is_ok(),
            }
        };
        timeout(limit, connected).await.unwrap_or(false)
    }

    /// Connects for one request, and verifies the service's proof if the client has a key.
    ///
    /// # Errors
    /// If nothing listens, the service does not prove that it has the key, or the [handshake
    /// timeout](Self::with_handshake_timeout) expires.
    pub async fn connect(&self) -> Result<ServiceConnection<'_>, ClientError> {
        let begun = timeout(self.handshake, self.begin()).await;
        let (link, agreed) = begun.map_err(|_| ClientError::Timeout(self.handshake))??;
        Ok(ServiceConnection {
            client: self,
            link,
            agreed,
        })
    }

    async fn begin(&self) -> Result<(RequestConnection, Option<Handshake>), ClientError> {
        let (stream, host, reached): (Box<dyn ByteStream>, String, String) = match &self.address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address).await;
                let stream = stream.map_err(ClientError::Unreachable)?;
                // The handshake adds a round trip.
                let _ = stream.set_nodelay(true);
                // `0.0.0.0` is not an address that a client reaches.
                let reached = stream.peer_addr().map_err(ClientError::Unreachable)?;
                (Box::new(stream), address.to_string(), reached.to_string())
            }
            Address::Unix(socket) => {
                let stream = UnixStream::connect(socket).await;
                let stream = stream.map_err(ClientError::Unreachable)?;
                let reached = proof::UNIX.to_owned();
                (Box::new(stream), "localhost".to_owned(), reached)
            }
        };
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|_| ClientError::UnexpectedResponse)?;
        let connection = ConnectionTask(tokio::spawn(async move {
            // The response shows how the connection ended.
            let _ = connection.await;
        }));
        let mut link = RequestConnection {
            sender,
            host,
            connection,
        };
        let Some(key) = &self.key else {
            return Ok((link, None));
        };
        let agreed = self.handshake(&mut link, key.clone(), &reached).await?;
        Ok((link, Some(agreed)))
    }

    /// Performs the handshake with the service reached at this address.
    async fn handshake(
        &self,
        link: &mut RequestConnection,
        key: ServiceKey,
        address: &str,
    ) -> Result<Handshake, ClientError> {
        let challenge = proof::nonce();
        let request = link
            .request(&Method::GET, proof::IDENTITY)
            .header(proof::CHALLENGE, &challenge)
            .header(proof::ADDRESS, address);
        let response = link.send(request, Body::empty()).await?;
        let body = Limited::new(response.into_body(), MAX_IDENTITY_BYTES).collect();
        let body = body.await.map_err(|_| self.unverified())?.to_bytes();
        let identity: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (Some(nonce), Some(given)) = (text(&identity, "nonce"), text(&identity, "proof"))
        else {
            return Err(self.unverified());
        };
        let handshake = Handshake::new(key, challenge, nonce);
        match proof::matches(&given, &handshake.service_proof(address)) {
            true => Ok(handshake),
            false => Err(self.unverified()),
        }
    }

    /// Verifies the proof of a response, if the connection began with a handshake.
    fn check(
        &self,
        proved: Option<&ProvedRequest>,
        status: StatusCode,
        given: &str,
        covered: &[u8],
    ) -> Result<(), ClientError> {
        let Some(ProvedRequest { handshake, request }) = proved else {
            return Ok(());
        };
        let expected = handshake.response_proof(request, status.as_u16(), covered);
        match proof::matches(given, &expected) {
            true => Ok(()),
            false => Err(self.unverified()),
        }
    }

    fn unverified(&self) -> ClientError {
        ClientError::Unproved(self.address.to_string())
    }
}

/// A connection for one request. If the client has a key, the service has proved that it has it,
/// too.
#[derive(Debug)]
pub struct ServiceConnection<'a> {
    client: &'a Client,
    link: RequestConnection,
    agreed: Option<Handshake>,
}

impl ServiceConnection<'_> {
    /// Sends a `POST` request.
    ///
    /// # Errors
    /// As for [`Client::get`].
    pub async fn post(
        self,
        path: &str,
        body: &Value,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        let whole = self.round_trip(Method::POST, path, Some(body));
        timeout(limit, whole)
            .await
            .map_err(|_| ClientError::Timeout(limit))?
    }

    async fn round_trip(
        self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let client = self.client;
        let (response, connection, proved) = self.send_request(method, path, body).await?;
        let (status, given) = (response.status(), proof_of(&response));
        let bytes = Limited::new(response.into_body(), MAX_RESPONSE_BYTES)
            .collect()
            .await;
        let bytes = bytes
            .map_err(|_| ClientError::UnexpectedResponse)?
            .to_bytes();
        drop(connection);
        client.check(proved.as_ref(), status, &given, &bytes)?;
        answer(status, &bytes)
    }

    /// Sends a request, and reads the head of the response.
    async fn send_request(
        self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(Response<Incoming>, ConnectionTask, Option<ProvedRequest>), ClientError> {
        let Self {
            client,
            mut link,
            agreed,
        } = self;
        let token = client.token.as_ref().filter(|_| needs_token(&method, path));
        if token.is_some() && agreed.is_none() {
            return Err(client.unverified());
        }
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let mut request = link.request(&method, path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let proved = agreed.map(|handshake| ProvedRequest {
            request: handshake.request_proof(method.as_str(), path, &body),
            handshake,
        });
        if let Some(proved) = &proved {
            request = request.header(proof::PROOF, &proved.request);
        }
        let response = link.send(request, body.into()).await?;
        Ok((response, link.connection, proved))
    }
}

/// Data for verifying the response to a request.
struct ProvedRequest {
    handshake: Handshake,
    request: String,
}

/// Returns the proof of a response; empty if there is none.
fn proof_of(response: &Response<Incoming>) -> String {
    let proof = response.headers().get(proof::PROOF);
    let proof = proof.and_then(|proof| proof.to_str().ok());
    proof.unwrap_or_default().to_owned()
}

/// A connection for sending requests.
#[derive(Debug)]
struct RequestConnection {
    sender: http1::SendRequest<Body>,
    host: String,
    connection: ConnectionTask,
}

impl RequestConnection {
    fn request(&self, method: &Method, path: &str) -> request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
    }

    async fn send(
        &mut self,
        request: request::Builder,
        body: Body,
    ) -> Result<Response<Incoming>, ClientError> {
        let unexpected = |_: hyper::Error| ClientError::UnexpectedResponse;
        let request = request
            .body(body)
            .map_err(|_| ClientError::UnexpectedResponse)?;
        self.sender.ready().await.map_err(unexpected)?;
        self.sender.send_request(request).await.map_err(unexpected)
    }
}

/// Path for the operator's answers.
const ANSWERS: &str = "/api/hooks/permission-response";

/// Path for denying several questions.
const DENIALS: &str = "/api/hooks/pending/deny";
/// Reads for which the service reserves capacity for the operator.
const READS: [&str; 3] = [
    "/api/hooks/events",
    "/api/hooks/pending",
    "/api/hooks/decisions",
];

/// End of the path of a question's changes, which only the operator can read.
const CHANGES: &str = "/changes";

/// Returns `true` if a request carries the operator's token: the service requires it, or reserves
/// capacity for the operator.
fn needs_token(method: &Method, path: &str) -> bool {
    let route = path.split('?').next().unwrap_or(path);
    match *method {
        Method::DELETE => true,
        Method::POST => route == ANSWERS || route == DENIALS,
        Method::GET => READS.contains(&route) || route.ends_with(CHANGES),
        _ => false,
    }
}

/// Byte stream of a connection.
trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Task of a connection; aborted when dropped.
#[derive(Debug)]
struct ConnectionTask(JoinHandle<()>);

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Stream of the service's events; see `GET /api/hooks/events`.
#[derive(Debug)]
pub struct ServiceEvents {
    body: Incoming,
    parser: SseParser,
    /// Received events that were not returned yet.
    read: VecDeque<SseEvent>,
    _connection: ConnectionTask,
}

/// An event of the service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceEvent {
    /// Id of the event, for resuming; that of `hello` is the id of the previous event.
    pub id: Option<String>,
    /// Kind of the event: `asked`, `answered`…
    pub kind: String,
    /// Data of the event, as JSON.
    pub data: String,
}

impl ServiceEvents {
    /// Returns the next event, or `None` when the service closes the stream. Dropping the future
    /// loses nothing.
    ///
    /// # Errors
    /// If nothing arrives within `limit` (the service sends something at least every 15 seconds),
    /// or if the connection breaks.
    pub async fn next(&mut self, limit: Duration) -> Result<Option<ServiceEvent>, ClientError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(Some(ServiceEvent {
                    id: event.id,
                    kind: event.event,
                    data: event.data,
                }));
            }
            let frame = timeout(limit, self.body.frame()).await;
            match frame.map_err(|_| ClientError::Timeout(limit))? {
                None => return Ok(None),
                Some(Err(_)) => return Err(ClientError::UnexpectedResponse),
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        let events = self.parser.push(data);
                        self.read
                            .extend(events.map_err(|_| ClientError::UnexpectedResponse)?);
                    }
                }
            }
        }
    }
}

/// Returns the body of a response, or its error.
fn answer(status: StatusCode, bytes: &[u8]) -> Result<Value, ClientError> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|_| ClientError::UnexpectedResponse)?;
    match status {
        StatusCode::OK | StatusCode::ACCEPTED => Ok(value),
        status => Err(ClientError::Refused {
            status: status.as_u16(),
            code: text(&value, "code").ok_or(ClientError::UnexpectedResponse)?,
            error: text(&value, "error").ok_or(ClientError::UnexpectedResponse)?,
        }),
    }
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}
