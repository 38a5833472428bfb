//! Requests that never end. Each check waits for a timeout of the service, so one test runs all of
//! them: the other tests use the processor meanwhile.

use std::io::Write;
use std::thread;
use std::time::Duration;

use super::wire::{TARGET, exchange, host, statuses};
use crate::support::client::Connection;
use crate::support::daemon::Daemon;

#[test]
fn incomplete_requests_are_never_a_success() {
    thread::scope(|scope| {
        for check in [
            incomplete_head_is_cut_off,
            incomplete_head_sent_slowly_is_cut_off,
            incomplete_body_is_cut_off,
            incomplete_body_sent_slowly_is_answered_with_408,
            incomplete_or_invalid_http_is_never_a_success,
            incomplete_or_invalid_chunks_are_refused,
        ] {
            scope.spawn(check);
        }
    });
}

/// Sends part of a request and stops: others are served meanwhile, and the connection is closed
/// finally.
#[track_caller]
fn assert_cut_off(bytes: impl Fn(&str) -> Vec<u8>) {
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    let mut slow: Vec<Connection> = (0..40)
        .map(|_| {
            let mut connection = daemon.connect();
            connection.write(&bytes(&host)).unwrap();
            connection
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    }
    for connection in &mut slow {
        let rest = connection.rest().expect("the connection is not closed");
        let rest = String::from_utf8_lossy(&rest).into_owned();
        for status in statuses(&rest) {
            assert!(status == "408" || status == "400", "{rest}");
        }
    }
    daemon.assert_healthy();
    let total = &daemon.get("/api/hooks/decisions").ok()["pagination"]["total"];
    assert_eq!(*total, 20);
}

fn incomplete_head_is_cut_off() {
    assert_cut_off(|host| format!("POST {TARGET} HTTP/1.1\r\nHost: {host}\r\nConte").into_bytes());
}

fn incomplete_body_sent_slowly_is_answered_with_408() {
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    // Together, because each takes the whole timeout.
    let started = [TARGET, "/api/hooks/decisions/1/executed"].map(|target| {
        let mut connection = daemon.connect();
        let head =
            format!("POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n");
        connection.write(head.as_bytes()).unwrap();
        // Never silent for long, never finished.
        let mut writing = connection.stream().try_clone().unwrap();
        thread::spawn(move || {
            while writing.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(200));
            }
        });
        connection
    });
    for mut connection in started {
        let answer = connection.read().unwrap();
        answer.error(408, "BODY_TOO_SLOW");
        assert_eq!(answer.header("connection"), Some("close"));
    }
    daemon.assert_healthy();
}

fn incomplete_body_is_cut_off() {
    assert_cut_off(|host| {
        format!("POST {TARGET} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\n{{\"com")
            .into_bytes()
    });
}

fn incomplete_head_sent_slowly_is_cut_off() {
    // Never silent for long, never finished.
    let mut daemon = Daemon::plain();
    let mut connection = daemon.connect();
    let head = format!("GET /health HTTP/1.1\r\nHost: {}\r\n", host(&daemon));
    connection.write(head.as_bytes()).unwrap();
    let cut_off = (0..120).any(|number| {
        thread::sleep(Duration::from_secs(1));
        let drop = format!("X-{number}: y\r\n");
        connection.stream().write_all(drop.as_bytes()).is_err()
    });
    assert!(cut_off, "it waits for the end of a head for two minutes");
    daemon.assert_healthy();
}

fn incomplete_or_invalid_http_is_never_a_success() {
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    for bytes in [
        "GARBAGE\r\n\r\n".to_owned(),
        "\r\n\r\n\r\n".to_owned(),
        "\0\0\0\0\0\0\0\0".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        format!("GET /health HTTP/9.9\r\nHost: {host}\r\n\r\n"),
        format!("GET /health\r\nHost: {host}\r\n\r\n"),
        format!("GET  HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET /health HTTP/1.1\r\nHost: {host}\r\nbroken\r\n\r\n"),
        format!("GET /health HTTP/1.1\r\nHost: {host}\r\na b: c\r\n\r\n"),
        format!("GET /he\0alth HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET /health HTTP/1.1\r\nHost: {host}\r\nX: a\0b\r\n\r\n"),
    ] {
        let answers = exchange(&daemon, bytes.as_bytes());
        for status in statuses(&answers) {
            assert!(
                status.starts_with('4') || status == "505",
                "{bytes:?}: {answers}"
            );
        }
    }
    daemon.assert_healthy();
}

fn incomplete_or_invalid_chunks_are_refused() {
    let mut daemon = Daemon::plain();
    let host = host(&daemon);
    for chunks in [
        "zz\r\n{}\r\n0\r\n\r\n",
        "-1\r\n{}\r\n",
        "ffffffffffffffffff\r\n{}",
        "10\r\n{}\r\n0\r\n\r\n",
    ] {
        let bytes = format!(
            "POST {TARGET} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
        );
        let answers = exchange(&daemon, bytes.as_bytes());
        for status in statuses(&answers) {
            assert!(status.starts_with('4'), "{chunks:?}: {answers}");
        }
    }
    daemon.assert_healthy();
}
