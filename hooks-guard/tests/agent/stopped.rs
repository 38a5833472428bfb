//! Tests the hook with a stopped service, which accepts connections and sends nothing.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::{Connection, Executor};

use super::{Home, Service, decision_of, post_tool_use, pre_tool_use};

/// The guarantee is one second; a machine under load starts processes slowly.
const PATIENCE: Duration = Duration::from_millis(1800);

fn signal(service: &Service, name: &str) {
    let id = service.child.id().to_string();
    assert!(
        Command::new("kill")
            .args([name, &id])
            .status()
            .expect("`kill` runs")
            .success()
    );
}

#[test]
fn the_hook_decides_within_a_second_if_the_service_is_stopped() {
    let home = Home::new();
    let service = Service::start(&home);
    signal(&service, "-STOP");
    let mut times = Vec::new();
    for (agent, command, decision) in [
        ("claude-code", "rm -rf build", "ask"),
        ("codex", "rm -rf build", "deny"),
        ("claude-code", "git status", "allow"),
    ] {
        let began = Instant::now();
        let (actual, reason) = decision_of(&home.hook(agent, &[], &pre_tool_use(command, "1")));
        times.push(began.elapsed());
        assert_eq!(actual, decision, "{reason}");
    }
    assert!(times.iter().all(|time| *time < PATIENCE), "{times:?}");
    signal(&service, "-CONT");
    assert_eq!(home.trail().len(), 3, "the hook records each decision");
}

/// A stopped process keeps its locks.
#[test]
fn a_trail_locked_by_a_stopped_service_allows_nothing_within_a_second() {
    let home = Home::new();
    let service = Service::start(&home);
    home.hook("claude-code", &[], &pre_tool_use("mkdir a", "0"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let lock = runtime.block_on(async {
        let url = format!("sqlite:{}", home.database().display());
        let mut lock = sqlx::SqliteConnection::connect(&url)
            .await
            .expect("it opens");
        lock.execute("BEGIN IMMEDIATE")
            .await
            .expect("no other writer");
        lock
    });
    signal(&service, "-STOP");
    let mut times = Vec::new();
    for (agent, command, decision) in [
        ("claude-code", "rm -rf build", "ask"),
        ("codex", "rm -rf build", "deny"),
        ("claude-code", "git status", "ask"),
        ("codex", "git status", "deny"),
    ] {
        let began = Instant::now();
        let (actual, reason) = decision_of(&home.hook(agent, &[], &pre_tool_use(command, "1")));
        times.push(began.elapsed());
        assert_eq!(actual, decision, "{reason}");
        assert!(reason.contains("locked"), "{reason}");
    }
    let began = Instant::now();
    home.hook("claude-code", &[], &post_tool_use("mkdir a", "0"));
    times.push(began.elapsed());
    assert!(times.iter().all(|time| *time < PATIENCE), "{times:?}");
    drop(lock);
    signal(&service, "-CONT");
}

/// A busy service is not treated as stopped.
#[test]
fn a_busy_service_decides_instead_of_the_hook() {
    let home = Home::new();
    let service = Service::with(&home, "127.0.0.1:0", &["--rate-limit", "0"]);
    let service = Arc::new(service);
    let ends = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> = (0..4)
        .map(|number| {
            let (service, ends) = (Arc::clone(&service), Arc::clone(&ends));
            thread::spawn(move || {
                let command = format!("for f in a b; do mkdir -p $f/{number} && rm -r $f; done");
                let body = json!({"command": command, "asks_itself": true});
                while !ends.load(Ordering::Relaxed) {
                    service.send("POST", "/api/hooks/permission-request", &body);
                }
            })
        })
        .collect();
    let mut decided = 0;
    for number in 0..20 {
        let input = pre_tool_use("rm -rf build", &number.to_string());
        let (actual, reason) = decision_of(&home.hook("claude-code", &[], &input));
        assert_eq!(actual, "ask", "{reason}");
        decided += usize::from(!reason.contains("no response"));
    }
    ends.store(true, Ordering::Relaxed);
    for thread in busy {
        thread.join().expect("it was answered");
    }
    // A call may start while the machine is busy.
    assert!(decided >= 18, "{decided} of 20");
}
