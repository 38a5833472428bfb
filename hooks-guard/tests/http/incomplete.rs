//! Requests that never end. Each test waits for a timeout of the service, so this module is not the
//! last one: the tests after it use the processor meanwhile.

use std::io::Write;
use std::thread;
use std::time::Duration;

use crate::client::Connection;
use crate::daemon::Daemon;
use crate::wire::{TARGET, host, statuses};

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

#[test]
fn incomplete_head_is_cut_off() {
    assert_cut_off(|host| format!("POST {TARGET} HTTP/1.1\r\nHost: {host}\r\nConte").into_bytes());
}

#[test]
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

#[test]
fn incomplete_body_is_cut_off() {
    assert_cut_off(|host| {
        format!("POST {TARGET} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\n{{\"com")
            .into_bytes()
    });
}

#[test]
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
