//! The streams: byte for byte, in order, and bounded.

use std::io::{Read, Write};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Connection, Home, notification, terminal, wait};

#[test]
fn other_messages_pass_byte_for_byte_in_both_directions() {
    let mut connection = Connection::new();
    let lines = [
        "{\"jsonrpc\":\"2.0\",\"method\":\"_ext/x\",\"params\":{\"b\":1,\"a\":[1.50,1e2,\"\\u00e9é\u{2028}\"]}}\n",
        "  { \"method\" : \"y\" ,\t\"jsonrpc\" : \"2.0\", \"id\" : \"\\u0061\" , \"_meta\": {} }  \r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":null,\"unknown\":[]}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"\"}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":-3,\"method\":\"session/prompt\",\"params\":{\"prompt\":[]}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"initialize\",\"params\":7}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"session/new\",\"params\":[]}\n",
    ];
    for line in lines {
        connection.agent_bytes(line.as_bytes());
        connection.client_bytes(line.as_bytes());
    }
    for line in lines {
        let passed = connection.client_reads.bytes();
        assert_eq!(String::from_utf8_lossy(&passed), line);
        let passed = connection.agent_reads.bytes();
        assert_eq!(String::from_utf8_lossy(&passed), line);
    }
}

/// Allowed requests keep their place among the other messages.
#[test]
fn the_order_of_a_direction_is_kept() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let mut sent = Vec::new();
    for number in 0..20 {
        let message = match number % 2 {
            0 => terminal(100 + number, "ls", &[]),
            _ => notification("session/update", &json!({"number": number})),
        };
        connection.agent(&message);
        sent.push(message);
    }
    let got: Vec<Value> = sent
        .iter()
        .map(|_| connection.client_reads.next())
        .collect();
    assert_eq!(got, sent);
}

/// Returns the memory of a process in MiB.
fn memory(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.expect("its memory").split_whitespace();
    words
        .clone()
        .nth(1)
        .expect("a number")
        .parse::<usize>()
        .expect("a number")
        / 1024
}

/// A client that does not read slows the agent; the proxy stores little. Afterwards all 100 MB
/// arrive unchanged, while the other direction works all the time.
#[test]
fn a_slow_client_slows_the_agent() {
    let home = Home::new();
    let line = format!(
        "{}\n",
        notification("x", &json!("0123456789abcdef".repeat(4096)))
    );
    let count = (100 << 20) / line.len();
    let file = home.path().join("output");
    std::fs::write(&file, line.repeat(count)).expect("a file");
    let marker = home.path().join("done");
    let mut command = home.acp(&[]);
    command.args(["sh", "-c", r#"cat "$1"; touch "$2"; cat > "$3""#, "agent"]);
    command
        .arg(&file)
        .arg(&marker)
        .arg(home.path().join("input"));
    let mut proxy = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    thread::sleep(Duration::from_secs(3));
    assert!(!marker.exists(), "the agent wrote all its output");
    if cfg!(target_os = "linux") {
        let size = memory(proxy.id());
        assert!(size < 200, "{size} MiB");
    }
    let mut stdout = proxy.stdout.take().expect("a pipe");
    let reads = thread::spawn(move || {
        let mut all = Vec::new();
        stdout.read_to_end(&mut all).expect("it reads");
        all
    });
    let until = Instant::now() + Duration::from_secs(120);
    while !marker.exists() {
        assert!(Instant::now() < until, "the agent is still writing");
        thread::sleep(Duration::from_millis(50));
    }
    let message = format!("{}\n", notification("y", &json!({})));
    let mut stdin = proxy.stdin.take().expect("a pipe");
    stdin.write_all(message.as_bytes()).expect("it reads");
    drop(stdin);
    assert!(wait(&mut proxy).success());
    let got = reads.join().expect("it reads");
    assert!(
        got == std::fs::read(&file).expect("a file"),
        "{} bytes",
        got.len()
    );
    let input = std::fs::read_to_string(home.path().join("input")).expect("a file");
    assert_eq!(input, message);
}

/// The agent gets the variables that the proxy itself runs without.
#[test]
fn the_agent_gets_its_variables() {
    let home = Home::new();
    let script = r#"printf '{"jsonrpc":"2.0","method":"%s"}\n' "$PGHOST $OTHER""#;
    let output = home
        .acp(&["--agent", "x"])
        .args(["sh", "-c", script])
        .env("PGHOST", "db=1")
        .env("OTHER", "2")
        .output()
        .expect("it runs");
    let message: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(message["method"], "db=1 2");
}

#[test]
fn the_proxy_needs_a_command() {
    let output = Home::new().command().arg("acp").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}
