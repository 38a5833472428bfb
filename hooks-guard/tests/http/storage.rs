//! Tests failures of the database: every decision has a record, and the daemon does not crash. Full disks
//! and stopped processes have modules of their own.

use std::fs;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::support::assert_no_internals;
use crate::support::client::Answer;
use crate::support::daemon::{Daemon, Setup};

/// Opens a second connection to the daemon's database.
pub(crate) async fn open(daemon: &Daemon) -> SqliteConnection {
    let path = daemon.setup().database_file();
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(30));
    SqliteConnection::connect_with(&options).await.unwrap()
}

pub(crate) async fn run(database: &mut SqliteConnection, sql: String) {
    sqlx::query(AssertSqlSafe(sql))
        .execute(database)
        .await
        .unwrap();
}

/// A decision that could not be recorded allows nothing.
#[track_caller]
pub(crate) fn assert_safe(answer: &Answer) {
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
        crate::support::daemon::ask(&json!({ "command": "ls locked" })).try_send(port)
    });
    // Requests without a database continue, and report the problem.
    daemon.get("/health");
    let answer = asking.join().unwrap().unwrap();
    assert_safe(&answer);
    assert_eq!(daemon.get("/health").status, 503);
    run(&mut other, "ROLLBACK".to_owned()).await;
    assert_eq!(daemon.ask("ls again")["decision"], "AUTO_ALLOWED");
    daemon.assert_healthy();
}

#[tokio::test]
async fn storage_a_request_waits_for_a_short_lock() {
    let daemon = Daemon::plain();
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking = std::thread::spawn(move || {
        crate::support::daemon::ask(&json!({ "command": "ls" })).send(port)
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    run(&mut other, "ROLLBACK".to_owned()).await;
    assert_eq!(asking.join().unwrap().ok()["decision"], "AUTO_ALLOWED");
}

#[tokio::test]
async fn p_43_the_latency_excludes_the_write_of_the_record() {
    let daemon = Daemon::plain();
    let latency = || daemon.get("/health").ok()["hooks"]["classification_latency_ms"].clone();
    assert_eq!(latency(), 0, "nothing was asked");
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking = std::thread::spawn(move || {
        let start = std::time::Instant::now();
        crate::support::daemon::ask(&json!({ "command": "ls" }))
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
async fn p_22_a_table_that_fails_allows_nothing() {
    for table in ["head", "log", "decisions", "searched", "tallies", "times"] {
        let mut daemon = Daemon::plain();
        daemon.ask("mkdir out");
        let mut other = open(&daemon).await;
        run(&mut other, "PRAGMA legacy_alter_table = ON".to_owned()).await;
        let renamed = format!("{table}_gone");
        run(
            &mut other,
            format!("ALTER TABLE {table} RENAME TO {renamed}"),
        )
        .await;
        for command in ["ls", "mkdir out", "ls"] {
            let answer = daemon.post(&json!({ "command": command }));
            assert_safe(&answer);
            assert_no_internals(&answer.text());
        }
        let stderr = daemon.stderr();
        assert!(
            daemon.is_running() && !stderr.contains("panicked"),
            "{table}: {stderr}"
        );
    }
}

#[tokio::test]
async fn p_22_a_database_that_fails_is_an_error_without_internals() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
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
        // Shadow tables of a search index cannot be renamed and need not be.
        let sql = format!("ALTER TABLE \"{name}\" RENAME TO \"{name}_gone\"");
        let _ = sqlx::query(AssertSqlSafe(sql)).execute(&mut other).await;
    }
    for target in ["/api/hooks/decisions", "/api/hooks/stats"] {
        let answer = daemon.get(target);
        let body = answer.error(500, "DB_ERROR");
        assert_eq!(body["error"], "Database query failed");
        assert!(body["request_id"].is_string(), "{body}");
    }
    let one = daemon.get(&format!("/api/hooks/decisions/{}", permission["id"]));
    one.error(500, "DB_ERROR");
    daemon
        .delete("/api/hooks/cleanup?force=true")
        .error(500, "DB_ERROR");
    for command in ["ls", "mkdir out"] {
        assert_safe(&daemon.post(&json!({ "command": command })));
    }
    let answer = daemon.respond(&permission["id"], "APPROVED");
    assert_safe(&answer);
    assert_no_internals(&answer.text());
    // The health may report it, too.
    let health = daemon.get("/health");
    assert!(matches!(health.status, 200 | 503), "{}", health.status);
    assert!(health.json()["hooks"].is_object());
    assert!(daemon.is_running() && !daemon.stderr().contains("panicked"));
}

#[test]
fn storage_a_missing_folder_is_created_or_reported() {
    let setup = Setup::new();
    let path = setup.folder().join("missing/folder/audit.db");
    let setup = setup.database(&format!("sqlite:{}", path.display()));
    let mut child = setup.command().spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    let ended = child.try_wait().unwrap();
    // By now it has shown which of the two it is.
    let _ = child.kill();
    child.wait().unwrap();
    if ended.is_some() {
        let (_, stderr) = setup.fail();
        assert!(stderr.contains("missing/folder"), "{stderr}");
    } else {
        let daemon = setup.start();
        daemon.ask("ls");
        assert!(path.exists());
    }
}

#[test]
fn storage_a_file_that_is_not_a_database_is_reported_and_unchanged() {
    let setup = Setup::new();
    let text = "a letter, and no database ".repeat(100);
    fs::write(setup.database_file(), &text).unwrap();
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("audit.db"), "{stderr}");
    assert_eq!(fs::read_to_string(setup.database_file()).unwrap(), text);
}

#[test]
fn storage_a_folder_in_place_of_the_database_is_reported() {
    let setup = Setup::new();
    fs::create_dir(setup.database_file()).unwrap();
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("audit.db"), "{stderr}");
}

#[test]
fn storage_an_address_with_an_unknown_scheme_is_refused() {
    for url in ["mysql://localhost/x", "", "http://localhost/"] {
        let (_, stderr) = Setup::new().database(url).fail();
        assert!(stderr.to_lowercase().contains("sqlite"), "{url}: {stderr}");
    }
}

#[test]
fn storage_a_password_in_an_address_is_not_printed() {
    let setup = Setup::new().database("postgres://user:quite-unmistakable@127.0.0.1:1/none");
    let (_, stderr) = setup.fail();
    assert!(!stderr.contains("unmistakable"), "{stderr}");
}

#[test]
fn storage_without_an_address_the_trail_is_in_the_home() {
    let daemon = Setup::new().without_database().start();
    daemon.ask("ls");
    let mut found = crate::support::files_below(&daemon.setup().home());
    found.retain(|path| fs::read(path).is_ok_and(|it| it.starts_with(b"SQLite format 3")));
    assert_eq!(found.len(), 1, "{found:?}");
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        1
    );
}
