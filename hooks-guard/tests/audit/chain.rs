//! Whoever changes the database by hand is found.

use hooks_guard::audit::{AuditStore, Execution, Granted, NewRemembered, UserResponse};
use hooks_guard::classify::Crud;
use hooks_guard::{CommandPart, PermissionRequest};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use crate::contract::{Place, cluster};
use crate::kit::{decision, hash, intact, minute, run, says, scope};

/// One change each, as SQL that both databases understand.
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

/// Everything that can happen, once: 3 is answered and ran, 5 is open, 6 is denied by a rule.
async fn filled(trail: &AuditStore) {
    for n in 1..=6 {
        let mut new = decision(&format!("rm {n}"), Crud::Delete, minute(n));
        new.ruling.denied = n == 6;
        new.request.agent = Some("codex".to_owned());
        new.scope = Some(scope(&new.request));
        trail.record(new).await.expect("recorded");
    }
    let answer = says(UserResponse::Denied, minute(60));
    trail.answer(3, answer).await.expect("answered");
    let ran = Execution {
        exit_status: Some(0),
        at: minute(61),
    };
    trail.executed(3, "secret", ran).await.expect("reported");
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
    trail.forget(2, "console").await.expect("revoked");
    let done = trail.cleanup(minute(2), "cron").await.expect("cleaned");
    assert_eq!(done.deleted, 1);
    intact(trail).await;
}

#[test]
fn every_change_by_hand_is_found_in_sqlite() {
    run(async {
        let full = Place::sqlite();
        let trail = full.open().await;
        filled(&trail).await;
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
fn every_change_by_hand_is_found_in_postgres() {
    let Some(cluster) = cluster() else { return };
    run(async {
        let url = cluster.database();
        let name = url.rsplit('/').next().expect("a name");
        let trail = AuditStore::open(&url).await.expect("a trail");
        filled(&trail).await;
        trail.close().await;
        for change in CHANGES {
            let copy = cluster.copy(name);
            let copy_name = copy.rsplit('/').next().expect("a name").to_owned();
            let done = cluster.psql(&copy_name, change);
            assert!(done.is_some(), "{change}");
            let trail = AuditStore::open(&copy).await.expect("a trail");
            let found = trail.verify().await.expect("a walk");
            assert!(!found.is_intact(), "not found: {change}");
        }
    });
}

#[test]
fn the_first_broken_entry_is_named() {
    run(async {
        let place = Place::sqlite();
        let trail = place.open().await;
        filled(&trail).await;
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
fn a_head_noted_elsewhere_shows_what_came_later() {
    run(async {
        let trail = Place::sqlite();
        let trail = trail.open().await;
        let empty = trail.head().await.expect("read");
        assert_eq!((empty.count, empty.hash), (0, [0; 32]));
        filled(&trail).await;
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

/// What was written before the trail kept the parts of commands stays as it is, and intact.
#[test]
fn a_database_of_before_is_brought_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trail.db");
    run(async {
        let trail = AuditStore::open(&path.display().to_string())
            .await
            .expect("a trail");
        let new = decision("mkdir a", Crud::Create, minute(0));
        let id = trail.record(new).await.expect("recorded");
        let request = PermissionRequest::new("mkdir a");
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
        let options = SqliteConnectOptions::new().filename(&path);
        let mut by_hand = options.connect().await.expect("the file");
        for change in [
            "ALTER TABLE decisions DROP COLUMN parts",
            "ALTER TABLE decisions DROP COLUMN scope",
            "ALTER TABLE decisions DROP COLUMN scope_hash",
            "ALTER TABLE remembered DROP COLUMN scope",
            "ALTER TABLE remembered DROP COLUMN scope_hash",
            "DELETE FROM _sqlx_migrations WHERE version IN (2, 4)",
        ] {
            sqlx::query(change)
                .execute(&mut by_hand)
                .await
                .expect("as it was");
        }
        sqlx::Connection::close(by_hand).await.expect("closed");
        let trail = AuditStore::open(&path.display().to_string())
            .await
            .expect("a trail");
        intact(&trail).await;
        let record = trail.decision(id).await.expect("read").expect("there");
        assert_eq!(record.parts, []);
        assert_eq!((record.covers.len(), record.always), (0, None));
        // What was remembered before approvals were bound to files does not serve any more.
        let scope = scope(&request);
        let grant = trail.grant(hash("mkdir a"), &request, &scope, true).await;
        let grant = grant.expect("an answer");
        let why = "remembered answer 1 does not serve; it is from a version that did not bind \
                   approvals to files";
        assert_eq!(grant, Granted::Changed(why.to_owned()));
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
        intact(&trail).await;
    });
}
