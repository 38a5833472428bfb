//! Agents' operations on intents, and calls for unknown intents.

use futures::executor::block_on;
use hooks_runtime::engine::{BudgetLimits, EngineError, Intent, IntentStatus, TraceabilityError};
use hooks_runtime::{HookEngine, ResponseAction, ToolRequest, ToolResult};

use super::{Bench, assert_denied, command, select, write};
use crate::kit::{capture_logs, has_line};

fn completion(intent: &str) -> ToolResult {
    let request = ToolRequest::new("attempt_completion").intent(intent);
    ToolResult::of(request).succeeded("done")
}

fn status(engine: &HookEngine, intent: &str) -> IntentStatus {
    let intent = engine.context().intents().get(intent);
    intent.expect("there is one").status
}

#[tokio::test]
async fn r_26_an_agent_can_complete_only_its_active_intent() {
    for other in [
        IntentStatus::Active,
        IntentStatus::Blocked,
        IntentStatus::Pending,
    ] {
        let shared = Intent::new("REQ-2").owns("src/shared/**").status(other);
        let bench = Bench::with(|builder| builder.intents([shared])).ready();
        let ((), lines) = capture_logs(bench.post(&completion("REQ-2"))).await;
        let warned = has_line(&lines, "WARN", &["hook=intent-progress", "REQ-2"]);
        assert!(warned, "{lines:?}");
        assert_eq!(status(&bench.engine, "REQ-2"), other);
        assert!(bench.lines("intent_progress.jsonl").is_empty());
    }
}

#[test]
fn r_26_an_unselected_or_blocked_intent_is_not_completed() {
    let bench = Bench::new();
    block_on(bench.post(&completion("REQ-1")));
    assert_eq!(status(&bench.engine, "REQ-1"), IntentStatus::Active);

    let bench = bench.ready();
    let intents = bench.engine.context().intents();
    intents.set_status("REQ-1", IntentStatus::Blocked);
    block_on(bench.post(&completion("REQ-1")));
    assert_eq!(status(&bench.engine, "REQ-1"), IntentStatus::Blocked);
}

/// Returns an engine whose intents are in a file with this content.
fn from_file(text: &str) -> (tempfile::TempDir, HookEngine) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("intents.json"), text).unwrap();
    let engine = HookEngine::builder()
        .workspace(folder.path())
        .intents_file("intents.json")
        .build()
        .unwrap();
    (folder, engine)
}

#[tokio::test]
async fn r_26_selecting_a_completed_intent_does_not_reactivate_it() {
    let (_folder, engine) = from_file(r#"[{"id": "REQ-1", "owned_scope": ["src/**"]}]"#);
    let selected = ToolResult::of(select("REQ-1")).succeeded("ok");
    engine.post_tool_use(&selected, None).await;
    let response = engine.pre_tool_use(&write("src/a")).await.unwrap();
    assert!(response.is_continue());

    engine.post_tool_use(&completion("REQ-1"), None).await;
    engine.post_tool_use(&selected, None).await;
    assert_eq!(status(&engine, "REQ-1"), IntentStatus::Completed);
    let denied = engine.pre_tool_use(&write("src/b")).await.unwrap();
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");

    // The host may open it again.
    let intents = engine.context().intents();
    intents.set_status("REQ-1", IntentStatus::Active);
    engine.post_tool_use(&selected, None).await;
    let response = engine.pre_tool_use(&write("src/b")).await.unwrap();
    assert!(response.is_continue());
}

#[test]
fn r_28_reloading_the_intents_file_never_loosens_a_status() {
    use IntentStatus::{Active, Blocked, Completed, Pending};

    let text = |status: &str| format!(r#"[{{"id": "REQ-1", "status": "{status}"}}]"#);
    let (folder, engine) = from_file(&text("ACTIVE"));
    let intents = engine.context().intents();
    for (set, file, both) in [
        (Blocked, "ACTIVE", Blocked),
        (Completed, "PENDING", Completed),
        (Completed, "BLOCKED", Blocked),
        (Active, "BLOCKED", Blocked),
        (Active, "COMPLETED", Completed),
        (Pending, "ACTIVE", Active),
        (Active, "PENDING", Active),
    ] {
        std::fs::write(folder.path().join("intents.json"), text(file)).unwrap();
        intents.set_status("REQ-1", set);
        intents.reload().unwrap();
        assert_eq!(status(&engine, "REQ-1"), both, "{set:?}, {file}");
    }
}

#[test]
fn r_29_a_command_needs_a_known_active_intent() {
    let blocked = Intent::new("REQ-2").status(IntentStatus::Blocked);
    let bench = Bench::with(|builder| builder.intents([blocked])).ready();
    for (intent, reason) in [
        ("REQ-2", "Intent May Not Act"),
        ("REQ-77", "Unknown Intent"),
    ] {
        for request in [command("ls"), ToolRequest::new("new_task")] {
            let denied = block_on(bench.ask(&request.intent(intent)));
            assert_denied(&denied, ResponseAction::Deny, reason);
            assert_eq!(denied.classification.as_deref(), Some("DESTRUCTIVE"));
        }
    }
    assert!(block_on(bench.ask(&command("ls"))).is_continue());
    // An invalid id is still an error.
    let error = block_on(bench.pre(&command("ls").intent("77"))).unwrap_err();
    let invalid = error.downcast_ref::<TraceabilityError>();
    assert!(matches!(invalid, Some(TraceabilityError::Invalid { .. })));
}

#[test]
fn r_29_without_configured_intents_only_the_id_format_is_checked() {
    let engine = HookEngine::new();
    engine.session().record_reasoning();
    let response = block_on(engine.pre_tool_use(&command("ls").intent("REQ-77")));
    assert!(response.unwrap().is_continue());

    // An empty file of intents defines that there are none.
    let (_folder, engine) = from_file("[]");
    engine.session().record_reasoning();
    let denied = block_on(engine.pre_tool_use(&command("ls").intent("REQ-77"))).unwrap();
    assert_denied(&denied, ResponseAction::Deny, "Unknown Intent");
}

#[test]
fn r_31_unknown_intents_share_one_budget() {
    let bench = Bench::with(|builder| builder.intent_limits(BudgetLimits::new().calls(2)));
    let list_files = |n: u32, intent: &str| {
        let request = ToolRequest::new("list_files").param("n", n);
        block_on(bench.ask(&request.intent(intent)))
    };
    assert!(list_files(1, "REQ-invented-1").is_continue());
    assert!(list_files(2, "REQ-invented-2").is_continue());
    assert_denied(
        &list_files(3, "REQ-invented-3"),
        ResponseAction::Halt,
        "Budget Exceeded",
    );
    // Known intents have separate limits.
    assert!(list_files(4, "REQ-1").is_continue());
    assert!(list_files(5, "REQ-5").is_continue());
}

#[test]
fn r_28_a_glob_that_cannot_match_a_file_is_rejected() {
    for glob in [
        "/src/**", "./src/**", "src/./a", "../a", "src/../a", "src/", "src//a", "",
    ] {
        let intent = Intent::new("REQ-1").owns(glob);
        let error = HookEngine::builder().intents([intent]).build().unwrap_err();
        assert!(
            matches!(&error, EngineError::DeadGlob { intent, .. } if intent == "REQ-1"),
            "{glob:?}: {error}"
        );
    }
    for glob in ["src/**", "**", "a.b/.c", "..a/b..", "*"] {
        let intent = Intent::new("REQ-1").owns(glob);
        assert!(HookEngine::builder().intents([intent]).build().is_ok());
    }
}
