//! Guarantees of the trail, tested with both databases.

use std::fs;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::TryStreamExt;
use hooks_guard::audit::{
    AnswerResult, AuditChange, AuditError, AuditRecord, AuditStore, Execution, ExecutionResult,
    Filter, Grant, GrantResult, NewDecision, NewRemembered, Page, Period, QuestionCursor,
    QuestionFilter, QuestionLimits, QuestionOrder, RedeemResult, UserResponse, export,
};
use hooks_guard::classify::{Classification, Crud, Decision, Method};
use hooks_guard::{CommandPart, PermissionRequest};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::kit::{assert_intact, decision, hash, minute, new_answer, run, scope, time};

/// A trail, and the means to open it again like another process.
pub(crate) struct Place {
    pub(crate) url: String,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            url: format!("sqlite:{}", folder.path().join("a/b/trail.db").display()),
            _folder: Some(folder),
        }
    }

    /// Returns a place for an existing address.
    pub(crate) fn at(url: String) -> Self {
        Self { url, _folder: None }
    }

    pub(crate) async fn open(&self) -> AuditStore {
        AuditStore::open(&self.url).await.expect("a trail")
    }

    /// Returns a value that changes with each transaction that writes.
    fn state(&self) -> Vec<u8> {
        if let Some(path) = self.url.strip_prefix("sqlite:") {
            return fs::read(format!("{path}-wal")).expect("its log");
        }
        let cluster = cluster().expect("it runs");
        let (_, database) = self.url.rsplit_once('/').expect("a name");
        // The transaction that wrote the row which every transaction writes.
        let found = cluster.psql(database, "SELECT xmin FROM head");
        found.expect("a row").into_bytes()
    }
}

/// Returns the server for all tests. Each test holds it; it stops with the last test.
pub(crate) fn cluster() -> Option<Arc<Cluster>> {
    use std::sync::{Mutex, Weak};
    static CLUSTER: OnceLock<Mutex<Weak<Cluster>>> = OnceLock::new();
    let mut slot = CLUSTER
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(running) = slot.upgrade() {
        return Some(running);
    }
    let started = Arc::new(Cluster::start()?);
    *slot = Arc::downgrade(&started);
    Some(started)
}

/// Defines a test for each database.
macro_rules! contract {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::run(super::$name(super::Place::sqlite()));
            })*
        }

        mod postgres {
            $(#[test]
            fn $name() {
                let Some(cluster) = super::cluster() else { return };
                let place = super::Place { url: cluster.database(), _folder: None };
                super::run(super::$name(place));
            })*
        }
    };
}

contract! {
    p_15_a_stored_decision_has_every_field
    p_20_filters_combine
    p_20_consecutive_pages_cover_every_record_once
    p_21_records_are_newest_first_and_ids_increase
    p_23_since_and_until_are_exclusive
    p_24_a_text_search_is_literal_and_ignores_case
    p_25_a_serialized_record_has_the_specified_fields
    p_26_only_the_first_answer_takes_effect
    p_26_only_one_answer_takes_effect_across_stores
    p_26_execution_needs_the_secret
    p_26_an_execution_is_recorded_by_its_call_id
    p_26_a_request_denied_by_a_rule_cannot_be_answered
    p_26_an_answer_after_the_deadline_is_rejected
    p_28_totals_distinguish_both_kinds_of_timeout
    p_30_percentiles_are_nearest_ranks
    p_30_an_empty_trail_has_zeros
    p_30_both_ends_of_a_period_are_exact
    p_31_duration_hours_is_the_length_of_the_period
    p_42_a_cleanup_deletes_strictly_older_records
    p_42_a_cleanup_without_deletions_is_recorded
    pending_lists_the_questions_that_can_be_answered
    questions_are_limited_listed_in_pages_and_denied_in_bulk
    many_overdue_questions_expire_in_batches
    secrets_are_masked_before_they_are_stored
    a_remembered_answer_applies_to_its_directory_and_session
    an_approval_is_used_once
    an_approval_is_used_once_across_stores
    an_approval_is_bound_to_its_agent_directory_and_files
    a_use_is_chained_and_deleted_with_its_decision
    changes_of_all_stores_are_reported_in_order
    an_operation_without_effect_writes_nothing
    concurrent_records_and_answers_are_all_stored
    an_export_is_complete_and_has_no_formulas
    control_characters_in_texts_are_preserved
    a_closed_trail_returns_closed
}

async fn all(trail: &AuditStore, filter: Filter) -> Vec<AuditRecord> {
    let page = Page {
        limit: 1000,
        offset: 0,
    };
    let found = trail.decisions(&filter, page).await.expect("a listing");
    assert_eq!(found.total, found.records.len() as u64, "{filter:?}");
    found.records
}

async fn ids(trail: &AuditStore, filter: Filter) -> Vec<i64> {
    all(trail, filter).await.iter().map(|r| r.id).collect()
}

async fn p_15_a_stored_decision_has_every_field(place: Place) {
    let trail = place.open().await;
    let mut new = decision("git commit", Crud::Update, minute(0));
    new.request.context = Some("git".to_owned());
    new.request.agent = Some("claude-code".to_owned());
    new.request.session_id = Some("s1".to_owned());
    new.request.cwd = Some("/srv/app".into());
    new.request.call_id = Some("toolu_1".to_owned());
    new.permission.rule = Some("guard.toml:3".to_owned());
    new.deadline = Some(minute(5));
    new.parts = vec![CommandPart {
        start: 0,
        end: 10,
        effect: Crud::Update,
        decided: true,
    }];
    new.error = Some("the model did not answer".to_owned());
    let id = trail.record(new).await.expect("recorded");
    drop(trail);
    let trail = place.open().await;
    let record = trail.decision(id).await.expect("read").expect("there");
    let want = AuditRecord {
        id,
        timestamp: minute(0),
        command: "git commit".to_owned(),
        classification: Crud::Update,
        decision_requires_confirmation: true,
        user_response: None,
        execution_happened: false,
        response_time_ms: 1,
        confidence: 0.96,
        error: Some("the model did not answer".to_owned()),
        reasoning: "because".to_owned(),
        explanation: "because of that".to_owned(),
        classification_method: Method::PatternMatch,
        context: Some("git".to_owned()),
        agent: Some("claude-code".to_owned()),
        session_id: Some("s1".to_owned()),
        cwd: Some("/srv/app".into()),
        call_id: Some("toolu_1".to_owned()),
        denied: false,
        rule: Some("guard.toml:3".to_owned()),
        answered_at: None,
        answered_by: None,
        answer_note: None,
        deadline: Some(minute(5)),
        executed_at: None,
        exit_status: None,
        ran_command: None,
        response_time_us: 1500,
        parts: vec![CommandPart {
            start: 0,
            end: 10,
            effect: Crud::Update,
            decided: true,
        }],
        covers: Vec::new(),
        always: None,
        caution: None,
        question_key: None,
        changes: None,
        command_hash: hash("git commit"),
        scope: None,
    };
    assert_eq!(record, want);
    assert_eq!(trail.decision(id + 1).await.expect("read"), None);
    assert_intact(&trail).await;
}

/// Records five decisions: 1 READ, 2 CREATE approved, 3 UPDATE denied, 4 DELETE denied, 5 DELETE
/// open.
async fn record_five(trail: &AuditStore) {
    let commands = [
        ("ls -la", Crud::Read),
        ("mkdir Build", Crud::Create),
        ("git commit", Crud::Update),
        ("rm x", Crud::Delete),
        ("rm 100%_y\\", Crud::Delete),
    ];
    for (at, (command, class)) in (0..).zip(commands) {
        let mut new = decision(command, class, minute(at));
        new.request.agent = (at % 2 == 0).then(|| "codex".to_owned());
        new.request.session_id = Some(format!("s{}", at / 3));
        trail.record(new).await.expect("recorded");
    }
    for (id, response) in [
        (2, UserResponse::Approved),
        (3, UserResponse::Denied),
        (4, UserResponse::Denied),
    ] {
        let answer = new_answer(response, minute(60));
        let done = trail.answer(id, answer).await.expect("answered");
        assert!(matches!(done, AnswerResult::Done(_)), "{done:?}");
    }
}

async fn p_20_filters_combine(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let class = |class| Filter {
        classification: Some(class),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, Filter::default()).await, [5, 4, 3, 2, 1]);
    assert_eq!(ids(&trail, class(Crud::Delete)).await, [5, 4]);
    let denied = Filter {
        response: Some(UserResponse::Denied),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, denied.clone()).await, [4, 3]);
    let both = Filter {
        classification: Some(Crud::Delete),
        ..denied.clone()
    };
    assert_eq!(ids(&trail, both.clone()).await, [4]);
    let in_time = Filter {
        since: Some(minute(2)),
        until: Some(minute(4)),
        ..both.clone()
    };
    assert_eq!(ids(&trail, in_time).await, [4]);
    let too_late = Filter {
        since: Some(minute(3)),
        ..both.clone()
    };
    assert_eq!(ids(&trail, too_late).await, [0; 0]);
    let text = Filter {
        command: Some("M X".to_owned()),
        ..both
    };
    assert_eq!(ids(&trail, text.clone()).await, [4]);
    let by_agent = |agent: &str| Filter {
        agent: Some(agent.to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, by_agent("codex")).await, [5, 3, 1]);
    assert_eq!(ids(&trail, by_agent("code")).await, [0; 0]);
    let denied_by_agent = Filter {
        response: denied.response,
        ..by_agent("codex")
    };
    assert_eq!(ids(&trail, denied_by_agent).await, [3]);
    let text_of_agent = Filter {
        command: Some("m".to_owned()),
        ..by_agent("codex")
    };
    assert_eq!(ids(&trail, text_of_agent).await, [5, 3]);
    let session = Filter {
        session_id: Some("s1".to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, session.clone()).await, [5, 4]);
    let all_of_it = Filter {
        command: Some("RM".to_owned()),
        agent: Some("codex".to_owned()),
        classification: Some(Crud::Delete),
        decision: Some(Decision::RequiresConfirmation),
        since: Some(minute(0)),
        until: Some(minute(9)),
        ..session
    };
    assert_eq!(ids(&trail, all_of_it).await, [5]);
    let allowed = Filter {
        decision: Some(Decision::AutoAllowed),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, allowed).await, [1]);
}

async fn p_20_consecutive_pages_cover_every_record_once(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    for command in [None, Some("m".to_owned())] {
        let filter = Filter {
            command,
            ..Filter::default()
        };
        let everything = ids(&trail, filter.clone()).await;
        let mut seen = Vec::new();
        for offset in 0..6 {
            let page = Page { limit: 1, offset };
            let found = trail.decisions(&filter, page).await.expect("a page");
            assert_eq!(found.total, everything.len() as u64);
            seen.extend(found.records.iter().map(|r| r.id));
        }
        assert_eq!(seen, everything);
    }
    assert_eq!(
        Page::default(),
        Page {
            limit: 50,
            offset: 0
        }
    );
}

async fn p_21_records_are_newest_first_and_ids_increase(place: Place) {
    let trail = place.open().await;
    let mut last = 0;
    for at in [5, 1, 3, 3] {
        let new = decision("ls", Crud::Read, minute(at));
        let id = trail.record(new).await.expect("recorded");
        assert!(id > last);
        last = id;
    }
    assert_eq!(ids(&trail, Filter::default()).await, [1, 4, 3, 2]);
    trail.cleanup(minute(9), "test").await.expect("cleaned");
    let new = decision("ls", Crud::Read, minute(9));
    let id = trail.record(new).await.expect("recorded");
    assert!(id > last, "a number is not given twice");
}

async fn p_23_since_and_until_are_exclusive(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let between = |since, until| Filter {
        since,
        until,
        ..Filter::default()
    };
    assert_eq!(ids(&trail, between(Some(minute(1)), None)).await, [5, 4, 3]);
    assert_eq!(ids(&trail, between(None, Some(minute(3)))).await, [3, 2, 1]);
    let nanosecond = jiff::SignedDuration::from_nanos(1);
    let just_before = Some(minute(1) - nanosecond);
    let just_after = Some(minute(3) + nanosecond);
    assert_eq!(
        ids(&trail, between(just_before, just_after)).await,
        [4, 3, 2]
    );
    assert_eq!(
        ids(&trail, between(Some(minute(3)), Some(minute(1)))).await,
        [0; 0]
    );
}

async fn p_24_a_text_search_is_literal_and_ignores_case(place: Place) {
    let trail = place.open().await;
    for command in [
        "echo 100%",
        "echo 1000",
        "ECHO a_b",
        "echo aXb",
        "echo ÄÖÜ Straße ΟΔΟΣ",
        "echo \\",
    ] {
        let new = decision(command, Crud::Read, minute(0));
        trail.record(new).await.expect("recorded");
    }
    for (text, want) in [
        ("0%", vec![1]),
        ("%", vec![1]),
        ("A_B", vec![3]),
        ("a?b", vec![]),
        ("a*b", vec![]),
        ("\\", vec![6]),
        ("äöü", vec![5]),
        ("ÄöÜ STRASSE", vec![5]),
        ("οδος", vec![5]),
        ("x", vec![4]),
        ("echo", vec![6, 5, 4, 3, 2, 1]),
        ("", vec![6, 5, 4, 3, 2, 1]),
        ("'; DROP TABLE decisions; --", vec![]),
    ] {
        let filter = Filter {
            command: Some(text.to_owned()),
            ..Filter::default()
        };
        assert_eq!(ids(&trail, filter).await, want, "{text}");
    }
}

async fn p_25_a_serialized_record_has_the_specified_fields(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let shown = |record: &AuditRecord| -> Value { serde_json::to_value(record).expect("json") };
    let records = all(&trail, Filter::default()).await;
    let read = shown(&records[4]);
    assert_eq!(read["user_response"], Value::Null);
    assert_eq!(read["decision_requires_confirmation"], false);
    assert_eq!(read["classification"], "READ");
    let created = shown(&records[3]);
    let keys: Vec<&String> = created
        .as_object()
        .expect("an object")
        .keys()
        .take(10)
        .collect();
    assert_eq!(
        keys,
        [
            "id",
            "timestamp",
            "command",
            "classification",
            "decision_requires_confirmation",
            "user_response",
            "execution_happened",
            "response_time_ms",
            "confidence",
            "error"
        ]
    );
    assert_eq!(created["timestamp"], "2025-11-17T10:01:00.000000000Z");
    assert_eq!(created["user_response"], "APPROVED");
    assert_eq!(created["response_time_ms"], json!(1));
    assert_eq!(created["error"], Value::Null);
    assert_eq!(created.get("command_hash"), None);
    assert_eq!(created.get("secret_hash"), None);
}

async fn p_26_only_the_first_answer_takes_effect(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let answer = new_answer(UserResponse::Approved, minute(61));
    let AnswerResult::Done(done) = trail.answer(5, answer.clone()).await.expect("answered") else {
        panic!("the first answer counts");
    };
    assert_eq!(done.user_response, Some(UserResponse::Approved));
    assert_eq!(done.answered_by.as_deref(), Some("console"));
    assert_eq!(done.answer_note.as_deref(), Some("so be it"));
    assert_eq!(done.answered_at, Some(minute(61)));
    let again = new_answer(UserResponse::Denied, minute(62));
    assert_eq!(
        trail.answer(5, again).await.expect("answered"),
        AnswerResult::Already(done)
    );
    let read = trail.answer(1, answer.clone()).await.expect("answered");
    assert!(matches!(read, AnswerResult::NotAsked(_)));
    assert_eq!(
        trail.answer(99, answer).await.expect("answered"),
        AnswerResult::Unknown
    );
    assert_intact(&trail).await;
}

async fn p_26_only_one_answer_takes_effect_across_stores(place: Place) {
    let stores = [place.open().await, place.open().await];
    for _ in 0..10 {
        let new = decision("rm x", Crud::Delete, minute(0));
        let id = stores[0].record(new).await.expect("recorded");
        let answers = (0..8).map(|n| {
            let store = stores[n % 2].clone();
            let response = [UserResponse::Approved, UserResponse::Denied][n / 2 % 2];
            tokio::spawn(async move { store.answer(id, new_answer(response, minute(1))).await })
        });
        let answers: Vec<_> = answers.collect();
        let mut done = Vec::new();
        let mut late = Vec::new();
        for answer in answers {
            match answer.await.expect("no panic").expect("answered") {
                AnswerResult::Done(record) => done.push(record),
                AnswerResult::Already(record) => late.push(record),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((done.len(), late.len()), (1, 7));
        assert!(late.iter().all(|record| *record == done[0]));
    }
    assert_intact(&stores[1]).await;
}

async fn p_26_execution_needs_the_secret(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let ran = Execution {
        exit_status: Some(-1),
        at: minute(70),
    };
    let wrong = trail
        .record_execution(2, "guess", ran)
        .await
        .expect("reported");
    assert_eq!(wrong, ExecutionResult::WrongSecret);
    let ExecutionResult::Done(done) = trail
        .record_execution(2, "secret", ran)
        .await
        .expect("reported")
    else {
        panic!("the secret is right");
    };
    assert!(done.execution_happened);
    assert_eq!(
        (done.executed_at, done.exit_status),
        (Some(minute(70)), Some(-1))
    );
    let again = trail
        .record_execution(2, "secret", ran)
        .await
        .expect("reported");
    assert_eq!(again, ExecutionResult::Already(done));
    let unknown = trail
        .record_execution(99, "secret", ran)
        .await
        .expect("reported");
    assert_eq!(unknown, ExecutionResult::Unknown);
    let mut none = decision("rm x", Crud::Delete, minute(0));
    none.secret_hash = None;
    let id = trail.record(none).await.expect("recorded");
    let without = trail.record_execution(id, "", ran).await.expect("reported");
    assert_eq!(without, ExecutionResult::WrongSecret);
    assert_intact(&trail).await;
}

async fn p_26_an_execution_is_recorded_by_its_call_id(place: Place) {
    let trail = place.open().await;
    let ran = Execution {
        exit_status: None,
        at: minute(70),
    };
    for _ in 0..2 {
        let mut new = decision("make", Crud::Create, minute(0));
        new.request.agent = Some("codex".to_owned());
        new.request.session_id = Some("s".to_owned());
        new.request.call_id = Some("c".to_owned());
        trail.record(new).await.expect("recorded");
    }
    for (agent, session, call) in [("x", "s", "c"), ("codex", "x", "c"), ("codex", "s", "x")] {
        let done = trail.record_call_execution(agent, session, call, ran).await;
        assert_eq!(done.expect("reported"), ExecutionResult::Unknown);
    }
    let done = trail.record_call_execution("codex", "s", "c", ran).await;
    let ExecutionResult::Done(done) = done.expect("reported") else {
        panic!("it is known");
    };
    assert_eq!(done.id, 2, "the last decision with that call id");
    let again = trail.record_call_execution("codex", "s", "c", ran).await;
    assert!(matches!(
        again.expect("reported"),
        ExecutionResult::Already(_)
    ));
}

async fn p_26_a_request_denied_by_a_rule_cannot_be_answered(place: Place) {
    let trail = place.open().await;
    let mut new = decision("rm x", Crud::Delete, minute(0));
    new.permission.denied = true;
    new.permission.rule = Some("guard.toml:7".to_owned());
    new.deadline = Some(Timestamp::now() + Duration::from_secs(600));
    let id = trail.record(new).await.expect("recorded");
    assert!(trail.pending().await.expect("read").is_empty());
    let answer = new_answer(UserResponse::Approved, minute(0));
    let AnswerResult::Already(record) = trail.answer(id, answer).await.expect("answered") else {
        panic!("a rule has answered");
    };
    assert_eq!(record.user_response, Some(UserResponse::Denied));
    assert_eq!(record.answered_by.as_deref(), Some("guard.toml:7"));
    assert!(record.denied);
    assert_eq!(
        trail.totals().await.expect("counted").denied_confirmations,
        1
    );
    assert_intact(&trail).await;
}

async fn p_26_an_answer_after_the_deadline_is_rejected(place: Place) {
    let trail = place.open().await;
    let mut new = decision("rm x", Crud::Delete, minute(0));
    new.deadline = Some(minute(5));
    let id = trail.record(new).await.expect("recorded");
    let answer = new_answer(UserResponse::Approved, minute(5));
    let AnswerResult::Already(record) = trail.answer(id, answer).await.expect("answered") else {
        panic!("the deadline has passed");
    };
    assert_eq!(record.user_response, Some(UserResponse::Timeout));
    assert_intact(&trail).await;
}

async fn p_28_totals_distinguish_both_kinds_of_timeout(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let mut slow = decision("make", Crud::Create, minute(6));
    let assumed = Classification::timed_out();
    slow.permission.classification_method = Method::Fallback;
    slow.permission.reasoning = assumed.reasoning;
    slow.permission.timed_out = assumed.timed_out;
    slow.permission.confidence = 0.0;
    slow.response_time = Duration::from_millis(2004);
    slow.deadline = Some(minute(8));
    trail.record(slow).await.expect("recorded");
    assert_eq!(trail.expire(minute(7)).await.expect("expired"), [0; 0]);
    assert_eq!(trail.expire(minute(8)).await.expect("expired"), [6]);
    let totals = serde_json::to_value(trail.totals().await.expect("counted")).expect("json");
    assert_eq!(
        totals,
        json!({
            "total_decisions": 6,
            "read_operations": 1,
            "create_operations": 2,
            "update_operations": 1,
            "delete_operations": 2,
            "approved_confirmations": 1,
            "denied_confirmations": 2,
            "timeout_classifications": 1,
            "avg_response_time_ms": (5.0 * 1.0 + 2004.0) / 6.0,
            "expired_confirmations": 1
        })
    );
    let stats = trail.stats(&Period::default()).await.expect("counted");
    assert_eq!(stats.user_responses.timeouts, 1);
    assert_eq!(stats.user_responses.expired, 1);
    assert_eq!(stats.confidence.low_confidence_count, 1);
    assert_eq!(stats.confidence.high_confidence_count, 5);
    assert!((stats.confidence.avg_confidence - 0.8).abs() < 1e-9);
    let expired = Filter {
        response: Some(UserResponse::Timeout),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, expired).await, [6]);
    assert_intact(&trail).await;
}

async fn p_30_percentiles_are_nearest_ranks(place: Place) {
    let trail = place.open().await;
    for (at, ms) in (0..).zip([15, 20, 35, 40, 50]) {
        let mut new = decision("ls", Crud::Read, minute(at));
        new.response_time = Duration::from_millis(ms);
        trail.record(new).await.expect("recorded");
    }
    let stats = trail.stats(&Period::default()).await.expect("counted");
    let shown = serde_json::to_value(stats.performance).expect("json");
    assert_eq!(
        shown,
        json!({
            "avg_response_time_ms": 32.0,
            "min_response_time_ms": 15,
            "max_response_time_ms": 50,
            "p50_response_time_ms": 35,
            "p95_response_time_ms": 50,
            "p99_response_time_ms": 50
        })
    );
}

async fn p_30_an_empty_trail_has_zeros(place: Place) {
    let trail = place.open().await;
    let stats = trail.stats(&Period::default()).await.expect("counted");
    assert_eq!(stats.period.since, stats.period.until);
    let shown = serde_json::to_value(&stats).expect("json");
    assert_eq!(shown["total_decisions"], 0);
    assert_eq!(shown["performance"]["avg_response_time_ms"], 0.0);
    assert_eq!(shown["performance"]["p99_response_time_ms"], 0);
    assert_eq!(shown["confidence"]["avg_confidence"], 0.0);
    assert_eq!(shown["period"]["duration_hours"], 0);
    assert_eq!(trail.totals().await.expect("counted"), Default::default());
}

async fn p_30_both_ends_of_a_period_are_exact(place: Place) {
    let trail = place.open().await;
    for hour in 0..60 {
        for part in [0, 20, 40] {
            let new = decision("ls", Crud::Read, minute(hour * 60 + part));
            trail.record(new).await.expect("recorded");
        }
    }
    for (since, until, want) in [
        (None, None, 180),
        (Some(0), None, 179),
        (None, Some(20), 1),
        (Some(20), Some(40), 0),
        (Some(19), Some(41), 2),
        (Some(30), Some(50 * 60 + 30), 150),
        (Some(14 * 60), Some(38 * 60), 71),
        (Some(14 * 60 - 1), Some(38 * 60 + 1), 73),
    ] {
        let period = Period {
            since: since.map(minute),
            until: until.map(minute),
        };
        let stats = trail.stats(&period).await.expect("counted");
        assert_eq!(stats.total_decisions, want, "{since:?} {until:?}");
        let filter = Filter {
            since: period.since,
            until: period.until,
            ..Filter::default()
        };
        assert_eq!(all(&trail, filter).await.len() as u64, want);
    }
}

async fn p_31_duration_hours_is_the_length_of_the_period(place: Place) {
    let trail = place.open().await;
    let new = decision("ls", Crud::Read, time("2025-01-01T00:00:00Z"));
    trail.record(new).await.expect("recorded");
    let period = Period {
        since: None,
        until: Some(time("2025-11-17T10:35:00Z")),
    };
    let stats = trail.stats(&period).await.expect("counted");
    assert_eq!(stats.period.since, time("2025-01-01T00:00:00Z"));
    assert_eq!(stats.period.duration_hours, 7690);
}

async fn p_42_a_cleanup_deletes_strictly_older_records(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let ran = Execution {
        exit_status: Some(0),
        at: minute(70),
    };
    trail
        .record_execution(2, "secret", ran)
        .await
        .expect("reported");
    let kept = remember(&trail, None).await;
    let done = trail.cleanup(minute(3), "cron").await.expect("cleaned");
    assert_eq!((done.deleted, done.remaining), (3, 2));
    assert!(done.freed_bytes > 0);
    assert_eq!(ids(&trail, Filter::default()).await, [5, 4]);
    let totals = trail.totals().await.expect("counted");
    assert_eq!(
        (totals.total_decisions, totals.approved_confirmations),
        (2, 0)
    );
    let text = Filter {
        command: Some("commit".to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, text).await, [0; 0]);
    let found = trail.verify().await.expect("a walk");
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.removed, 3 + 2 + 1);
    assert_eq!(found.cleanups.len(), 1);
    assert_eq!(found.cleanups[0].by, "cron");
    assert_eq!(found.cleanups[0].deleted, 3);
    let done = trail.cleanup(minute(9), "cron").await.expect("cleaned");
    assert_eq!((done.deleted, done.remaining), (2, 0));
    let found = trail.verify().await.expect("a walk");
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.cleanups.len(), 2, "the record of a cleanup stays");
    assert_eq!(trail.all_remembered().await.expect("read"), [kept]);
}

async fn p_42_a_cleanup_without_deletions_is_recorded(place: Place) {
    let trail = place.open().await;
    let done = trail.cleanup(minute(3), "cron").await.expect("cleaned");
    assert_eq!((done.deleted, done.remaining, done.freed_bytes), (0, 0, 0));
    let found = trail.verify().await.expect("a walk");
    assert_eq!((found.cleanups.len(), found.is_intact()), (1, true));
}

async fn pending_lists_the_questions_that_can_be_answered(place: Place) {
    let trail = place.open().await;
    let now = Timestamp::now();
    let later = now + Duration::from_secs(600);
    for (class, deadline) in [
        (Crud::Delete, Some(later)),
        (Crud::Delete, None),
        (Crud::Read, Some(later)),
        (Crud::Delete, Some(now - Duration::from_secs(1))),
        (Crud::Update, Some(later)),
    ] {
        let mut new = decision("x", class, now);
        new.deadline = deadline;
        trail.record(new).await.expect("recorded");
    }
    let open = trail.pending().await.expect("read");
    assert_eq!(open.iter().map(|r| r.id).collect::<Vec<_>>(), [1, 5]);
    trail
        .answer(1, new_answer(UserResponse::Denied, now))
        .await
        .expect("answered");
    let open = trail.pending().await.expect("read");
    assert_eq!(open.iter().map(|r| r.id).collect::<Vec<_>>(), [5]);
    assert_eq!(trail.expire(now).await.expect("expired"), [4]);
}

/// Returns a question of an agent's session with a deadline in ten minutes.
fn question(agent: Option<&str>, session: Option<&str>) -> NewDecision {
    let now = Timestamp::now();
    let mut new = decision("mkdir x", Crud::Create, now);
    new.request.agent = agent.map(str::to_owned);
    new.request.session_id = session.map(str::to_owned);
    new.deadline = Some(now + Duration::from_secs(600));
    new
}

async fn questions_are_limited_listed_in_pages_and_denied_in_bulk(place: Place) {
    let trail = place.open().await;
    let limits = QuestionLimits {
        total: 12,
        per_session: 3,
    };
    let mut asked = Vec::new();
    for (agent, session, expected) in [
        (Some("codex"), Some("a"), 3),
        (Some("gemini"), Some("a"), 3),
        // Questions without a session never outnumber the free places.
        (None, None, 3),
        // One more place is free, and a session with two questions would outnumber it.
        (Some("codex"), Some("b"), 2),
        (Some("codex"), Some("c"), 1),
        (Some("codex"), Some("d"), 0),
    ] {
        let mut recorded = 0;
        for _ in 0..6 {
            match trail
                .record_question(question(agent, session), limits)
                .await
            {
                Ok(Ok(id)) => {
                    recorded += 1;
                    asked.push(id);
                }
                Ok(Err(many)) => assert!(many.total <= 12, "{many:?}"),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(recorded, expected, "{agent:?} {session:?}");
    }
    assert_eq!(trail.count_questions().await.expect("counted"), 12);
    // Another process has the same limits, and its answers free places.
    let other = place.open().await;
    let refused = other
        .record_question(question(None, Some("e")), limits)
        .await;
    assert!(refused.expect("looked").is_err());
    let answer = new_answer(UserResponse::Denied, Timestamp::now());
    other.answer(asked[0], answer).await.expect("answered");
    let taken = trail
        .record_question(question(None, Some("e")), limits)
        .await;
    asked.push(taken.expect("looked").expect("recorded"));

    let fair = [2, 4, 7, 10, 12, 13, 3, 5, 8, 11, 6, 9];
    for (order, expected) in [
        (
            QuestionOrder::Oldest,
            &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
        ),
        (QuestionOrder::Fair, &fair),
    ] {
        for limit in [1, 5, 12, 100] {
            let (mut ids, mut after) = (Vec::new(), QuestionCursor::default());
            loop {
                let filter = QuestionFilter::default();
                let page = trail
                    .questions(&filter, order, after, limit)
                    .await
                    .expect("read");
                assert_eq!(page.total, 12);
                ids.extend(page.ids);
                match page.next {
                    Some(next) => after = next,
                    None => break,
                }
            }
            assert_eq!(ids, expected, "{order:?}, {limit} a page");
        }
    }
    let find = |filter: QuestionFilter| {
        let (trail, after) = (trail.clone(), QuestionCursor::default());
        async move {
            let page = trail
                .questions(&filter, QuestionOrder::Oldest, after, 100)
                .await;
            page.expect("read").ids
        }
    };
    let of = |agent: Option<&str>, session: Option<&str>, session_of| QuestionFilter {
        agent: agent.map(str::to_owned),
        session_id: session.map(str::to_owned),
        session_of,
    };
    assert_eq!(find(of(Some("gemini"), None, None)).await, [4, 5, 6]);
    assert_eq!(find(of(None, Some("a"), None)).await, [2, 3, 4, 5, 6]);
    assert_eq!(find(of(None, None, Some(1))).await, [2, 3]);
    assert_eq!(find(of(None, None, Some(8))).await, [7, 8, 9]);
    assert_eq!(find(of(Some("codex"), None, Some(8))).await, [0; 0]);
    assert_eq!(find(of(None, None, Some(4711))).await, [0; 0]);

    let deny = async |filter: QuestionFilter| {
        let note = Some("a flood".to_owned());
        let denied = trail.deny_questions(&filter, 1000, "console", note).await;
        denied.expect("denied")
    };
    assert_eq!(deny(of(None, None, Some(7))).await, 3);
    assert_eq!(deny(of(None, None, Some(4711))).await, 0);
    assert_eq!(deny(of(Some("codex"), Some("a"), None)).await, 2);
    let record = trail.decision(2).await.expect("read").expect("there");
    assert_eq!(record.user_response, Some(UserResponse::Denied));
    assert_eq!(record.answered_by.as_deref(), Some("console"));
    assert_eq!(record.answer_note.as_deref(), Some("a flood"));
    assert_eq!(deny(QuestionFilter::default()).await, 7);
    assert_eq!(trail.count_questions().await.expect("counted"), 0);
    assert_intact(&trail).await;
}

async fn many_overdue_questions_expire_in_batches(place: Place) {
    let trail = place.open().await;
    let now = Timestamp::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..450 {
        let (trail, mut new) = (trail.clone(), question(None, None));
        new.deadline = Some(now);
        tasks.spawn(async move { trail.record(new).await.expect("recorded") });
    }
    let mut recorded = tasks.join_all().await;
    recorded.sort_unstable();
    assert_eq!(trail.expire(now).await.expect("expired"), recorded);
    assert_eq!(trail.expire(now).await.expect("looked"), [0; 0]);
    assert_intact(&trail).await;
}

async fn secrets_are_masked_before_they_are_stored(place: Place) {
    let trail = place.open().await;
    let secret = "hunter2hunter2";
    let mut new = decision(
        &format!("curl --password {secret} x"),
        Crud::Update,
        minute(0),
    );
    new.permission.reasoning = format!("`--password {secret}` is sent");
    new.permission.explanation = format!("`{secret}` goes to x");
    new.error = Some(format!("cannot say what {secret} is"));
    trail.record(new).await.expect("recorded");
    let record = trail.decision(1).await.expect("read").expect("there");
    assert_eq!(record.command, "curl --password [secret] x");
    let shown = serde_json::to_string(&record).expect("json");
    assert!(!shown.contains(secret), "{shown}");
    let found = Filter {
        command: Some(secret.to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, found).await, [0; 0]);
}

async fn remember(trail: &AuditStore, session: Option<&str>) -> hooks_guard::audit::Remembered {
    let new = NewRemembered {
        command_hash: hash("make --token=hunter2hunter2"),
        command: "make --token=hunter2hunter2".to_owned(),
        cwd: Some("/srv/app".into()),
        session_id: session.map(str::to_owned),
        agent: Some("codex".to_owned()),
        by: "console".to_owned(),
        at: minute(0),
        scope: None,
    };
    trail.remember(new).await.expect("remembered")
}

async fn a_remembered_answer_applies_to_its_directory_and_session(place: Place) {
    let trail = place.open().await;
    let of_session = remember(&trail, Some("s1")).await;
    assert_eq!(of_session.command, "make --token=[secret]");
    let command = hash("make --token=hunter2hunter2");
    let look = |hash: [u8; 32], cwd: Option<&'static str>, session: Option<&'static str>| {
        let trail = trail.clone();
        async move {
            let found = trail
                .remembered(&hash, cwd.map(std::path::Path::new), session, None)
                .await;
            found.expect("read").map(|found| found.id)
        }
    };
    assert_eq!(
        look(command, Some("/srv/app"), Some("s1")).await,
        Some(of_session.id)
    );
    assert_eq!(look(command, Some("/srv/app"), Some("s2")).await, None);
    assert_eq!(look(command, Some("/srv/app"), None).await, None);
    assert_eq!(look(command, Some("/srv"), Some("s1")).await, None);
    assert_eq!(look(command, None, Some("s1")).await, None);
    assert_eq!(look(hash("make"), Some("/srv/app"), Some("s1")).await, None);
    let for_good = remember(&trail, None).await;
    assert_eq!(
        look(command, Some("/srv/app"), None).await,
        Some(for_good.id)
    );
    assert_eq!(
        trail.all_remembered().await.expect("read"),
        [of_session, for_good.clone()]
    );
    assert!(trail.revoke(for_good.id, "console").await.expect("revoked"));
    assert!(!trail.revoke(for_good.id, "console").await.expect("revoked"));
    assert_eq!(look(command, Some("/srv/app"), None).await, None);
    assert_eq!(look(command, Some("/srv/app"), Some("s1")).await, Some(1));
    assert_intact(&trail).await;
}

/// Records an open question about `command`, in a directory and a session.
async fn open_question(trail: &AuditStore, command: &str, session: &str) -> i64 {
    let now = Timestamp::now();
    let mut new = decision(command, Crud::Delete, now);
    new.request.cwd = Some("/srv/app".into());
    new.request.session_id = Some(session.to_owned());
    new.deadline = Some(now + jiff::SignedDuration::from_mins(5));
    new.scope = Some(scope(&new.request));
    trail.record(new).await.expect("recorded")
}

async fn approve(trail: &AuditStore, id: i64) {
    let answer = new_answer(UserResponse::Approved, Timestamp::now());
    let answered = trail.answer(id, answer).await.expect("answered");
    assert!(matches!(answered, AnswerResult::Done(_)), "{answered:?}");
}

fn repeated_request(command: &str, cwd: Option<&str>, session: Option<&str>) -> PermissionRequest {
    PermissionRequest {
        cwd: cwd.map(Into::into),
        session_id: session.map(str::to_owned),
        ..PermissionRequest::new(command)
    }
}

async fn an_approval_is_used_once(place: Place) {
    let trail = place.open().await;
    let id = open_question(&trail, "rm x", "s1").await;
    let redeem = async |secret| trail.redeem(id, secret).await.expect("an answer");
    assert!(matches!(
        redeem("secret").await,
        RedeemResult::NotApproved(_)
    ));
    approve(&trail, id).await;
    assert_eq!(redeem("guess").await, RedeemResult::WrongSecret);
    assert!(matches!(redeem("secret").await, RedeemResult::Done(_)));
    assert!(matches!(redeem("secret").await, RedeemResult::Already(_)));
    let unknown = trail.redeem(99, "secret").await.expect("an answer");
    assert_eq!(unknown, RedeemResult::Unknown);

    let id = open_question(&trail, "rm x", "s1").await;
    approve(&trail, id).await;
    let grant = async |command, cwd, session| {
        let request = repeated_request(command, cwd, session);
        let scope = scope(&request);
        let grant = trail
            .find_grant(hash(command), &request, &scope, true)
            .await;
        grant.expect("an answer")
    };
    let (here, session) = (Some("/srv/app"), Some("s1"));
    assert_eq!(grant("rm y", here, session).await, GrantResult::No);
    assert_eq!(grant("rm x", Some("/srv"), session).await, GrantResult::No);
    assert_eq!(grant("rm x", None, session).await, GrantResult::No);
    assert_eq!(grant("rm x", here, Some("s2")).await, GrantResult::No);
    assert_eq!(grant("rm x", here, None).await, GrantResult::No);
    assert_eq!(
        grant("rm x", here, session).await,
        GrantResult::By(Grant::Once(id))
    );
    assert_eq!(grant("rm x", here, session).await, GrantResult::No);
    assert_intact(&trail).await;
}

async fn an_approval_is_used_once_across_stores(place: Place) {
    let stores = [place.open().await, place.open().await];
    for _ in 0..5 {
        let id = open_question(&stores[0], "rm x", "s1").await;
        approve(&stores[0], id).await;
        let tries: Vec<_> = (0..8)
            .map(|n| {
                let store = stores[n % 2].clone();
                tokio::spawn(async move {
                    if n % 4 < 2 {
                        let redeemed = store.redeem(id, "secret").await.expect("an answer");
                        return matches!(redeemed, RedeemResult::Done(_));
                    }
                    let request = repeated_request("rm x", Some("/srv/app"), Some("s1"));
                    let scope = scope(&request);
                    let grant = store.find_grant(hash("rm x"), &request, &scope, true).await;
                    matches!(grant.expect("an answer"), GrantResult::By(_))
                })
            })
            .collect();
        let mut served = 0;
        for attempt in tries {
            served += usize::from(attempt.await.expect("no panic"));
        }
        assert_eq!(served, 1);
    }
    assert_intact(&stores[1]).await;
}

/// Returns a request for `bash deploy.sh` in a folder.
fn deploy(folder: &std::path::Path, agent: Option<&str>) -> PermissionRequest {
    PermissionRequest {
        cwd: Some(folder.to_owned()),
        session_id: Some("s1".to_owned()),
        agent: agent.map(str::to_owned),
        ..PermissionRequest::new("bash deploy.sh")
    }
}

async fn approved_deploy(trail: &AuditStore, request: &PermissionRequest) -> i64 {
    let now = Timestamp::now();
    let mut new = decision(&request.command, Crud::Create, now);
    new.request = request.clone();
    new.deadline = Some(now + jiff::SignedDuration::from_mins(5));
    new.scope = Some(scope(request));
    let id = trail.record(new).await.expect("recorded");
    approve(trail, id).await;
    id
}

async fn an_approval_is_bound_to_its_agent_directory_and_files(place: Place) {
    let trail = place.open().await;
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("deploy.sh");
    fs::write(&script, "echo one").expect("a script");
    let request = deploy(folder.path(), Some("codex"));
    let grant = async |request: &PermissionRequest| {
        let command = hash("bash deploy.sh");
        let grant = trail
            .find_grant(command, request, &scope(request), true)
            .await;
        grant.expect("an answer")
    };
    let id = approved_deploy(&trail, &request).await;
    for (agent, expected_text) in [
        (Some("claude-code"), "the approval was for `codex`"),
        (None, "`codex`"),
    ] {
        let found = grant(&deploy(folder.path(), agent)).await;
        let GrantResult::Changed(why) = found else {
            panic!("{agent:?}: {found:?}");
        };
        assert!(why.contains(expected_text), "{why}");
    }
    fs::write(&script, "echo two").expect("a script");
    let why = format!("approved before as decision {id}; `deploy.sh` has changed");
    assert_eq!(grant(&request).await, GrantResult::Changed(why));
    let redeemed = trail.redeem(id, "secret").await.expect("an answer");
    assert!(
        matches!(redeemed, RedeemResult::Changed(..)),
        "{redeemed:?}"
    );
    fs::write(&script, "echo one").expect("a script");
    assert_eq!(grant(&request).await, GrantResult::By(Grant::Once(id)));

    let record = trail.decision(id).await.expect("read").expect("there");
    let new = NewRemembered {
        command_hash: record.command_hash,
        command: record.command.clone(),
        cwd: record.cwd.clone(),
        session_id: None,
        agent: record.agent.clone(),
        by: "console".to_owned(),
        at: Timestamp::now(),
        scope: record.scope,
    };
    let remembered = trail.remember(new.clone()).await.expect("remembered");
    assert_eq!(remembered.covers, ["deploy.sh"]);
    let held = GrantResult::By(Grant::Remembered(remembered.id));
    assert_eq!(grant(&request).await, held);
    fs::remove_file(&script).expect("removed");
    let found = grant(&request).await;
    let GrantResult::Changed(why) = found else {
        panic!("{found:?}");
    };
    assert!(why.contains("`deploy.sh` was removed"), "{why}");
    fs::write(&script, "echo one").expect("a script");
    assert_eq!(grant(&request).await, held);
    trail
        .revoke(remembered.id, "console")
        .await
        .expect("revoked");
    // An answer from before approvals were bound to files.
    let old = NewRemembered { scope: None, ..new };
    let old = trail.remember(old).await.expect("remembered");
    assert_eq!(old.holds, None);
    let found = grant(&request).await;
    assert!(matches!(found, GrantResult::Changed(_)), "{found:?}");
    assert_intact(&trail).await;
}

async fn a_use_is_chained_and_deleted_with_its_decision(place: Place) {
    let trail = place.open().await;
    for _ in 0..2 {
        let id = open_question(&trail, "rm x", "s1").await;
        approve(&trail, id).await;
        trail.redeem(id, "secret").await.expect("redeemed");
    }
    let before = trail.head().await.expect("read").count;
    assert_eq!(before, 6, "asked, answered, used");
    let later = Timestamp::now() + jiff::SignedDuration::from_mins(1);
    let cleanup = trail.cleanup(later, "test").await.expect("cleaned");
    assert_eq!((cleanup.deleted, cleanup.remaining), (2, 0));
    assert_intact(&trail).await;
}

async fn changes_of_all_stores_are_reported_in_order(place: Place) {
    let here = place.open().await;
    let there = place.open().await;
    let mut change_stream = here.changes();
    record_five(&there).await;
    remember(&here, None).await;
    here.revoke(1, "console").await.expect("revoked");
    let ran = Execution {
        exit_status: None,
        at: minute(1),
    };
    there
        .record_execution(2, "secret", ran)
        .await
        .expect("reported");
    there.cleanup(minute(1), "cron").await.expect("cleaned");
    let mut seen = Vec::new();
    while seen.last() != Some(&AuditChange::Cleaned) {
        let next = tokio::time::timeout(Duration::from_secs(30), change_stream.next()).await;
        seen.push(next.expect("in time").expect("a change"));
    }
    // A decision that is deleted before it is read is not reported.
    seen.retain(|change| *change != AuditChange::Asked(1));
    assert_eq!(
        seen,
        [
            AuditChange::Asked(2),
            AuditChange::Asked(3),
            AuditChange::Asked(4),
            AuditChange::Asked(5),
            AuditChange::Answered(2),
            AuditChange::Answered(3),
            AuditChange::Answered(4),
            AuditChange::Remembered(1),
            AuditChange::Forgotten(1),
            AuditChange::Executed(2),
            AuditChange::Cleaned
        ]
    );
    drop((here, there));
    assert_eq!(
        change_stream.next().await,
        None,
        "the stream ends with the store"
    );
}

async fn an_operation_without_effect_writes_nothing(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    let mut new = decision("rm y", Crud::Delete, minute(5));
    new.deadline = Some(minute(90));
    trail.record(new).await.expect("recorded");
    let before = place.state();
    assert_eq!(trail.expire(minute(89)).await.expect("looked"), [0; 0]);
    for id in [1, 2, 99] {
        let answer = new_answer(UserResponse::Denied, minute(61));
        let refused = trail.answer(id, answer).await.expect("refused");
        assert!(!matches!(refused, AnswerResult::Done(_)), "{refused:?}");
    }
    let ran = Execution {
        exit_status: None,
        at: minute(61),
    };
    let refused = trail
        .record_execution(2, "guess", ran)
        .await
        .expect("refused");
    assert_eq!(refused, ExecutionResult::WrongSecret);
    let refused = trail.redeem(2, "guess").await.expect("refused");
    assert_eq!(refused, RedeemResult::WrongSecret);
    assert!(!trail.revoke(1, "console").await.expect("refused"));
    assert!(
        place.state() == before,
        "an operation without effect has written"
    );
    // A refusal in the same batch reverts nothing.
    let answer = new_answer(UserResponse::Denied, minute(61));
    let (refused, expired) = tokio::join!(trail.answer(2, answer), trail.expire(minute(90)));
    assert!(matches!(
        refused.expect("refused"),
        AnswerResult::Already(_)
    ));
    assert_eq!(expired.expect("expired"), [6]);
    assert!(
        place.state() != before,
        "an expired question was not written"
    );
    assert_intact(&trail).await;
}

/// Repeats an operation until no other store holds the trail: what is refused as locked has written
/// nothing.
async fn until_unlocked<T, F>(mut operation: impl FnMut() -> F) -> Result<T, AuditError>
where
    F: Future<Output = Result<T, AuditError>>,
{
    loop {
        match operation().await {
            Err(AuditError::Locked) => {}
            done => return done,
        }
    }
}

async fn concurrent_records_and_answers_are_all_stored(place: Place) {
    let stores = [place.open().await, place.open().await];
    let tasks: Vec<_> = (0..400)
        .map(|n: usize| {
            let store = stores[n % 2].clone();
            tokio::spawn(async move {
                let id = until_unlocked(|| {
                    let new = decision(&format!("touch {n}"), Crud::Create, minute(0));
                    store.record(new)
                });
                let id = id.await.expect("recorded");
                let done = until_unlocked(|| {
                    let answer = new_answer(UserResponse::Approved, minute(1));
                    store.answer(id, answer)
                });
                assert!(matches!(
                    done.await.expect("answered"),
                    AnswerResult::Done(_)
                ));
                id
            })
        })
        .collect();
    let mut got = Vec::new();
    for task in tasks {
        got.push(task.await.expect("no panic"));
    }
    got.sort_unstable();
    assert_eq!(got, (1..=400).collect::<Vec<_>>());
    let totals = stores[0].totals().await.expect("counted");
    assert_eq!(
        (totals.total_decisions, totals.approved_confirmations),
        (400, 400)
    );
    let found = stores[0].verify().await.expect("a walk");
    assert!(found.is_intact(), "{found:?}");
    assert_eq!((found.entries, found.decisions), (800, 400));
}

async fn an_export_is_complete_and_has_no_formulas(place: Place) {
    let trail = place.open().await;
    for n in 0..1203 {
        let new = decision(&format!("touch {n}"), Crud::Create, minute(n % 7));
        trail.record(new).await.expect("recorded");
    }
    let records: Vec<AuditRecord> = trail
        .export(&Filter::default())
        .try_collect()
        .await
        .expect("an export");
    assert_eq!(records.len(), 1203);
    let order: Vec<_> = records.iter().map(|r| (r.timestamp, r.id)).collect();
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
    let filter = Filter {
        command: Some("H 120".to_owned()),
        since: Some(minute(0)),
        ..Filter::default()
    };
    let found: Vec<AuditRecord> = trail
        .export(&filter)
        .try_collect()
        .await
        .expect("an export");
    let commands: Vec<_> = found.iter().map(|r| r.command.as_str()).collect();
    assert_eq!(
        commands,
        ["touch 120", "touch 1200", "touch 1201", "touch 1202"]
    );

    let mut record = found[0].clone();
    record.command = "=cmd|' /C calc'!A0".to_owned();
    // JSON has this field only if another command ran.
    record.ran_command = Some("ls".to_owned());
    record.reasoning = "a \"quote\",\r\nand a line".to_owned();
    record.explanation = "\t@SUM(1)\u{1b}[0m".to_owned();
    let line = export::csv(&record);
    assert!(line.contains(",\"'=cmd|' /C calc'!A0\","), "{line}");
    assert!(
        line.contains(",\"a \"\"quote\"\",\r\nand a line\","),
        "{line}"
    );
    assert!(line.contains(",\"'\t@SUM(1)\u{1b}[0m\","), "{line}");
    let columns = export::csv_header().trim_end().split(',').count();
    let keys = serde_json::to_value(&record).expect("json");
    assert_eq!(columns, keys.as_object().expect("an object").len());
    let line = export::jsonl(&record);
    assert_eq!(line.matches('\n').count(), 1);
    let back: AuditRecord = serde_json::from_str(&line).expect("a record");
    assert_eq!(
        (back.command, back.explanation),
        (record.command, record.explanation)
    );
}

async fn control_characters_in_texts_are_preserved(place: Place) {
    let trail = place.open().await;
    let odd = "printf '\u{1}\u{7f}\u{202e}\r\n\t\u{1f600}\u{fffe}' \"\\\"";
    let mut new = decision(odd, Crud::Create, minute(0));
    new.request.session_id = Some("a\0b".to_owned());
    new.permission.confidence = f64::NAN;
    let id = trail.record(new).await.expect("recorded");
    let record = trail.decision(id).await.expect("read").expect("there");
    assert_eq!(record.command, odd);
    assert_eq!(record.session_id.as_deref(), Some("a\u{2400}b"));
    assert_eq!(record.confidence, 0.0);
    let back: AuditRecord = serde_json::from_str(&export::jsonl(&record)).expect("a record");
    assert_eq!(back.command, odd);
    let session = Filter {
        session_id: Some("a\0b".to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(&trail, session).await, [id]);
    assert_intact(&trail).await;
}

async fn a_closed_trail_returns_closed(place: Place) {
    let trail = place.open().await;
    record_five(&trail).await;
    trail.close().await;
    let new = decision("ls", Crud::Read, minute(0));
    let error = trail.record(new).await.expect_err("closed");
    assert!(
        matches!(error, hooks_guard::audit::AuditError::Closed),
        "{error}"
    );
    assert!(trail.totals().await.is_err());
}
