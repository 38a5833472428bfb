//! Tests processes that are stopped while they hold a lock on the database. The module's name lets its
//! long waits begin while other tests use the processors.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::daemon::{Daemon, signal};
use crate::support::has;

/// A process that holds the write lock and is stopped.
struct StoppedWriter(std::process::Child);

impl StoppedWriter {
    fn with_lock(database: &std::path::Path) -> Self {
        use std::io::{BufRead, BufReader, Write};
        let mut child = Command::new("sqlite3")
            .arg(database)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.as_mut().unwrap();
        let sql = b".timeout 30000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n";
        stdin.write_all(sql).unwrap();
        stdin.flush().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line.trim(), "locked");
        let stopped = Self(child);
        stopped.signal("STOP");
        stopped
    }

    fn signal(&self, name: &str) {
        signal(self.0.id(), name);
    }
}

impl Drop for StoppedWriter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the latency of the slowest of many clients; no response may allow a command.
#[track_caller]
fn slowest(port: u16, clients: usize) -> Duration {
    let asking: Vec<_> = (0..clients)
        .map(|number| {
            std::thread::spawn(move || {
                let begin = Instant::now();
                let command = format!("ls {number}");
                let answer = crate::support::daemon::ask(&json!({ "command": command })).send(port);
                (answer.status, begin.elapsed())
            })
        })
        .collect();
    let answers = asking.into_iter().map(|it| it.join().unwrap());
    answers
        .map(|(status, took)| {
            assert_eq!(status, 500);
            took
        })
        .max()
        .unwrap()
}

/// Longer than delays of a busy test machine, and far shorter than the added waits of all clients.
const SECOND: Duration = Duration::from_millis(1_000);

#[test]
fn a_process_stopped_in_a_transaction_does_not_delay_requests() {
    if !has("sqlite3") {
        return;
    }
    let mut daemon = Daemon::plain();
    let pending = daemon.ask("mkdir out")["id"].clone();
    let file = daemon.setup().database_file();
    let stopped = StoppedWriter::with_lock(&file);
    for clients in [1, 40] {
        let took = slowest(daemon.port, clients);
        assert!(took < SECOND, "{clients} clients: {took:?}");
    }
    // Also one after the other, while others wait.
    let port = daemon.port;
    let crowd = std::thread::spawn(move || slowest(port, 20));
    std::thread::sleep(Duration::from_millis(200));
    assert!(slowest(port, 1) < SECOND);
    assert!(crowd.join().unwrap() < SECOND);
    let begin = Instant::now();
    assert_eq!(daemon.respond(&pending, "APPROVED").status, 500);
    assert!(begin.elapsed() < SECOND);
    // Reads continue.
    daemon.get("/api/hooks/decisions").ok();
    assert_eq!(daemon.get("/health").status, 503, "it cannot write");

    // An agent's hook that decides alone, with a locked trail.
    let input = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "t",
    });
    let begin = Instant::now();
    let mut hook = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["hook", "claude-code", "--database"])
        .arg(format!("sqlite:{}", file.display()))
        .env("HOME", daemon.setup().home())
        .env("XDG_CONFIG_HOME", daemon.setup().home().join(".config"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut hook.stdin.take().unwrap(),
        input.to_string().as_bytes(),
    )
    .unwrap();
    let output = hook.wait_with_output().unwrap();
    let took = begin.elapsed();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!stdout.contains("\"allow\""), "{stdout}");
    assert!(took < SECOND, "{took:?}: {stdout}");

    stopped.signal("CONT");
    drop(stopped);
    assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    daemon.await_health(200);
    daemon.assert_healthy();
}
