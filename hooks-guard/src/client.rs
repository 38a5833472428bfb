//! Speaks to a service that runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
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

    /// Presents the operator's token.
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
            match &self.address {
                Address::Tcp(address) => {
                    let stream = TcpStream::connect(address).await;
                    self.over(stream.map_err(ClientError::Away)?, method, path, body)
                        .await
                }
                Address::Unix(socket) => {
                    let stream = UnixStream::connect(socket).await;
                    self.over(stream.map_err(ClientError::Away)?, method, path, body)
                        .await
                }
            }
        };
        timeout(limit, whole)
            .await
            .map_err(|_| ClientError::Late(limit))?
    }

    async fn over<S>(
        &self,
        stream: S,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let strange = |_: hyper::Error| ClientError::Strange;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(strange)?;
        let connection = tokio::spawn(connection);
        let host = match &self.address {
            Address::Tcp(address) => address.to_string(),
            Address::Unix(_) => "localhost".to_owned(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, host)
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = request.body(body).map_err(|_| ClientError::Strange)?;
        let response = sender.send_request(request).await.map_err(strange)?;
        let status = response.status();
        let bytes = Limited::new(response.into_body(), MOST).collect().await;
        connection.abort();
        let bytes = bytes.map_err(|_| ClientError::Strange)?.to_bytes();
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| ClientError::Strange)?;
        match status {
            StatusCode::OK => Ok(value),
            status => Err(ClientError::Refused {
                status: status.as_u16(),
                code: text(&value, "code").ok_or(ClientError::Strange)?,
                error: text(&value, "error").ok_or(ClientError::Strange)?,
            }),
        }
    }
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}
