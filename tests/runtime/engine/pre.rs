//! The seven PRE hooks: the effect of each, and that exactly this hook has it.

use std::future::pending;

use futures::executor::block_on;
use hooks_runtime::engine::{
    BudgetLimits, CallUsage, Concurrency, ConcurrencyError, EngineBuilder, Intent, Stage,
    StateCheck, TraceabilityError,
};
use hooks_runtime::{
    HookError, HookResponse, Phase, PhaseRegistry, ResponseAction, ToolRequest, ToolResult,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Bench, assert_denied, command, read, select, write};
use crate::kit::plain;

/// Asserts that a call is refused, and continues once the hook with this id is removed.
fn assert_refused_only_by(id: &str, bench: &Bench, request: &ToolRequest) {
    let refused = block_on(bench.pre(request));
    assert!(!refused.is_ok_and(|response| response.is_continue()));
    assert!(bench.engine.registry().deregister(Phase::Pre, id));
    let response = block_on(bench.ask(request));
    assert!(response.is_continue(), "without `{id}`: {response:?}");
}

fn unhealthy() -> Bench {
    Bench::with(|builder| builder.health(|| async { false })).ready()
}

#[test]
fn r_25_only_fail_safe_refuses_calls_of_an_unhealthy_engine() {
    assert_refused_only_by("fail-safe", &unhealthy(), &read("src/a"));
}

#[test]
fn r_25_only_state_check_refuses_action_before_reasoning() {
    assert_refused_only_by("state-check", &Bench::new(), &write("src/a"));
}

#[test]
fn r_25_only_traceability_refuses_a_call_without_an_intent() {
    assert_refused_only_by(
        "traceability",
        &Bench::new().ready(),
        &ToolRequest::new("new_task"),
    );
}

#[test]
fn r_25_only_concurrency_refuses_a_stale_write() {
    let bench = Bench::new().ready();
    bench.put("src/a", "seen");
    block_on(bench.post(&ToolResult::of(read("src/a")).succeeded("seen")));
    bench.put("src/a", "changed");
    assert_refused_only_by("concurrency", &bench, &write("src/a"));
}

#[test]
fn r_25_only_scope_enforcement_refuses_a_file_out_of_scope() {
    assert_refused_only_by(
        "scope-enforcement",
        &Bench::new().ready(),
        &write("README.md"),
    );
}

#[test]
fn r_25_only_budget_refuses_calls_above_the_limit() {
    let bench = Bench::with(|builder| builder.session_limits(BudgetLimits::new().calls(0)));
    assert_refused_only_by("budget", &bench, &read("src/a"));
}

#[test]
fn r_25_only_circuit_breaker_refuses_the_third_identical_call() {
    let bench = Bench::new();
    for _ in 0..2 {
        assert!(block_on(bench.ask(&read("src/a"))).is_continue());
    }
    assert_refused_only_by("circuit-breaker", &bench, &read("src/a"));
}

#[test]
fn r_31_an_unhealthy_engine_denies_all_calls_except_intent_selection() {
    let bench = unhealthy();
    for request in [
        read("src/a"),
        write("src/a"),
        command("ls"),
        ToolRequest::new("odd"),
    ] {
        assert_denied(
            &block_on(bench.ask(&request)),
            ResponseAction::Deny,
            "Fail-Safe",
        );
    }
    let response = block_on(bench.ask(&select("REQ-1")));
    assert_eq!(response, HookResponse::default().classification("SAFE"));
}

#[test]
fn r_27_intent_selection_skips_the_other_hooks_only_while_unhealthy() {
    for healthy in [true, false] {
        let bench = Bench::with(|builder| {
            builder
                .health(move || async move { healthy })
                .session_limits(BudgetLimits::new().calls(0))
        });
        let response = block_on(bench.ask(&select("REQ-1")));
        assert_eq!(response.is_continue(), !healthy, "{response:?}");
    }
}

#[test]
fn r_31_only_intent_selection_can_bypass_the_hooks() {
    let bench = Bench::new();
    let pass = hooks_runtime::phases::PreFn::new("fail-safe", |_: &ToolRequest| {
        HookResponse::new(ResponseAction::Other("PASS".to_owned()))
    });
    bench.engine.registry().replace_pre(pass);
    assert!(!block_on(bench.ask(&read("src/a"))).is_continue());
    assert!(block_on(bench.ask(&select("REQ-1"))).is_continue());
}

#[tokio::test(start_paused = true)]
async fn r_31_a_health_probe_that_fails_panics_or_times_out_is_unhealthy() {
    async fn fails() -> Result<bool, std::io::Error> {
        Err(std::io::Error::other("no disk"))
    }
    async fn panics() -> bool {
        panic!("on purpose")
    }
    let benches = [
        Bench::with(|builder| builder.health(fails)),
        Bench::with(|builder| builder.health(panics)),
        Bench::with(|builder| builder.health(pending::<bool>)),
        Bench::with(|builder| {
            builder.health(|| -> std::future::Ready<bool> { panic!("on purpose") })
        }),
    ];
    for bench in benches {
        assert_denied(
            &bench.ask(&read("src/a")).await,
            ResponseAction::Deny,
            "Fail-Safe",
        );
        assert!(bench.ask(&select("REQ-1")).await.is_continue());
    }
}

#[tokio::test]
async fn r_31_an_engine_without_its_storage_folder_is_unhealthy() {
    let bench = Bench::new();
    assert!(bench.ask(&read("src/a")).await.is_continue());
    std::fs::remove_dir_all(bench.path(".orchestration")).unwrap();
    assert_denied(
        &bench.ask(&read("src/a")).await,
        ResponseAction::Deny,
        "Fail-Safe",
    );
    assert!(bench.ask(&select("REQ-1")).await.is_continue());
}

#[test]
fn r_25_a_turn_passes_from_request_to_reasoning_to_action() {
    let bench = Bench::new();
    let session = bench.engine.session();
    assert_eq!(session.stage(), Stage::Request);
    let denied = block_on(bench.ask(&write("src/a")));
    assert_denied(&denied, ResponseAction::Deny, "State Check");
    assert!(block_on(bench.ask(&read("src/a"))).is_continue());
    assert_eq!(session.stage(), Stage::Request);

    let selected = ToolResult::of(select("REQ-1"));
    block_on(bench.post(&selected.clone().failed("no such intent")));
    assert_eq!(session.stage(), Stage::Request);
    block_on(bench.post(&selected.succeeded("selected")));
    assert_eq!(session.stage(), Stage::Reasoning);
    assert_eq!(session.active_intent().as_deref(), Some("REQ-1"));

    assert!(block_on(bench.ask(&write("src/a"))).is_continue());
    assert_eq!(session.stage(), Stage::Action);
    session.record_reasoning();
    assert_eq!(session.stage(), Stage::Action);

    session.begin_turn();
    let denied = block_on(bench.ask(&write("src/b")));
    assert_denied(&denied, ResponseAction::Deny, "State Check");
    session.record_reasoning();
    assert!(block_on(bench.ask(&write("src/b"))).is_continue());
}

#[test]
fn r_25_state_check_can_restrict_a_turn_to_the_selected_intent() {
    let bench = Bench::new().ready();
    let strict = StateCheck::new(bench.engine.context()).selected_intent_only(true);
    bench.engine.registry().register_pre(strict, plain());
    assert!(block_on(bench.ask(&write("src/a"))).is_continue());
    bench.engine.session().select_intent("REQ-2");
    let denied = block_on(bench.ask(&write("src/b")));
    assert_denied(&denied, ResponseAction::Deny, "State Check");
}

/// Returns the error of a call that fails.
fn error(bench: &Bench, request: &ToolRequest) -> HookError {
    block_on(bench.pre(request)).expect_err("a hook fails")
}

#[test]
fn r_29_only_destructive_calls_need_an_intent() {
    let bench = Bench::new().ready();
    for tool in ["write_to_file", "execute_command", "new_task", "odd"] {
        let error = error(&bench, &ToolRequest::new(tool));
        assert_eq!(error.hook(), Some("traceability"));
        let missing = TraceabilityError::Missing {
            tool: tool.to_owned(),
        };
        assert_eq!(error.downcast_ref(), Some(&missing));
    }
    assert!(block_on(bench.ask(&ToolRequest::new("list_files"))).is_continue());
}

#[test]
fn r_29_intent_ids_must_match_the_configured_pattern() {
    let others = ["REQ-a-B-9", "REQ--", "T12"].map(Intent::new);
    let bench = Bench::with(|builder| builder.intents(others.clone())).ready();
    for id in [
        "", "REQ-", "REQ", "req-1", "REQ-1 ", "REQ-1\n", "xREQ-1", "REQ-ä", "REQ_1",
    ] {
        let error = error(&bench, &command("ls").intent(id));
        assert!(
            matches!(
                error.downcast_ref(),
                Some(TraceabilityError::Invalid { .. })
            ),
            "{id:?}"
        );
    }
    for id in ["REQ-1", "REQ-a-B-9", "REQ--"] {
        assert!(
            block_on(bench.ask(&command(id).intent(id))).is_continue(),
            "{id:?}"
        );
    }
    let other = |builder: EngineBuilder| builder.intents(others).intent_pattern("^T[0-9]+$");
    let bench = Bench::with(other).ready();
    assert!(block_on(bench.ask(&command("ls").intent("T12"))).is_continue());
    error(&bench, &command("ls").intent("REQ-1"));
}

#[tokio::test]
async fn r_27_a_stale_write_fails_until_the_file_is_read_again() {
    let bench = Bench::new().ready();
    let note_read = || async {
        bench
            .post(&ToolResult::of(read("src/a")).succeeded("…"))
            .await
    };
    bench.put("src/a", "one");
    note_read().await;
    assert!(bench.ask(&write("src/a")).await.is_continue());

    bench.put("src/a", "two");
    let error = bench.pre(&write("./src//a")).await.unwrap_err();
    assert_eq!(error.hook(), Some("concurrency"));
    let stale = error.downcast_ref::<ConcurrencyError>();
    assert!(
        matches!(stale, Some(ConcurrencyError::Stale { found: Some(_), .. })),
        "{stale:?}"
    );

    note_read().await;
    assert!(bench.ask(&write("src/a")).await.is_continue());
    std::fs::remove_file(bench.path("src/a")).unwrap();
    let error = bench.pre(&write("src/a")).await.unwrap_err();
    let stale = error.downcast_ref::<ConcurrencyError>();
    assert!(
        matches!(stale, Some(ConcurrencyError::Stale { found: None, .. })),
        "{stale:?}"
    );
}

#[tokio::test]
async fn r_27_content_written_by_the_agent_is_not_stale() {
    let bench = Bench::new().ready();
    bench.put("src/a", "one");
    bench
        .post(&ToolResult::of(read("src/a")).succeeded("one"))
        .await;
    bench.put("src/a", "mine");
    bench
        .post(&ToolResult::of(write("src/a")).succeeded("ok"))
        .await;
    assert!(
        bench
            .ask(&write("src/a").param("content", "again"))
            .await
            .is_continue()
    );
    bench.put("src/a", "theirs");
    assert!(bench.pre(&write("src/a")).await.is_err());
}

#[test]
fn r_27_all_files_of_a_call_are_compared() {
    let bench = Bench::new().ready();
    bench.put("src/a", "a");
    bench.put("src/b", "b");
    for file in ["src/a", "src/b"] {
        block_on(bench.post(&ToolResult::of(read(file)).succeeded("…")));
    }
    bench.put("src/b", "changed");
    let both = ToolRequest::new("apply_diff")
        .param("files", json!([{"path": "src/a"}, {"path": "src/b"}]))
        .intent("REQ-1");
    assert!(
        error(&bench, &both)
            .downcast_ref::<ConcurrencyError>()
            .is_some()
    );
}

#[test]
fn r_27_reading_before_writing_can_be_required() {
    let bench = Bench::new().ready();
    bench.put("src/a", "a");
    let request = write("src/a");
    assert!(block_on(bench.ask(&request)).is_continue());
    let strict = Concurrency::new(bench.engine.context()).require_read(true);
    bench.engine.registry().register_pre(strict, plain());
    let error = error(&bench, &request);
    assert!(matches!(
        error.downcast_ref(),
        Some(ConcurrencyError::NotRead { .. })
    ));
    assert!(block_on(bench.ask(&write("src/new"))).is_continue());
}

#[cfg(unix)]
#[test]
fn r_27_a_write_to_an_unreadable_file_is_an_error() {
    let bench = Bench::new().ready();
    bench.put("src/a", "a");
    block_on(bench.post(&ToolResult::of(read("src/a")).succeeded("…")));
    std::fs::remove_file(bench.path("src/a")).unwrap();
    std::fs::create_dir(bench.path("src/a")).unwrap();
    let error = error(&bench, &write("src/a"));
    assert!(matches!(
        error.downcast_ref(),
        Some(ConcurrencyError::Unreadable { .. })
    ));
}

#[test]
fn r_28_a_scope_denial_contains_reason_details_hint_and_class() {
    let denied = block_on(Bench::new().ready().ask(&write("README.md")));
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
    assert_eq!(denied.classification.as_deref(), Some("DESTRUCTIVE"));
    let details = denied.details.unwrap();
    assert!(
        details.contains("README.md") && details.contains("src/**"),
        "{details}"
    );
}

#[test]
fn r_28_a_file_owned_by_two_intents_is_denied_as_contention() {
    let other = Intent::new("REQ-2").owns("src/shared/*");
    let bench = Bench::with(|builder| builder.intents([other])).ready();
    assert!(block_on(bench.ask(&write("src/own"))).is_continue());
    let denied = block_on(bench.ask(&write("src/shared/a")));
    assert_denied(&denied, ResponseAction::Deny, "File Ownership Contention");
    assert_eq!(denied.classification.as_deref(), Some("DESTRUCTIVE"));
    assert!(denied.details.unwrap().contains("REQ-2"));
}

#[test]
fn r_28_the_ignore_file_overrides_the_scopes() {
    let bench = Bench::new().ready();
    bench.put(".intentignore", "*.key\n");
    for path in ["src/id.key", "outside.key"] {
        let denied = block_on(bench.ask(&write(path)));
        assert_denied(&denied, ResponseAction::Deny, "Protected by .intentignore");
    }
    // An unreadable file protects everything.
    std::fs::write(bench.path(".intentignore"), b"\xff\n").unwrap();
    let denied = block_on(bench.ask(&write("src/a")));
    assert_denied(&denied, ResponseAction::Deny, "Protected by .intentignore");
}

#[test]
fn r_28_paths_outside_the_workspace_are_never_in_scope() {
    let bench = Bench::with(|builder| builder.intents([Intent::new("REQ-9").owns("**")])).ready();
    let inside = bench.path("src/a");
    for path in [
        "../a",
        "src/../../a",
        "src/../src/a",
        "/etc/passwd",
        inside.to_str().unwrap(),
        "",
        ".",
    ] {
        let denied = block_on(bench.ask(&write(path).intent("REQ-9")));
        assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
    }
}

#[cfg(unix)]
#[test]
fn r_28_links_are_resolved_before_scopes_are_checked() {
    let bench = Bench::new().ready();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(bench.path("doc")).unwrap();
    bench.put(".intentignore", "/src/secret\n");
    std::fs::create_dir(bench.path("src/secret")).unwrap();
    for (to, link) in [
        (elsewhere.path(), "src/out"),
        ("../doc".as_ref(), "src/doc"),
        ("nowhere".as_ref(), "src/dangling"),
    ] {
        std::os::unix::fs::symlink(to, bench.path(link)).unwrap();
    }
    std::os::unix::fs::symlink("secret", bench.path("src/open")).unwrap();
    for path in ["src/out/a", "src/doc/a", "src/dangling"] {
        let denied = block_on(bench.ask(&write(path)));
        assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
    }
    let denied = block_on(bench.ask(&write("src/open/a")));
    assert_denied(&denied, ResponseAction::Deny, "Protected by .intentignore");
}

#[test]
fn r_28_the_files_of_the_engine_are_never_in_scope() {
    let bench = Bench::with(|builder| builder.intents([Intent::new("REQ-9").owns("**")])).ready();
    for path in [
        ".orchestration/mutations.jsonl",
        ".orchestration",
        ".intentignore",
    ] {
        let denied = block_on(bench.ask(&write(path).intent("REQ-9")));
        assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
    }
}

#[cfg(unix)]
#[test]
fn r_28_the_target_of_a_linked_ignore_file_is_protected() {
    let bench = Bench::new().ready();
    bench.put("src/rules", "*.key\n");
    std::os::unix::fs::symlink("src/rules", bench.path(".intentignore")).unwrap();
    for (path, reason) in [
        ("src/rules", "Scope Violation"),
        ("src/a.key", "Protected by .intentignore"),
    ] {
        let denied = block_on(bench.ask(&write(path)));
        assert_denied(&denied, ResponseAction::Deny, reason);
    }
}

#[test]
fn r_28_a_call_with_one_file_out_of_scope_is_denied() {
    let bench = Bench::new().ready();
    let diff = |files: Value| {
        let request = ToolRequest::new("apply_diff").param("files", files);
        block_on(bench.ask(&request.intent("REQ-1")))
    };
    assert!(diff(json!(["src/a", "src/b"])).is_continue());
    for files in [
        json!(["src/a", "b"]),
        json!(["src/a", 7]),
        json!({"path": "src/a"}),
        json!([]),
    ] {
        assert_denied(&diff(files), ResponseAction::Deny, "Scope Violation");
    }
}

#[test]
fn r_28_an_unknown_intent_owns_no_files() {
    let bench = Bench::new().ready();
    let denied = block_on(bench.ask(&write("src/a").intent("REQ-77")));
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
}

#[test]
fn r_31_calls_are_limited_per_session_and_per_intent() {
    let limits = |calls| BudgetLimits::new().calls(calls);
    let bench = Bench::with(|builder| builder.session_limits(limits(5)).intent_limits(limits(2)));
    let look = |n: u32, intent: &str| {
        block_on(bench.ask(&ToolRequest::new("list_files").param("n", n).intent(intent)))
    };
    assert!(look(1, "REQ-1").is_continue());
    assert!(look(2, "REQ-1").is_continue());
    let halted = look(3, "REQ-1");
    assert_denied(&halted, ResponseAction::Halt, "Budget Exceeded");
    assert_eq!(halted.classification.as_deref(), Some("SAFE"));
    // Selecting another intent is allowed, and counts for the session.
    assert!(block_on(bench.ask(&select("REQ-2").intent("REQ-1"))).is_continue());
    assert!(look(4, "REQ-2").is_continue());
    assert!(look(5, "REQ-2").is_continue());
    assert_denied(&look(6, "REQ-3"), ResponseAction::Halt, "Budget Exceeded");
    let halted = block_on(bench.ask(&select("REQ-3")));
    assert_denied(&halted, ResponseAction::Halt, "Budget Exceeded");
}

#[test]
fn r_31_tokens_and_cost_are_limited_after_they_are_reported() {
    for (limits, usage) in [
        (BudgetLimits::new().tokens(100), CallUsage::new(60, 0)),
        (BudgetLimits::new().cost_micros(100), CallUsage::new(0, 60)),
    ] {
        let bench = Bench::with(|builder| builder.session_limits(limits));
        for n in 0..2 {
            let request = ToolRequest::new("list_files").param("n", n);
            assert!(block_on(bench.ask(&request)).is_continue());
            // Counted without an intent too; otherwise it would bypass the limit.
            block_on(bench.post(&ToolResult::of(request).failed("").usage(usage)));
        }
        let halted = block_on(bench.ask(&read("src/a")));
        assert_denied(&halted, ResponseAction::Halt, "Budget Exceeded");
    }
}

#[test]
fn r_31_a_limit_of_zero_denies_every_call_and_no_limit_allows_all() {
    for limits in [
        BudgetLimits::new().calls(0),
        BudgetLimits::new().tokens(0),
        BudgetLimits::new().cost_micros(0),
    ] {
        let bench = Bench::with(|builder| builder.session_limits(limits));
        let halted = block_on(bench.ask(&read("src/a")));
        assert_denied(&halted, ResponseAction::Halt, "Budget Exceeded");
    }
    let bench = Bench::new();
    bench
        .engine
        .session()
        .charge(None, CallUsage::new(u64::MAX, u64::MAX));
    assert!(block_on(bench.ask(&read("src/a"))).is_continue());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r_31_concurrent_calls_share_one_budget() {
    let bench = Bench::with(|builder| builder.session_limits(BudgetLimits::new().calls(10)));
    let calls = (0..40).map(|n| {
        let engine = bench.engine.clone();
        tokio::spawn(async move {
            let request = ToolRequest::new("list_files").param("n", n);
            engine.pre_tool_use(&request).await.unwrap().is_continue()
        })
    });
    let mut passed = 0;
    for call in calls.collect::<Vec<_>>() {
        passed += u32::from(call.await.unwrap());
    }
    assert_eq!(passed, 10);
}

#[test]
fn r_30_the_third_identical_call_halts_and_a_different_call_resets() {
    let bench = Bench::new();
    let look = |at: &str| block_on(bench.ask(&read(at)));
    assert!(look("a").is_continue());
    assert!(look("a").is_continue());
    assert!(look("b").is_continue());
    assert!(look("a").is_continue());
    assert!(look("a").is_continue());
    for _ in 0..2 {
        let halted = look("a");
        assert_denied(&halted, ResponseAction::Halt, "Circuit Breaker Tripped");
        assert_eq!(halted.classification.as_deref(), Some("SAFE"));
    }
    assert!(look("b").is_continue());
    assert!(look("a").is_continue());
}

#[test]
fn r_30_the_repeat_threshold_is_configurable() {
    let bench = Bench::with(|builder| builder.repeat_threshold(2));
    assert!(block_on(bench.ask(&read("a"))).is_continue());
    let halted = block_on(bench.ask(&read("a")));
    assert_denied(&halted, ResponseAction::Halt, "Circuit Breaker Tripped");
}

/// Returns a strategy of JSON values, at most three levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let fields = prop::collection::vec(("[a-d]", inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Returns the value with reversed keys in every object.
fn with_reversed_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().rev();
            Value::Object(
                fields
                    .map(|(key, value)| (key.clone(), with_reversed_keys(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(with_reversed_keys).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn r_30_calls_are_compared_by_json_value(value in any_json(), other in any_json()) {
        let bench = Bench::with(|builder| builder.repeat_threshold(2));
        let call = |value: &Value| {
            block_on(bench.ask(&ToolRequest::new("list_files").param("value", value.clone())))
        };
        prop_assert!(call(&value).is_continue());
        prop_assert!(!call(&with_reversed_keys(&value)).is_continue());
        prop_assert_eq!(call(&other).is_continue(), value != other);
    }
}

#[test]
fn r_22_an_engine_hook_works_in_any_registry() {
    let bench = Bench::new().ready();
    let registry: PhaseRegistry<ToolRequest, ToolResult> = PhaseRegistry::new();
    let scope = hooks_runtime::engine::ScopeEnforcement::new(bench.engine.context());
    registry.register_pre(scope, plain());
    let denied = block_on(registry.execute_pre(&write("README.md"))).unwrap();
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
    // Without traceability before it, it still refuses a call without an intent.
    let without_intent = ToolRequest::new("write_to_file").param("path", "src/a");
    let denied = block_on(registry.execute_pre(&without_intent)).unwrap();
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
}
