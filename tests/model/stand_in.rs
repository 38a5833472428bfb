//! A local provider: an HTTP server that records its requests, and answers from a script, piece by
//! piece.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::kit::Log;

/// Returns a client that ignores proxies in the environment: the server is local.
pub(crate) fn http_client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// One piece of an answer.
pub(crate) enum Piece {
    /// These bytes are sent at once, and alone.
    Bytes(Vec<u8>),
    /// Waits until the test releases the answer.
    Gate,
    /// The connection breaks.
    Break,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: &'static str,
    pub(crate) pieces: Vec<Piece>,
}

impl Answer {
    /// Creates a stream of events.
    pub(crate) fn stream(pieces: impl IntoIterator<Item = Piece>) -> Self {
        Answer {
            status: 200,
            headers: "content-type: text/event-stream\r\n",
            pieces: pieces.into_iter().collect(),
        }
    }

    /// Creates the events of a text, cut every few bytes: in names, line ends and characters.
    pub(crate) fn cut(text: &str, size: usize) -> Self {
        let pieces = text.as_bytes().chunks(size);
        Answer::stream(pieces.map(|piece| Piece::Bytes(piece.to_vec())))
    }

    /// Creates an error.
    pub(crate) fn error(status: u16, headers: &'static str, body: &str) -> Self {
        Answer {
            status,
            headers,
            pieces: vec![Piece::Bytes(body.as_bytes().to_vec())],
        }
    }
}

/// Record of a request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The server, until it is dropped.
pub(crate) struct StandIn {
    pub(crate) url: String,
    gate: Arc<Semaphore>,
    received: Arc<Mutex<Vec<Received>>>,
    server: JoinHandle<()>,
}

impl StandIn {
    /// Creates a server that gives these answers, one a request.
    pub(crate) async fn new(log: &Log, answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (gate, received) = (Arc::new(Semaphore::new(0)), Arc::default());
        let mut answers: Vec<Answer> = answers.into_iter().collect();
        answers.reverse();
        let server = tokio::spawn({
            let (gate, received, log) = (Arc::clone(&gate), Arc::clone(&received), log.clone());
            async move {
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    let answer = answers.pop().expect("an answer for every request");
                    // A client that disconnects during an answer is not an error of the server.
                    let _ = serve(socket, answer, &gate, &received, &log).await;
                }
            }
        });
        StandIn {
            url,
            gate,
            received,
            server,
        }
    }

    /// Continues an answer after its next gate.
    pub(crate) fn pass_gate(&self) {
        self.gate.add_permits(1);
    }

    /// Returns the recorded requests.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(
    mut socket: TcpStream,
    answer: Answer,
    gate: &Semaphore,
    received: &Mutex<Vec<Received>>,
    log: &Log,
) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let request = receive(&mut socket).await?;
    let line = request.head.lines().next().unwrap_or_default();
    log.add(format_args!("http {}", line.trim_end_matches(" HTTP/1.1")));
    received.lock().unwrap().push(request);

    let Answer {
        status,
        headers,
        pieces,
    } = answer;
    let head = format!(
        "HTTP/1.1 {status} -\r\n{headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await?;
    for piece in pieces {
        match piece {
            Piece::Gate => gate.acquire().await.expect("it is never closed").forget(),
            Piece::Break => return Ok(()),
            Piece::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                socket.write_all(&chunk).await?;
                socket.flush().await?;
                // So that pieces arrive separately; the parser's tests cover other cases.
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        }
    }
    socket.write_all(b"0\r\n\r\n").await?;
    socket.shutdown().await
}

async fn receive(socket: &mut TcpStream) -> std::io::Result<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break String::from_utf8(bytes.drain(..end + 4).collect()).expect("a head is text");
        }
        more(socket, &mut bytes).await?;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse().expect("a length"))
    });
    while bytes.len() < length.expect("a body has a length") {
        more(socket, &mut bytes).await?;
    }
    let body = serde_json::from_slice(&bytes).expect("the body is JSON");
    Ok(Received { head, body })
}

async fn more(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    match socket.read_buf(bytes).await? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
