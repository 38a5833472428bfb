//! The ends of the client, of the agent, of the proxy and of the service.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::service::connection;
use super::{Connection, Home, Lines, notification, terminal, wait};

/// The question outlives its service, but not without an answer.
#[test]
fn the_end_of_the_service_is_no_approval() {
    let (service, mut connection) = connection();
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    service.wait_for_question();
    drop(service);
    let reply = connection.agent_reads.next();
    assert_eq!(reply["error"]["code"], -32003, "{reply}");
    connection.client_reads.is_silent();
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
