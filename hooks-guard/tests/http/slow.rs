//! Clients that send their requests slowly, or never: an honest client is served all the same.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, UnixStream};

use super::load::room_for;
use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, ask};

/// Less than the ten seconds that a slow client may take, so an honest client does not wait for
/// one. A response takes milliseconds; the rest allows for a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// Requests that are sent byte by byte.
const TRICKLED: &[&[u8]] = &[
    // The head of a request.
    b"POST /api/hooks/permission-request HTTP/1.1\r\nHost: localhost\r\nX-Padding: aaaaaaaaaaaaaaaaaaaaaaaaaaa",
    // The body of a request.
    b"POST /api/hooks/permission-request HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n{\"command\": \"ls aaaaaaaaaaaaaaaaa",
    // Nothing at all.
    b"",
    // One request, and no other.
    b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

/// Many slow clients, which reconnect when they are disconnected.
struct SlowClients {
    stop: Arc<AtomicBool>,
    connected: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

struct SlowClient {
    stream: Option<TcpStream>,
    sent: usize,
}

impl SlowClients {
    fn start(port: u16, count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let connected = Arc::new(AtomicUsize::new(0));
        let (ends, counted) = (Arc::clone(&stop), Arc::clone(&connected));
        let thread = thread::spawn(move || {
            let mut clients: Vec<SlowClient> = Vec::new();
            clients.resize_with(count, || SlowClient {
                stream: None,
                sent: 0,
            });
            while !ends.load(Ordering::SeqCst) {
                for (at, client) in clients.iter_mut().enumerate() {
                    client.step(port, TRICKLED[at % TRICKLED.len()]);
                    if ends.load(Ordering::SeqCst) {
                        return;
                    }
                }
                let open = clients.iter().filter(|client| client.stream.is_some());
                counted.store(open.count(), Ordering::SeqCst);
                thread::sleep(Duration::from_millis(50));
            }
        });
        Self {
            stop,
            connected,
            thread: Some(thread),
        }
    }

    fn wait_for(&self, count: usize) {
        let start = Instant::now();
        while self.connected.load(Ordering::SeqCst) < count {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "they do not connect"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for SlowClients {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl SlowClient {
    fn step(&mut self, port: u16, request: &[u8]) {
        if self.stream.is_none() {
            let address = ([127, 0, 0, 1], port).into();
            let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5)).ok();
            self.stream = stream.filter(|stream| stream.set_nonblocking(true).is_ok());
            self.sent = 0;
        }
        let Some(stream) = &mut self.stream else {
            return;
        };
        // Most of the request first, then a byte at a time.
        let first = request.len().saturating_sub(20);
        let until = match self.sent {
            0 => first,
            sent => (sent + 1).min(request.len()),
        };
        match stream.write(&request[self.sent..until]) {
            Ok(sent) => self.sent += sent,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.stream = None,
        }
    }
}

#[track_caller]
fn assert_answered_soon(daemon: &Daemon, requests: usize) {
    for number in 0..requests {
        let start = Instant::now();
        let permission = daemon.ask(&format!("ls {number}"));
        let elapsed = start.elapsed();
        assert_eq!(permission["decision"], "AUTO_ALLOWED");
        eprintln!("request {number} was answered after {elapsed:?}");
        assert!(elapsed < SOON, "request {number} waited {elapsed:?}");
    }
}

#[test]
fn thousands_of_slow_clients_do_not_delay_other_requests() {
    let count = room_for(5_000);
    let mut daemon = Daemon::plain();
    let slow = SlowClients::start(daemon.port, count);
    slow.wait_for(count * 9 / 10);
    assert_answered_soon(&daemon, 20);
    // Like the operator.
    let id = daemon.ask("mkdir x")["id"].clone();
    let start = Instant::now();
    assert_eq!(daemon.respond(&id, "APPROVED").status, 200);
    assert!(start.elapsed() < SOON);
    drop(slow);
    daemon.assert_healthy();
}

#[test]
fn slow_clients_are_closed_if_file_descriptors_are_scarce() {
    // The configured limit is far above the limit of the system.
    let setup = Setup::new().config("max_connections = 100000").wrapper(&[
        "sh",
        "-c",
        "ulimit -n 256; exec \"$@\"",
        "sh",
    ]);
    let count = room_for(600);
    let mut daemon = setup.start();
    let slow = SlowClients::start(daemon.port, count);
    slow.wait_for(count / 2);
    assert_answered_soon(&daemon, 20);
    drop(slow);
    daemon.assert_healthy();
    let stderr = daemon.stderr();
    assert!(!stderr.contains("cannot accept a connection"), "{stderr}");
}

#[test]
fn idle_connections_below_the_limit_are_kept() {
    let daemon = Setup::new().config("max_connections = 32").start();
    let mut idle: Vec<_> = (0..20).map(|_| daemon.connect()).collect();
    assert_answered_soon(&daemon, 5);
    for connection in &mut idle {
        let request = Request::new("GET", "/health").bytes(&daemon.address);
        connection.write(&request).unwrap();
        connection.read().unwrap().ok();
    }
}

/// Sends a request in pieces over the Unix socket; returns the status of the response.
async fn send_in_pieces(socket: &std::path::Path, pieces: usize) -> Option<String> {
    let mut stream = UnixStream::connect(socket).await.ok()?;
    let request = ask(&json!({ "command": "ls" })).header("Connection", "close");
    let bytes = request.bytes("localhost");
    for piece in bytes.chunks(bytes.len().div_ceil(pieces)) {
        stream.write_all(piece).await.ok()?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    answer.get(9..12).map(str::to_owned)
}

#[tokio::test]
async fn a_client_with_many_connections_does_not_displace_others() {
    if !cfg!(target_os = "linux") {
        crate::support::left_out("other systems have but one address of the loopback");
        return;
    }
    let setup = Setup::new().config("max_connections = 32");
    let socket = setup.folder().join("guard.socket");
    let daemon = setup
        .argument("--socket")
        .argument(socket.display().to_string())
        .start();
    let port = daemon.port;
    let many = tokio::spawn(async move {
        let mut all = Vec::new();
        for number in 0_u64.. {
            // Another local address is not another client.
            let own = [127, 0, 1, number.to_le_bytes()[0].max(1)];
            let from = TcpSocket::new_v4().unwrap();
            from.bind((own, 0).into()).unwrap();
            if let Ok(stream) = from.connect(([127, 0, 0, 1], port).into()).await {
                all.push(stream);
            }
            if all.len() > 200 {
                all.drain(..100);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut answers = BTreeMap::new();
    for _ in 0..3 {
        // One second, in which two hundred other clients connect.
        let answer = send_in_pieces(&socket, 10).await;
        *answers.entry(answer).or_insert(0) += 1;
    }
    many.abort();
    assert_eq!(answers, BTreeMap::from([(Some("200".to_owned()), 3)]));
}

#[test]
fn long_polls_end_early_if_connections_are_scarce() {
    let daemon = Setup::new().config("max_connections = 16").start();
    let id = daemon.ask("mkdir x")["id"].clone();
    let target = format!("/api/hooks/decisions/{id}?wait=60");
    let waiting: Vec<_> = (0..40)
        .map(|_| {
            let connection = daemon.connect();
            let bytes = Request::new("GET", &target).bytes(&daemon.address);
            let mut stream = connection.stream();
            stream.write_all(&bytes).unwrap();
            connection
        })
        .collect();
    let start = Instant::now();
    assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(40), "{elapsed:?}");
    drop(waiting);
}
