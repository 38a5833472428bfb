//! The streams: byte for byte, in order, bounded, and their ends.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Connection, Home, Lines, notification, terminal, wait};

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

#[test]
fn the_end_of_the_client_ends_the_agent_with_its_status() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let (status, _home) = connection.close();
    assert_eq!(status.code(), Some(7));
}

fn run(home: &Home, script: &str) -> std::process::Child {
    home.acp(&[])
        .args(["sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

#[test]
fn the_status_and_the_last_output_of_the_agent_arrive() {
    let home = Home::new();
    let last = notification("last", &json!({}));
    let mut proxy = run(&home, &format!("echo '{last}'; echo trouble >&2; exit 3"));
    let stdout = Lines::of(proxy.stdout.take().expect("a pipe"));
    let stderr = Lines::of(proxy.stderr.take().expect("a pipe"));
    assert_eq!(stdout.next(), last);
    assert_eq!(stderr.bytes(), b"trouble\n");
    assert_eq!(wait(&mut proxy).code(), Some(3));
    let mut proxy = run(&home, "kill -KILL $$");
    assert_eq!(wait(&mut proxy).code(), Some(137));
    let output = home
        .acp(&[])
        .arg("/no/such/agent")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("cannot start the agent `/no/such/agent`"),
        "{stderr}"
    );
}

fn kill(signal: &str, proxy: &std::process::Child) {
    let sent = Command::new("kill")
        .args([signal, &proxy.id().to_string()])
        .status();
    assert!(sent.expect("it runs").success());
}

/// Returns `true` if this process ignores the signal, as programs that run under `nohup` do.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.map(|mask| u64::from_str_radix(mask.trim(), 16));
    mask.expect("the line exists").expect("a mask") >> (signal - 1) & 1 == 1
}

#[test]
fn signals_reach_the_agent() {
    let home = Home::new();
    for (signal, number, status) in [("TERM", 15, 31), ("INT", 2, 32), ("HUP", 1, 33)] {
        // The agent inherits this, and a shell cannot trap such a signal.
        if is_ignored(number) {
            continue;
        }
        let traps = "trap 'exit 31' TERM; trap 'exit 32' INT; trap 'exit 33' HUP";
        let ready = notification("ready", &json!({}));
        let mut proxy = run(
            &home,
            &format!("{traps}; echo '{ready}'; while :; do sleep 0.1; done"),
        );
        let stdout = Lines::of(proxy.stdout.take().expect("a pipe"));
        stdout.next();
        kill(&format!("-{signal}"), &proxy);
        assert_eq!(wait(&mut proxy).code(), Some(status), "{signal}");
    }
}

/// An agent that ignores the end of its input gets time, then a signal, and then is killed.
#[test]
fn an_agent_that_does_not_end_is_ended() {
    let home = Home::new();
    let ready = notification("ready", &json!({}));
    let script = format!("trap '' TERM; echo '{ready}'; while :; do sleep 0.1; done");
    let mut proxy = run(&home, &script);
    let stdout = Lines::of(proxy.stdout.take().expect("a pipe"));
    stdout.next();
    let began = Instant::now();
    drop(proxy.stdin.take());
    assert_eq!(wait(&mut proxy).code(), Some(137));
    let took = began.elapsed();
    assert!(
        took > Duration::from_secs(6) && took < Duration::from_secs(20),
        "{took:?}"
    );
}

/// If the proxy is killed, the agent sees the end of its input.
#[test]
fn the_agent_ends_with_a_killed_proxy() {
    let mut connection = Connection::new();
    connection.start_session(1);
    kill("-KILL", &connection.proxy);
    connection.agent_reads.ends();
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
