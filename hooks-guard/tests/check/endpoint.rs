//! A test server in place of a language model.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

/// Behaviour of the endpoint.
#[derive(Clone, Copy)]
pub(crate) enum Behavior {
    /// Responds that the command deletes something.
    Responds,
    /// Never responds.
    Hangs,
    /// Responds with this status.
    Fails(u16),
}

pub(crate) struct Endpoint {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    /// Starts the server; it ends with the test.
    pub(crate) fn start(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                answer(&mut stream, behavior, &seen);
            }
        });
        Self { url, requests }
    }

    /// Returns the heads and bodies of the requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(stream: &mut TcpStream, behavior: Behavior, seen: &Mutex<Vec<String>>) {
    let Some(request) = receive(stream) else {
        return;
    };
    seen.lock().unwrap().push(request);
    let content = json!({
        "reasoning": "`frobnicate` wipes \u{1b}[2J",
        "classification": "DELETE",
        "confidence": 0.75,
    });
    let body = json!({
        "choices": [{
            "message": { "role": "assistant", "content": content.to_string() },
            "finish_reason": "stop",
        }],
    });
    let (status, body) = match behavior {
        Behavior::Responds => (200, body.to_string()),
        Behavior::Fails(status) => (status, String::new()),
        Behavior::Hangs => {
            // Wait until the client closes the connection.
            let _ = stream.read(&mut [0]);
            return;
        }
    };
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    // The client may have closed the connection.
    let _ = stream.write_all(response.as_bytes());
}

fn receive(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length: usize = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.parse().unwrap());
        if body.len() >= length {
            return Some(text.into_owned());
        }
    }
}
