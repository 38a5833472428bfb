//! Consents: the user decides, and hooks cannot access the store (`S-21`).

use hooks_script::{
    Consent, ConsentError, ConsentRequest, ConsentStore, ContextKey, Decision, Manifest, Missing,
    Scope, ScriptEngine,
};

use crate::{HOOK, Stores};

fn request(hash: &str) -> ConsentRequest {
    ConsentRequest::new(HOOK, hash, "http", Scope::user("u-1").in_guild("g-1"))
}

async fn missing(store: &ConsentStore, request: &ConsentRequest) -> Missing {
    match store.check(request).await.unwrap() {
        Consent::Missing(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s_21_consent_is_missing_until_it_is_approved() {
    for store in Stores::new().await.consents {
        assert_eq!(
            missing(&store, &request("v1")).await,
            Missing::Never,
            "{store:?}"
        );
        assert!(store.permit(&request("v1")).await.is_none());
        store.approve(&request("v1"), "u-1").await.unwrap();
        let permit = store.permit(&request("v1")).await.unwrap();
        permit.check().await.unwrap();
        assert_eq!(permit.request().capability(), "http");
    }
}

/// Connections to an in-memory database would each see different data.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s_21_a_database_is_a_file_shared_by_concurrent_opens() {
    use hooks_script::Database;

    for name in [
        "",
        ":memory:",
        "file::memory:",
        "file:x?mode=memory",
        "file:x",
    ] {
        let error = Database::open(name).await.unwrap_err();
        assert!(error.to_string().contains("in_memory()"), "{error}");
    }
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let open = || Database::open(folder.path().join("new.db"));
        let (one, two, three) = tokio::join!(open(), open(), open());
        let stores =
            [one, two, three].map(|it| ConsentStore::sqlite(&it.expect("the database opens")));
        stores[0].approve(&request("v1"), "u-1").await.unwrap();
        for store in &stores[1..] {
            assert!(store.permit(&request("v1")).await.is_some());
        }
    }
}

/// Without dropping the triggers, statements can only append to the history.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s_21_entries_of_the_history_cannot_be_updated_or_deleted() {
    use hooks_script::Database;
    use sqlx::{Connection, SqliteConnection};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("consents.db");
    let store = ConsentStore::sqlite(&Database::open(&path).await.unwrap());
    store.approve(&request("v1"), "u-1").await.unwrap();
    store.revoke(&request("v1"), "u-1").await.unwrap();
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    for statement in [
        "UPDATE consent_changes SET decision = 'approve' WHERE id = 2",
        "DELETE FROM consent_changes WHERE id = 2",
        "DELETE FROM consent_changes",
        "INSERT OR REPLACE INTO consent_changes SELECT 2, time_us, decided_by, decision, hook, \
         code_hash, capability, user_id, guild_id, channel_id, context FROM consent_changes WHERE id = 1",
        "INSERT INTO consent_changes SELECT -1, time_us, decided_by, decision, hook, \
         code_hash, capability, user_id, guild_id, channel_id, context FROM consent_changes WHERE id = 1",
    ] {
        let error = sqlx::query(statement).execute(&mut connection).await;
        let error = error.expect_err(statement).to_string();
        assert!(error.contains("changed by a new entry"), "{error}");
    }
    assert_eq!(missing(&store, &request("v1")).await, Missing::Revoked);
    store.approve(&request("v1"), "u-1").await.unwrap();
    assert!(store.permit(&request("v1")).await.is_some());
}

/// A revocation applies within its scope, independent of the scope of the approval.
#[tokio::test]
async fn s_21_a_revocation_applies_only_within_its_scope() {
    let everywhere = ConsentRequest::new(HOOK, "v1", "http", Scope::user("u-1"));
    for store in Stores::new().await.consents {
        store.approve(&everywhere, "u-1").await.unwrap();
        let (here, there) = (request("v1"), everywhere.clone());
        let permits = [&here, &there].map(|request| store.permit(request));
        let [one, two] = permits;
        let (inside, outside) = (one.await.unwrap(), two.await.unwrap());
        store.revoke(&here, "u-1").await.unwrap();
        assert_eq!(missing(&store, &here).await, Missing::Revoked);
        assert!(inside.check().await.is_err());
        assert!(store.permit(&there).await.is_some());
        outside.check().await.unwrap();
    }
}

#[tokio::test]
async fn s_21_consent_covers_one_capability_of_one_hook_in_one_scope() {
    let scope = || Scope::user("u-1").in_guild("g-1");
    for store in Stores::new().await.consents {
        store.approve(&request("v1"), "u-1").await.unwrap();
        for other in [
            ConsentRequest::new(HOOK, "v1", "files", scope()),
            ConsentRequest::new("https://example.org/other.js", "v1", "http", scope()),
            ConsentRequest::new(HOOK, "v1", "http", Scope::user("u-2").in_guild("g-1")),
            ConsentRequest::new(HOOK, "v1", "http", Scope::user("u-1").in_guild("g-2")),
            ConsentRequest::new(HOOK, "v1", "http", Scope::user("u-1")),
            ConsentRequest::new(HOOK, "v1", "http", Scope::guild("g-1")),
        ] {
            assert_eq!(
                missing(&store, &other).await,
                Missing::Never,
                "{store:?} {other:?}"
            );
        }
        let narrower = ConsentRequest::new(HOOK, "v1", "http", scope().in_channel("c-1"));
        assert!(store.permit(&narrower).await.is_some());
    }
}

#[tokio::test]
async fn s_21_a_changed_hook_needs_new_consent() {
    let engine = ScriptEngine::builder().build().unwrap();
    let of = |code| ConsentRequest::of(&crate::hook(&engine, code), "http", Scope::user("u-1"));
    let (old, new) = (
        of("export default () => {};"),
        of("export default () => {} ;"),
    );
    for store in Stores::new().await.consents {
        store.approve(&old, "u-1").await.unwrap();
        assert!(store.permit(&old).await.is_some());
        assert_eq!(missing(&store, &new).await, Missing::Changed);
        store.approve(&new, "u-1").await.unwrap();
        assert!(store.permit(&new).await.is_some());
    }
}

/// An approval includes the context data that the hook receives.
#[tokio::test]
async fn s_21_a_hook_that_requests_more_context_needs_new_consent() {
    let engine = ScriptEngine::builder().build().unwrap();
    let of = |keys: &[ContextKey]| {
        let manifest = Manifest::new(HOOK, "Hook", keys.iter().copied()).unwrap();
        let hook = engine
            .register(manifest, "export default () => {};")
            .unwrap();
        ConsentRequest::of(&hook, "http", Scope::user("u-1"))
    };
    let (nothing, user) = (of(&[]), of(&[ContextKey::User]));
    for store in Stores::new().await.consents {
        let change = store.approve(&nothing, "u-1").await.unwrap();
        assert_eq!(change.context.as_deref(), Some(""));
        assert_eq!(missing(&store, &user).await, Missing::Changed);
        store.approve(&user, "u-1").await.unwrap();
        assert!(store.permit(&user).await.is_some());
        assert!(store.permit(&nothing).await.is_some());
        store.revoke(&nothing, "u-1").await.unwrap();
        assert_eq!(missing(&store, &user).await, Missing::Revoked);
        let history = store.history_of_hook(HOOK).await.unwrap();
        let contexts: Vec<_> = history.iter().map(|it| it.context.as_deref()).collect();
        assert_eq!(contexts, [Some(""), Some("user"), None]);
    }
}

#[tokio::test]
async fn s_21_a_denial_replaces_an_approval_and_voids_its_permit() {
    for store in Stores::new().await.consents {
        store.approve(&request("v1"), "u-1").await.unwrap();
        let permit = store.permit(&request("v1")).await.unwrap();
        store.deny(&request("v1"), "u-1").await.unwrap();
        assert!(
            matches!(store.check(&request("v1")).await.unwrap(), Consent::Denied),
            "{store:?}"
        );
        assert!(permit.check().await.is_err());
    }
}

#[tokio::test]
async fn s_21_a_guild_can_deny_but_not_approve_for_its_members() {
    let guild = ConsentRequest::new(HOOK, "v1", "http", Scope::guild("g-1"));
    for store in Stores::new().await.consents {
        store.approve(&guild, "moderator").await.unwrap();
        assert_eq!(missing(&store, &request("v1")).await, Missing::Never);
        store.approve(&request("v1"), "u-1").await.unwrap();
        assert!(store.permit(&request("v1")).await.is_some());
        store.deny(&guild, "moderator").await.unwrap();
        assert!(matches!(
            store.check(&request("v1")).await.unwrap(),
            Consent::Denied
        ));
    }
}

#[tokio::test]
async fn s_21_a_revocation_voids_existing_permits() {
    for store in Stores::new().await.consents {
        store.approve(&request("v1"), "u-1").await.unwrap();
        let permit = store.permit(&request("v1")).await.unwrap();
        // A revocation of another version, in a wider scope, applies to all versions within its
        // scope.
        let everywhere = ConsentRequest::new(HOOK, "v2", "http", Scope::user("u-1"));
        store.revoke(&everywhere, "u-1").await.unwrap();
        assert_eq!(
            missing(&store, &request("v1")).await,
            Missing::Revoked,
            "{store:?}"
        );
        let error = permit.check().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the consent to `http` is no longer valid; request it again"
        );
        // A new approval does not revive the old permit.
        store.approve(&request("v1"), "u-1").await.unwrap();
        assert!(permit.check().await.is_err());
        store
            .permit(&request("v1"))
            .await
            .unwrap()
            .check()
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn s_21_an_approval_for_every_scope_is_refused() {
    for store in Stores::new().await.consents {
        let everything = ConsentRequest::new(HOOK, "v1", "http", Scope::everything());
        let error = store.approve(&everything, "operator").await.unwrap_err();
        assert!(matches!(error, ConsentError::Everything));
        assert_eq!(missing(&store, &everything).await, Missing::Never);
    }
}

#[tokio::test]
async fn s_21_the_history_contains_every_change_with_time_and_author() {
    for store in Stores::new().await.consents {
        let before = jiff::Timestamp::now();
        let mut made = vec![
            store.approve(&request("v1"), "u-1").await.unwrap(),
            store.deny(&request("v2"), "parent").await.unwrap(),
            store.revoke(&request("v2"), "operator").await.unwrap(),
        ];
        let other = ConsentRequest::new(
            "https://example.org/other.js",
            "v1",
            "http",
            Scope::user("u-1"),
        );
        made.push(store.approve(&other, "u-1").await.unwrap());
        store
            .approve(
                &ConsentRequest::new(HOOK, "v1", "http", Scope::user("u-2")),
                "u-2",
            )
            .await
            .unwrap();

        let history = store.history_of_user("u-1").await.unwrap();
        let seen: Vec<_> = history
            .iter()
            .map(|change| (change.id, change.decision, &*change.by))
            .collect();
        let expected: Vec<_> = made
            .iter()
            .map(|change| (change.id, change.decision, &*change.by))
            .collect();
        assert_eq!(seen, expected, "{store:?}");
        assert_eq!(
            seen.iter()
                .map(|(_, decision, _)| *decision)
                .collect::<Vec<_>>(),
            [
                Decision::Approve,
                Decision::Deny,
                Decision::Revoke,
                Decision::Approve
            ]
        );
        // A database stores times to the microsecond.
        assert!(
            history
                .iter()
                .all(|change| change.time.as_microsecond() >= before.as_microsecond())
        );
        assert_eq!(history[0].code_hash.as_deref(), Some("v1"));
        assert_eq!(history[2].code_hash, None);
        assert_eq!(history[0].scope, Scope::user("u-1").in_guild("g-1"));
        assert_eq!(store.history_of_hook(HOOK).await.unwrap().len(), 4);
    }
}

/// Many tasks check consent while another approves and revokes in turn. A check that starts after a
/// revocation has returned, and ends before the next approval starts, never returns `Granted`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s_21_concurrent_checks_after_a_revocation_find_no_consent() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
    use std::time::Duration;

    for store in Stores::new().await.consents {
        // Even while approved or changing; odd after a revocation has returned.
        let phase = Arc::new(AtomicU64::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let checks = (0..4).map(|_| {
            let (store, phase, over) = (store.clone(), Arc::clone(&phase), Arc::clone(&over));
            tokio::spawn(async move {
                let (mut granted, mut refused) = (0, 0);
                let mut permit = None;
                while !over.load(SeqCst) {
                    let before = phase.load(SeqCst);
                    let found = store.permit(&request("v1")).await;
                    let holds = match &permit {
                        Some(permit) => hooks_script::Permit::check(permit).await.is_ok(),
                        None => false,
                    };
                    if before % 2 == 1 && phase.load(SeqCst) == before {
                        assert!(found.is_none(), "a check after a revocation finds consent");
                        assert!(!holds, "a permit outlives a revocation");
                        refused += 1;
                    }
                    granted += u32::from(found.is_some());
                    permit = found.or(permit);
                    tokio::task::yield_now().await;
                }
                (granted, refused)
            })
        });
        let checks: Vec<_> = checks.collect();
        for _ in 0..50 {
            store.approve(&request("v1"), "u-1").await.unwrap();
            assert!(store.permit(&request("v1")).await.is_some());
            // Give the checks time in both states.
            tokio::time::sleep(Duration::from_millis(2)).await;
            store.revoke(&request("v1"), "u-1").await.unwrap();
            phase.fetch_add(1, SeqCst);
            tokio::time::sleep(Duration::from_millis(2)).await;
            phase.fetch_add(1, SeqCst);
        }
        over.store(true, SeqCst);
        let (mut granted, mut refused) = (0, 0);
        for check in checks {
            let counts = check.await.unwrap();
            (granted, refused) = (granted + counts.0, refused + counts.1);
        }
        assert!(
            granted > 0 && refused > 0,
            "{store:?}: {granted} granted, {refused} refused: the test covers only one state"
        );
        assert_eq!(store.history_of_hook(HOOK).await.unwrap().len(), 100);
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s_21_a_failing_store_grants_no_consent() {
    let stores = Stores::new().await;
    let store = ConsentStore::sqlite(&stores.database);
    store.approve(&request("v1"), "u-1").await.unwrap();
    let permit = store.permit(&request("v1")).await.unwrap();
    stores.database.close().await;
    assert!(store.check(&request("v1")).await.is_err());
    assert!(store.permit(&request("v1")).await.is_none());
    assert!(matches!(
        permit.check().await,
        Err(hooks_script::PermitVoid::Store(_))
    ));
    assert!(store.approve(&request("v1"), "u-1").await.is_err());
}

/// Opens the file twice, like two processes: each sees the other's changes immediately.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s_21_a_revocation_applies_to_every_store_of_the_database() {
    let stores = Stores::new().await;
    let mine = ConsentStore::sqlite(&stores.database);
    let path = stores.folder.path().join("records.db");
    let theirs = ConsentStore::sqlite(&hooks_script::Database::open(path).await.unwrap());
    for _ in 0..20 {
        mine.approve(&request("v1"), "u-1").await.unwrap();
        let permit = theirs.permit(&request("v1")).await.unwrap();
        mine.revoke(&request("v1"), "u-1").await.unwrap();
        assert!(permit.check().await.is_err());
        assert!(theirs.permit(&request("v1")).await.is_none());
    }
}
