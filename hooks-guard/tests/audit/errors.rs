//! What can go wrong with a file, and what is said then.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use hooks_guard::audit::{AuditError, AuditStore, Filter, Page};
use hooks_guard::classify::Crud;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::kit::{decision, intact, minute, run};

async fn other(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(60))
        .connect()
        .await
        .expect("a connection")
}

async fn sql(connection: &mut SqliteConnection, text: &'static str) {
    sqlx::query(text).execute(connection).await.expect(text);
}

async fn open(path: &Path) -> Result<AuditStore, AuditError> {
    AuditStore::open(&path.display().to_string()).await
}

#[test]
fn the_file_and_its_folder_are_for_their_owner_only() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/er/trail.db");
        let trail = open(&path).await.expect("a trail");
        let new = decision("ls", Crud::Read, minute(0));
        trail.record(new).await.expect("recorded");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("new")), 0o700);
        assert_eq!(mode(&folder.path().join("new/er")), 0o700);
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
    });
}

#[test]
fn a_file_that_is_no_database_is_called_so_and_left_alone() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes.txt");
        let text = "these are notes, and no database at all\n".repeat(300);
        fs::write(&path, &text).expect("written");
        let error = open(&path).await.expect_err("no database");
        assert!(matches!(error, AuditError::NotADatabase), "{error:?}");
        assert_eq!(fs::read_to_string(&path).expect("read"), text);
    });
}

#[test]
fn a_newer_schema_is_called_so() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        open(&path).await.expect("a trail").close().await;
        let mut there = other(&path).await;
        sql(
            &mut there,
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (99, 'later', 1, x'00', 0)",
        )
        .await;
        let error = open(&path).await.expect_err("newer");
        assert!(
            matches!(error, AuditError::Newer { version: 99 }),
            "{error:?}"
        );
    });
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let error = open(&file.join("trail.db")).await.expect_err("no folder");
        assert!(matches!(error, AuditError::Create { .. }), "{error:?}");
        assert!(error.to_string().contains("file"), "{error}");
    });
}

#[test]
fn an_address_of_nothing_keeps_its_password_to_itself() {
    run(async {
        let error = AuditStore::open("mysql://ada:hunter2@db/x").await;
        let error = error.expect_err("no such database");
        assert!(matches!(error, AuditError::Address { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        let error = AuditStore::open("sqlite:").await.expect_err("no path");
        assert!(matches!(error, AuditError::Address { .. }), "{error:?}");
    });
}

#[test]
fn a_locked_database_fails_clearly_and_works_again() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        let trail = open(&path).await.expect("a trail");
        let mut there = other(&path).await;
        sql(&mut there, "BEGIN IMMEDIATE").await;
        let new = decision("ls", Crud::Read, minute(0));
        let error = trail.record(new.clone()).await.expect_err("locked");
        assert!(matches!(error, AuditError::Locked), "{error:?}");
        // Reading goes on meanwhile.
        let found = trail.decisions(&Filter::default(), Page::default()).await;
        assert_eq!(found.expect("read").total, 0);
        sql(&mut there, "ROLLBACK").await;
        assert_eq!(trail.record(new).await.expect("recorded"), 1);
        intact(&trail).await;
    });
}
