//! A language model behind the service: when it is called, and what happens without an answer
//! (P-07, P-08).

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::daemon::{Daemon, Setup};

/// Starts a model server that returns this answer for every command; with `None`, it never
/// responds.
pub(crate) fn model(class_name: Option<&str>) -> String {
    let content = class_name.map(|class| {
        json!({ "reasoning": "the model says so", "classification": class, "confidence": 0.75 })
            .to_string()
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let content = content.clone();
            thread::spawn(move || answer(stream, content.as_deref()));
        }
    });
    url
}

fn answer(mut stream: TcpStream, content: Option<&str>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                break;
            }
        }
        match stream.read(&mut buffer) {
            Ok(count) if count > 0 => bytes.extend(&buffer[..count]),
            _ => return,
        }
    }
    let Some(content) = content else {
        // Stays open until the client gives up.
        let _ = stream.read(&mut buffer);
        return;
    };
    let body = json!({
        "id": "x", "object": "chat.completion", "created": 0, "model": "test-model",
        "choices": [{
            "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": content },
        }],
        "usage": { "total_tokens": 1 },
    })
    .to_string();
    // The client may have disconnected.
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

pub(crate) fn with_model(class_name: Option<&str>, timeout_ms: u32) -> Setup {
    let url = model(class_name);
    Setup::new().config(&format!(
        "[semantic]\nurl = \"{url}\"\nmodel = \"test-model\"\ntimeout_ms = {timeout_ms}\n"
    ))
}

fn with_silent_model() -> Daemon {
    with_model(None, 2_000).start()
}

#[test]
fn p_07_a_model_classifies_unknown_commands() {
    let daemon = with_model(Some("DELETE"), 1_500).start();
    let permission = daemon.ask("frobnicate-zq --x");
    assert_eq!(
        permission["classification_method"], "semantic",
        "{permission}"
    );
    assert_eq!(permission["classification"], "DELETE");
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    // It is not called for commands that the tables cover.
    assert_eq!(
        daemon.ask("mkdir out")["classification_method"],
        "pattern_match"
    );
    assert_eq!(daemon.ask("ls")["classification"], "READ");
    let health = daemon.get("/health").ok();
    assert_eq!(health["hooks"]["model_name"], "test-model", "{health}");
}

#[test]
fn p_08_a_model_that_does_not_respond_times_out() {
    let daemon = with_silent_model();
    let start = Instant::now();
    let permission = daemon.ask("frobnicate-zq --x");
    assert!(
        start.elapsed() >= Duration::from_millis(1_000),
        "it did not ask"
    );
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    assert_eq!(permission["classification"], "CREATE");
    assert_eq!(
        permission["reasoning"],
        "Classification timed out; defaulting to safest option"
    );
    assert_eq!(permission["confidence"].as_f64(), Some(0.0));
    assert_eq!(
        permission["explanation"],
        "The classifier could not determine the command type within 2 seconds. Defaulting to CREATE (safest) to require confirmation."
    );
    assert_eq!(permission["classification_method"], "fallback");
    // P-15: recorded like any other decision; P-28: counted as a fallback.
    let record = daemon.record(&permission["id"]);
    assert_eq!(record["classification"], "CREATE");
    assert_eq!(record["confidence"].as_f64(), Some(0.0));
    assert!(
        record["response_time_ms"].as_u64().unwrap() >= 1_000,
        "{record}"
    );
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(body["stats"]["timeout_classifications"], 1);
    let stats = daemon.get("/api/hooks/stats").ok();
    assert_eq!(stats["user_responses"]["timeouts"], 1);
    assert_eq!(stats["confidence"]["low_confidence_count"], 1);
    assert_eq!(record["user_response"], serde_json::Value::Null);
}

#[test]
fn p_08_a_slow_classification_does_not_delay_other_requests() {
    let daemon = with_silent_model();
    let port = daemon.port;
    let slow = thread::spawn(move || {
        crate::support::daemon::ask(&json!({ "command": "frobnicate-zq --x" })).send(port)
    });
    thread::sleep(Duration::from_millis(200));
    for _ in 0..5 {
        assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    }
    assert!(
        !slow.is_finished(),
        "other requests waited for the slow one"
    );
    assert_eq!(
        slow.join().unwrap().ok()["classification_method"],
        "fallback"
    );
}

#[test]
fn p_08_an_unreachable_model_allows_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = format!(
        "[semantic]\nurl = \"http://{address}/v1\"\nmodel = \"test-model\"\ntimeout_ms = 500\n"
    );
    let daemon = Setup::new().config(&config).start();
    let permission = daemon.ask("frobnicate-zq --x");
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    assert_eq!(
        daemon.get("/health").ok()["hooks"]["classifier_available"],
        true
    );
}
