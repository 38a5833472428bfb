//! The engine around its hooks: registered hooks, added fields, replacements.

use futures::executor::block_on;
use hooks_runtime::engine::{EngineError, Intent, ToolClass, ToolTable};
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    HookEngine, HookResponse, Phase, PhaseRegistry, ResponseAction, ToolRequest, ToolResult,
};
use serde_json::json;

use super::{Bench, read, select, write};
use crate::kit::{Log, plain};

fn ids(engine: &HookEngine, phase: Phase) -> Vec<(String, Option<i32>)> {
    let hooks = engine.registry().registered_hooks(phase).into_iter();
    hooks.map(|hook| (hook.id, hook.priority)).collect()
}

const PRE: [(&str, i32); 7] = [
    ("fail-safe", 1),
    ("state-check", 2),
    ("traceability", 10),
    ("concurrency", 20),
    ("scope-enforcement", 30),
    ("budget", 40),
    ("circuit-breaker", 50),
];

const POST: [&str; 9] = [
    "mutation-log",
    "turn-context",
    "read-file-baseline",
    "agent-trace",
    "general-trace",
    "verification-failure",
    "intent-progress",
    "scope-drift",
    "shared-brain",
];

#[test]
fn r_25_the_seven_pre_hooks_are_registered_in_order() {
    let expected = PRE.map(|(id, priority)| (id.to_owned(), Some(priority)));
    assert_eq!(ids(&HookEngine::new(), Phase::Pre), expected);
    let built = HookEngine::builder()
        .repeat_threshold(5)
        .intent_pattern("^X")
        .health(|| async { true })
        .build()
        .unwrap();
    assert_eq!(ids(&built, Phase::Pre), expected);
}

#[test]
fn r_26_the_nine_post_hooks_are_registered_in_order() {
    let expected = POST.map(|id| (id.to_owned(), None));
    assert_eq!(ids(&HookEngine::new(), Phase::Post), expected);
    assert_eq!(ids(&Bench::new().engine, Phase::Post), expected);
}

#[test]
fn r_21_engines_have_separate_registries_and_clones_share_one() {
    let (one, other) = (HookEngine::new(), HookEngine::new());
    let clone = one.clone();
    assert!(one.registry().deregister(Phase::Pre, "budget"));
    assert_eq!(ids(&clone, Phase::Pre).len(), 6);
    assert_eq!(ids(&other, Phase::Pre).len(), 7);
}

#[test]
fn r_24_adding_a_hook_takes_one_registration() {
    let bench = Bench::new().ready();
    let no_rust = PreFn::new("no-rust", |request: &ToolRequest| {
        let rust = request
            .text("path")
            .is_some_and(|path| path.ends_with(".rs"));
        match rust {
            true => HookResponse::new(ResponseAction::Deny).reason("no Rust"),
            false => HookResponse::default(),
        }
    });
    bench.engine.registry().register_pre(no_rust, plain());
    let response = block_on(bench.ask(&write("src/lib.rs")));
    assert_eq!(response.reason.as_deref(), Some("no Rust"));
    assert!(block_on(bench.ask(&write("src/lib.py"))).is_continue());
}

#[test]
fn r_24_an_engine_without_hooks_continues_with_the_class_only() {
    let engine = HookEngine::new();
    for (id, _) in PRE {
        engine.registry().deregister(Phase::Pre, id);
    }
    let response = block_on(engine.pre_tool_use(&ToolRequest::new("anything"))).unwrap();
    let expected = HookResponse::default().classification("DESTRUCTIVE");
    assert_eq!(response, expected);
}

#[test]
fn r_28_a_report_names_the_stopping_hook_and_keeps_the_response() {
    let bench = Bench::new().ready();
    let reported = |request: ToolRequest| {
        let (answer, report) = block_on(bench.engine.pre_tool_use_reported(&request));
        let by = report.stopped_by().map(|entry| entry.name.to_string());
        (answer.unwrap(), by)
    };
    let (denied, by) = reported(write("Cargo.toml"));
    assert_eq!(by.as_deref(), Some("scope-enforcement"));
    assert_eq!(denied, block_on(bench.ask(&write("Cargo.toml"))));
    let (allowed, by) = reported(write("src/a"));
    assert_eq!((by, allowed.is_continue()), (None, true));
    assert_eq!(allowed.classification.as_deref(), Some("DESTRUCTIVE"));

    let result = ToolResult::of(write("src/a")).succeeded("");
    let report = block_on(bench.engine.post_tool_use_reported(&result, Some("7")));
    assert_eq!(report.entries.len(), 9);
    assert_eq!(bench.lines("mutations.jsonl")[0]["request_id"], "7");
}

#[test]
fn r_31_with_a_report_an_unhealthy_engine_still_allows_intent_selection() {
    let bench = Bench::with(|builder| builder.health(|| async { Err::<(), _>("broken") }));
    let (answer, report) = block_on(bench.engine.pre_tool_use_reported(&select("REQ-1")));
    assert!(answer.unwrap().is_continue());
    assert_eq!(
        report.stopped_by().map(|entry| &*entry.name),
        Some("fail-safe")
    );
}

#[test]
fn r_33_the_class_is_added_only_to_continue_responses() {
    let bench = Bench::new();
    let class = |request: &ToolRequest| {
        let response = block_on(bench.ask(request));
        (response.is_continue(), response.classification)
    };
    assert_eq!(class(&read("src/a")), (true, Some("SAFE".to_owned())));
    // Denied by `state-check`, which sets no class.
    assert_eq!(class(&write("src/a")), (false, None));
    bench.engine.session().record_reasoning();
    assert_eq!(
        class(&write("src/a")),
        (true, Some("DESTRUCTIVE".to_owned()))
    );
}

#[test]
fn r_32_unknown_tools_are_destructive_and_their_files_are_checked() {
    let bench = Bench::with(|builder| builder.safe_tool("my_reader")).ready();
    let engine = &bench.engine;
    assert_eq!(engine.classify("my_reader"), ToolClass::Safe);
    assert_eq!(engine.classify("my_writer"), ToolClass::Destructive);
    assert!(block_on(bench.ask(&ToolRequest::new("my_reader"))).is_continue());

    let unknown = ToolRequest::new("my_writer").intent("REQ-1");
    let denied = block_on(bench.ask(&unknown.clone().param("path", "README.md")));
    assert_eq!(denied.reason.as_deref(), Some("Scope Violation"));
    // Its changes are unknown, so it must not pass.
    let denied = block_on(bench.ask(&unknown.clone()));
    assert_eq!(denied.reason.as_deref(), Some("Scope Violation"));
    // Nor with a parameter that looks like a file: there may be others.
    let denied = block_on(bench.ask(&unknown.param("path", "src/a")));
    assert_eq!(denied.reason.as_deref(), Some("Scope Violation"));
    // Identified by its exact name: upper case is another tool.
    assert_eq!(engine.classify("READ_FILE"), ToolClass::Destructive);
}

#[test]
fn r_32_class_names_are_uppercase() {
    assert_eq!(
        json!([ToolClass::Safe, ToolClass::Destructive]),
        json!(["SAFE", "DESTRUCTIVE"])
    );
    assert!(serde_json::from_value::<ToolClass>(json!("safe")).is_err());
}

#[test]
fn r_32_the_host_can_define_a_tool_table() {
    let tools = ToolTable::empty().file_tool("paint", ["canvas"]);
    let bench = Bench::with(|builder| builder.tools(tools)).ready();
    let paint = |file: &str| {
        let request = ToolRequest::new("paint").param("canvas", file);
        block_on(bench.ask(&request.intent("REQ-1")))
    };
    assert!(paint("src/a.png").is_continue());
    assert_eq!(paint("b.png").reason.as_deref(), Some("Scope Violation"));
    assert_eq!(bench.engine.classify("read_file"), ToolClass::Destructive);
}

#[test]
fn r_34_a_mock_pre_hook_replaces_the_hook_with_its_id() {
    let (bench, log) = (Bench::new(), Log::new());
    let seen = log.clone();
    bench
        .engine
        .registry()
        .replace_pre(PreFn::new("state-check", move |_: &ToolRequest| {
            seen.add("mock");
            HookResponse::default()
        }));
    assert!(block_on(bench.ask(&write("src/a"))).is_continue());
    assert_eq!(log.take(), ["mock"]);
    let expected = PRE.map(|(id, priority)| (id.to_owned(), Some(priority)));
    assert_eq!(ids(&bench.engine, Phase::Pre), expected);
}

#[test]
fn r_34_a_mock_post_hook_replaces_the_hook_with_its_id() {
    let (bench, log) = (Bench::new(), Log::new());
    let seen = log.clone();
    let mock = PostFn::new(
        "mutation-log",
        move |result: &ToolResult, id: Option<&str>| {
            seen.add(format_args!(
                "{} {}",
                result.request.tool,
                id.unwrap_or("-")
            ));
        },
    );
    bench.engine.registry().register_post(mock, plain());
    bench.put("src/a", "new");
    block_on(bench.post(&ToolResult::of(write("src/a")).succeeded("ok")));
    assert_eq!(log.take(), ["write_to_file call-1"]);
    assert!(bench.lines("mutations.jsonl").is_empty());
    assert_eq!(
        ids(&bench.engine, Phase::Post),
        POST.map(|id| (id.to_owned(), None))
    );
}

#[test]
fn r_34_a_new_registry_runs_only_registered_hooks() {
    let registry: PhaseRegistry<ToolRequest, ToolResult> = PhaseRegistry::new();
    registry.register_pre(
        PreFn::new("mock", |_: &ToolRequest| {
            HookResponse::new(ResponseAction::Deny)
        }),
        plain(),
    );
    let response = block_on(registry.execute_pre(&read("a"))).unwrap();
    assert_eq!(response, HookResponse::new(ResponseAction::Deny));
}

#[tokio::test]
async fn r_16_post_tool_use_can_be_detached() {
    let bench = Bench::new();
    bench.put("src/a", "new");
    let result = ToolResult::of(write("src/a")).succeeded("ok");
    let task = bench
        .engine
        .post_tool_use_detached(result, Some("call-7".to_owned()));
    task.await.unwrap();
    assert_eq!(bench.lines("mutations.jsonl")[0]["request_id"], "call-7");
}

#[test]
fn r_27_requests_and_results_round_trip_through_json() {
    let result = ToolResult::of(write("src/a").session("s").request_id("r"))
        .succeeded("ok")
        .exit_code(0)
        .file("src/a", "x");
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(json["tool"], "write_to_file");
    assert_eq!(json["params"], json!({"path": "src/a"}));
    assert_eq!(serde_json::from_value::<ToolResult>(json).unwrap(), result);
    // Success is `false` by default.
    let bare: ToolResult = serde_json::from_value(json!({"tool": "t"})).unwrap();
    assert!(!bare.success);
    assert!(serde_json::from_value::<ToolRequest>(json!({})).is_err());
}

#[test]
fn r_30_reset_clears_the_turn_and_the_repeated_calls() {
    let bench = Bench::new().ready();
    bench
        .engine
        .session()
        .set_baseline("src/a", Some("sha256:0".to_owned()));
    for _ in 0..2 {
        assert!(block_on(bench.ask(&read("src/b"))).is_continue());
    }
    bench.engine.reset();
    assert!(block_on(bench.ask(&read("src/b"))).is_continue());
    assert_eq!(bench.engine.session().active_intent(), None);
    assert_eq!(bench.engine.session().baseline("src/a"), None);
    assert_eq!(
        block_on(bench.ask(&write("src/b"))).reason.as_deref(),
        Some("State Check")
    );
}

#[tokio::test]
async fn r_27_selecting_an_intent_reloads_the_intents_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.json");
    std::fs::write(&file, r#"[{"id": "REQ-1", "owned_scope": ["src/**"]}]"#).unwrap();
    let engine = HookEngine::builder()
        .workspace(folder.path())
        .intents_file("intents.json")
        .build()
        .unwrap();
    let select = ToolResult::of(select("REQ-1")).succeeded("ok");
    engine.post_tool_use(&select, None).await;
    let doc = write("doc/a.md");
    assert!(!engine.pre_tool_use(&doc).await.unwrap().is_continue());
    std::fs::write(&file, r#"[{"id": "REQ-1", "owned_scope": ["doc/*"]}]"#).unwrap();
    assert!(!engine.pre_tool_use(&doc).await.unwrap().is_continue());
    engine.post_tool_use(&select, None).await;
    assert!(engine.pre_tool_use(&doc).await.unwrap().is_continue());

    // A writer of the file could make itself the owner.
    std::fs::write(&file, r#"[{"id": "REQ-1", "owned_scope": ["**"]}]"#).unwrap();
    engine.post_tool_use(&select, None).await;
    let denied = engine.pre_tool_use(&write("intents.json")).await.unwrap();
    assert_eq!(denied.reason.as_deref(), Some("Scope Violation"));
    // An invalid file must not keep the old intents in effect.
    std::fs::write(&file, "{").unwrap();
    let denied = engine.pre_tool_use(&read("a")).await.unwrap();
    assert_eq!(denied.reason.as_deref(), Some("Fail-Safe"));
}

#[test]
fn r_25_build_rejects_invalid_options() {
    let build = |builder: hooks_runtime::engine::EngineBuilder| builder.build().unwrap_err();
    let error = build(HookEngine::builder().repeat_threshold(1));
    assert!(matches!(error, EngineError::Threshold(1)));
    let error = build(HookEngine::builder().intent_pattern("("));
    assert!(matches!(error, EngineError::Pattern { .. }));
    let error = build(HookEngine::builder().workspace("no/such/folder"));
    assert!(matches!(error, EngineError::Path { .. }));
    let error = build(HookEngine::builder().storage("log"));
    assert!(matches!(error, EngineError::NoWorkspace));
    let error = build(HookEngine::builder().intents([Intent::new("a"), Intent::new("a")]));
    assert!(matches!(error, EngineError::TwoIntents(_)));
    let error = build(HookEngine::builder().intents([Intent::new("a").owns("[")]));
    assert!(matches!(error, EngineError::Glob { .. }));
    let error = build(
        HookEngine::builder()
            .intents([Intent::new("a")])
            .intents_file("/x"),
    );
    assert!(matches!(error, EngineError::TwoSources));
}
