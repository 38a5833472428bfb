//! The trail on a read-only medium.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::daemon::Daemon;
use crate::support::{has, left_out};

/// Mounts an empty file system, copies a folder to it, remounts it read-only, and runs a program
/// there.
const READ_ONLY: &str = r#"
    mount -t tmpfs -o size=64m none "$1" && cp "$2"/* "$1" && mount -o remount,ro "$1" || exit 99
    shift 2
    exec "$@"
"#;

/// Returns `None` if nothing can be mounted, after printing the reason.
fn audit(from: &Path, words: &[&str]) -> Option<(bool, String)> {
    if !has("unshare") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let medium = folder.path().join("medium");
    let temporary = folder.path().join("temporary");
    fs::create_dir(&medium).unwrap();
    fs::create_dir(&temporary).unwrap();
    let run = |flag: &str| -> Output {
        Command::new("unshare")
            .args([flag, "sh", "-c", READ_ONLY, "sh"])
            .args([&medium, from])
            .arg(env!("CARGO_BIN_EXE_hooks-guard"))
            .arg("audit")
            .args(words)
            .arg("--database")
            .arg(format!("sqlite:{}", medium.join("audit.db").display()))
            .env("HOME", folder.path())
            .env("TMPDIR", &temporary)
            .output()
            .unwrap()
    };
    let mut output = run("-m");
    if !output.status.success() && output.stdout.is_empty() {
        output = run("-rm");
    }
    // No copy is left behind.
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(99) || text.contains("unshare") {
        left_out("nothing can be mounted here");
        return None;
    }
    Some((output.status.success(), text))
}

/// Returns a folder with the trail of a service that has stopped.
fn stopped_daemon() -> Daemon {
    let mut daemon = Daemon::plain();
    let id = daemon.ask("mkdir out")["id"].clone();
    daemon.respond(&id, "APPROVED").ok();
    assert!(daemon.terminate().success());
    let database = daemon.setup().database_file();
    // A stopped service leaves one file, and so does a process that opens and closes it.
    let status = Command::new("sqlite3")
        .arg(&database)
        .arg("PRAGMA wal_checkpoint(TRUNCATE)")
        .status();
    assert!(status.unwrap().success());
    daemon
}

#[test]
fn a_trail_on_a_read_only_medium_is_verified_listed_and_exported() {
    if !has("sqlite3") {
        return;
    }
    let daemon = stopped_daemon();
    let folder = daemon.setup().database_file();
    let folder = folder.parent().unwrap();
    for (words, shown) in [
        (&["verify"][..], "intact: 1 decisions"),
        (&["list"], "mkdir out"),
        (&["export"], "mkdir out"),
        (&["head"], "2:"),
    ] {
        let Some((done, printed)) = audit(folder, words) else {
            return;
        };
        assert!(done && printed.contains(shown), "{words:?}: {printed}");
    }
    let head = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["audit", "head", "--database"])
        .arg(format!("sqlite:{}", folder.join("audit.db").display()))
        .env("HOME", daemon.setup().home())
        .output()
        .unwrap();
    let head = String::from_utf8(head.stdout).unwrap();
    let words = ["verify", "--head", head.trim()];
    let (done, printed) = audit(folder, &words).unwrap();
    assert!(done && printed.contains("matches"), "{printed}");
    let other = format!("2:{}", "0".repeat(64));
    let (done, printed) = audit(folder, &["verify", "--head", &other]).unwrap();
    assert!(!done && printed.contains("hash differs"), "{printed}");
    let (done, printed) = audit(folder, &["verify", "--head", "9:00"]).unwrap();
    assert!(!done && printed.contains("COUNT:HASH"), "{printed}");
    // Commands that have to write report that they cannot.
    let (done, printed) = audit(folder, &["cleanup", "--days", "1"]).unwrap();
    let refused = printed.contains("read-only") || printed.contains("cannot reach");
    assert!(!done && refused, "{printed}");
}

#[test]
fn a_changed_trail_on_a_read_only_medium_is_broken() {
    if !has("sqlite3") {
        return;
    }
    let daemon = stopped_daemon();
    let file = daemon.setup().database_file();
    for (change, shown) in [
        ("UPDATE decisions SET command = 'ls'", "broken: entry 1"),
        (
            "UPDATE decisions SET command = 'mkdir out'; CREATE TABLE planted (x)",
            "`planted`",
        ),
        (
            // As an older version created it.
            "DROP TABLE planted; DELETE FROM _sqlx_migrations WHERE version > 3;
             DROP INDEX log_ended; DROP INDEX decisions_ran_command;
             ALTER TABLE decisions DROP COLUMN ran_command;
             ALTER TABLE decisions DROP COLUMN scope; ALTER TABLE decisions DROP COLUMN scope_hash;
             ALTER TABLE remembered DROP COLUMN scope;
             ALTER TABLE remembered DROP COLUMN scope_hash",
            "schema 3",
        ),
    ] {
        let status = Command::new("sqlite3").arg(&file).arg(change).status();
        assert!(status.unwrap().success());
        let Some((done, printed)) = audit(file.parent().unwrap(), &["verify"]) else {
            return;
        };
        assert!(!done && printed.contains(shown), "{change}: {printed}");
    }
}

/// Entries in the write-ahead log are not silently ignored.
#[test]
fn a_write_ahead_log_on_a_read_only_medium_is_read_from_a_copy() {
    let daemon = Daemon::plain();
    daemon.ask("mkdir out");
    let folder = tempfile::tempdir().unwrap();
    let file = daemon.setup().database_file();
    for end in ["", "-wal"] {
        let name = format!("audit.db{end}");
        fs::copy(file.with_file_name(&name), folder.path().join(&name)).unwrap();
    }
    let kept = tempfile::tempdir().unwrap();
    let index = kept.path().join("index");
    fs::copy(file.with_file_name("audit.db-shm"), &index).unwrap();
    for (words, shown) in [
        (&["verify"][..], "intact: 1 decisions"),
        (&["list"], "mkdir out"),
        (&["export"], "mkdir out"),
        (&["head"], "1:"),
    ] {
        let Some((done, printed)) = audit(folder.path(), words) else {
            return;
        };
        assert!(done && printed.contains(shown), "{words:?}: {printed}");
        assert!(printed.contains("reading a copy"), "{words:?}: {printed}");
    }
    // Entries in the write-ahead log are verified, too.
    if has("sqlite3") {
        let planted = tempfile::tempdir().unwrap();
        let plant = "CREATE TABLE planted (x)";
        let status = Command::new("sqlite3").arg(&file).arg(plant).status();
        assert!(status.unwrap().success());
        for name in ["audit.db", "audit.db-wal"] {
            fs::copy(file.with_file_name(name), planted.path().join(name)).unwrap();
        }
        let (done, printed) = audit(planted.path(), &["verify"]).unwrap();
        let broken = printed.contains("broken: the schema of the database differs");
        assert!(
            !done && broken && printed.contains("`planted`"),
            "{printed}"
        );
        assert!(printed.contains("entries intact: 1 decisions"), "{printed}");
        let (done, printed) = audit(planted.path(), &["list"]).unwrap();
        assert!(!done && printed.contains("`planted`"), "{printed}");
    }
    // With the index of the write-ahead log it can be read in place.
    fs::copy(&index, folder.path().join("audit.db-shm")).unwrap();
    let (done, printed) = audit(folder.path(), &["verify"]).unwrap();
    assert!(done && printed.contains("intact: 1 decisions"), "{printed}");
}
