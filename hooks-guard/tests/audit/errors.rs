//! Errors of a file and their messages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use hooks_guard::audit::{
    AnswerResult, AuditError, AuditStore, ExecutionResult, Filter, Page, UserResponse,
};
use hooks_guard::classify::Crud;
use hooks_guard::gate::{Gate, GateHooks, Policy};
use hooks_guard::service::{OperatorAnswer, PermissionService, RememberScope, RespondResult};
use jiff::Timestamp;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::kit::{assert_intact, decision, minute, run, scope};

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
fn database_file_and_folder_are_private_to_their_owner() {
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
fn a_file_that_is_not_a_database_is_an_error_and_unchanged() {
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
fn a_newer_schema_is_an_error() {
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
fn the_error_names_a_folder_that_cannot_be_created() {
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
fn an_invalid_address_is_an_error_without_its_password() {
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
fn a_locked_database_is_an_error_until_it_is_unlocked() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        let trail = open(&path).await.expect("a trail");
        let mut there = other(&path).await;
        sql(&mut there, "BEGIN IMMEDIATE").await;
        let new = decision("ls", Crud::Read, minute(0));
        let error = trail.record(new.clone()).await.expect_err("locked");
        assert!(matches!(error, AuditError::Locked), "{error:?}");
        // Reads continue meanwhile.
        let found = trail.decisions(&Filter::default(), Page::default()).await;
        assert_eq!(found.expect("read").total, 0);
        sql(&mut there, "ROLLBACK").await;
        assert_eq!(trail.record(new).await.expect("recorded"), 1);
        assert_intact(&trail).await;
    });
}

#[test]
fn a_backup_does_not_wait_for_writers_and_is_private() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        let trail = open(&path).await.expect("a trail");
        let new = decision("ls", Crud::Read, minute(0));
        trail.record(new.clone()).await.expect("recorded");
        // Make the writer wait for a lock, with the connection that it uses.
        let mut there = other(&path).await;
        sql(&mut there, "BEGIN IMMEDIATE").await;
        let record = tokio::spawn({
            let trail = trail.clone();
            async move { trail.record(new).await }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let copy = folder.path().join("copy.db");
        trail.backup(&copy).await.expect("copied");
        assert!(!record.is_finished(), "it waits");
        sql(&mut there, "ROLLBACK").await;
        let id = record.await.expect("no panic").expect("recorded");
        assert_eq!(id, 2, "a record written during the backup");

        let error = trail.backup(&copy).await.expect_err("there is one");
        assert!(matches!(error, AuditError::Create { .. }), "{error:?}");
        let mode = fs::metadata(&copy).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // The copy returns free space, like the original.
        let vacuum: i64 = sqlx::query_scalar("PRAGMA auto_vacuum")
            .fetch_one(&mut other(&copy).await)
            .await
            .expect("a number");
        assert_eq!(vacuum, 2, "incremental");
        let copied = open(&copy).await.expect("a trail");
        assert_eq!(copied.totals().await.expect("read").total_decisions, 1);
        assert_intact(&copied).await;
        trail
            .backup(&folder.path().join("next.db"))
            .await
            .expect("copied");
        trail.close().await;
        let late = trail.backup(&folder.path().join("late.db")).await;
        assert!(matches!(late, Err(AuditError::Closed)), "{late:?}");
        assert!(!folder.path().join("late.db").exists());
    });
}

#[test]
fn a_backup_of_a_database_in_memory_does_not_change_it() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let trail = AuditStore::open("sqlite::memory:").await.expect("a trail");
        let new = decision("ls", Crud::Read, minute(0));
        trail.record(new.clone()).await.expect("recorded");
        let copy = folder.path().join("copy.db");
        trail.backup(&copy).await.expect("copied");
        assert_eq!(trail.record(new).await.expect("recorded"), 2);
        let copied = open(&copy).await.expect("a trail");
        assert_eq!(copied.totals().await.expect("read").total_decisions, 1);
    });
}

#[test]
fn an_approval_is_stored_atomically() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        let trail = open(&path).await.expect("a trail");
        let gate = Gate::with_hooks(GateHooks::new(), Policy::default());
        let service = PermissionService::new(gate, trail.clone(), Duration::from_secs(60));
        let record = async |id| trail.decision(id).await.expect("read").expect("there");
        let mut there = other(&path).await;

        let mut new = decision("mkdir a", Crud::Create, Timestamp::now());
        new.request.session_id = Some("s1".to_owned());
        new.scope = Some(scope(&new.request));
        new.deadline = Some(Timestamp::now() + Duration::from_secs(600));
        let id = trail.record(new.clone()).await.expect("recorded");
        let reply = OperatorAnswer {
            approved: true,
            remember: RememberScope::Session,
            note: None,
            confirms_deletion: false,
        };
        // A row with the id that the next record gets.
        sql(
            &mut there,
            "INSERT INTO remembered (id, command_hash, command, created_at, created_by, created_seq)
             VALUES (1, x'00', '', 0, '', 0)",
        )
        .await;
        let failed = service.respond(id, reply.clone(), "console").await;
        failed.expect_err("it cannot be remembered");
        assert_eq!(
            record(id).await.user_response,
            None,
            "the answer is not stored"
        );
        sql(&mut there, "DELETE FROM remembered").await;
        let done = service
            .respond(id, reply, "console")
            .await
            .expect("answered");
        assert!(
            matches!(done, RespondResult::Answered(AnswerResult::Done(_))),
            "{done:?}"
        );
        let remembered = trail.all_remembered().await.expect("read");
        assert_eq!(remembered.len(), 1);
        assert_eq!(remembered[0].session_id.as_deref(), Some("s1"));
        assert_eq!(remembered[0].created_by, "console");

        // The agent asks its user, so an execution implies an approval.
        new.deadline = None;
        let id = trail.record(new).await.expect("recorded");
        // The entry after the next one: the entry of the approval.
        sql(
            &mut there,
            "INSERT INTO log SELECT seq + 2, 1, 1, hash FROM head",
        )
        .await;
        let failed = service.record_execution(id, "secret", Some(0), None).await;
        failed.expect_err("it cannot be approved");
        assert!(!record(id).await.execution_happened);
        sql(
            &mut there,
            "DELETE FROM log WHERE seq > (SELECT seq FROM head)",
        )
        .await;
        let done = service.record_execution(id, "secret", Some(0), None).await;
        let ExecutionResult::Done(done) = done.expect("reported") else {
            panic!("no execution was reported");
        };
        assert!(done.execution_happened);
        assert_eq!(done.user_response, Some(UserResponse::Approved));
        assert_eq!(record(id).await, *done);
        assert_intact(&trail).await;
    });
}
