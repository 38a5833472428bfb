//! The protocol below the requests: malformed, interrupted or unusual input.

use std::io::Read;
use std::net::Shutdown;

use serde_json::json;

use crate::support::daemon::{Daemon, ask};

pub(crate) const TARGET: &str = "/api/hooks/permission-request";

pub(crate) fn host(daemon: &Daemon) -> String {
    format!("127.0.0.1:{}", daemon.port)
}

/// Sends bytes on a separate connection; returns the response until the connection closes.
#[track_caller]
pub(crate) fn exchange(daemon: &Daemon, bytes: &[u8]) -> String {
    let mut connection = daemon.connect();
    // The service may close before it has read everything.
    let _ = connection.write(bytes);
    String::from_utf8_lossy(&connection.rest().unwrap()).into_owned()
}

pub(crate) fn statuses(answers: &str) -> Vec<&str> {
    answers
        .split("HTTP/1.")
        .skip(1)
        .map(|answer| &answer[2..5])
        .collect()
}

#[test]
fn wire_invalid_or_duplicate_lengths_are_refused() {
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    let body = r#"{"command":"ls"}"#;
    for lengths in [
        "Content-Length: x",
        "Content-Length: -1",
        "Content-Length: 16, 17",
        "Content-Length: +16",
        "Content-Length: 0x10",
        "Content-Length: 18446744073709551615",
        "Content-Length: 18446744073709551616",
        "Content-Length: 16\r\nContent-Length: 17",
        "Transfer-Encoding: identity, chunked\r\nContent-Length: 16",
        "Transfer-Encoding: xchunked",
    ] {
        let bytes = format!("POST {TARGET} HTTP/1.1\r\nHost: {host}\r\n{lengths}\r\n\r\n{body}");
        let answers = exchange(&daemon, bytes.as_bytes());
        for status in statuses(&answers) {
            assert!(
                status.starts_with('4') || status.starts_with("50"),
                "{lengths}: {answers}"
            );
        }
    }
    let recorded = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(recorded["pagination"]["total"], 0);
    daemon.assert_healthy();
}

#[test]
fn wire_a_smuggled_request_in_a_body_is_not_executed() {
    // Both lengths: a server that uses the other one would see a second request.
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    let inner = format!("GET /api/hooks/stats HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let bytes = format!(
        "POST {TARGET} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}",
        inner.len() + 5
    );
    let answers = exchange(&daemon, bytes.as_bytes());
    assert!(!answers.contains("total_decisions"), "{answers}");
    daemon.assert_healthy();
}

#[test]
fn wire_oversized_heads_are_refused() {
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    let long = "a".repeat(2_000_000);
    for bytes in [
        format!("GET /health?{long} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET /health HTTP/1.1\r\nHost: {host}\r\nX: {long}\r\n\r\n"),
        format!(
            "GET /health HTTP/1.1\r\nHost: {host}\r\n{}\r\n",
            "X: y\r\n".repeat(20_000)
        ),
    ] {
        let answers = exchange(&daemon, bytes.as_bytes());
        for status in statuses(&answers) {
            assert!(["400", "414", "431"].contains(&status), "{status}");
        }
    }
    daemon.assert_healthy();
}

#[test]
fn wire_a_chunked_body_is_read() {
    let daemon = Daemon::plain();
    let mut connection = daemon.connect();
    let head = format!(
        "POST {TARGET} HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        host(&daemon)
    );
    connection.write(head.as_bytes()).unwrap();
    for byte in br#"{"command":"mkdir out"}"# {
        connection
            .write(&[b"1\r\n", [*byte].as_slice(), b"\r\n"].concat())
            .unwrap();
    }
    connection.write(b"0\r\n\r\n").unwrap();
    let permission = connection.read().unwrap().ok();
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    assert_eq!(daemon.record(&permission["id"])["command"], "mkdir out");
}

#[test]
fn wire_an_endless_chunked_body_is_cut_off() {
    let mut daemon = Daemon::plain();
    let mut connection = daemon.connect();
    let head = format!(
        "POST {TARGET} HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        host(&daemon)
    );
    connection.write(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x1_0000));
    // 256 MB, unless the service stops it.
    let stopped = (0..4_096).any(|_| connection.write(chunk.as_bytes()).is_err());
    assert!(stopped, "256 MB were taken");
    // The response may have been lost with the connection.
    if let Ok(answer) = connection.read() {
        answer.error(413, "BODY_TOO_LARGE");
    }
    daemon.assert_healthy();
}

#[test]
fn wire_expect_100_continue_is_answered() {
    let daemon = Daemon::plain();
    let body = r#"{"command":"ls"}"#;
    let mut connection = daemon.connect();
    let head = format!(
        "POST {TARGET} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        host(&daemon),
        body.len()
    );
    connection.write(head.as_bytes()).unwrap();
    let mut start = [0; 12];
    connection.stream().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 100");
    connection.write(body.as_bytes()).unwrap();
    let mut rest = [0; 25];
    connection.stream().read_exact(&mut rest).unwrap();
    assert_eq!(&rest, b" Continue\r\n\r\nHTTP/1.1 200");
}

#[test]
fn wire_a_connection_is_reused_after_successes_and_errors() {
    let daemon = Daemon::plain();
    let mut connection = daemon.connect();
    let host = host(&daemon);
    for number in 0..50 {
        let body = if number % 3 == 0 {
            json!({})
        } else {
            json!({ "command": format!("ls {number}") })
        };
        connection.write(&ask(&body).bytes(&host)).unwrap();
        let answer = connection.read().unwrap();
        assert_eq!(answer.status, if number % 3 == 0 { 400 } else { 200 });
    }
}

#[test]
fn wire_pipelined_requests_are_answered_in_order() {
    let daemon = Daemon::plain();
    let host = host(&daemon);
    let mut bytes = Vec::new();
    for number in 0..30 {
        bytes.extend(ask(&json!({ "command": format!("mkdir {number}") })).bytes(&host));
        bytes.extend(format!("GET /nothing HTTP/1.1\r\nHost: {host}\r\n\r\n").bytes());
    }
    let mut connection = daemon.connect();
    connection.write(&bytes).unwrap();
    let mut last = 0;
    for number in 0..30 {
        let permission = connection.read().unwrap().ok();
        let id = permission["id"].as_i64().unwrap();
        assert!(id > last);
        last = id;
        let record = daemon.record(&permission["id"]);
        assert_eq!(record["command"], format!("mkdir {number}"));
        connection.read().unwrap().error(404, "NOT_FOUND");
    }
}

#[test]
fn wire_http_1_0_is_answered_and_closed() {
    let daemon = Daemon::plain();
    let body = r#"{"command":"mkdir out"}"#;
    let bytes = format!(
        "POST {TARGET} HTTP/1.0\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
        host(&daemon),
        body.len()
    );
    let mut connection = daemon.connect();
    connection.write(bytes.as_bytes()).unwrap();
    let answer = connection.read().unwrap();
    assert_eq!(answer.ok()["decision"], "REQUIRES_CONFIRMATION");
    assert!(answer.header("transfer-encoding").is_none());
    assert!(connection.rest().unwrap().is_empty(), "it was not closed");
}

#[test]
fn wire_http_1_0_does_not_bypass_the_host_check() {
    let mut daemon = Daemon::plain();
    let answers = exchange(&daemon, b"GET /api/hooks/decisions HTTP/1.0\r\n\r\n");
    let all = statuses(&answers);
    assert_eq!(all.len(), 1, "{answers}");
    assert!(["200", "400", "403"].contains(&all[0]), "{answers}");
    let evil = "GET /api/hooks/decisions HTTP/1.0\r\nHost: evil.example\r\n\r\n";
    let answers = exchange(&daemon, evil.as_bytes());
    assert_eq!(statuses(&answers), ["403"], "{answers}");
    daemon.assert_healthy();
}

#[test]
fn wire_a_half_closed_connection_is_answered_or_closed() {
    let mut daemon = Daemon::plain();
    let request = ask(&json!({ "command": "ls" })).bytes(&host(&daemon));
    let half_closed = |bytes: &[u8]| {
        let mut connection = daemon.connect();
        connection.write(bytes).unwrap();
        // It may be closed already.
        let _ = connection.stream().shutdown(Shutdown::Write);
        String::from_utf8_lossy(&connection.rest().unwrap()).into_owned()
    };
    for _ in 0..20 {
        let answers = half_closed(&request);
        assert!(
            answers.is_empty() || statuses(&answers) == ["200"],
            "{answers}"
        );
    }
    // In the middle of a head, of a body, and before either.
    for length in [0, 10, request.len() - 3] {
        let answers = half_closed(&request[..length]);
        for status in statuses(&answers) {
            assert!(status.starts_with('4'), "{answers}");
        }
    }
    daemon.assert_healthy();
}

#[test]
fn wire_disconnecting_clients_do_no_harm() {
    let mut daemon = Daemon::plain();
    let request = ask(&json!({ "command": "ls" })).bytes(&host(&daemon));
    for number in 0..200 {
        let mut connection = daemon.connect();
        // Complete requests whose responses are not read, and incomplete requests.
        connection
            .write(&request[..request.len() - number % 4])
            .unwrap();
    }
    daemon.assert_healthy();
    let total = &daemon.get("/api/hooks/decisions").ok()["pagination"]["total"];
    assert!(total.as_u64().unwrap() <= 50, "{total}");
}

#[test]
fn wire_an_unread_response_does_not_delay_other_requests() {
    let mut daemon = Daemon::plain();
    for number in 0..60 {
        daemon.ask(&format!("echo {number} {}", "a".repeat(9_000)));
    }
    let get = format!(
        "GET /api/hooks/decisions?limit=1000 HTTP/1.1\r\nHost: {}\r\n\r\n",
        host(&daemon)
    );
    let mut deaf = Vec::new();
    for _ in 0..20 {
        let mut connection = daemon.connect();
        connection.write(get.repeat(20).as_bytes()).unwrap();
        deaf.push(connection);
    }
    for _ in 0..20 {
        daemon.ask("mkdir out");
    }
    daemon.assert_healthy();
}
