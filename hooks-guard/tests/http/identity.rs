//! The handshake and the proofs of requests and responses, computed here from their specification.

use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::client::{Answer, Connection, Request};
use crate::support::daemon::{Daemon, Setup};

const CHALLENGE: &str = "abababababababababababababababababababababababababababababababab";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mac(key: &[u8], parts: &[&[u8]]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    hex(&mac.finalize().into_bytes())
}

/// Reads the key from a daemon's file.
fn key(daemon: &Daemon) -> Vec<u8> {
    let path = daemon.setup().folder().join("data/service.key");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(path).unwrap();
    let text = text.trim_end();
    assert_eq!(text.len(), 64);
    (0..32)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

fn identity(challenge: &str, address: &str) -> Request {
    Request::new("GET", "/api/hooks/identity")
        .header("X-Hooks-Guard-Challenge", challenge)
        .header("X-Hooks-Guard-Address", address)
}

fn exchange(connection: &mut Connection<TcpStream>, request: &Request) -> io::Result<Answer> {
    connection.write(&request.bytes("localhost"))?;
    connection.read()
}

/// Opens a connection and performs the handshake; returns the nonce, too.
fn handshake(daemon: &Daemon) -> (Connection<TcpStream>, String) {
    let mut connection = Connection::open(daemon.port);
    let address = format!("127.0.0.1:{}", daemon.port);
    let answer = exchange(&mut connection, &identity(CHALLENGE, &address))
        .unwrap()
        .ok();
    let nonce = answer["nonce"].as_str().unwrap().to_owned();
    let parts = ["hooks-guard service 1", CHALLENGE, &nonce, &address];
    assert_eq!(
        answer["proof"],
        mac(&key(daemon), &parts.map(str::as_bytes))
    );
    (connection, nonce)
}

/// Returns the proof of a request.
fn proof(daemon: &Daemon, nonce: &str, method: &str, path: &str, body: &str) -> String {
    let parts = [
        "hooks-guard request 1",
        CHALLENGE,
        nonce,
        method,
        path,
        body,
    ];
    mac(&key(daemon), &parts.map(str::as_bytes))
}

const ASK: &str = "/api/hooks/permission-request";

#[test]
fn the_service_proves_only_its_own_address() {
    let daemon = Daemon::plain();
    handshake(&daemon);
    let at = |address: &str| daemon.send(&identity(CHALLENGE, address));
    for address in [
        format!("127.0.0.1:{}", daemon.port ^ 1),
        format!("127.0.0.2:{}", daemon.port),
        format!("[::1]:{}", daemon.port),
        format!("localhost:{}", daemon.port),
        "unix".to_owned(),
        String::new(),
    ] {
        at(&address).error(403, "WRONG_ADDRESS");
    }
    let own = format!("127.0.0.1:{}", daemon.port);
    for challenge in [
        "",
        "00",
        &CHALLENGE[2..],
        &format!("{CHALLENGE}00"),
        &"x".repeat(64),
    ] {
        daemon
            .send(&identity(challenge, &own))
            .error(400, "MISSING_FIELD");
    }
    daemon
        .get("/api/hooks/identity")
        .error(400, "MISSING_FIELD");
    let one = at(&own).ok();
    assert_ne!(
        one["nonce"],
        at(&own).ok()["nonce"],
        "each connection has its own"
    );
}

#[test]
fn the_service_also_proves_its_published_address() {
    let daemon = Setup::new()
        .config("published_address = '127.0.0.1:4711'")
        .start();
    daemon.send(&identity(CHALLENGE, "127.0.0.1:4711")).ok();
    let own = format!("127.0.0.1:{}", daemon.port);
    daemon.send(&identity(CHALLENGE, &own)).ok();
    daemon
        .send(&identity(CHALLENGE, "127.0.0.1:4712"))
        .error(403, "WRONG_ADDRESS");
}

#[test]
fn a_response_to_a_signed_request_is_signed() {
    let daemon = Daemon::plain();
    let (mut connection, nonce) = handshake(&daemon);
    let command = json!({"command": "mkdir out"});
    let permission: Value = {
        let request = proof(&daemon, &nonce, "POST", ASK, &command.to_string());
        let sent = Request::new("POST", ASK).json(&command);
        let answer = exchange(
            &mut connection,
            &sent.header("X-Hooks-Guard-Proof", &request),
        );
        let answer = answer.unwrap();
        check(&daemon, &nonce, &request, &answer);
        answer.ok()
    };
    // Errors, long polls and refusals are signed as well.
    for path in [
        format!("/api/hooks/decisions/{}?wait=0", permission["id"]),
        "/api/hooks/decisions/4711".to_owned(),
        "/api/hooks/decisions?limit=x".to_owned(),
        "/no/such/path".to_owned(),
    ] {
        let request = proof(&daemon, &nonce, "GET", &path, "");
        let sent = Request::new("GET", &path).header("X-Hooks-Guard-Proof", &request);
        let answer = exchange(&mut connection, &sent).unwrap();
        check(&daemon, &nonce, &request, &answer);
    }
}

#[track_caller]
fn check(daemon: &Daemon, nonce: &str, request: &str, answer: &Answer) {
    let expected = mac(
        &key(daemon),
        &[
            b"hooks-guard response 1",
            CHALLENGE.as_bytes(),
            nonce.as_bytes(),
            request.as_bytes(),
            &answer.status.to_be_bytes(),
            &answer.body,
        ],
    );
    assert_eq!(
        answer.header("x-hooks-guard-proof"),
        Some(expected.as_str())
    );
}

#[test]
fn a_wrong_proof_is_refused_and_a_proof_is_optional() {
    let daemon = Daemon::plain();
    let command = json!({"command": "mkdir out"});
    let body = command.to_string();
    let send = |given: &str, connection: &mut Connection<TcpStream>| {
        let request = Request::new("POST", ASK).json(&command);
        exchange(connection, &request.header("X-Hooks-Guard-Proof", given)).unwrap()
    };
    let (mut connection, nonce) = handshake(&daemon);
    let right = proof(&daemon, &nonce, "POST", ASK, &body);
    let (_, other_nonce) = handshake(&daemon);
    for wrong in [
        String::new(),
        "00".to_owned(),
        right[1..].to_owned(),
        right.to_uppercase(),
        proof(&daemon, &nonce, "GET", ASK, &body),
        proof(&daemon, &nonce, "POST", "/api/hooks/pending", &body),
        proof(&daemon, &nonce, "POST", ASK, ""),
        // Proof for another connection.
        proof(&daemon, &other_nonce, "POST", ASK, &body),
    ] {
        let answer = send(&wrong, &mut connection);
        answer.error(403, "WRONG_PROOF");
        assert_eq!(answer.header("x-hooks-guard-proof"), None);
    }
    // On a connection without a handshake, no proof is valid.
    send(&right, &mut Connection::open(daemon.port)).error(403, "WRONG_PROOF");
    let decisions = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(
        decisions["pagination"]["total"], 0,
        "no refused request has a record"
    );
    send(&right, &mut connection).ok();
    let unproved = daemon.post(&command);
    assert_eq!(unproved.header("x-hooks-guard-proof"), None);
    unproved.ok();
}
