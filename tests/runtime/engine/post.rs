//! The nine POST hooks: the effect of each, and that exactly this hook has it.

use futures::executor::block_on;
use hooks_runtime::engine::{
    BudgetLimits, CallUsage, IntentStatus, Lesson, Stage, VerificationFailure, content_hash,
};
use hooks_runtime::{HookEngine, Phase, ToolRequest, ToolResult};
use serde_json::json;

use super::{Bench, command, read, select, write};
use crate::kit::{capture_logs, has_line, plain};

fn done(request: ToolRequest) -> ToolResult {
    ToolResult::of(request).succeeded("ok")
}

/// Asserts that a result is recorded, and no longer once the hook with this id is removed.
fn assert_only_effect_of(id: &str, act: impl Fn(&Bench), is_recorded: impl Fn(&Bench) -> bool) {
    let bench = Bench::new().ready();
    act(&bench);
    assert!(is_recorded(&bench), "with `{id}`");
    let bench = Bench::new().ready();
    assert!(bench.engine.registry().deregister(Phase::Post, id));
    act(&bench);
    assert!(!is_recorded(&bench), "without `{id}`");
}

/// Asserts that a result adds a line to a file, and no longer without the hook.
fn assert_written_only_by(id: &str, file: &str, result: &ToolResult) {
    assert_only_effect_of(
        id,
        |bench| block_on(bench.post(result)),
        |bench| !bench.lines(file).is_empty(),
    );
}

#[test]
fn r_26_only_mutation_log_logs_changes() {
    assert_written_only_by("mutation-log", "mutations.jsonl", &done(write("src/a")));
}

#[test]
fn r_26_only_turn_context_selects_the_intent() {
    assert_only_effect_of(
        "turn-context",
        |bench| block_on(bench.post(&done(select("REQ-5")))),
        |bench| bench.engine.session().active_intent().as_deref() == Some("REQ-5"),
    );
}

#[tokio::test]
async fn r_26_a_blocked_or_unknown_intent_is_not_selected() {
    let bench = Bench::new();
    let intents = bench.engine.context().intents();
    intents.set_status("REQ-5", IntentStatus::Blocked);
    for id in ["REQ-5", "REQ-77"] {
        let ((), lines) = capture_logs(bench.post(&done(select(id)))).await;
        assert!(
            has_line(&lines, "WARN", &["hook=turn-context", id]),
            "{lines:?}"
        );
        assert_eq!(bench.engine.session().active_intent(), None);
    }
    let ls = bench.ask(&command("ls").intent("REQ-77")).await;
    assert_eq!(ls.reason.as_deref(), Some("State Check"));
}

#[test]
fn r_26_only_read_file_baseline_records_the_content_hash() {
    assert_only_effect_of(
        "read-file-baseline",
        |bench| block_on(bench.post(&done(read("src/a")).file("src/a", "x"))),
        |bench| bench.engine.session().baseline("src/a") == Some(content_hash("x")),
    );
}

#[test]
fn r_26_only_agent_trace_traces_changes() {
    assert_written_only_by("agent-trace", "agent_trace.jsonl", &done(write("src/a")));
}

#[test]
fn r_26_only_general_trace_traces_calls() {
    assert_written_only_by("general-trace", "trace.jsonl", &done(read("src/a")));
}

#[test]
fn r_26_only_verification_failure_records_failed_checks() {
    let failed = ToolResult::of(command("cargo test"))
        .failed("")
        .exit_code(101);
    assert_written_only_by(
        "verification-failure",
        "verification_failures.jsonl",
        &failed,
    );
}

#[test]
fn r_26_only_intent_progress_records_calls() {
    assert_written_only_by(
        "intent-progress",
        "intent_progress.jsonl",
        &done(write("src/a")),
    );
}

#[test]
fn r_26_only_scope_drift_records_drift() {
    let drift = done(command("make")).touched("out/a");
    assert_written_only_by("scope-drift", "scope_drift.jsonl", &drift);
}

#[test]
fn r_26_only_shared_brain_writes_lessons() {
    assert_only_effect_of(
        "shared-brain",
        |bench| {
            block_on(bench.ask(&write("README.md")));
            block_on(bench.post(&done(read("src/a"))));
        },
        |bench| !bench.lines("lessons.jsonl").is_empty(),
    );
}

#[tokio::test]
async fn r_27_a_result_without_an_intent_is_not_logged() {
    let bench = Bench::new();
    bench
        .engine
        .session()
        .learn(Lesson::new("k", None, "s", "l"));
    let mut write = write("a");
    write.intent_id = None;
    let mut check = command("cargo test");
    check.intent_id = None;
    bench.post(&done(write)).await;
    bench
        .post(&ToolResult::of(check).failed("").exit_code(1))
        .await;
    let written = std::fs::read_dir(bench.path(".orchestration")).unwrap();
    assert_eq!(written.count(), 0);
}

#[tokio::test]
async fn r_26_a_mutation_is_logged_with_the_hash_of_the_resulting_content() {
    let bench = Bench::new();
    bench.put("src/a", "from the disk");
    let diff = ToolRequest::new("apply_diff")
        .param("files", json!(["src/a", {"path": "src/b"}, "src/gone"]))
        .intent("REQ-1")
        .session("s-1");
    bench
        .post(&done(diff.clone()).file("src/b", "from the tool"))
        .await;
    let lines = bench.lines("mutations.jsonl");
    let hashes: Vec<_> = lines
        .iter()
        .map(|line| (&line["file"], &line["content_hash"]))
        .collect();
    assert_eq!(
        hashes,
        [
            (&json!("src/a"), &json!(content_hash("from the disk"))),
            (&json!("src/b"), &json!(content_hash("from the tool"))),
            (&json!("src/gone"), &json!(null)),
        ]
    );
    assert_eq!(lines[0]["intent_id"], "REQ-1");
    assert_eq!(lines[0]["session_id"], "s-1");
    assert_eq!(lines[0]["request_id"], "call-1");
    assert_eq!(lines[0]["bytes"], 13);

    bench.post(&ToolResult::of(diff).failed("no")).await;
    bench.post(&done(read("src/a"))).await;
    assert_eq!(bench.lines("mutations.jsonl").len(), 3);
}

#[tokio::test]
async fn r_27_an_unwritable_log_does_not_stop_the_other_hooks() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path(".orchestration/mutations.jsonl")).unwrap();
    let write = done(write("src/a"));
    let ((), lines) = capture_logs(bench.post(&write)).await;
    assert!(
        has_line(&lines, "WARN", &["hook=mutation-log"]),
        "{lines:?}"
    );
    assert_eq!(bench.lines("agent_trace.jsonl").len(), 1);
    assert_eq!(bench.lines("trace.jsonl").len(), 1);
}

#[test]
fn r_26_turn_context_sums_the_usage_of_all_calls() {
    let bench = Bench::new();
    for request in [read("a"), ToolRequest::new("list_files")] {
        block_on(
            bench.post(
                &ToolResult::of(request)
                    .failed("")
                    .usage(CallUsage::new(3, 4)),
            ),
        );
    }
    let session = bench.engine.session();
    assert_eq!(session.spent(None).usage, CallUsage::new(6, 8));
    assert_eq!(session.spent(Some("REQ-1")).usage, CallUsage::new(3, 4));
    assert_eq!(session.stage(), Stage::Request);
}

#[test]
fn r_26_an_agent_trace_contains_the_mutation_class_and_all_files() {
    let bench = Bench::new();
    let request = write("src/a").param("mutation_class", "AST_REFACTOR");
    let result = done(request).file("src/a", "x").summary("adds a");
    block_on(bench.engine.post_tool_use(&result, None));
    block_on(bench.post(&done(write("src/b")).mutation_class("FIX")));
    block_on(bench.post(&done(write("src/c"))));
    block_on(bench.post(&done(command("make")).touched("src/d")));
    let lines = bench.lines("agent_trace.jsonl");
    let classes: Vec<_> = lines
        .iter()
        .map(|line| line["mutation_class"].clone())
        .collect();
    assert_eq!(classes, ["AST_REFACTOR", "FIX", "INTENT_EVOLUTION"]);
    assert_eq!(lines[0]["summary"], "adds a");
    assert_eq!(
        lines[0]["files"],
        json!([{"file": "src/a", "content_hash": content_hash("x")}])
    );
    // Without an id of the call, the intent's id is used.
    assert_eq!(lines[0]["request_id"], "REQ-1");
    assert_eq!(lines[1]["request_id"], "call-1");
}

#[test]
fn r_26_a_general_trace_truncates_long_texts() {
    let bench = Bench::new();
    let long = "ä".repeat(500);
    let request = write("src/a").param("content", json!({"deep": [long.clone()]}));
    block_on(bench.post(&ToolResult::of(request).failed(&*long)));
    let line = &bench.lines("trace.jsonl")[0];
    assert_eq!(line["status"], "FAILURE");
    assert_eq!(line["output"], "ä".repeat(200));
    let cut = json!({"begins": "ä".repeat(200), "content_hash": content_hash(&long)});
    assert_eq!(
        line["params"],
        json!({"path": "src/a", "content": {"deep": [cut]}})
    );
}

#[test]
fn r_26_only_failed_checks_are_recorded() {
    let failures = |result: ToolResult| {
        let bench = Bench::new();
        block_on(bench.post(&result));
        bench.lines("verification_failures.jsonl")
    };
    let result = |line: &str| ToolResult::of(command(line));
    assert_eq!(
        failures(result("npm run lint").succeeded("").exit_code(2))[0]["exit_code"],
        2
    );
    assert_eq!(
        failures(result("cd a && cargo test").failed(""))[0]["exit_code"],
        json!(null)
    );
    let reported = result("npx vitest").succeeded("Exit code: 0\n1 failed\nExit code: 1");
    assert_eq!(failures(reported)[0]["exit_code"], 1);

    assert!(failures(result("cargo test").succeeded("").exit_code(0)).is_empty());
    assert!(failures(result("cargo test").failed("").exit_code(0)).is_empty());
    assert!(failures(result("pytest").succeeded("Exit code: 0")).is_empty());
    assert!(failures(result("ls latest").failed("").exit_code(2)).is_empty());
    let other = ToolRequest::new("new_task")
        .param("command", "cargo test")
        .intent("REQ-1");
    assert!(failures(ToolResult::of(other).failed("")).is_empty());

    let long = format!("{}{}", "x".repeat(10), "ä".repeat(2000));
    assert_eq!(
        failures(result("jest").failed(long))[0]["output"],
        "ä".repeat(2000)
    );
}

#[test]
fn r_26_the_patterns_of_check_commands_are_configurable() {
    let bench = Bench::new();
    let hook = VerificationFailure::new(bench.engine.context());
    bench
        .engine
        .registry()
        .register_post(hook.patterns(["^just "]).unwrap(), plain());
    for line in ["cargo test", "just all"] {
        block_on(bench.post(&ToolResult::of(command(line)).failed("").exit_code(1)));
    }
    let lines = bench.lines("verification_failures.jsonl");
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["command"], "just all");
    assert!(
        VerificationFailure::new(bench.engine.context())
            .patterns(["("])
            .is_err()
    );
}

#[test]
fn r_26_progress_is_counted_and_completion_releases_the_files() {
    let bench = Bench::new().ready();
    block_on(bench.post(&done(write("src/a"))));
    block_on(bench.post(&done(write("src/a"))));
    block_on(bench.post(&ToolResult::of(command("x")).failed("")));
    block_on(bench.post(&done(read("src/b"))));
    let progress = bench.engine.session().progress("REQ-1");
    assert_eq!(
        (progress.calls, progress.failures, progress.files.len()),
        (4, 1, 1)
    );
    assert_eq!(bench.lines("intent_progress.jsonl").len(), 3);

    let complete = ToolRequest::new("attempt_completion").intent("REQ-1");
    let status = || {
        bench
            .engine
            .context()
            .intents()
            .get("REQ-1")
            .unwrap()
            .status
    };
    block_on(bench.post(&ToolResult::of(complete.clone()).failed("not yet")));
    assert_eq!(status(), IntentStatus::Active);
    block_on(bench.post(&done(complete)));
    assert_eq!(status(), IntentStatus::Completed);
    let last = bench.lines("intent_progress.jsonl").pop().unwrap();
    assert_eq!(
        (&last["status"], &last["calls"]),
        (&json!("COMPLETED"), &json!(6))
    );
    let denied = block_on(bench.ask(&write("src/a")));
    assert_eq!(denied.reason.as_deref(), Some("Scope Violation"));
}

#[tokio::test]
async fn r_26_changes_outside_the_scope_are_recorded_as_drift() {
    let bench = Bench::new();
    let result = done(command("make"))
        .touched("src/ok")
        .touched("out/a")
        .touched("../b");
    bench.post(&result).await;
    let lines = bench.lines("scope_drift.jsonl");
    let files: Vec<_> = lines.iter().map(|line| line["file"].clone()).collect();
    assert_eq!(files, ["../b", "out/a"]);
    // The last hook has written this one's lesson.
    let lessons = bench.lines("lessons.jsonl");
    assert!(lessons.iter().all(|lesson| lesson["kind"] == "scope-drift"));
    assert_eq!(lessons.len(), 2);
}

#[tokio::test]
async fn r_26_each_lesson_is_written_once_across_engines() {
    let bench = Bench::with(|builder| builder.session_limits(BudgetLimits::new().calls(1))).ready();
    let second = HookEngine::builder()
        .workspace(bench.path(""))
        .build()
        .unwrap();
    for _ in 0..2 {
        bench.ask(&write("README.md")).await;
        bench.post(&done(read("src/a"))).await;
    }
    let lesson = bench.lines("lessons.jsonl");
    assert_eq!(lesson.len(), 1, "{lesson:?}");
    assert_eq!(lesson[0]["kind"], "scope-violation");
    assert_eq!(lesson[0]["intent_id"], "REQ-1");

    let lesson = Lesson::new("own", Some("REQ-1"), "subject", "text");
    for engine in [&bench.engine, &second] {
        engine.session().learn(lesson.clone());
        engine.post_tool_use(&done(read("src/a")), None).await;
    }
    assert_eq!(bench.lines("lessons.jsonl").len(), 2);
}

#[tokio::test]
async fn r_26_lessons_are_retried_after_a_failed_write() {
    let bench = Bench::new();
    bench
        .engine
        .session()
        .learn(Lesson::new("k", None, "s", "l"));
    let file = bench.path(".orchestration/lessons.jsonl");
    std::fs::create_dir(&file).unwrap();
    bench.post(&done(read("src/a"))).await;
    std::fs::remove_dir(&file).unwrap();
    bench.post(&done(read("src/a"))).await;
    assert_eq!(bench.lines("lessons.jsonl").len(), 1);
}

#[tokio::test]
async fn r_26_without_a_storage_folder_the_hooks_do_not_warn() {
    let engine = HookEngine::new();
    let everything = done(write("src/a")).touched("b");
    let ((), lines) = capture_logs(engine.post_tool_use(&everything, None)).await;
    assert!(!has_line(&lines, "WARN", &[]), "{lines:?}");
}
