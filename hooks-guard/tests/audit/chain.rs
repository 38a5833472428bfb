//! Changes of the database by hand are detected.

use std::path::Path;

use hooks_guard::audit::{
    AuditError, AuditStore, ChainHead, Execution, GrantResult, HeadState, NewRemembered,
    UserResponse,
};
use hooks_guard::classify::Crud;
use hooks_guard::{CommandPart, PermissionRequest};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqlSafeStr};

use crate::contract::{Place, cluster};
use crate::kit::{assert_intact, decision, hash, minute, new_answer, run, scope};

/// SQL statements for both databases, each with one change.
const CHANGES: &[&str] = &[
    "UPDATE decisions SET command = 'ls' WHERE id = 4",
    "UPDATE decisions SET at = at + 1 WHERE id = 4",
    "UPDATE decisions SET class = 1 WHERE id = 4",
    "UPDATE decisions SET requires = 0 WHERE id = 4",
    "UPDATE decisions SET confidence = 0.5 WHERE id = 4",
    "UPDATE decisions SET reasoning = '' WHERE id = 4",
    "UPDATE decisions SET explanation = '' WHERE id = 4",
    "UPDATE decisions SET parts = '[[0,1,1,1]]' WHERE id = 4",
    "UPDATE decisions SET scope = NULL WHERE id = 4",
    "UPDATE decisions SET scope = '{}' WHERE id = 4",
    "UPDATE decisions SET scope_hash = NULL WHERE id = 4",
    "UPDATE decisions SET scope_hash = 'other' WHERE id = 4",
    "UPDATE remembered SET scope = NULL WHERE id = 1",
    "UPDATE remembered SET scope_hash = 'other' WHERE id = 1",
    "UPDATE decisions SET response_time_us = 1 WHERE id = 4",
    "UPDATE decisions SET agent = 'other' WHERE id = 4",
    "UPDATE decisions SET session_id = 'other' WHERE id = 4",
    "UPDATE decisions SET cwd = '/' WHERE id = 4",
    "UPDATE decisions SET rule = 'other' WHERE id = 4",
    "UPDATE decisions SET error = 'other' WHERE id = 4",
    "UPDATE decisions SET deadline = 1 WHERE id = 4",
    "UPDATE decisions SET denied = 1 WHERE id = 4",
    "UPDATE decisions SET method = 3 WHERE id = 4",
    "UPDATE decisions SET timed_out = 1 WHERE id = 4",
    "UPDATE decisions SET command_hash = (SELECT command_hash FROM decisions WHERE id = 3) WHERE id = 4",
    "UPDATE decisions SET secret_hash = NULL WHERE id = 4",
    "UPDATE decisions SET response = 1 WHERE id = 4",
    "UPDATE decisions SET response = 1 WHERE id = 3",
    "UPDATE decisions SET response = 1 WHERE id = 5",
    "UPDATE decisions SET response = 1 WHERE id = 6",
    "UPDATE decisions SET answered_by = 'me' WHERE id = 3",
    "UPDATE decisions SET answered_by = 'me' WHERE id = 6",
    "UPDATE decisions SET answer_note = '' WHERE id = 3",
    "UPDATE decisions SET answered_at = 1 WHERE id = 3",
    "UPDATE decisions SET response = 1, answered_at = 1, answered_by = 'me', answered_seq = 1 WHERE id = 5",
    "UPDATE decisions SET response = NULL, answered_at = NULL, answered_by = NULL, answer_note = NULL, answered_seq = NULL WHERE id = 3",
    "UPDATE decisions SET executed_at = NULL, exit_status = NULL, executed_seq = NULL WHERE id = 3",
    "UPDATE decisions SET executed_at = 1 WHERE id = 3",
    "UPDATE decisions SET exit_status = 1 WHERE id = 3",
    "UPDATE decisions SET ran_command = 'ls' WHERE id = 3",
    "UPDATE decisions SET ran_command = 'ls' WHERE id = 5",
    "UPDATE decisions SET executed_at = 1 WHERE id = 5",
    "UPDATE decisions SET id = 99 WHERE id = 4",
    "UPDATE decisions SET id = CASE id WHEN 4 THEN -5 ELSE -4 END WHERE id IN (4, 5)",
    "DELETE FROM decisions WHERE id = 4",
    "DELETE FROM decisions WHERE id = 6",
    "INSERT INTO decisions (id, at, command, command_hash, class, requires, response_time_us, confidence, method, timed_out, reasoning, explanation, denied, decided_seq)
        SELECT 99, at, command, command_hash, class, requires, response_time_us, confidence, method, timed_out, reasoning, explanation, denied, 99 FROM decisions WHERE id = 4",
    "UPDATE searched SET folded = 'ls' WHERE id = 4",
    "UPDATE searched SET response = 1 WHERE id = 3",
    "UPDATE searched SET class = 1 WHERE id = 4",
    "UPDATE searched SET agent = 'nobody' WHERE id = 4",
    "DELETE FROM searched WHERE id = 4",
    "INSERT INTO searched SELECT 1, 99, class, requires, response, folded, agent FROM searched WHERE id = 4",
    "DELETE FROM log WHERE seq = 5",
    "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log)",
    "DELETE FROM log WHERE kind = 6",
    "UPDATE log SET kind = 3 WHERE kind = 2",
    "UPDATE log SET subject = 5 WHERE kind = 1 AND subject = 4",
    "UPDATE log SET hash = (SELECT hash FROM log WHERE kind = 6) WHERE kind = 1 AND subject = 4",
    "INSERT INTO log SELECT (SELECT max(seq) + 1 FROM log), kind, subject, hash FROM log WHERE kind = 2",
    "INSERT INTO gaps SELECT seq, seq, hash FROM log WHERE kind = 2",
    "DELETE FROM gaps",
    "UPDATE gaps SET last = last + 1",
    "UPDATE gaps SET hash = (SELECT hash FROM log WHERE kind = 6)",
    "UPDATE head SET seq = seq - 1",
    "UPDATE head SET decisions = 1",
    "UPDATE head SET decisions = decisions - 1",
    "UPDATE head SET decisions = decisions + 1",
    "UPDATE head SET decisions = decisions + 1000000",
    "UPDATE head SET remembered = remembered - 1",
    "UPDATE head SET remembered = remembered + 1",
    "UPDATE remembered SET revoked_by = 'me' WHERE id = 1",
    "UPDATE cleanups SET done_by = 'nobody'",
    "UPDATE cleanups SET deleted = 0",
    "DELETE FROM cleanups",
    "INSERT INTO cleanups SELECT 99, at, done_by, older_than, deleted, remaining, gaps_hash FROM cleanups",
    "UPDATE remembered SET cwd = '/' WHERE id = 1",
    "UPDATE remembered SET session_id = NULL WHERE id = 1",
    "UPDATE remembered SET command_hash = (SELECT command_hash FROM decisions WHERE id = 4) WHERE id = 1",
    "UPDATE remembered SET revoked_at = NULL, revoked_by = NULL, revoked_seq = NULL WHERE id = 2",
    "UPDATE remembered SET revoked_at = NULL WHERE id = 2",
    "UPDATE remembered SET revoked_at = 1 WHERE id = 1",
    "DELETE FROM remembered WHERE id = 1",
    "INSERT INTO remembered SELECT 99, command_hash, command, cwd, session_id, agent, created_at, created_by, created_seq, NULL, NULL, NULL, NULL, NULL FROM remembered WHERE id = 1",
    "UPDATE tallies SET n = n + 1 WHERE unit = 0",
    "UPDATE tallies SET high = high + 1 WHERE unit = 2",
    "UPDATE tallies SET confidence = confidence + 1 WHERE unit = 1",
    "DELETE FROM tallies WHERE unit = 2",
    "UPDATE times SET n = n + 1 WHERE unit = 0",
    "DELETE FROM times WHERE unit = 1",
];

/// Records every kind of event: decision 3 is answered and executed, 5 is open, 6 is denied by a
/// rule.
async fn fill(trail: &AuditStore) {
    for n in 1..=6 {
        let mut new = decision(&format!("rm {n}"), Crud::Delete, minute(n));
        new.permission.denied = n == 6;
        new.request.agent = Some("codex".to_owned());
        new.scope = Some(scope(&new.request));
        trail.record(new).await.expect("recorded");
    }
    let answer = new_answer(UserResponse::Denied, minute(60));
    trail.answer(3, answer).await.expect("answered");
    let ran = Execution {
        exit_status: Some(0),
        at: minute(61),
    };
    trail
        .record_execution(3, "secret", ran)
        .await
        .expect("reported");
    for _ in 0..2 {
        let new = NewRemembered {
            command_hash: hash("make"),
            command: "make".to_owned(),
            cwd: Some("/srv/app".into()),
            session_id: Some("s".to_owned()),
            agent: None,
            by: "console".to_owned(),
            at: minute(62),
            scope: Some(scope(&PermissionRequest::new("make"))),
        };
        trail.remember(new).await.expect("remembered");
    }
    trail.revoke(2, "console").await.expect("revoked");
    let done = trail.cleanup(minute(2), "cron").await.expect("cleaned");
    assert_eq!(done.deleted, 1);
    assert_intact(trail).await;
}

#[test]
fn every_manual_change_is_detected_in_sqlite() {
    run(async {
        let full = Place::sqlite();
        let trail = full.open().await;
        fill(&trail).await;
        trail.close().await;
        let file = full.url.strip_prefix("sqlite:").expect("a file");
        for change in CHANGES {
            let folder = tempfile::tempdir().expect("a folder");
            let copy = folder.path().join("trail.db");
            std::fs::copy(file, &copy).expect("a copy");
            let mut by_hand = SqliteConnectOptions::new()
                .filename(&copy)
                .connect()
                .await
                .expect("a connection");
            let done = sqlx::query(*change).execute(&mut by_hand).await;
            assert!(done.expect(change).rows_affected() > 0, "{change}");
            drop(by_hand);
            let trail = AuditStore::open(&copy.display().to_string()).await;
            let found = trail.expect("a trail").verify().await.expect("a walk");
            assert!(!found.is_intact(), "not found: {change}");
        }
    });
}

#[test]
fn every_manual_change_is_detected_in_postgres() {
    let Some(cluster) = cluster() else { return };
    run(async {
        let url = cluster.database();
        let name = url.rsplit('/').next().expect("a name");
        let trail = AuditStore::open(&url).await.expect("a trail");
        fill(&trail).await;
        trail.close().await;
        // Most of the time, a check waits for the server.
        let check = |changes: &[&str]| {
            run(async {
                for change in changes {
                    let copy = cluster.copy(name);
                    let copy_name = copy.rsplit('/').next().expect("a name");
                    let done = cluster.psql(copy_name, change);
                    assert!(done.is_some(), "{change}");
                    let trail = AuditStore::open(&copy).await.expect("a trail");
                    let found = trail.verify().await.expect("a walk");
                    assert!(!found.is_intact(), "not found: {change}");
                }
            });
        };
        std::thread::scope(|scope| {
            for changes in CHANGES.chunks(CHANGES.len().div_ceil(4)) {
                scope.spawn(move || check(changes));
            }
        });
    });
}

#[test]
fn verify_reports_the_first_broken_entry() {
    run(async {
        let place = Place::sqlite();
        let trail = place.open().await;
        fill(&trail).await;
        let file = place.url.strip_prefix("sqlite:").expect("a file");
        let mut by_hand = SqliteConnectOptions::new()
            .filename(file)
            .connect()
            .await
            .expect("a connection");
        sqlx::query("UPDATE decisions SET command = 'ls' WHERE id IN (4, 5)")
            .execute(&mut by_hand)
            .await
            .expect("changed");
        let broken = trail.verify().await.expect("a walk").broken.expect("found");
        assert_eq!((broken.entry, broken.decision), (Some(4), Some(4)));
    });
}

#[test]
fn the_head_matches_verify_and_survives_serialization() {
    run(async {
        let trail = Place::sqlite();
        let trail = trail.open().await;
        let empty = trail.head().await.expect("read");
        assert_eq!((empty.count, empty.hash), (0, [0; 32]));
        fill(&trail).await;
        let head = trail.head().await.expect("read");
        let found = trail.verify().await.expect("a walk");
        assert_eq!(found.head, head);
        assert_eq!(head.count, found.entries + found.removed);
        let shown = serde_json::to_string(&head).expect("json");
        assert_eq!(
            serde_json::from_str::<hooks_guard::audit::ChainHead>(&shown).expect("a head"),
            head
        );
    });
}

/// Returns the state of each noted head in the chain, by entry number.
async fn states(trail: &AuditStore, noted: &[ChainHead]) -> Vec<(u64, HeadState)> {
    let found = trail.verify_with(noted).await.expect("a walk");
    let holds = found.heads.iter().all(|it| it.found == HeadState::Holds);
    assert_eq!(found.is_intact(), holds && found.broken.is_none());
    let states = found.heads.iter().map(|it| (it.head.count, it.found));
    states.collect()
}

#[test]
fn a_noted_head_is_checked_after_the_chain_has_grown() {
    run(async {
        let place = Place::sqlite();
        let trail = place.open().await;
        let mut noted = vec![trail.head().await.expect("read")];
        for n in 0..6 {
            let new = decision(&format!("rm {n}"), Crud::Delete, minute(n));
            trail.record(new).await.expect("recorded");
            noted.push(trail.head().await.expect("read"));
        }
        let holds = |count| (count, HeadState::Holds);
        assert_eq!(
            states(&trail, &noted).await,
            [0, 1, 2, 3, 4, 5, 6].map(holds)
        );

        // In the current and the former printed form.
        let written = noted[3].to_string();
        assert_eq!(written.parse(), Ok(noted[3]));
        assert_eq!(written.replace(':', " ").parse(), Ok(noted[3]));
        for wrong in [
            "",
            "3",
            "3:",
            ":",
            "x:00",
            "+3:00",
            "-1:00",
            "3:0g",
            &written[2..],
        ] {
            assert!(wrong.parse::<ChainHead>().is_err(), "{wrong}");
        }
        let longer = format!("{written}0");
        assert!(longer.parse::<ChainHead>().is_err());

        // A different trail of equal length.
        let mut other = noted[4];
        other.hash = noted[3].hash;
        let found = states(&trail, &[noted[2], other, noted[5]]).await;
        let differs = (4, HeadState::Differs { after: 2 });
        assert_eq!(found, [holds(2), differs, holds(5)]);
        let mut later = noted[6];
        later.count = 9;
        let missing = (9, HeadState::Missing { count: 6 });
        assert_eq!(states(&trail, &[later]).await, [missing]);
        later.count = u64::MAX;
        assert_eq!(states(&trail, &[later]).await.len(), 1);

        // The hash of the last removed entry is kept.
        trail.cleanup(minute(3), "cron").await.expect("cleaned");
        let removed = |count| (count, HeadState::Removed { first: 1, last: 3 });
        assert_eq!(
            states(&trail, &noted).await,
            [
                holds(0),
                removed(1),
                removed(2),
                holds(3),
                holds(4),
                holds(5),
                holds(6)
            ]
        );
        let mut wrong = noted[3];
        wrong.hash = noted[2].hash;
        let found = states(&trail, &[wrong]).await;
        assert_eq!(found, [(3, HeadState::Differs { after: 0 })]);
    });
}

/// The trail is rewritten with consistent hashes: the chain is intact, but the noted head is
/// missing.
#[test]
fn a_noted_head_reveals_a_rewritten_trail() {
    run(async {
        let (one, other) = (Place::sqlite(), Place::sqlite());
        let (one, other) = (one.open().await, other.open().await);
        for (trail, command) in [(&one, "rm -rf build"), (&other, "ls")] {
            for n in 0..3 {
                let new = decision(command, Crud::Delete, minute(n));
                trail.record(new).await.expect("recorded");
            }
        }
        let noted = one.head().await.expect("read");
        for n in 0..3 {
            let new = decision("ls", Crud::Read, minute(10 + n));
            other.record(new).await.expect("recorded");
        }
        assert_intact(&other).await;
        let found = states(&other, &[noted]).await;
        assert_eq!(found, [(3, HeadState::Differs { after: 0 })]);
    });
}

/// The first migrations, as an older version applied them.
const BEFORE: [(i64, &str, &str); 2] = [
    (
        1,
        "audit",
        include_str!("../../migrations/sqlite/0001_audit.sql"),
    ),
    (
        2,
        "parts",
        include_str!("../../migrations/sqlite/0002_parts.sql"),
    ),
];

/// Creates a file like an older version, with its first `count` migrations.
async fn open_earlier_version(path: &Path, count: usize) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true);
    let mut by_hand = options.connect().await.expect("the file");
    let migrations = BEFORE[..count].iter().map(|(version, name, sql)| {
        let (name, sql) = ((*name).into(), sql.into_sql_str());
        Migration::new(*version, name, MigrationType::Simple, sql, false)
    });
    let migrator = Migrator::with_migrations(migrations.collect());
    migrator
        .run_direct(None, &mut by_hand, false)
        .await
        .expect("the tables");
    by_hand
}

/// Records of versions without command parts are kept and stay intact.
#[test]
fn a_database_of_an_earlier_version_is_migrated() {
    run(async {
        for count in 1..=2 {
            let folder = tempfile::tempdir().expect("a folder");
            let (path, old) = (folder.path().join("trail.db"), folder.path().join("old.db"));
            let trail = AuditStore::open(&path.display().to_string())
                .await
                .expect("a trail");
            let new = decision("mkdir a", Crud::Create, minute(0));
            let id = trail.record(new).await.expect("recorded");
            let answer = NewRemembered {
                command_hash: hash("mkdir a"),
                command: "mkdir a".to_owned(),
                cwd: None,
                session_id: None,
                agent: None,
                by: "console".to_owned(),
                at: minute(1),
                scope: None,
            };
            trail.remember(answer).await.expect("remembered");
            trail.close().await;

            // The same rows in a file of an older version.
            let mut by_hand = open_earlier_version(&old, count).await;
            let columns = "id, at, command, command_hash, class, requires, response, \
                response_time_us, confidence, method, timed_out, reasoning, explanation, context, \
                agent, session_id, cwd, call_id, denied, rule, error, deadline, secret_hash, \
                decided_seq, answered_at, answered_by, answer_note, answered_seq, executed_at, \
                exit_status, executed_seq";
            let remembered = "id, command_hash, command, cwd, session_id, agent, created_at, \
                created_by, created_seq, revoked_at, revoked_by, revoked_seq";
            let copies = [
                format!("ATTACH '{}' AS new", path.display()),
                format!("INSERT INTO decisions ({columns}) SELECT {columns} FROM new.decisions"),
                "INSERT INTO searched SELECT at, id, class, requires, response, folded
                    FROM new.searched"
                    .to_owned(),
                format!(
                    "INSERT INTO remembered ({remembered}) SELECT {remembered} FROM new.remembered"
                ),
                "INSERT INTO log SELECT * FROM new.log".to_owned(),
                "DELETE FROM head".to_owned(),
                "INSERT INTO head SELECT * FROM new.head".to_owned(),
                "INSERT INTO tallies SELECT * FROM new.tallies".to_owned(),
                "INSERT INTO times SELECT * FROM new.times".to_owned(),
            ];
            for copy in copies {
                sqlx::query(AssertSqlSafe(copy))
                    .execute(&mut by_hand)
                    .await
                    .expect("copied");
            }
            Connection::close(by_hand).await.expect("closed");

            let trail = AuditStore::open(&old.display().to_string())
                .await
                .expect("a trail");
            assert_intact(&trail).await;
            let record = trail.decision(id).await.expect("read").expect("there");
            assert_eq!(record.parts, []);
            assert_eq!((record.covers.len(), record.always), (0, None));
            // Answers that were remembered before approvals were bound to files no longer apply.
            let request = PermissionRequest::new("mkdir a");
            let scope = scope(&request);
            let grant = trail
                .find_grant(hash("mkdir a"), &request, &scope, true)
                .await;
            let grant = grant.expect("an answer");
            let why = "remembered answer 1 does not apply; it was given by a version that did not bind \
                       approvals to files";
            assert_eq!(grant, GrantResult::Changed(why.to_owned()));
            let mut new = decision("mkdir b", Crud::Create, minute(1));
            new.parts = vec![CommandPart {
                start: 0,
                end: 7,
                effect: Crud::Create,
                decided: true,
            }];
            let id = trail.record(new.clone()).await.expect("recorded");
            let record = trail.decision(id).await.expect("read").expect("there");
            assert_eq!(record.parts, new.parts);
            assert_intact(&trail).await;
        }
    });
}

#[test]
fn a_planted_trigger_is_detected_before_an_old_database_is_migrated() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trail.db");
        let mut by_hand = open_earlier_version(&path, 2).await;
        sqlx::query("CREATE TRIGGER planted AFTER UPDATE ON searched BEGIN DELETE FROM log; END")
            .execute(&mut by_hand)
            .await
            .expect("planted");
        Connection::close(by_hand).await.expect("closed");
        let before = std::fs::read(&path).expect("read");
        let error = AuditStore::open(&path.display().to_string()).await;
        let error = error.expect_err("a trigger");
        assert!(matches!(error, AuditError::Schema { .. }), "{error:?}");
        assert!(error.to_string().contains("`planted`"), "{error}");
        // Only the mode of the file in its header was written.
        assert_eq!(std::fs::read(&path).expect("read")[100..], before[100..]);
    });
}
