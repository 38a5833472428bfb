//! Durability: confirmed changes survive a killed process and a full disk.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use hooks_script::{ConsentRequest, ConsentStore, Database, Scope};

use crate::HOOK;

const VARIABLE: &str = "HOOKS_SCRIPT_TEST_DATABASE";

fn request(number: usize) -> ConsentRequest {
    ConsentRequest::new(HOOK, "v1", "http", Scope::user(format!("u-{number}")))
}

/// Helper process that is killed: approves in a loop and prints each confirmed approval.
#[tokio::test]
#[ignore = "is started, and killed, by the test below"]
async fn approves_until_killed() {
    let Some(path) = std::env::var_os(VARIABLE) else {
        return;
    };
    let store = ConsentStore::sqlite(&Database::open(path).await.unwrap());
    for number in 0.. {
        store.approve(&request(number), "u").await.unwrap();
        eprintln!("confirmed {number}");
    }
}

#[tokio::test]
async fn s_21_a_confirmed_approval_survives_killing_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    for round in 0..3 {
        let confirmed = approve_and_kill(&path, 5 + 10 * round);
        let store = ConsentStore::sqlite(&Database::open(&path).await.unwrap());
        for number in 0..=confirmed {
            assert!(
                store.permit(&request(number)).await.is_some(),
                "{number} of {confirmed}"
            );
        }
        // There are no other approvals.
        let history = store.history_of_hook(HOOK).await.unwrap();
        assert!(history.iter().all(|change| change.by == "u"));
        assert!(store.permit(&request(1_000_000)).await.is_none());
    }
}

/// Helper process whose files cannot grow: revokes until it gets an error, then checks the stored
/// state.
#[cfg(unix)]
#[tokio::test]
#[ignore = "is started, where no file can grow for long, by the test below"]
async fn revokes_until_it_fails() {
    let Some(path) = std::env::var_os(VARIABLE) else {
        return;
    };
    let store = ConsentStore::sqlite(&Database::open(path).await.unwrap());
    let mut confirmed = 0;
    while store.revoke(&request(confirmed), "u").await.is_ok() {
        confirmed += 1;
        assert!(confirmed < 1000, "the disk is never full");
    }
    let kept = store.history_of_hook(HOOK).await.unwrap();
    eprintln!("confirmed {confirmed}, kept {}", kept.len());
}

/// SQLite writes a change on commit, and detects a full disk only then.
#[cfg(unix)]
#[tokio::test]
async fn s_21_a_change_that_cannot_be_written_is_not_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    Database::open(&path).await.unwrap().close().await;
    // Limits the blocks of a file; writing more returns an error instead of a signal.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "killed::revokes_until_it_fails"])
        .arg("--nocapture")
        .env(VARIABLE, &path)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr
        .lines()
        .find_map(|line| line.strip_prefix("confirmed "));
    let (confirmed, kept) = line
        .unwrap_or_else(|| panic!("{stderr}"))
        .split_once(", kept ")
        .unwrap();
    assert_eq!(confirmed, kept);
    assert_ne!(confirmed, "0");
}

/// Kills the process directly after an approval and returns the last one that it confirmed.
fn approve_and_kill(path: &Path, approvals: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "killed::approves_until_killed",
            "--nocapture",
        ])
        .env(VARIABLE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut last = None;
    let number = |line: String| line.strip_prefix("confirmed ")?.parse::<usize>().ok();
    while last.is_none_or(|last| last < approvals) {
        let line = lines
            .next()
            .expect("the process runs until it is killed")
            .unwrap();
        last = number(line).or(last);
    }
    // SIGKILL on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    // Lines that were printed before the kill count too.
    lines
        .map_while(Result::ok)
        .filter_map(number)
        .last()
        .or(last)
        .unwrap()
}
