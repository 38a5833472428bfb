//! HTTP server on this machine with scripted responses.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

type Responder = dyn Fn(&Request) -> Vec<u8> + Send + Sync;

pub(crate) struct Server {
    pub(crate) port: u16,
    responder: Arc<Mutex<Arc<Responder>>>,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// A request: its first line and headers, in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Builds a response from a status line, headers and a body.
pub(crate) fn response(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let headers: String = headers
        .iter()
        .map(|header| format!("{header}\r\n"))
        .collect();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(None).await
    }

    /// Starts a server, with `https` if a certificate is given.
    pub(crate) async fn start_with(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let responder: Arc<Mutex<Arc<Responder>>> = Arc::new(Mutex::new(Arc::new(|_| {
            self::response("404 Not Found", &[], "")
        })));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (responders, seen) = (Arc::clone(&responder), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (responders, seen) = (Arc::clone(&responders), Arc::clone(&seen));
                let tls = tls.clone();
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &responders, &seen).await,
                        Some(tls) => {
                            // A client that does not trust the certificate disconnects here.
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &responders, &seen).await;
                            }
                        }
                    }
                });
            }
        });
        Server {
            port,
            responder,
            requests,
        }
    }

    pub(crate) fn respond_with(
        &self,
        responder: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static,
    ) {
        *self.responder.lock().unwrap() = Arc::new(responder);
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

/// Responds to one request.
async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    responders: &Mutex<Arc<Responder>>,
    seen: &Mutex<Vec<Request>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let request = Request { head };
    seen.lock().unwrap().push(request.clone());
    let responder = Arc::clone(&responders.lock().unwrap());
    let response = responder(&request);
    if response.is_empty() {
        // Never responds, so that the client times out.
        std::future::pending::<()>().await;
    }
    let _ = stream.write_all(&response).await;
    let _ = stream.shutdown().await;
}
