//! Tests another program at the service's address: it receives only a challenge, and its responses
//! are ignored.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::{Home, Service, decision_of, pre_tool_use};

/// Response of a program that allows everything.
const ALLOW: &str = r#"{"decision":"AUTO_ALLOWED","classification":"READ","reasoning":"fine",
"confidence":1.0,"explanation":"","classification_method":"pattern_match",
"timestamp":"2026-01-01T00:00:00Z","id":1,"secret":"s","approved":true,
"nonce":"00","proof":"00","pending":[],"version":"0.1.0","user_response":"APPROVED"}"#;

/// A program that listens at the service's address.
struct Stranger {
    port: u16,
    received: Arc<Mutex<Vec<u8>>>,
}

impl Stranger {
    fn new(answer: impl Fn(&mut TcpStream, &[u8]) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (all, answer) = (Arc::clone(&received), Arc::new(answer));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut bytes = [0; 1 << 16];
                    while let Ok(count @ 1..) = stream.read(&mut bytes) {
                        all.lock().expect("no panic").extend(&bytes[..count]);
                        answer(&mut stream, &bytes[..count]);
                    }
                });
            }
        });
        Self { port, received }
    }

    /// Starts a program that sends this response to every request.
    fn responding(status: &'static str, body: &'static str) -> Self {
        Self::new(move |stream, _| {
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            );
        })
    }

    /// Starts a program that relays everything to this port, and changes the responses.
    fn relaying(
        port: u16,
        change: impl Fn(String) -> String + Send + Sync + Clone + 'static,
    ) -> Self {
        let real: Arc<Mutex<Option<TcpStream>>> = Arc::default();
        Self::new(move |stream, bytes| {
            let mut real = real.lock().expect("no panic");
            if real.is_none() {
                let there = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
                let mut from = there.try_clone().expect("a socket");
                let mut back = stream.try_clone().expect("a socket");
                let change = change.clone();
                thread::spawn(move || {
                    let mut bytes = [0; 1 << 16];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                        let _ = back.write_all(change(text).as_bytes());
                    }
                });
                *real = Some(there);
            }
            let _ = real.as_mut().expect("it is there").write_all(bytes);
        })
    }

    fn received(&self) -> String {
        String::from_utf8_lossy(&self.received.lock().expect("no panic")).into_owned()
    }

    /// Asserts that it received at most a challenge.
    #[track_caller]
    fn assert_only_a_challenge_received(&self) {
        let received = self.received();
        for request in received
            .split("\r\n\r\n")
            .filter(|request| !request.is_empty())
        {
            assert!(
                request.starts_with("GET /api/hooks/identity HTTP/1.1\r\n"),
                "{received}"
            );
            for line in request.lines().skip(1) {
                let name = line.split(':').next().unwrap_or_default();
                let known = [
                    "host",
                    "content-type",
                    "x-hooks-guard-challenge",
                    "x-hooks-guard-address",
                ];
                assert!(known.contains(&name), "`{line}` in {received}");
            }
        }
        for secret in ["build", "session", "/srv", "Bearer", "secret"] {
            assert!(!received.contains(secret), "`{secret}` in {received}");
        }
    }
}

/// Gives a home the key that a service would have created, and a service's address.
fn with_key(home: &Home, port: u16) {
    let key = home.database().with_file_name("service.key");
    std::fs::create_dir_all(key.parent().expect("a folder")).expect("a folder");
    std::fs::write(&key, format!("{}\n", "5a".repeat(32))).expect("a file");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).expect("it is ours");
    home.config(&format!("listen = '127.0.0.1:{port}'"));
}

/// Asserts that the hook decides without a service.
#[track_caller]
fn assert_decides_standalone(home: &Home) {
    let (decision, reason) =
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("rm -rf build", "1")));
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.starts_with("DELETE"), "{reason}");
    let (decision, reason) =
        decision_of(&home.hook("codex", &[], &pre_tool_use("rm -rf build", "2")));
    assert_eq!(decision, "deny", "{reason}");
    let read = home.hook("claude-code", &[], &pre_tool_use("git status", "3"));
    assert_eq!(decision_of(&read).0, "allow");
    assert_eq!(home.trail().len(), 3, "the hook records each decision");
}

#[test]
fn a_stranger_on_the_port_gets_only_a_challenge_and_is_rejected() {
    let forged = concat!(
        r#"{"nonce":"0000000000000000000000000000000000000000000000000000000000000000","#,
        r#""proof":"0000000000000000000000000000000000000000000000000000000000000000"}"#
    );
    let empty = r#"{"nonce":"","proof":""}"#;
    for (status, body) in [
        ("200 OK", ALLOW),
        ("200 OK", forged),
        ("200 OK", empty),
        ("200 OK", "true"),
        ("200 OK", ""),
        // A service of an earlier version.
        (
            "404 Not Found",
            r#"{"error":"unknown path","code":"NOT_FOUND"}"#,
        ),
        ("500 Internal Server Error", "x"),
    ] {
        let home = Home::new();
        let stranger = Stranger::responding(status, body);
        with_key(&home, stranger.port);
        assert_decides_standalone(&home);
        stranger.assert_only_a_challenge_received();
        assert_ne!(
            stranger.received(),
            "",
            "the service was asked for its identity"
        );
        let (_, reason) =
            decision_of(&home.hook("claude-code", &[], &pre_tool_use("rm -rf build", "4")));
        assert!(
            reason.contains("is not this user's hooks-guard"),
            "{body}: {reason}"
        );
    }
}

#[test]
fn a_silent_or_endless_response_does_not_delay_the_hook() {
    type Respond = fn(&mut TcpStream, &[u8]);
    let silent: Respond = |_, _| {};
    let cut: Respond = |stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"nonce\"");
        let _ = stream.shutdown(std::net::Shutdown::Both);
    };
    let slow: Respond = |stream, _| {
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
            .iter()
            .cycle()
        {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    };
    let endless: Respond = |stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(b"1000\r\n").is_ok() && stream.write_all(&[b' '; 4098]).is_ok() {}
    };
    // Data that is not HTTP, and data before the request.
    let junk: Respond = |stream, _| drop(stream.write_all(&[0; 1 << 20]));
    let eager: Respond = |stream, _| {
        let one = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{ALLOW}",
            ALLOW.len()
        );
        let _ = stream.write_all(one.repeat(8).as_bytes());
    };
    for says in [silent, cut, slow, endless, junk, eager] {
        let home = Home::new();
        let stranger = Stranger::new(says);
        with_key(&home, stranger.port);
        assert_decides_standalone(&home);
        stranger.assert_only_a_challenge_received();
    }
}

/// A response of the real service is useless to another process, immediately or later.
#[test]
fn a_relayed_or_replayed_proof_is_rejected() {
    let home = Home::new();
    let service = Service::start(&home);
    let relay = Stranger::relaying(service.port, |text| text);
    home.config(&format!("listen = '127.0.0.1:{}'", relay.port));
    assert_decides_standalone(&home);
    relay.assert_only_a_challenge_received();
    let request_text = relay.received();
    assert!(
        request_text.contains(&format!("x-hooks-guard-address: 127.0.0.1:{}", relay.port)),
        "{request_text}"
    );

    // A recorded proof for the service's address.
    let asked = format!(
        "GET /api/hooks/identity HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         X-Hooks-Guard-Challenge: {}\r\nX-Hooks-Guard-Address: 127.0.0.1:{}\r\n\r\n",
        "ab".repeat(32),
        service.port
    );
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).expect("it listens");
    stream.write_all(asked.as_bytes()).expect("it reads");
    let mut received = String::new();
    stream.read_to_string(&mut received).expect("it answers");
    assert!(received.starts_with("HTTP/1.1 200"), "{received}");
    let replay: &'static str = received.replace("connection: close\r\n", "").leak();
    let stranger = Stranger::new(|stream, _| drop(stream.write_all(replay.as_bytes())));
    let other = Home::new();
    let key = home.database().with_file_name("service.key");
    with_key(&other, stranger.port);
    std::fs::copy(&key, other.database().with_file_name("service.key")).expect("a copy");
    assert_decides_standalone(&other);
    stranger.assert_only_a_challenge_received();
}

/// A configured port mapping relays the handshake; a decision that was changed on the way has no
/// valid proof.
#[test]
fn a_response_changed_in_transit_is_rejected() {
    let home = Home::new();
    let reserved = TcpListener::bind("127.0.0.1:0").expect("a port");
    let between = reserved.local_addr().expect("a port").port();
    drop(reserved);
    home.config(&format!("published_address = '127.0.0.1:{between}'"));
    let service = Service::start(&home);
    let allow = |text: String| {
        let (asks, allows) = (r#""REQUIRES_CONFIRMATION""#, r#""AUTO_ALLOWED""#);
        // A replacement of equal length.
        text.replace(asks, &format!("{allows:0$}", asks.len()))
    };
    for (change, counts) in [(true, false), (false, true)] {
        let port = service.port;
        let listener = TcpListener::bind(("127.0.0.1", between)).expect("the port is free");
        let passing = thread::spawn(move || {
            let (mut one, _) = listener.accept().expect("the hook connects");
            drop(listener);
            let mut other = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            let (mut from, mut to) = (other.try_clone().unwrap(), one.try_clone().unwrap());
            let back = thread::spawn(move || {
                let mut bytes = [0; 1 << 16];
                while let Ok(count @ 1..) = from.read(&mut bytes) {
                    let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                    let text = if change { allow(text) } else { text };
                    let _ = to.write_all(text.as_bytes());
                }
            });
            let _ = std::io::copy(&mut one, &mut other);
            let _ = other.shutdown(std::net::Shutdown::Both);
            let _ = back.join();
        });
        home.config(&format!("listen = '127.0.0.1:{between}'"));
        let input = pre_tool_use("rm -rf build", "1");
        let (decision, reason) = decision_of(&home.hook("claude-code", &[], &input));
        passing.join().expect("no panic");
        assert_eq!(decision, "ask", "{reason}");
        let alone = reason.contains("is not this user's hooks-guard");
        assert_eq!(alone, !counts, "{reason}");
    }
}

#[test]
fn an_allow_of_the_service_needs_the_hooks_consent_or_an_approval() {
    let home = Home::new();
    let lax = home.path().join("lax.toml");
    std::fs::write(&lax, "dangerously_skip_confirmations = true").expect("a file");
    let lax = lax.to_str().expect("text");
    let trail = home.database();
    let trail = trail.to_str().expect("text");
    let with = ["--config", lax, "--database", trail];
    let service = Service::with(&home, "127.0.0.1:0", &with);
    let (decision, reason) =
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("rm -rf build", "1")));
    assert_eq!(decision, "ask", "{reason}");
    assert!(
        reason.contains("the service allows this command"),
        "{reason}"
    );
    let (decision, reason) =
        decision_of(&home.hook("codex", &[], &pre_tool_use("rm -rf build", "2")));
    assert_eq!(decision, "deny", "{reason}");
    // The hook and the service apply the same `deny` rules.
    let deny = "[[rule]]\neffect = 'deny'\nprogram = 'make'\nreason = 'not here'\n";
    home.rules(deny);
    let (decision, reason) =
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("make all", "3")));
    assert_eq!(
        (decision.as_str(), reason.contains("not here")),
        ("deny", true),
        "{reason}"
    );
    let read = home.hook("claude-code", &[], &pre_tool_use("git status", "4"));
    assert_eq!(decision_of(&read).0, "allow");
    // A request that the hook leaves to the agent's mode is not allowed by the service either.
    let mut left = pre_tool_use("mkdir build", "6");
    left["permission_mode"] = json!("auto");
    let left = home.hook("claude-code", &[], &left);
    assert!(left.status.success() && left.stdout.is_empty(), "{left:?}");
    drop(service);

    let service = Service::start(&home);
    let ask = json!({"command": "mkdir a", "session_id": "s", "cwd": "/srv",
        "agent": "claude-code"});
    let permission = service.send("POST", "/api/hooks/permission-request", &ask);
    let answer = json!({"id": permission["id"], "response": "APPROVED", "remember": "session"});
    service.send("POST", "/api/hooks/permission-response", &answer);
    let approved = home.hook("claude-code", &[], &pre_tool_use("mkdir a", "5"));
    assert_eq!(decision_of(&approved).0, "allow");
}

/// A key that other users can read proves nothing.
#[test]
fn a_key_readable_by_other_users_is_not_used() {
    let home = Home::new();
    let service = Service::start(&home);
    let key = home.database().with_file_name("service.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).expect("it is ours");
    let (decision, reason) =
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("mkdir a", "1")));
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("other users can read"), "{reason}");
    assert_eq!(home.trail().len(), 1, "the hook decides standalone");
    drop(service);
    let serve = home
        .command()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .output();
    let serve = serve.expect("it ends by itself");
    let stderr = String::from_utf8_lossy(&serve.stderr);
    assert!(
        !serve.status.success() && stderr.contains("other users can read"),
        "{stderr}"
    );
}

fn run(home: &Home, words: &[&str]) -> Output {
    home.command().args(words).output().expect("it runs")
}

#[test]
fn approve_and_doctor_report_a_stranger_and_send_nothing() {
    let home = Home::new();
    let stranger = Stranger::responding("200 OK", ALLOW);
    with_key(&home, stranger.port);
    for words in [
        &["approve"][..],
        &["approve", "1"],
        &["approve", "--deny", "1"],
    ] {
        let output = run(&home, words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{stderr}");
        assert!(
            stderr.contains("is not this user's hooks-guard"),
            "{stderr}"
        );
        assert!(output.stdout.is_empty(), "{output:?}");
    }
    let doctor = |state: &str| {
        let output = run(&home, &["doctor", "--json"]);
        let checks: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let checks = checks.as_array().expect("a list").iter();
        let daemon = checks.clone().find(|check| check["name"] == "daemon");
        let daemon = daemon.expect("a check").clone();
        assert_eq!(daemon["state"], state, "{daemon}");
        daemon["what"].as_str().unwrap_or_default().to_owned()
    };
    assert!(doctor("bad").contains("is not this user's hooks-guard"));
    stranger.assert_only_a_challenge_received();
    // Without a key, the client sends nothing.
    std::fs::remove_file(home.database().with_file_name("service.key")).expect("it is there");
    stranger.received.lock().expect("no panic").clear();
    let output = run(&home, &["approve", "1"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && stderr.contains("no key in"),
        "{stderr}"
    );
    assert!(doctor("bad").contains("no key in"));
    assert_decides_standalone(&home);
    assert_eq!(stranger.received(), "");
}

/// On a Unix socket, too, the service proves itself and decides.
#[test]
fn on_a_unix_socket_the_service_decides_and_a_stranger_does_not() {
    let home = Home::new();
    let socket = home.path().join("guard.sock");
    let service = Service::with(
        &home,
        "127.0.0.1:0",
        &["--socket", socket.to_str().expect("text")],
    );
    home.config(&format!("socket = '{}'", socket.display()));
    thread::scope(|scope| {
        scope.spawn(|| service.answer("APPROVED"));
        let allowed = home.hook("codex", &["--timeout", "30"], &pre_tool_use("mkdir a", "1"));
        assert!(allowed.status.success(), "{allowed:?}");
        assert!(allowed.stdout.is_empty(), "it runs: {allowed:?}");
    });
    drop(service);
    let _ = std::fs::remove_file(&socket);
    let listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let received = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&received);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = [0; 1 << 16];
            let count = stream.read(&mut bytes).unwrap_or(0);
            all.lock().expect("no panic").extend(&bytes[..count]);
            let length = ALLOW.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{ALLOW}"
            );
        }
    });
    let (decision, reason) = decision_of(&home.hook("codex", &[], &pre_tool_use("mkdir b", "2")));
    assert_eq!(decision, "deny", "{reason}");
    assert!(
        reason.contains("is not this user's hooks-guard"),
        "{reason}"
    );
    let received = String::from_utf8_lossy(&received.lock().expect("no panic")).into_owned();
    assert!(
        received.contains("x-hooks-guard-address: unix"),
        "{received}"
    );
    assert!(!received.contains("mkdir"), "{received}");
}

#[test]
fn a_service_on_all_addresses_proves_the_address_it_is_reached_by() {
    for (listen, reached) in [
        ("0.0.0.0", "0.0.0.0"),
        ("0.0.0.0", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.2"),
        ("127.0.0.1", "127.0.0.1"),
    ] {
        let home = Home::new();
        home.config("allow_remote = true");
        let service = Service::at(&home, &format!("{listen}:0"));
        home.config(&format!(
            "allow_remote = true\nlisten = '{reached}:{}'",
            service.port
        ));
        let asks = pre_tool_use("mkdir a", "1");
        let (decision, reason) = decision_of(&home.hook("claude-code", &[], &asks));
        assert_eq!(decision, "ask");
        assert!(
            !reason.contains("hooks-guard"),
            "{listen}, {reached}: {reason}"
        );
    }
}

/// If a service refuses a trail, a hook must not open the trail itself.
#[test]
fn a_standalone_hook_uses_an_approval_only_if_nothing_listens() {
    let home = Home::new();
    let service = Service::start(&home);
    let input = pre_tool_use("mkdir a", "1");
    let ask =
        || decision_of(&home.hook("claude-code", &["--unattended", "--timeout", "60"], &input));
    let (decision, reason) = thread::scope(|scope| {
        let asked = scope.spawn(ask);
        service.answer_with("APPROVED", &json!({"remember": "always"}));
        asked.join().expect("no panic")
    });
    assert_eq!(decision, "allow", "{reason}");
    drop(service);
    let (decision, reason) = ask();
    assert_eq!(decision, "allow", "{reason}");
    let stranger = Stranger::responding("200 OK", ALLOW);
    with_key(&home, stranger.port);
    let (decision, reason) = ask();
    assert_eq!(decision, "deny", "{reason}");
    assert!(
        reason.contains("is not this user's hooks-guard"),
        "{reason}"
    );
}

/// The default port of the service is that of many development servers.
#[test]
fn the_address_is_protected_only_while_a_service_of_this_user_may_listen_there() {
    fn decisions(home: &Home, port: u16) -> Vec<(String, String)> {
        let commands = [
            format!("curl -s http://localhost:{port}/health"),
            format!("curl -I http://127.0.0.1:{port}"),
            format!("for i in 1 2 3; do curl -sf localhost:{port} && break; sleep 1; done"),
            format!("redis-cli -p {port} ping"),
            format!("curl https://example.com:{port}/"),
        ];
        let ask = |(at, command): (usize, &String)| {
            decision_of(&home.hook("claude-code", &[], &pre_tool_use(command, &at.to_string())))
        };
        commands.iter().enumerate().map(ask).collect()
    }
    #[track_caller]
    fn assert_all(home: &Home, port: u16, expected: &str, reason: &str) {
        for (decision, given) in decisions(home, port) {
            assert_eq!(decision, expected, "{given}");
            assert!(given.contains(reason), "{given}");
        }
    }

    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("a port").port();
    drop(free);
    home.config(&format!("listen = '127.0.0.1:{port}'"));
    assert_all(&home, port, "allow", "");
    with_key(&home, port);
    assert_all(&home, port, "allow", "");

    for (status, body) in [("200 OK", "<!doctype html>"), ("404 Not Found", ALLOW)] {
        let home = Home::new();
        let server = Stranger::responding(status, body);
        with_key(&home, server.port);
        assert_all(&home, server.port, "allow", "");
        server.assert_only_a_challenge_received();
    }

    // A service that is stopped or overloaded cannot prove that it has the key.
    let home = Home::new();
    let silent = Stranger::new(|_, _| {});
    with_key(&home, silent.port);
    assert_all(&home, silent.port, "ask", "it may connect to the guard");

    let home = Home::new();
    let service = Service::start(&home);
    assert_all(&home, service.port, "ask", "it may connect to the guard");
}
