//! Tests that the operator's token is sent only with requests that need it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use hooks_guard::client::{Address, Client, ClientError};
use hooks_guard::proof::ServiceKey;
use serde_json::json;

use crate::cli::Terminal;
use crate::support::daemon::{Daemon, Setup, TOKEN};

/// A proxy of a daemon that records what clients send.
struct Capture {
    port: u16,
    /// Bytes received on each connection.
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Capture {
    fn before(port: u16, listener: TcpListener) -> Self {
        let own = listener.local_addr().unwrap().port();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&sent);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else {
                    return;
                };
                let at = {
                    let mut all = all.lock().unwrap();
                    all.push(Vec::new());
                    all.len() - 1
                };
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let kept = Arc::clone(&all);
                thread::spawn(move || {
                    pass(from, to, |bytes| kept.lock().unwrap()[at].extend(bytes))
                });
                thread::spawn(move || pass(server, client, |_| {}));
            }
        });
        Self { port: own, sent }
    }

    /// Returns the requests by their first lines, and whether each contains the token.
    fn requests(&self) -> Vec<(String, bool)> {
        let sent = self.sent.lock().unwrap();
        // Each connection begins with a handshake, which has no body.
        let texts = sent.iter().map(|bytes| String::from_utf8_lossy(bytes));
        let parts = texts.flat_map(|text| {
            let (first, second) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
            [first.to_owned(), second.to_owned()]
        });
        let requests = parts.filter(|text| !text.is_empty()).map(|text| {
            let line = text.lines().next().unwrap_or_default();
            let line = line.trim_end_matches(" HTTP/1.1").to_owned();
            (line, text.contains(TOKEN))
        });
        requests.collect()
    }

    /// Asserts that there are requests as in `needs`, that they have the token, and that no others
    /// have it except those in `may`. A line may omit its query.
    #[track_caller]
    fn assert_token_only_on(&self, needs: &[&str], may: &[&str]) {
        let requests = self.requests();
        let is = |line: &str, of: &[&str]| {
            let route = line.split('?').next().unwrap_or(line);
            of.contains(&route)
        };
        for (line, has_token) in &requests {
            assert!(
                *has_token || !is(line, needs),
                "{line} without it: {requests:?}"
            );
            assert!(
                !*has_token || is(line, needs) || is(line, may),
                "{line} with it: {requests:?}"
            );
        }
        for line in needs {
            assert!(
                requests.iter().any(|(other, _)| is(other, &[line])),
                "{requests:?}"
            );
        }
        assert!(requests.len() > needs.len(), "{requests:?}");
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut keep: impl FnMut(&[u8])) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        keep(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

/// Starts a daemon with recorded clients.
fn captured() -> (Daemon, Capture) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let published = listener.local_addr().unwrap();
    let config = format!("published_address = '{published}'");
    let mut daemon = Setup::new().config(&config).start();
    let capture = Capture::before(daemon.port, listener);
    daemon.port = capture.port;
    (daemon, capture)
}

const ANSWER: &str = "POST /api/hooks/permission-response";
/// Reads for which the service reserves capacity for the operator.
const READS: [&str; 3] = [
    "GET /api/hooks/events",
    "GET /api/hooks/pending",
    "GET /api/hooks/decisions",
];

#[test]
fn approve_sends_the_token_only_with_answers_and_lists() {
    let (daemon, capture) = captured();
    daemon.ask("mkdir out");
    let mut terminal = Terminal::start(&daemon, &["approve"]);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    terminal.shows("[y] approve");
    terminal.send("y\n");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    capture.assert_token_only_on(&[ANSWER], &READS);
}

#[test]
fn watch_sends_the_token_only_with_answers_and_lists() {
    let (daemon, capture) = captured();
    daemon.ask("mkdir out");
    let mut terminal = Terminal::start(&daemon, &["watch"]);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send(&format!("{TOKEN}\n"));
    terminal.shows("1 pending question");
    // The first question, approved.
    terminal.send("\u{1b}[B");
    terminal.shows("mkdir out");
    terminal.send("y");
    terminal.shows("no pending questions");
    // The events are read again afterwards.
    daemon.ask("mkdir more");
    terminal.shows("1 pending question");
    capture.assert_token_only_on(&[ANSWER], &READS);
}

#[tokio::test]
async fn a_client_sends_the_token_only_with_requests_that_need_it() {
    let (daemon, capture) = captured();
    let id = daemon.ask("mkdir out")["id"].clone();
    let address = ([127, 0, 0, 1], daemon.port).into();
    let key = daemon.setup().folder().join("data/service.key");
    let key = ServiceKey::load(&key).unwrap();
    let client = Client::new(Address::Tcp(address))
        .with_token(TOKEN)
        .with_key(key);
    let limit = std::time::Duration::from_secs(60);
    for path in [
        "/health",
        "/api/hooks/pending",
        "/api/hooks/decisions",
        "/api/hooks/remembered",
    ] {
        client.get(path, limit).await.unwrap();
    }
    drop(client.events(None, limit).await.unwrap());
    let body = json!({ "command": "ls" });
    let request = client.post("/api/hooks/permission-request", &body, limit);
    request.await.unwrap();
    let body = json!({ "id": id, "response": "APPROVED", "remember": "always" });
    client
        .post("/api/hooks/permission-response", &body, limit)
        .await
        .unwrap();
    // No approval has this id.
    let _ = client.delete("/api/hooks/remembered/4711", limit).await;
    let needs = [&[ANSWER, "DELETE /api/hooks/remembered/4711"], &READS[..]].concat();
    capture.assert_token_only_on(&needs, &[]);
    // Without a key the client cannot know who would receive the token.
    let unproved = Client::new(Address::Tcp(address)).with_token(TOKEN);
    let before = capture.requests().len();
    let error = unproved.post("/api/hooks/permission-response", &body, limit);
    let error = error.await.unwrap_err();
    assert!(matches!(error, ClientError::Unproved(_)), "{error}");
    assert_eq!(capture.requests().len(), before);
}
