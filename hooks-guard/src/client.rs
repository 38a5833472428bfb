//! Speaks to a service that runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode, header};
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

/// The longest answer that is read, in bytes: a page of the trail has at most 1000 records.
const MOST: usize = 64 << 20;

/// Where a service listens (P-16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// On an address of this machine.
    Tcp(SocketAddr),
    /// On a Unix socket.
    Unix(PathBuf),
}

/// Speaks to a service that runs (P-16); a connection for each request.
#[derive(Clone, Debug)]
pub struct Client {
    address: Address,
    token: Option<String>,
}

/// Why there is no answer (P-16).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nothing listens there.
    #[error("no service listens there; start it with `hooks-guard serve`")]
    Away(#[source] std::io::Error),
    /// The answer took too long.
    #[error("no answer within {} ms; see whether the service is busy", .0.as_millis())]
    Late(Duration),
    /// What came is no answer of the service.
    #[error("the answer is none of this service; see what listens there")]
    Strange,
    /// The service refused.
    #[error("{error} ({code})")]
    Refused {
        /// With which status.
        status: u16,
        /// Why, for programs.
        code: String,
        /// Why, for people.
        error: String,
    },
}

impl Client {
    /// Speaks to the service there.
    #[must_use]
    pub fn new(address: Address) -> Self {
        Self {
            address,
            token: None,
        }
    }

    /// Presents the operator's token with answers to questions, with deletions, and with reads of
    /// events, of open questions and of the trail, for which the service has places of its own for
    /// the operator. Everything else is sent without: what captures the connection would have it.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Asks for something.
    ///
    /// # Errors
    /// When there is no answer in this time, or one that is an error.
    pub async fn get(&self, path: &str, limit: Duration) -> Result<Value, ClientError> {
        self.send(Method::GET, path, None, limit).await
    }

    /// Sends something.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn post(
        &self,
        path: &str,
        body: &Value,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        self.send(Method::POST, path, Some(body), limit).await
    }

    /// Takes something away.
    ///
    /// # Errors
    /// As [`get`](Self::get).
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
        let whole = async {
            let (response, _connection) = self.ask(method, path, body).await?;
            let status = response.status();
            let bytes = Limited::new(response.into_body(), MOST).collect().await;
            let bytes = bytes.map_err(|_| ClientError::Strange)?.to_bytes();
            answer(status, &bytes)
        };
        timeout(limit, whole)
            .await
            .map_err(|_| ClientError::Late(limit))?
    }

    /// Listens to what happens, from now on or from behind the event of this number.
    ///
    /// # Errors
    /// As [`get`](Self::get), where the first answer does not come in this time.
    pub async fn events(
        &self,
        after: Option<&str>,
        limit: Duration,
    ) -> Result<Events, ClientError> {
        let path = match after {
            Some(id) => format!("/api/hooks/events?after={id}"),
            None => "/api/hooks/events".to_owned(),
        };
        let begun = timeout(limit, async {
            let (response, connection) = self.ask(Method::GET, &path, None).await?;
            let status = response.status();
            let body = response.into_body();
            if status != StatusCode::OK {
                let bytes = Limited::new(body, MOST).collect().await;
                let bytes = bytes.map_err(|_| ClientError::Strange)?.to_bytes();
                answer(status, &bytes)?;
                return Err(ClientError::Strange);
            }
            Ok(Events {
                body,
                read: Vec::new(),
                _connection: connection,
            })
        });
        begun.await.map_err(|_| ClientError::Late(limit))?
    }

    /// Sends a request on a connection of its own, and reads the head of the answer.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(Response<Incoming>, Connection), ClientError> {
        let strange = |_: hyper::Error| ClientError::Strange;
        let (stream, host): (Box<dyn Stream>, String) = match &self.address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address).await;
                (
                    Box::new(stream.map_err(ClientError::Away)?),
                    address.to_string(),
                )
            }
            Address::Unix(socket) => {
                let stream = UnixStream::connect(socket).await;
                (
                    Box::new(stream.map_err(ClientError::Away)?),
                    "localhost".to_owned(),
                )
            }
        };
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(strange)?;
        let connection = Connection(tokio::spawn(async move {
            // How it ended shows in the answer.
            let _ = connection.await;
        }));
        let token = self.token.as_ref().filter(|_| needs_token(&method, path));
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, host)
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = request.body(body).map_err(|_| ClientError::Strange)?;
        let response = sender.send_request(request).await.map_err(strange)?;
        Ok((response, connection))
    }
}

/// The path to which the operator's answers are sent.
const ANSWERS: &str = "/api/hooks/permission-response";

/// The path to which many denials are sent at once.
const DENIALS: &str = "/api/hooks/pending/deny";
/// What the operator reads while others may keep the service busy.
const READS: [&str; 3] = [
    "/api/hooks/events",
    "/api/hooks/pending",
    "/api/hooks/decisions",
];

/// Returns whether the operator's token goes with a request: the service wants it, or has a place
/// of its own for the operator among those who read.
fn needs_token(method: &Method, path: &str) -> bool {
    let route = path.split('?').next().unwrap_or(path);
    match *method {
        Method::DELETE => true,
        Method::POST => route == ANSWERS || route == DENIALS,
        Method::GET => READS.contains(&route),
        _ => false,
    }
}

/// Where requests are written and answers read.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection, which ends with its value.
#[derive(Debug)]
struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What happens, as it happens; see the service's `GET /api/hooks/events` (P-15).
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    /// What came behind the last event.
    read: Vec<u8>,
    _connection: Connection,
}

/// Something that happened (P-15).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its number, for who comes back; `hello` has that of the event before.
    pub id: Option<String>,
    /// What: `asked`, `answered`…
    pub kind: String,
    /// To what, as JSON.
    pub data: String,
}

impl Events {
    /// The next one; none when the service ends. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// When nothing at all comes in this time, which the service does not let happen for longer
    /// than 15 seconds, or the connection is cut.
    pub async fn next(&mut self, limit: Duration) -> Result<Option<Event>, ClientError> {
        loop {
            while let Some(end) = end_of_event(&self.read) {
                let block: Vec<u8> = self.read.drain(..end).collect();
                let event = parse(&String::from_utf8_lossy(&block));
                // A comment keeps the connection alive, and says nothing.
                if !event.kind.is_empty() || !event.data.is_empty() {
                    return Ok(Some(event));
                }
            }
            if self.read.len() > MOST {
                return Err(ClientError::Strange);
            }
            let frame = timeout(limit, self.body.frame()).await;
            match frame.map_err(|_| ClientError::Late(limit))? {
                None => return Ok(None),
                Some(Err(_)) => return Err(ClientError::Strange),
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.read.extend_from_slice(data);
                    }
                }
            }
        }
    }
}

/// Behind the empty line that ends an event.
fn end_of_event(read: &[u8]) -> Option<usize> {
    let pair = read.windows(2).position(|pair| pair == b"\n\n");
    pair.map(|at| at + 2)
}

fn parse(block: &str) -> Event {
    let mut event = Event::default();
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => event.kind = value.to_owned(),
            "id" => event.id = Some(value.to_owned()),
            "data" if event.data.is_empty() => event.data = value.to_owned(),
            "data" => {
                event.data.push('\n');
                event.data.push_str(value);
            }
            _ => {}
        }
    }
    event
}

/// The body of an answer, or why there is none.
fn answer(status: StatusCode, bytes: &[u8]) -> Result<Value, ClientError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|_| ClientError::Strange)?;
    match status {
        StatusCode::OK => Ok(value),
        status => Err(ClientError::Refused {
            status: status.as_u16(),
            code: text(&value, "code").ok_or(ClientError::Strange)?,
            error: text(&value, "error").ok_or(ClientError::Strange)?,
        }),
    }
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Event, end_of_event, parse};

    #[test]
    fn an_event_ends_with_an_empty_line() {
        assert_eq!(end_of_event(b"event: asked\ndata: {}\n"), None);
        assert_eq!(end_of_event(b"event: asked\n\nid: 4"), Some(14));
    }

    #[test]
    fn an_event_has_a_number_a_kind_and_data() {
        let event = parse("id: 7\nevent: asked\ndata: {\ndata:}\nretry: 1000\n\n");
        assert_eq!(
            event,
            Event {
                id: Some("7".to_owned()),
                kind: "asked".to_owned(),
                data: "{\n}".to_owned(),
            }
        );
        assert_eq!(parse(": here\n\n"), Event::default());
    }
}
