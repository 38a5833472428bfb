//! A disk or a database that fails: no answer without a record, no end of the daemon.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::client::Answer;
use crate::daemon::{Daemon, Setup};
use crate::support::{assert_no_internals, has};

/// A second connection to the daemon's database.
async fn open(daemon: &Daemon) -> SqliteConnection {
    let path = daemon.setup().database_file();
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(30));
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn run(database: &mut SqliteConnection, sql: String) {
    sqlx::query(AssertSqlSafe(sql))
        .execute(database)
        .await
        .unwrap();
}

/// What could not be recorded is not allowed.
#[track_caller]
fn assert_safe(answer: &Answer) {
    assert!(
        answer.status == 500 || answer.status == 503,
        "{}: {}",
        answer.status,
        answer.text()
    );
    let body = answer.refusal(answer.status);
    if answer.status == 500 {
        assert!(body["request_id"].is_string(), "{body}");
    }
}

#[tokio::test]
async fn storage_a_locked_database_allows_nothing_and_recovers() {
    let mut daemon = Daemon::plain();
    daemon.ask("ls");
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking = std::thread::spawn(move || {
        crate::daemon::ask(&json!({ "command": "ls locked" })).try_send(port)
    });
    // What needs no database goes on.
    daemon.get("/health").ok();
    let answer = asking.join().unwrap().unwrap();
    assert_safe(&answer);
    daemon.get("/health").ok();
    run(&mut other, "ROLLBACK".to_owned()).await;
    assert_eq!(daemon.ask("ls again")["decision"], "AUTO_ALLOWED");
    daemon.assert_well();
}

#[tokio::test]
async fn storage_a_lock_that_ends_in_time_is_waited_for() {
    let daemon = Daemon::plain();
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking =
        std::thread::spawn(move || crate::daemon::ask(&json!({ "command": "ls" })).send(port));
    tokio::time::sleep(Duration::from_millis(200)).await;
    run(&mut other, "ROLLBACK".to_owned()).await;
    assert_eq!(asking.join().unwrap().ok()["decision"], "AUTO_ALLOWED");
}

#[tokio::test]
async fn p_43_the_latency_is_that_of_the_classification_without_its_record() {
    let daemon = Daemon::plain();
    let latency = || daemon.get("/health").ok()["hooks"]["classification_latency_ms"].clone();
    assert_eq!(latency(), 0, "nothing was asked");
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking = std::thread::spawn(move || {
        let start = std::time::Instant::now();
        crate::daemon::ask(&json!({ "command": "ls" }))
            .send(port)
            .ok();
        start.elapsed()
    });
    tokio::time::sleep(Duration::from_millis(250)).await;
    run(&mut other, "ROLLBACK".to_owned()).await;
    let whole = asking.join().unwrap().as_millis();
    let latency = u128::from(latency().as_u64().unwrap());
    assert!(latency < whole / 2, "{latency} of {whole} ms");
}

#[tokio::test]
async fn p_22_a_database_that_fails_is_an_error_without_internals() {
    let mut daemon = Daemon::plain();
    let ruling = daemon.ask("mkdir out");
    let mut other = open(&daemon).await;
    let tables = sqlx::query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
         AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )
    .fetch_all(&mut other)
    .await
    .unwrap();
    for pragma in ["foreign_keys = OFF", "legacy_alter_table = ON"] {
        run(&mut other, format!("PRAGMA {pragma}")).await;
    }
    for table in tables {
        let name: String = table.get(0);
        // Shadow tables of a search index cannot be renamed, and need not be.
        let sql = format!("ALTER TABLE \"{name}\" RENAME TO \"{name}_gone\"");
        let _ = sqlx::query(AssertSqlSafe(sql)).execute(&mut other).await;
    }
    for target in ["/api/hooks/decisions", "/api/hooks/stats"] {
        let answer = daemon.get(target);
        let body = answer.error(500, "DB_ERROR");
        assert_eq!(body["error"], "Database query failed");
        assert!(body["request_id"].is_string(), "{body}");
    }
    let one = daemon.get(&format!("/api/hooks/decisions/{}", ruling["id"]));
    one.error(500, "DB_ERROR");
    daemon
        .delete("/api/hooks/cleanup?force=true")
        .error(500, "DB_ERROR");
    for command in ["ls", "mkdir out"] {
        assert_safe(&daemon.post(&json!({ "command": command })));
    }
    let answer = daemon.respond(&ruling["id"], "APPROVED");
    assert_safe(&answer);
    assert_no_internals(&answer.text());
    // Health may say so, too.
    let health = daemon.get("/health");
    assert!(matches!(health.status, 200 | 503), "{}", health.status);
    assert!(health.json()["hooks"].is_object());
    assert!(daemon.runs() && !daemon.said().contains("panicked"));
}

/// Lets no file of the daemon grow beyond so many bytes, as on a disk that is full.
#[track_caller]
fn limit(daemon: &Daemon, bytes: &str) {
    let status = Command::new("prlimit")
        .args(["--pid", &daemon.pid().to_string()])
        .arg(format!("--fsize={bytes}:"))
        .status()
        .unwrap();
    assert!(status.success());
}

/// Asks until it is refused; how many were answered.
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

#[test]
fn storage_a_full_disk_allows_nothing_and_loses_nothing() {
    if !has("prlimit") || !has("sh") {
        return;
    }
    let mut daemon = Setup::new()
        .wrapper(&["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .start();
    daemon.ask("ls");
    // Over and over, because it may fail at a write of a record as well as at its commit.
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
        // What was answered is there, and can be read.
        assert!(total(&daemon) >= before + answered, "round {round}");

        // Room again: without a restart.
        limit(&daemon, "unlimited");
        let before = total(&daemon);
        let ruling = daemon.ask(&format!("mkdir {round}"));
        daemon.respond(&ruling["id"], "APPROVED").ok();
        assert_eq!(total(&daemon), before + 1, "round {round}");
    }
    daemon.assert_well();
    let before = total(&daemon);
    let daemon = daemon.again(|setup| setup.wrapper(&[]));
    assert_eq!(total(&daemon), before);
}

#[test]
fn storage_a_disk_that_is_full_from_the_start_is_told() {
    if !has("sh") {
        return;
    }
    let setup = Setup::new().wrapper(&["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    let (_, said) = setup.fail();
    assert!(said.contains("audit.db"), "{said}");
}

#[test]
fn storage_a_folder_that_is_missing_is_made_or_named() {
    let setup = Setup::new();
    let path = setup.folder().join("missing/folder/audit.db");
    let setup = setup.database(&format!("sqlite:{}", path.display()));
    let mut child = setup.command().spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    let ended = child.try_wait().unwrap();
    // It has had its time to show which of the two it is.
    let _ = child.kill();
    child.wait().unwrap();
    if ended.is_some() {
        let (_, said) = setup.fail();
        assert!(said.contains("missing/folder"), "{said}");
    } else {
        let daemon = setup.start();
        daemon.ask("ls");
        assert!(path.exists());
    }
}

#[test]
fn storage_a_file_that_is_no_database_is_named_and_kept() {
    let setup = Setup::new();
    let text = "a letter, and no database ".repeat(100);
    fs::write(setup.database_file(), &text).unwrap();
    let (_, said) = setup.fail();
    assert!(said.contains("audit.db"), "{said}");
    assert_eq!(fs::read_to_string(setup.database_file()).unwrap(), text);
}

#[test]
fn storage_a_folder_in_place_of_the_database_is_named() {
    let setup = Setup::new();
    fs::create_dir(setup.database_file()).unwrap();
    let (_, said) = setup.fail();
    assert!(said.contains("audit.db"), "{said}");
}

#[test]
fn storage_an_address_of_another_kind_is_refused() {
    for url in ["mysql://localhost/x", "", "http://localhost/"] {
        let (_, said) = Setup::new().database(url).fail();
        assert!(said.to_lowercase().contains("sqlite"), "{url}: {said}");
    }
}

#[test]
fn storage_a_password_in_an_address_is_not_told() {
    let setup = Setup::new().database("postgres://user:quite-unmistakable@127.0.0.1:1/none");
    let (_, said) = setup.fail();
    assert!(!said.contains("unmistakable"), "{said}");
}

#[test]
fn storage_without_an_address_the_trail_is_in_the_home() {
    let daemon = Setup::new().without_database().start();
    daemon.ask("ls");
    let mut found = crate::support::files_below(&daemon.setup().home());
    found.retain(|path| fs::read(path).is_ok_and(|it| it.starts_with(b"SQLite format 3")));
    assert_eq!(found.len(), 1, "{found:?}");
    let daemon = daemon.again(|setup| setup);
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        1
    );
}
