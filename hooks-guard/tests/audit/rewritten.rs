//! A trail that is changed by hand while a store has it open.

use std::time::Duration;

use hooks_guard::PermissionRequest;
use hooks_guard::audit::{
    AnswerResult, AuditError, AuditStore, Execution, GrantResult, HeadState, NewAnswer,
    NewDecision, NewRemembered, RedeemResult, UserResponse,
};
use hooks_guard::classify::Crud;
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::cluster::Cluster;
use crate::contract::{Place, cluster};
use crate::kit::{assert_intact, decision, hash, minute, run, scope};

/// Changes the database like another program.
async fn execute_sql(url: &str, sql: &str) {
    let Some(path) = url.strip_prefix("sqlite:") else {
        let (_, database) = url.rsplit_once('/').expect("a name");
        let cluster = cluster().expect("it runs");
        cluster.psql(database, sql).expect(sql);
        return;
    };
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(30));
    let mut connection = options.connect().await.expect("a connection");
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await;
    done.expect(sql);
    connection.close().await.expect("closed");
}

fn places() -> Vec<(Place, Option<std::sync::Arc<Cluster>>)> {
    let mut places = vec![(Place::sqlite(), None)];
    if let Some(cluster) = cluster() {
        places.push((Place::at(cluster.database()), Some(cluster)));
    }
    places
}

fn new(command: &str) -> NewDecision {
    let mut new = decision(command, Crud::Delete, Timestamp::now());
    new.deadline = Some(Timestamp::now() + Duration::from_secs(600));
    new.scope = Some(scope(&new.request));
    new
}

fn approved() -> NewAnswer {
    NewAnswer {
        response: UserResponse::Approved,
        by: "console".to_owned(),
        note: None,
        at: Timestamp::now(),
    }
}

fn always(command: &str) -> NewRemembered {
    NewRemembered {
        command_hash: hash(command),
        command: command.to_owned(),
        cwd: None,
        session_id: None,
        agent: None,
        by: "console".to_owned(),
        at: Timestamp::now(),
        scope: Some(scope(&PermissionRequest::new(command))),
    }
}

/// Each pair changes the trail to a state unknown to the open store, and back.
const REWRITES: &[(&str, &str)] = &[
    (
        "UPDATE head SET seq = seq - 1",
        "UPDATE head SET seq = seq + 1",
    ),
    (
        "UPDATE head SET seq = seq + 1",
        "UPDATE head SET seq = seq - 1",
    ),
    (
        "UPDATE head SET decisions = decisions + 1",
        "UPDATE head SET decisions = decisions - 1",
    ),
    (
        "UPDATE head SET decisions = decisions - 1",
        "UPDATE head SET decisions = decisions + 1",
    ),
    (
        "UPDATE head SET remembered = remembered + 5",
        "UPDATE head SET remembered = remembered - 5",
    ),
    (
        "UPDATE head SET hash = (SELECT hash FROM log WHERE seq = 2)",
        "UPDATE head SET hash = (SELECT hash FROM log WHERE seq = head.seq)",
    ),
    // A consistent state before the last entry.
    (
        "UPDATE head SET seq = seq - 1, hash = (SELECT hash FROM log WHERE seq = head.seq - 1),
            decisions = decisions - 1",
        "UPDATE head SET seq = seq + 1, hash = (SELECT hash FROM log WHERE seq = head.seq + 1),
            decisions = decisions + 1",
    ),
    // A different trail, whose last entry has another hash.
    (
        "UPDATE log SET hash = (SELECT hash FROM log WHERE seq = 1) WHERE seq = 6;
         UPDATE head SET hash = (SELECT hash FROM log WHERE seq = 1)",
        "UPDATE log SET hash = (SELECT hash FROM gaps WHERE first = 900) WHERE seq = 6;
         UPDATE head SET hash = (SELECT hash FROM gaps WHERE first = 900);
         DELETE FROM gaps",
    ),
    // Entries without a decision.
    (
        "INSERT INTO log SELECT seq + 1, 1, 99, hash FROM head;
         UPDATE head SET seq = seq + 1, decisions = decisions + 1",
        "UPDATE head SET seq = seq - 1, decisions = decisions - 1;
         DELETE FROM log WHERE seq > (SELECT seq FROM head)",
    ),
    (
        "INSERT INTO log SELECT seq + 1, 2, 2, hash FROM head;
         UPDATE head SET seq = seq + 1",
        "UPDATE head SET seq = seq - 1;
         DELETE FROM log WHERE seq > (SELECT seq FROM head)",
    ),
    // Entries that are marked as cleaned up.
    (
        "INSERT INTO gaps SELECT seq, seq + 5, hash FROM head;
         UPDATE head SET seq = seq + 6;
         INSERT INTO log SELECT seq, 6, 0, hash FROM head",
        "DELETE FROM log WHERE seq = (SELECT seq FROM head);
         UPDATE head SET seq = seq - 6;
         DELETE FROM gaps",
    ),
    (
        "UPDATE head SET seq = 0, decisions = 0, remembered = 0",
        "UPDATE head SET seq = 6, decisions = 6",
    ),
];

#[test]
fn p_15_a_trail_that_does_not_continue_the_known_head_is_rejected() {
    run(async {
        for (place, _cluster) in places() {
            let trail = place.open().await;
            for number in 1..=6 {
                let command = format!("rm {number}");
                trail.record(new(&command)).await.expect("recorded");
            }
            for (change, back) in REWRITES {
                if back.contains("gaps WHERE first = 900") {
                    let keep = "INSERT INTO gaps SELECT 900, 900, hash FROM log WHERE seq = 6";
                    execute_sql(&place.url, keep).await;
                }
                execute_sql(&place.url, change).await;
                let error = trail.record(new("rm x")).await.expect_err(change);
                assert!(
                    matches!(error, AuditError::Rewritten { entry: 6, .. }),
                    "{change}: {error:?}"
                );
                // Reads fail as well; changes that only a walk detects are left to the writer.
                if !change.contains("seq + ") {
                    trail.totals().await.expect_err(change);
                    trail.decision(1).await.expect_err(change);
                    trail.ping().await.expect_err(change);
                }
                execute_sql(&place.url, back).await;
                trail.totals().await.expect(back);
            }
            assert_eq!(trail.record(new("rm 7")).await.expect("recorded"), 7);
            assert_intact(&trail).await;
        }
    });
}

#[test]
fn p_15_entries_of_another_process_are_continued() {
    run(async {
        for (place, _cluster) in places() {
            let trail = place.open().await;
            let other = place.open().await;
            for round in 0..3 {
                for trail in [&trail, &other] {
                    let id = trail.record(new("rm x")).await.expect("recorded");
                    let done = trail.answer(id, approved()).await.expect("answered");
                    assert!(matches!(done, AnswerResult::Done(_)), "{round}: {done:?}");
                    let done = trail.redeem(id, "secret").await.expect("used");
                    assert!(matches!(done, RedeemResult::Done(_)), "{done:?}");
                    let ran = Execution {
                        exit_status: Some(0),
                        at: Timestamp::now(),
                    };
                    trail
                        .record_execution(id, "secret", ran)
                        .await
                        .expect("reported");
                    let kept = trail.remember(always("make")).await.expect("remembered");
                    trail.revoke(kept.id, "console").await.expect("revoked");
                }
            }
            // More entries than are read while the database is locked.
            for number in 0..700 {
                let old = decision(&format!("rm {number}"), Crud::Delete, minute(number));
                other.record(old).await.expect("recorded");
            }
            trail.record(new("rm y")).await.expect("recorded");
            // A cleanup by the second store removes the last entry that the first store knows.
            other.cleanup(minute(1000), "cron").await.expect("cleaned");
            trail.record(new("rm z")).await.expect("recorded");
            let later = Timestamp::now() + Duration::from_secs(60);
            other.cleanup(later, "cron").await.expect("cleaned");
            trail.totals().await.expect("read");
            trail.record(new("rm z")).await.expect("recorded");
            other.cleanup(later, "cron").await.expect("cleaned");
            other.record(new("rm z")).await.expect("recorded");
            other.cleanup(later, "cron").await.expect("cleaned");
            trail.record(new("rm z")).await.expect("recorded");
            assert_intact(&trail).await;
            assert_intact(&other).await;
        }
    });
}

/// A forged row without a log entry allows nothing.
#[test]
fn x_7_a_forged_approval_allows_nothing() {
    const PLANTED: &[&str] = &[
        "UPDATE decisions SET response = 1 WHERE id = 2",
        "UPDATE decisions SET response = 1, answered_at = at, answered_by = 'console',
            answered_seq = 4 WHERE id = 2",
        "UPDATE decisions SET response = 1, answered_at = at, answered_by = 'console',
            answered_seq = 99 WHERE id = 2",
        // The approval of another command.
        "UPDATE decisions SET command_hash = (SELECT command_hash FROM decisions WHERE id = 2)
            WHERE id = 1",
        "UPDATE decisions SET cwd = NULL, command_hash =
            (SELECT command_hash FROM decisions WHERE id = 2) WHERE id = 3",
        "INSERT INTO remembered (id, command_hash, command, created_at, created_by, created_seq)
            SELECT 9, command_hash, command, 0, 'console', 1 FROM decisions WHERE id = 2",
        "UPDATE remembered SET command_hash = (SELECT command_hash FROM decisions WHERE id = 2)",
        "UPDATE remembered SET revoked_at = NULL, revoked_by = NULL, revoked_seq = NULL,
            command_hash = (SELECT command_hash FROM decisions WHERE id = 2)",
    ];
    run(async {
        for (place, _cluster) in places() {
            for planted in PLANTED {
                let place = match place.url.strip_prefix("sqlite:") {
                    Some(_) => Place::sqlite(),
                    None => Place::at(cluster().expect("it runs").database()),
                };
                let trail = place.open().await;
                for command in ["rm 1", "rm 2", "rm 3"] {
                    trail.record(new(command)).await.expect("recorded");
                }
                trail.answer(1, approved()).await.expect("answered");
                trail.remember(always("make")).await.expect("remembered");
                execute_sql(&place.url, planted).await;
                let request = PermissionRequest::new("rm 2");
                let scope = scope(&request);
                let granted = trail.find_grant(hash("rm 2"), &request, &scope, true).await;
                // The third decision has no answer.
                let none =
                    planted.ends_with("WHERE id = 3") && matches!(granted, Ok(GrantResult::No));
                assert!(
                    none || matches!(granted, Err(AuditError::Unvouched { .. })),
                    "{planted}: {granted:?}"
                );
                let redeemed = trail.redeem(2, "secret").await;
                assert!(
                    !matches!(redeemed, Ok(RedeemResult::Done(_))),
                    "{planted}: {redeemed:?}"
                );
            }
        }
    });
}

/// An event stays in effect if its row is removed.
#[test]
fn x_7_an_approval_is_used_once_even_if_its_use_is_deleted_manually() {
    run(async {
        for (place, _cluster) in places() {
            let trail = place.open().await;
            for command in ["rm 1", "rm 2"] {
                let id = trail.record(new(command)).await.expect("recorded");
                trail.answer(id, approved()).await.expect("answered");
            }
            let done = trail.redeem(1, "secret").await.expect("used");
            assert!(matches!(done, RedeemResult::Done(_)), "{done:?}");
            let ran = Execution {
                exit_status: Some(0),
                at: Timestamp::now(),
            };
            trail
                .record_execution(2, "secret", ran)
                .await
                .expect("reported");
            let kept = trail.remember(always("make")).await.expect("remembered");
            trail.revoke(kept.id, "console").await.expect("revoked");
            execute_sql(
                &place.url,
                "DELETE FROM used;
                 UPDATE decisions SET executed_at = NULL, exit_status = NULL, executed_seq = NULL;
                 UPDATE remembered SET revoked_at = NULL, revoked_by = NULL, revoked_seq = NULL",
            )
            .await;
            for command in ["rm 1", "rm 2", "make"] {
                let request = PermissionRequest::new(command);
                let scope = scope(&request);
                let granted = trail
                    .find_grant(hash(command), &request, &scope, true)
                    .await;
                assert!(
                    matches!(granted, Err(AuditError::Unvouched { .. })),
                    "{command}: {granted:?}"
                );
            }
            for id in [1, 2] {
                let redeemed = trail.redeem(id, "secret").await;
                redeemed.expect_err("the approval was used");
            }
        }
    });
}

/// Planted objects: SQL that creates the object, its name, and SQL that removes it.
const PLANTED: &[(&str, &str, &str)] = &[
    (
        "CREATE TRIGGER planted AFTER INSERT ON decisions BEGIN DELETE FROM log; END",
        "trigger `planted` on `decisions`",
        "DROP TRIGGER \"planted\"",
    ),
    (
        "CREATE TRIGGER planted INSTEAD OF INSERT ON seen BEGIN SELECT 1; END",
        "`planted` on `seen`",
        "DROP TRIGGER planted",
    ),
    (
        "CREATE VIEW planted AS SELECT * FROM decisions",
        "view `planted`",
        "DROP VIEW \"planted\"",
    ),
    (
        "CREATE TABLE planted (id INTEGER)",
        "table `planted`",
        "DROP TABLE \"planted\"",
    ),
    (
        "CREATE INDEX planted ON decisions (command)",
        "index `planted` on `decisions`",
        "DROP INDEX \"planted\"",
    ),
    (
        "ANALYZE",
        "table `sqlite_stat1`",
        "DROP TABLE sqlite_stat1; DROP TABLE sqlite_stat4",
    ),
    (
        "ALTER TABLE remembered ADD COLUMN planted TEXT DEFAULT 'x'",
        "table `remembered` has a different definition",
        "ALTER TABLE remembered DROP COLUMN planted",
    ),
    (
        "ALTER TABLE decisions ADD COLUMN planted INTEGER GENERATED ALWAYS AS (id + 1) VIRTUAL",
        "table `decisions` has a different definition",
        "ALTER TABLE decisions DROP COLUMN planted",
    ),
    (
        "ALTER TABLE used RENAME TO gone; CREATE VIEW used AS SELECT * FROM gone",
        "`gone`",
        "DROP VIEW used; ALTER TABLE gone RENAME TO used",
    ),
    (
        "DROP INDEX decisions_open",
        "missing index `decisions_open`",
        "CREATE INDEX decisions_open ON decisions (deadline) WHERE response IS NULL AND deadline IS NOT NULL",
    ),
];

#[test]
fn p_15_a_planted_schema_object_is_reported_before_any_write() {
    run(async {
        for (planted, named, removed) in PLANTED {
            let place = Place::sqlite();
            let trail = place.open().await;
            trail.record(new("rm 1")).await.expect("recorded");
            if planted.contains("ON seen") {
                execute_sql(&place.url, "CREATE VIEW seen AS SELECT 1 AS one").await;
            }
            execute_sql(&place.url, planted).await;
            assert_other_schema(trail.record(new("rm 2")).await, named);
            assert_other_schema(trail.totals().await, named);
            assert_other_schema(trail.decision(1).await, named);
            let found = trail.verify().await.expect("a walk");
            let broken = found.broken.expect(planted);
            assert!(broken.problem.contains(named), "{planted}: {broken:?}");
            assert_other_schema(AuditStore::open(&place.url).await, named);
            assert_other_schema(AuditStore::open_one_shot(&place.url).await, named);

            execute_sql(&place.url, removed).await;
            if planted.contains("ON seen") {
                execute_sql(&place.url, "DROP VIEW seen").await;
            }
            if removed.starts_with("ALTER TABLE gone") || planted.contains("RENAME") {
                continue;
            }
            assert_eq!(trail.record(new("rm 2")).await.expect(removed), 2);
            assert_intact(&trail).await;
            assert_intact(&place.open().await).await;
        }
    });
}

/// The schema number, by which SQLite detects a change, is restored.
#[test]
fn p_15_a_trigger_with_a_restored_schema_number_has_no_effect() {
    run(async {
        let place = Place::sqlite();
        let trail = place.open().await;
        trail.record(new("rm 1")).await.expect("recorded");
        let path = place.url.strip_prefix("sqlite:").expect("a file");
        let options = SqliteConnectOptions::new().filename(path);
        let mut connection = options.connect().await.expect("a connection");
        let version: i64 = sqlx::query_scalar("PRAGMA schema_version")
            .fetch_one(&mut connection)
            .await
            .expect("a number");
        let planted = format!(
            "CREATE TRIGGER planted AFTER INSERT ON decisions BEGIN UPDATE decisions SET
             response = 1; END; PRAGMA schema_version = {version}"
        );
        sqlx::raw_sql(AssertSqlSafe(planted))
            .execute(&mut connection)
            .await
            .expect("planted");
        connection.close().await.expect("closed");
        if let Ok(id) = trail.record(new("rm 2")).await {
            let record = trail.decision(id).await.expect("read").expect("there");
            assert_eq!(record.user_response, None, "the trigger has fired");
        }
        assert_other_schema(AuditStore::open(&place.url).await, "planted");
    });
}

#[track_caller]
fn assert_other_schema<T>(done: Result<T, AuditError>, named: &str) {
    let Err(error) = done else {
        panic!("{named}: not found")
    };
    assert!(matches!(error, AuditError::Schema { .. }), "{error:?}");
    assert!(error.to_string().contains(named), "{named}: {error}");
}

const PLANTED_IN_POSTGRES: &[(&str, &str, &str)] = &[
    (
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER planted BEFORE INSERT ON decisions FOR EACH ROW EXECUTE FUNCTION f()",
        "trigger planted on decisions",
        "DROP TRIGGER planted ON decisions",
    ),
    (
        "CREATE RULE planted AS ON INSERT TO used DO INSTEAD NOTHING",
        "rule planted on used",
        "DROP RULE planted ON used",
    ),
    (
        "ALTER TABLE remembered ENABLE ROW LEVEL SECURITY;
         CREATE POLICY planted ON remembered USING (false)",
        "planted on remembered",
        "DROP POLICY planted ON remembered; ALTER TABLE remembered DISABLE ROW LEVEL SECURITY",
    ),
    (
        "ALTER TABLE remembered ALTER revoked_at SET DEFAULT 1",
        "revoked_at",
        "ALTER TABLE remembered ALTER revoked_at DROP DEFAULT",
    ),
    (
        "ALTER TABLE decisions ADD COLUMN planted BIGINT GENERATED ALWAYS AS (id + 1) STORED",
        "planted",
        "",
    ),
    (
        "ALTER TABLE used ADD CONSTRAINT planted CHECK (decision < 0) NOT VALID",
        "planted on used",
        "ALTER TABLE used DROP CONSTRAINT planted",
    ),
    (
        "CREATE SCHEMA guard; CREATE TABLE guard.used (LIKE public.used INCLUDING ALL)",
        "schema",
        "DROP SCHEMA guard CASCADE",
    ),
];

#[test]
fn p_15_a_planted_object_in_postgresql_is_reported() {
    let Some(cluster) = cluster() else { return };
    run(async {
        for (planted, named, removed) in PLANTED_IN_POSTGRES {
            let place = Place::at(cluster.database());
            let trail = place.open().await;
            trail.record(new("rm 1")).await.expect("recorded");
            execute_sql(&place.url, planted).await;
            assert_other_schema(AuditStore::open(&place.url).await, named);
            // A running service detects changes outside the table's own entry within a few seconds.
            let mut done = trail.record(new("rm 2")).await;
            for _ in 0..100 {
                if done.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
                done = trail.record(new("rm 2")).await;
            }
            assert_other_schema(done, named);
            let broken = trail.verify().await.expect("a walk").broken.expect(planted);
            assert!(broken.problem.contains(named), "{planted}: {broken:?}");
            if removed.is_empty() {
                continue;
            }
            execute_sql(&place.url, removed).await;
            let mut done = trail.record(new("rm 3")).await;
            for _ in 0..100 {
                if done.is_ok() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
                done = trail.record(new("rm 3")).await;
            }
            done.expect(removed);
            AuditStore::open(&place.url).await.expect(removed);
        }
    });
}

/// An empty schema with the name of the user comes first in the search path: a new trail would be
/// created there.
#[test]
fn p_15_no_new_trail_is_created_in_a_schema_that_hides_the_old_one() {
    let Some(cluster) = cluster() else { return };
    run(async {
        let place = Place::at(cluster.database());
        let trail = place.open().await;
        trail.record(new("rm 1")).await.expect("recorded");
        execute_sql(&place.url, "CREATE SCHEMA guard").await;
        assert_other_schema(AuditStore::open(&place.url).await, "`guard`");
        assert_other_schema(AuditStore::open_one_shot(&place.url).await, "`guard`");
        assert_eq!(trail.record(new("rm 2")).await.expect("recorded"), 2);
    });
}

#[test]
fn p_15_replaced_tables_in_postgresql_are_detected() {
    let Some(cluster) = cluster() else { return };
    run(async {
        let place = Place::at(cluster.database());
        let trail = place.open().await;
        let other = place.open().await;
        let mut changes = other.changes();
        trail.record(new("rm 1")).await.expect("recorded");
        // An idle store follows what others write.
        changes.next().await.expect("the store is open");
        execute_sql(
            &place.url,
            "DROP TABLE cleanups, decisions, gaps, head, log, remembered, searched, tallies, times,
                used, _sqlx_migrations",
        )
        .await;
        trail.record(new("rm 2")).await.expect_err("no tables");
        let fresh = place.open().await;
        for trail in [&trail, &other] {
            let error = trail.record(new("rm 2")).await.expect_err("other tables");
            assert!(matches!(error, AuditError::Rewritten { .. }), "{error:?}");
        }
        assert_eq!(fresh.record(new("rm 2")).await.expect("recorded"), 1);
    });
}

/// A standby is promoted without the last entries.
#[test]
fn p_15_a_standby_is_readable_and_rejected_if_it_lacks_the_last_entries() {
    // A separate server: the standby copies all of its databases.
    let Some(primary) = Cluster::start() else {
        return;
    };
    let primary_url = primary.database();
    let (_, database) = primary_url.rsplit_once('/').expect("a name");
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let way = folder.path().join("way");
        let lead = |to: &std::path::Path| {
            let _ = std::fs::remove_file(&way);
            std::os::unix::fs::symlink(to, &way).expect("a link");
        };
        lead(primary.socket_folder());
        let host = way.display().to_string().replace('/', "%2F");
        let url = format!("postgres://guard@{host}:5432/{database}");
        let trail = AuditStore::open(&url).await.expect("a trail");
        trail.record(new("rm 1")).await.expect("recorded");

        let standby = primary.standby();
        let standby_host = standby.socket_folder().display().to_string();
        let standby_host = standby_host.replace('/', "%2F");
        let standby_url = format!("postgres://guard@{standby_host}:5432/{database}");
        let error = AuditStore::open(&standby_url).await.expect_err("a standby");
        assert!(matches!(error, AuditError::ReadOnly), "{error:?}");
        assert!(error.to_string().contains("primary"), "{error}");
        let reader = AuditStore::open_read_only(&standby_url).await;
        let reader = reader.expect("a standby is read");
        assert_intact(&reader).await;
        let found = reader.totals().await.expect("read");
        assert_eq!(found.total_decisions, 1);
        let error = reader.record(new("rm x")).await.expect_err("a standby");
        assert!(matches!(error, AuditError::ReadOnly), "{error:?}");
        reader.close().await;

        // The standby does not receive later writes.
        let pause = "SELECT pg_wal_replay_pause()";
        standby.psql("postgres", pause).expect("paused");
        let receiver = standby.psql("postgres", "SELECT pid FROM pg_stat_wal_receiver");
        let receiver = receiver.expect("the standby replicates");
        let ended = std::process::Command::new("kill")
            .arg(receiver.trim())
            .status();
        assert!(ended.expect("kill runs").success());
        let receives = "SELECT count(*) FROM pg_stat_wal_receiver";
        for _ in 0..200 {
            if standby.psql("postgres", receives).as_deref() == Some("0\n") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        trail.record(new("rm 2")).await.expect("recorded");
        let noted = trail.head().await.expect("read");
        standby
            .psql("postgres", "SELECT pg_promote()")
            .expect("promoted");
        lead(standby.socket_folder());
        // The primary is gone.
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
        );
        primary.psql("postgres", &end).expect("ended");
        // Interrupted connections fail first.
        let mut done = trail.record(new("rm 3")).await;
        for _ in 0..100 {
            match &done {
                Err(AuditError::Rewritten { .. }) => break,
                Err(_) => {}
                Ok(id) => panic!("decision {id} was recorded in a trail that lacks one"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            done = trail.record(new("rm 3")).await;
        }
        let error = done.expect_err("the standby lacks an entry");
        assert!(
            matches!(error, AuditError::Rewritten { entry: 2, .. }),
            "{error:?}"
        );
        trail.ping().await.expect_err("the standby lacks an entry");
        let shorter = AuditStore::open(&url).await.expect("opened anew");
        let found = shorter.verify_with(&[noted]).await.expect("a walk");
        assert!(found.broken.is_none() && !found.is_intact(), "{found:?}");
        assert_eq!(shorter.record(new("rm 3")).await.expect("recorded"), 2);
    });
}

/// Planted objects, and whether the entries can still be checked.
const OTHER_SCHEMAS: &[(&str, &str, bool)] = &[
    (
        "CREATE TRIGGER t AFTER INSERT ON decisions BEGIN DELETE FROM log; END",
        "unexpected trigger `t` on `decisions`",
        true,
    ),
    ("CREATE VIEW v AS SELECT 1", "unexpected view `v`", true),
    (
        "CREATE INDEX x ON decisions (command)",
        "unexpected index `x` on `decisions`",
        true,
    ),
    ("CREATE TABLE extra (a)", "unexpected table `extra`", true),
    (
        "ALTER TABLE decisions ADD COLUMN c TEXT",
        "table `decisions` has a different definition",
        true,
    ),
    (
        "DROP INDEX decisions_open",
        "missing index `decisions_open`",
        true,
    ),
    ("DROP TABLE head", "missing table `head`", false),
    (
        "ALTER TABLE used RENAME TO used_; CREATE VIEW used AS SELECT * FROM used_",
        "unexpected table `used_`",
        false,
    ),
    (
        "ALTER TABLE log RENAME TO log_; CREATE VIEW log AS
            WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n)
            SELECT seq, 1 AS kind, 1 AS subject, zeroblob(32) AS hash FROM n ORDER BY random()",
        "index `log_ended` has a different definition",
        false,
    ),
];

#[test]
fn p_15_verify_reports_a_different_schema_and_checks_the_entries() {
    run(async {
        for &(planted, problem, can_walk) in OTHER_SCHEMAS {
            for is_changed in [false, true] {
                let place = Place::sqlite();
                let trail = place.open().await;
                for number in 1..=3 {
                    let command = format!("rm {number}");
                    trail.record(new(&command)).await.expect("recorded");
                }
                let head = trail.head().await.expect("a head");
                trail.close().await;
                execute_sql(&place.url, planted).await;
                if is_changed {
                    execute_sql(
                        &place.url,
                        "UPDATE decisions SET command = 'ls' WHERE id = 2",
                    )
                    .await;
                }
                let error = AuditStore::open(&place.url).await.expect_err(planted);
                assert!(
                    matches!(error, AuditError::Schema { .. }),
                    "{planted}: {error}"
                );
                let found = AuditStore::verify_unopened(&place.url, &[head]).await;
                let found = found.expect(planted);
                assert!(!found.is_intact(), "{planted}");
                let broken = found.broken.expect(planted);
                assert!(broken.problem.contains(problem), "{planted}: {broken:?}");
                assert!(!broken.problem.contains("audit verify"), "{broken:?}");
                assert_eq!(
                    found.has_whole_entries,
                    can_walk && !is_changed,
                    "{planted}"
                );
                match (can_walk, is_changed) {
                    (true, false) => {
                        assert_eq!(found.broken_entries, None, "{planted}");
                        assert_eq!((found.decisions, found.head), (3, head), "{planted}");
                        assert_eq!(found.heads[0].found, HeadState::Holds, "{planted}");
                    }
                    (true, true) => {
                        let entries = found.broken_entries.expect(planted);
                        assert_eq!(entries.entry, Some(2), "{planted}: {entries:?}");
                    }
                    (false, _) => {
                        let entries = found.broken_entries.expect(planted);
                        assert!(
                            entries.problem.contains("cannot check the entries"),
                            "{entries:?}"
                        );
                        assert_eq!(found.heads[0].found, HeadState::Unreachable);
                    }
                }
            }
        }
    });
}
