//! A database file that is deleted or replaced while the daemon has it open: without a record, no
//! command is allowed.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::json;

use crate::support::daemon::{Daemon, Setup};
use crate::support::has;

/// Checks that no request gets a decision, and that the health reports why.
#[track_caller]
fn assert_refuses(daemon: &mut Daemon, how: &str) {
    for command in ["ls", "ls again", "mkdir x"] {
        let answer = daemon.post(&json!({ "command": command }));
        assert_eq!(answer.status, 500, "{how}: {}", answer.text());
        assert!(!answer.text().contains("AUTO_ALLOWED"), "{how}");
        answer.refusal(500);
    }
    let health = daemon.get("/health");
    assert_eq!(health.status, 503, "{how}: {}", health.text());
    assert!(
        health.text().contains("degraded"),
        "{how}: {}",
        health.text()
    );
    for target in [
        "/api/hooks/decisions",
        "/api/hooks/pending",
        "/api/hooks/stats",
    ] {
        assert_eq!(daemon.get(target).status, 500, "{how}: {target}");
    }
    assert!(daemon.is_running(), "{how}");
    assert_logged(daemon, how);
}

/// Checks that the log states the reason.
#[track_caller]
fn assert_logged(daemon: &Daemon, how: &str) {
    let is_logged = |stderr: &str| {
        [
            "deleted or replaced",
            "no longer continues",
            "schema of the database differs",
        ]
        .iter()
        .any(|why| stderr.contains(why))
    };
    // A thread reads its output.
    let until = Instant::now() + Duration::from_secs(10);
    while !is_logged(&daemon.stderr()) && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    let stderr = daemon.stderr();
    assert!(is_logged(&stderr), "{how}: {stderr}");
    assert!(!stderr.contains("panicked"), "{how}: {stderr}");
}

/// Creates an empty database with the schema of another service.
fn another_database(at: &Path) {
    let other = Daemon::plain();
    other.ask("ls");
    // One file without a write-ahead log.
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["audit", "backup"])
        .arg(at)
        .arg("--database")
        .arg(format!(
            "sqlite:{}",
            other.setup().database_file().display()
        ))
        .env("HOME", other.setup().home())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn remove_log(database: &Path) {
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", database.display()));
    }
}

type Change = fn(&Path);

/// Changes of the file.
const CHANGES: &[(&str, Change)] = &[
    ("deleted", |file| fs::remove_file(file).unwrap()),
    ("deleted with its log", |file| {
        fs::remove_file(file).unwrap();
        remove_log(file);
    }),
    ("its log deleted", remove_log),
    ("moved away", |file| {
        fs::rename(file, file.with_extension("old")).unwrap();
    }),
    ("replaced by an empty file", |file| {
        fs::remove_file(file).unwrap();
        fs::write(file, "").unwrap();
    }),
    ("emptied in its place", |file| fs::write(file, "").unwrap()),
    ("replaced by a copy of itself", |file| {
        let copy = file.with_extension("copy");
        fs::copy(file, &copy).unwrap();
        fs::rename(copy, file).unwrap();
    }),
    ("replaced by another database", |file| {
        let other = file.with_extension("other");
        another_database(&other);
        fs::rename(other, file).unwrap();
    }),
    ("replaced by a folder", |file| {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
    }),
    ("written over by another database", |file| {
        let other = file.with_extension("other");
        another_database(&other);
        fs::copy(&other, file).unwrap();
    }),
    ("written over by another database with dd", |file| {
        let other = file.with_extension("other");
        another_database(&other);
        let status = Command::new("dd")
            .arg(format!("if={}", other.display()))
            .arg(format!("of={}", file.display()))
            .args(["conv=notrunc", "status=none"])
            .status()
            .unwrap();
        assert!(status.success());
    }),
    ("its log's index deleted", |file| {
        fs::remove_file(format!("{}-shm", file.display())).unwrap();
    }),
    ("its folder moved away", |file| {
        let folder = file.parent().unwrap();
        fs::rename(folder, folder.with_extension("old")).unwrap();
    }),
];

#[test]
fn p_15_a_replaced_database_allows_nothing() {
    for (how, change) in CHANGES {
        let mut daemon = Daemon::plain();
        let pending = daemon.ask("mkdir before")["id"].clone();
        assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
        let file = daemon.setup().database_file();
        change(&file);
        assert_refuses(&mut daemon, how);
        assert_eq!(daemon.respond(&pending, "APPROVED").status, 500, "{how}");
        // A new service creates a file if there is none.
        if file.is_dir() {
            fs::remove_dir(&file).unwrap();
        }
        // With the write-ahead log of the previous file it would be damaged.
        if how.starts_with("written over") || how.starts_with("emptied") {
            fs::remove_file(&file).unwrap();
            remove_log(&file);
        }
        if how.starts_with("replaced by another") {
            remove_log(&file);
        }
        eprintln!("started again: {how}");
        let mut again = daemon.restart(|setup| setup);
        assert_eq!(again.ask("ls")["decision"], "AUTO_ALLOWED", "{how}");
        again.assert_healthy();
    }
}

#[test]
fn p_15_a_restored_database_is_used_again() {
    let mut daemon = Daemon::plain();
    let id = daemon.ask("ls first")["id"].clone();
    let file = daemon.setup().database_file();
    let aside = file.with_extension("aside");
    fs::rename(&file, &aside).unwrap();
    assert_refuses(&mut daemon, "moved away");
    fs::rename(&aside, &file).unwrap();
    assert_eq!(daemon.ask("ls second")["decision"], "AUTO_ALLOWED");
    assert_eq!(daemon.record(&id)["command"], "ls first");
    daemon.assert_healthy();
}

/// Moves the write-ahead log into the file, like another program.
fn checkpoint(file: &Path) {
    let status = Command::new("sqlite3")
        .arg(file)
        .arg("PRAGMA wal_checkpoint(TRUNCATE)")
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn p_15_a_database_overwritten_with_an_older_state_allows_nothing() {
    if !has("sqlite3") {
        return;
    }
    let mut daemon = Daemon::plain();
    let file = daemon.setup().database_file();
    let old = file.with_extension("old");
    let approved = daemon.ask("mkdir first")["id"].clone();
    checkpoint(&file);
    fs::copy(&file, &old).unwrap();
    daemon.respond(&approved, "DENIED").ok();
    // A checkpoint by another process produces a known state.
    checkpoint(&file);
    for number in 0..20 {
        assert_eq!(
            daemon.ask(&format!("ls {number}"))["decision"],
            "AUTO_ALLOWED"
        );
        checkpoint(&file);
    }
    daemon.assert_healthy();
    let new = fs::read(&file).unwrap();
    fs::copy(&old, &file).unwrap();
    assert_refuses(&mut daemon, "an older state");
    fs::write(&file, new).unwrap();
    assert_eq!(daemon.ask("ls again")["decision"], "AUTO_ALLOWED");
    daemon.assert_healthy();
}

/// The file is changed with the tools of its database: planted decisions, with and without entries
/// that look valid.
#[test]
fn p_15_a_database_with_a_changed_head_allows_nothing() {
    if !has("sqlite3") {
        return;
    }
    for change in [
        "UPDATE head SET seq = seq - 1",
        "UPDATE head SET decisions = decisions + 100",
        "DELETE FROM log; UPDATE head SET seq = 0, hash = zeroblob(32), decisions = 0; DELETE FROM decisions",
        "CREATE TRIGGER t AFTER INSERT ON decisions BEGIN DELETE FROM log; END",
    ] {
        let mut daemon = Daemon::plain();
        daemon.ask("mkdir before");
        let file = daemon.setup().database_file();
        let status = Command::new("sqlite3").arg(&file).arg(change).status();
        assert!(status.unwrap().success());
        let answer = daemon.post(&json!({ "command": "ls" }));
        answer.refusal(500);
        assert_eq!(daemon.get("/health").status, 503, "{change}");
        assert_eq!(daemon.get("/api/hooks/pending").status, 500, "{change}");
        assert!(daemon.is_running());
        assert_logged(&daemon, change);
    }
}

#[test]
fn p_15_a_link_to_another_database_allows_nothing() {
    let setup = Setup::new();
    let folder = setup.folder().to_owned();
    let (link, first, second) = (
        folder.join("link.db"),
        folder.join("first.db"),
        folder.join("second.db"),
    );
    fs::write(&first, "").unwrap();
    std::os::unix::fs::symlink(&first, &link).unwrap();
    let url = format!("sqlite:{}", link.display());
    let mut daemon = setup.database(&url).start();
    assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    another_database(&second);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&second, &link).unwrap();
    assert_refuses(&mut daemon, "a link that leads elsewhere");
}

#[test]
fn p_15_other_processes_may_use_and_copy_the_database() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    let file = daemon.setup().database_file();
    let audit = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
            .arg("audit")
            .args(arguments)
            .args(["--database", &format!("sqlite:{}", file.display())])
            .env("HOME", daemon.setup().home())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {stderr}");
    };
    audit(&["verify"]);
    let copy = file.with_extension("copy");
    audit(&["backup", copy.to_str().unwrap()]);
    audit(&["cleanup", "--days", "1"]);
    for number in 0..50 {
        let decision = daemon.ask(&format!("ls {number}"));
        assert_eq!(decision["decision"], "AUTO_ALLOWED");
    }
    daemon.get("/health").ok();
    let pending = daemon.ask("mkdir x");
    assert_eq!(daemon.respond(&pending["id"], "APPROVED").status, 200);
}
