//! Tests a full disk, which a limit of the file size simulates. The module's name lets its long waits
//! begin while other tests use the processors.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::storage::assert_safe;
use crate::support::client::Answer;
use crate::support::daemon::{Daemon, Setup};
use crate::support::has;

/// Limits the file size of the daemon, which simulates a full disk.
#[track_caller]
fn limit(daemon: &Daemon, bytes: &str) {
    let status = Command::new("prlimit")
        .args(["--pid", &daemon.pid().to_string()])
        .arg(format!("--fsize={bytes}:"))
        .status()
        .unwrap();
    assert!(status.success());
}

/// Sends requests until one is refused; returns the number of decisions.
#[track_caller]
fn fill(daemon: &Daemon, round: usize) -> (u64, Answer) {
    for number in 0..20_000 {
        let command = format!("ls {number} {}", "a".repeat(9_000 - 800 * round));
        let answer = daemon.post(&json!({ "command": command }));
        if answer.status != 200 {
            return (number, answer);
        }
        assert_eq!(answer.ok()["decision"], "AUTO_ALLOWED");
    }
    panic!("the disk did not fill")
}

fn total(daemon: &Daemon) -> u64 {
    let body = daemon.get("/api/hooks/decisions?limit=1").ok();
    body["pagination"]["total"].as_u64().unwrap()
}

/// Starts a service with a decision whose file size can be limited; returns `None` if this machine
/// cannot set a limit.
fn with_limitable_files() -> Option<Daemon> {
    if !has("prlimit") || !has("sh") {
        return None;
    }
    let daemon = Setup::new()
        .wrapper(&["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .start();
    daemon.ask("ls");
    Some(daemon)
}

#[test]
fn full_disk_allows_nothing_and_loses_nothing() {
    let Some(mut daemon) = with_limitable_files() else {
        return;
    };
    // Repeatedly, because the write of a record may fail as well as its commit.
    for round in 0..10 {
        let before = total(&daemon);
        let files = crate::support::files_below(&daemon.setup().folder().join("data"));
        let longest = files
            .iter()
            .map(|file| fs::metadata(file).unwrap().len())
            .max();
        let bytes = longest.unwrap() + 60_000 + 1_111 * round as u64;
        limit(&daemon, &bytes.to_string());
        let (answered, refused) = fill(&daemon, round);
        assert_safe(&refused);
        for _ in 0..3 {
            let answer = daemon.post(&json!({ "command": "ls" }));
            if answer.status != 200 {
                assert_safe(&answer);
            }
        }
        // All decisions are recorded and can be read.
        assert!(total(&daemon) >= before + answered, "round {round}");

        // Room again, without a restart.
        limit(&daemon, "unlimited");
        let before = total(&daemon);
        let permission = daemon.ask(&format!("mkdir {round}"));
        daemon.respond(&permission["id"], "APPROVED").ok();
        assert_eq!(total(&daemon), before + 1, "round {round}");
    }
    daemon.assert_healthy();
    let before = total(&daemon);
    let daemon = daemon.restart(|setup| setup.wrapper(&[]));
    assert_eq!(total(&daemon), before);
}

/// Returns the number of log lines with a text.
fn lines(daemon: &Daemon, what: &str) -> usize {
    daemon
        .stderr()
        .lines()
        .filter(|line| line.contains(what))
        .count()
}

#[test]
fn full_disk_is_degraded_and_logged_at_a_limited_rate() {
    let Some(mut daemon) = with_limitable_files() else {
        return;
    };
    assert_eq!(daemon.get("/health").status, 200);
    // Smaller than any record.
    limit(&daemon, "4096");
    let begin = Instant::now();
    let mut refused = 0;
    while refused < 1_000 {
        assert_safe(&daemon.post(&json!({ "command": "ls" })));
        refused += 1;
    }
    daemon.await_health(503);
    for message in ["cannot write the audit trail", "cannot record the decision"] {
        let most = 2 * (begin.elapsed().as_secs() as usize / 10 + 2);
        let found = lines(&daemon, message);
        assert!((1..=most).contains(&found), "{message}: {found} lines");
    }
    // The service retries by itself and stays degraded while there is no room.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(daemon.get("/health").status, 503);
    limit(&daemon, "unlimited");
    daemon.await_health(200);
    daemon.assert_healthy();
    // The number of suppressed messages is in the next one.
    limit(&daemon, "4096");
    std::thread::sleep(Duration::from_secs(10));
    assert_safe(&daemon.post(&json!({ "command": "ls" })));
    let left_out = |stderr: &str| {
        let counts = stderr
            .lines()
            .filter_map(|line| line.split_once("suppressed="));
        let counts = counts.filter_map(|(_, rest)| {
            let end = rest.find(|char: char| !char.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse::<u64>().ok()
        });
        counts.max().unwrap_or(0)
    };
    let until = Instant::now() + Duration::from_secs(10);
    while left_out(&daemon.stderr()) < 400 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(left_out(&daemon.stderr()) >= 400, "{}", daemon.stderr());
    limit(&daemon, "unlimited");
    daemon.await_health(200);
    let url = format!("sqlite:{}", daemon.setup().database_file().display());
    super::operation::assert_intact(&url);
}

#[test]
fn full_disk_at_start_is_an_error() {
    if !has("sh") {
        return;
    }
    let setup = Setup::new().wrapper(&["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("audit.db"), "{stderr}");
}
