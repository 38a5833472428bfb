//! Hooks that change a request or the result of a tool, and observers of PRE.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn, PreObserver, PreObserverFn, PreResult};
use hooks_runtime::toolset::{
    ExecuteTool, ToolCall, ToolCallContext, ToolCallOutput, ToolDecision, ToolError, ToolFailure,
    ToolRunner, ToolSet,
};
use hooks_runtime::transform::{
    TransformError, TransformFn, TransformHook, TransformInput, TransformRegistry, Transformed,
};
use hooks_runtime::{
    FailurePolicy, HookEngine, HookError, HookResponse, HookStatus, Phase, PhaseRegistry,
    ResponseAction, ToolRequest, ToolResult,
};
use proptest::prelude::*;
use serde_json::json;

use crate::kit::{Log, at, capture_logs, has_line, plain, refusal, yield_once};

type Texts = TransformRegistry<str>;

/// Returns a transform that appends a text.
fn appends(id: &str, text: &str) -> impl TransformHook<str> + use<> {
    let text = text.to_owned();
    TransformFn::new(id, move |input: TransformInput<'_, str>| {
        Transformed::changed(format!("{}{text}", input.current()))
    })
}

fn fails(id: &str) -> impl TransformHook<str> + use<> {
    TransformFn::new(id, |_: TransformInput<'_, str>| {
        Err::<Transformed<str>, _>("broken")
    })
}

fn apply(texts: &Texts, raw: &str) -> Result<(String, Vec<String>), TransformError> {
    let outcome = block_on(texts.apply(raw))?;
    assert_eq!(&*outcome.raw, raw);
    let changed_by = outcome.changed_by.iter().map(|name| name.to_string());
    Ok((outcome.value.to_string(), changed_by.collect()))
}

#[test]
fn each_hook_receives_the_value_of_the_previous_hook_and_the_raw_value() {
    let (texts, log) = (Texts::new(), Log::new());
    texts.register(appends("late", "3"), at(1));
    texts.register(appends("first", "1"), plain());
    let seen = log.clone();
    let looks = move |input: TransformInput<'_, str>| {
        seen.add(format!("{} of {}", input.current(), input.raw()));
        Transformed::<str>::Unchanged
    };
    texts.register(TransformFn::new("looks", looks), plain());
    texts.register(appends("second", "2"), plain());
    let (value, changed_by) = apply(&texts, "raw").unwrap();
    assert_eq!(value, "raw123");
    assert_eq!(changed_by, ["first", "second", "late"]);
    assert_eq!(log.lines(), ["raw1 of raw"]);
}

#[test]
fn without_hooks_the_value_is_the_raw_value() {
    assert_eq!(
        apply(&Texts::new(), "raw").unwrap(),
        ("raw".to_owned(), Vec::new())
    );
}

#[test]
fn a_denial_ends_the_run_without_a_value() {
    let texts = Texts::new();
    let denies = |_: TransformInput<'_, str>| Transformed::<str>::denied("a secret");
    texts.register(TransformFn::new("filter", denies), plain());
    texts.register(fails("never runs"), plain());
    let error = apply(&texts, "raw").unwrap_err();
    assert_eq!(error.to_string(), "denied by `filter`: a secret");
}

#[test]
fn a_failure_withholds_the_value_by_default() {
    let texts = Texts::new();
    texts.register(appends("a", "1"), plain());
    texts.register(fails("fails"), plain());
    texts.register(appends("b", "2"), plain());
    let error = apply(&texts, "raw").unwrap_err();
    let TransformError::Failed(error) = error else {
        panic!("another error: {error}");
    };
    assert_eq!(error.hook(), Some("fails"));
    assert_eq!(error.to_string(), "hook `fails` failed: broken");
    let error = TransformError::Failed(error);
    assert_eq!(error.to_string(), "hook `fails` failed: broken");

    texts.register(
        fails("fails"),
        plain().on_failure(FailurePolicy::FailClosed),
    );
    let error = apply(&texts, "raw").unwrap_err();
    assert_eq!(
        error.to_string(),
        "denied by `fails`: hook `fails` failed: broken"
    );

    texts.register(fails("fails"), plain().on_failure(FailurePolicy::Isolate));
    let (outcome, lines) = block_on(capture_logs(texts.apply("raw")));
    assert_eq!(&*outcome.unwrap().value, "raw12");
    assert!(
        has_line(&lines, "WARN", &["hook=fails", "broken"]),
        "{lines:?}"
    );
}

#[test]
fn a_panic_withholds_the_value() {
    let texts = Texts::new();
    let panics = |_: TransformInput<'_, str>| -> Transformed<str> { panic!("out of order") };
    texts.register(TransformFn::new("panics", panics), plain());
    let error = apply(&texts, "raw").unwrap_err();
    assert_eq!(error.to_string(), "hook `panics` panicked: out of order");
}

struct Waits;

impl TransformHook<str> for Waits {
    fn id(&self) -> &str {
        "waits"
    }

    async fn transform(
        &self,
        input: TransformInput<'_, str>,
    ) -> Result<Transformed<str>, HookError> {
        yield_once().await;
        Ok(Transformed::changed(input.current().to_uppercase()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_wait_up_to_its_timeout() {
    let texts = Texts::new();
    texts.register(Arc::new(Waits), plain());
    let task = tokio::spawn(async move { texts.apply("raw").await.unwrap().value });
    assert_eq!(&*task.await.unwrap(), "RAW");

    struct Sleeps;
    impl TransformHook<str> for Sleeps {
        fn id(&self) -> &str {
            "sleeps"
        }

        async fn transform(
            &self,
            _: TransformInput<'_, str>,
        ) -> Result<Transformed<str>, HookError> {
            tokio::time::sleep(Duration::from_secs(9)).await;
            Ok(Transformed::Unchanged)
        }
    }
    let texts = Texts::new();
    texts.register(Sleeps, plain().timeout(Duration::from_secs(1)));
    let error = texts.apply("raw").await.unwrap_err();
    assert_eq!(error.to_string(), "hook `sleeps` timed out after 1s");
}

#[test]
fn transforms_are_registered_by_id_like_pre_hooks() {
    let texts = Texts::new();
    texts.register(appends("a", "1"), plain());
    let replaced = texts.register(appends("b", "2"), plain());
    texts.register(appends("c", "3"), plain().before("a"));
    let registration = texts.register(appends("b", "B"), plain());
    assert_eq!(apply(&texts, "").unwrap().0, "31B");
    assert!(!replaced.unregister());
    assert!(texts.set_enabled("a", false));
    assert_eq!(apply(&texts, "").unwrap().0, "3B");
    assert!(registration.unregister());
    assert!(texts.deregister("c"));
    assert!(!texts.deregister("c"));
    assert!(texts.set_enabled("a", true));
    assert_eq!(apply(&texts, "").unwrap().0, "1");
    let ids: Vec<_> = texts.hooks().into_iter().map(|hook| hook.id).collect();
    assert_eq!(ids, ["a"]);
    assert!(!texts.set_enabled("b", false));
}

#[test]
fn a_failing_transform_is_disabled_only_if_its_failures_are_isolated() {
    let texts = Texts::new();
    let isolated = plain().on_failure(FailurePolicy::Isolate);
    texts.register(fails("fails"), isolated.disable_after(2));
    for failures in 1..=2 {
        assert_eq!(apply(&texts, "raw").unwrap().0, "raw");
        assert_eq!(texts.hooks()[0].failures, failures);
    }
    assert!(!texts.hooks()[0].enabled);

    // Copies for one call share the counts.
    assert!(texts.set_enabled("fails", true));
    for failures in 1..=2 {
        apply(&texts.for_call(|_| {}), "raw").unwrap();
        assert_eq!(texts.hooks()[0].failures, failures);
    }
    assert!(!texts.hooks()[0].enabled);
    refusal(|| texts.register(fails("strict"), plain().disable_after(2)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_is_a_fold_over_the_hooks(
        hooks in prop::collection::vec((-2..3_i32, 0..5_u8), 0..8),
    ) {
        let texts = Texts::new();
        for (index, (priority, kind)) in hooks.iter().copied().enumerate() {
            let hook = move |input: TransformInput<'_, str>| match kind {
                0 => Ok(Transformed::Unchanged),
                1 => Ok(Transformed::denied("no")),
                2 => Err("broken"),
                _ => Ok(Transformed::changed(format!("{}{index}", input.current()))),
            };
            let options = at(priority).on_failure(FailurePolicy::Isolate);
            texts.register(TransformFn::new(index.to_string(), hook), options);
        }
        let mut order: Vec<_> = hooks.iter().enumerate().collect();
        order.sort_by_key(|(index, (priority, _))| (*priority, *index));
        let mut expected = Ok(String::new());
        for (index, (_, kind)) in order {
            match kind {
                1 => {
                    expected = Err(index);
                    break;
                }
                0 | 2 => {}
                _ => expected = expected.map(|text| format!("{text}{index}")),
            }
        }
        let actual = match apply(&texts, "") {
            Ok((text, _)) => Ok(text),
            Err(TransformError::Denied { hook, .. }) => Err(hook.parse().unwrap()),
            Err(error) => panic!("another error: {error}"),
        };
        prop_assert_eq!(actual, expected);
    }
}

/// Returns an observer that records the request and the response.
fn observer(log: &Log) -> impl PreObserver<String> + use<> {
    let log = log.clone();
    PreObserverFn::new(
        "observer",
        move |request: &String, response: PreResult<'_>| {
            log.add(match response {
                Ok(response) => format!("{request}: {}", response.action),
                Err(error) => format!("{request}: {error}"),
            });
        },
    )
}

fn no_sudo() -> PreFn<fn(&String) -> HookResponse, HookResponse> {
    PreFn::new("no-sudo", |request: &String| {
        match request.starts_with("sudo") {
            true => HookResponse::new(ResponseAction::Deny).reason("no sudo"),
            false => HookResponse::default(),
        }
    })
}

#[test]
fn pre_hooks_judge_the_changed_request() {
    let (registry, log) = (PhaseRegistry::<String, bool>::new(), Log::new());
    registry.register_pre(no_sudo(), plain());
    registry.register_observer(observer(&log), plain());
    let adds = |input: TransformInput<'_, String>| {
        Transformed::changed(format!("sudo {}", input.current()))
    };
    let adding = registry
        .requests()
        .register(TransformFn::new("adds", adds), plain());
    let run = block_on(registry.run_pre("ls".to_owned()));
    assert_eq!(run.response.unwrap().action, ResponseAction::Deny);
    assert_eq!((run.raw.as_str(), run.request.as_str()), ("ls", "sudo ls"));
    assert_eq!(&*run.changed_by[0], "adds");
    assert_eq!(log.take(), ["sudo ls: DENY"]);

    adding.unregister();
    let run = block_on(registry.run_pre("ls".to_owned()));
    assert!(run.response.unwrap().is_continue());
    assert_eq!(log.take(), ["ls: CONTINUE"]);
}

#[test]
fn a_transform_may_deny_a_request() {
    let (registry, log) = (PhaseRegistry::<String, bool>::new(), Log::new());
    registry.register_observer(observer(&log), plain());
    let denies = |_: TransformInput<'_, String>| Transformed::<String>::denied("too long");
    registry
        .requests()
        .register(TransformFn::new("limit", denies), plain());
    let run = block_on(registry.run_pre("ls".to_owned()));
    let response = run.response.unwrap();
    assert_eq!(response.action, ResponseAction::Deny);
    assert_eq!(response.reason.as_deref(), Some("too long"));
    assert_eq!(log.take(), ["ls: DENY"]);

    let fails = |_: TransformInput<'_, String>| Err::<Transformed<String>, _>("broken");
    registry
        .requests()
        .register(TransformFn::new("limit", fails), plain());
    let run = block_on(registry.run_pre("ls".to_owned()));
    assert_eq!(run.response.unwrap_err().hook(), Some("limit"));
    assert_eq!(log.take(), ["ls: hook `limit` failed: broken"]);
}

#[test]
fn observers_of_pre_run_whatever_was_decided() {
    let (registry, log) = (PhaseRegistry::<String, bool>::new(), Log::new());
    let failing = |_: &String, _: PreResult<'_>| Err::<(), _>("disk full");
    registry.register_observer(PreObserverFn::new("fails", failing), plain());
    let panicking = |_: &String, _: PreResult<'_>| -> () { panic!("out of order") };
    registry.register_observer(PreObserverFn::new("panics", panicking), plain());
    let registration = registry.register_observer(observer(&log), plain());
    let execute = |request: &str| {
        let request = request.to_owned();
        block_on(async { registry.execute_pre(&request).await })
    };
    assert!(execute("ls").unwrap().is_continue());
    assert_eq!(log.take(), ["ls: CONTINUE"]);

    registry.register_pre(no_sudo(), plain());
    assert_eq!(execute("sudo").unwrap().action, ResponseAction::Deny);
    assert_eq!(log.take(), ["sudo: DENY"]);

    let fails = PreFn::new("fails", |_: &String| Err::<HookResponse, _>("broken"));
    registry.register_pre(fails, plain());
    assert!(execute("ls").is_err());
    assert_eq!(log.take(), ["ls: hook `fails` failed: broken"]);

    let (_, report) = block_on(registry.execute_pre_reported(&"ls".to_owned()));
    let names: Vec<_> = report.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["no-sudo", "fails", "fails", "panics", "observer"]);
    assert!(matches!(
        report.entries[2].status,
        HookStatus::Failed { stopped: false, .. }
    ));
    assert_eq!(log.take().len(), 1);

    assert!(registration.unregister());
    assert!(registry.deregister(Phase::Observe, "fails"));
    let left = registry.registered_hooks(Phase::Observe);
    assert_eq!(left.len(), 1);
    assert_eq!((&*left[0].id, left[0].priority), ("panics", None));
    assert_eq!(serde_json::to_value(&left[0]).unwrap()["phase"], "OBSERVE");
}

struct Slow(Log);

impl PreObserver<String> for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    async fn observe(&self, request: &String, _: PreResult<'_>) -> Result<(), HookError> {
        yield_once().await;
        self.0.add(format!("slow: {request}"));
        Ok(())
    }
}

#[tokio::test]
async fn observers_of_pre_run_concurrently_and_are_awaited() {
    let (registry, log) = (PhaseRegistry::<String, bool>::new(), Log::new());
    registry.register_observer(Arc::new(Slow(log.clone())), plain());
    registry.register_observer(observer(&log), plain());
    let task = tokio::spawn(async move { registry.execute_pre(&"ls".to_owned()).await });
    assert!(task.await.unwrap().unwrap().is_continue());
    assert_eq!(log.take(), ["ls: CONTINUE", "slow: ls"]);
}

#[test]
fn the_engine_changes_results_for_the_agent_and_records_the_raw_results() {
    let (engine, log) = (HookEngine::new(), Log::new());
    let redacts = |input: TransformInput<'_, ToolResult>| {
        let mut changed = input.current().clone();
        changed.output = changed
            .output
            .map(|output| output.replace("hunter2", "***"));
        Transformed::changed(changed)
    };
    engine
        .registry()
        .results()
        .register(TransformFn::new("redacts", redacts), plain());
    let seen = log.clone();
    let records = move |result: &ToolResult, _: Option<&str>| {
        seen.add(result.output.as_deref().unwrap_or_default());
    };
    engine
        .registry()
        .register_post(PostFn::new("records", records), plain());

    let request = ToolRequest::new("read_file").param("path", "notes.md");
    let run = block_on(engine.run_pre_tool_use(request));
    assert!(run.response.unwrap().is_continue());
    let raw = ToolResult::of(ToolRequest::clone(&run.request)).succeeded("password: hunter2");
    let result = block_on(engine.tool_result(raw)).unwrap();
    block_on(engine.post_tool_use(&result.raw, None));
    assert_eq!(result.value.output.as_deref(), Some("password: ***"));
    assert_eq!(log.take(), ["password: hunter2"]);
}

#[test]
fn a_changed_request_passes_the_checks_of_the_engine() {
    let engine = HookEngine::new();
    let writes = |input: TransformInput<'_, ToolRequest>| {
        let mut changed = input.current().clone();
        changed.tool = "write_to_file".to_owned();
        Transformed::changed(changed)
    };
    engine
        .registry()
        .requests()
        .register(TransformFn::new("writes", writes), plain());
    let run = block_on(engine.run_pre_tool_use(ToolRequest::new("read_file")));
    assert_eq!(run.request.tool, "write_to_file");
    assert!(!run.response.is_ok_and(|response| response.is_continue()));
}

#[derive(serde::Deserialize)]
struct Read {
    path: String,
}

#[derive(serde::Deserialize)]
struct Missing {}

#[derive(ToolSet)]
enum FileTools {
    #[tool(output = String)]
    ReadFile(Read),
    #[tool(output = ())]
    Break(Missing),
}

#[derive(Clone)]
struct Files;

impl ExecuteTool<Read, String> for Files {
    async fn execute(&self, input: Read, _: ToolCallContext) -> Result<String, ToolFailure> {
        Ok(format!("text of {}", input.path))
    }
}

impl ExecuteTool<Missing, ()> for Files {
    async fn execute(&self, _: Missing, _: ToolCallContext) -> Result<(), ToolFailure> {
        Err("broken".into())
    }
}

struct Tenant(&'static str);

fn call(path: &str) -> ToolCall {
    ToolCall::new("1", "read_file", json!({ "path": path }))
}

#[tokio::test]
async fn result_hooks_change_the_output_of_every_tool() {
    let (runner, log) = (ToolRunner::<FileTools, _>::new(Files), Log::new());
    let seen = log.clone();
    let hook = move |input: TransformInput<'_, ToolCallOutput>| {
        let tenant = input.current().context.extensions().get::<Tenant>();
        let tenant = tenant.map_or("none", |tenant| tenant.0);
        let id = input.current().context.id();
        seen.add(format!("{} {id} {tenant}", input.current().tool()));
        let text = input.current().output.as_str().unwrap_or_default();
        if text.contains("secret") {
            return Transformed::denied("a secret");
        }
        Transformed::changed(input.current().with_output(text.to_uppercase()))
    };
    let registration = runner
        .results()
        .register(TransformFn::new("shout", hook), plain());
    let task = {
        let runner = runner.clone();
        tokio::spawn(async move { runner.execute(call("a").ext(Tenant("eu"))).await })
    };
    assert_eq!(task.await.unwrap().unwrap(), "TEXT OF A");
    assert_eq!(log.take(), ["read_file 1 eu"]);

    let error = runner.execute(call("secret")).await.unwrap_err();
    assert!(matches!(
        error,
        ToolError::Withheld {
            tool: "read_file",
            ..
        }
    ));
    assert_eq!(
        error.to_string(),
        "the output of tool `read_file` was withheld: denied by `shout`: a secret"
    );
    log.take();

    // Errors have no output that could be changed.
    assert!(
        runner
            .execute(ToolCall::new("2", "break", json!({})))
            .await
            .is_err()
    );
    assert!(
        runner
            .execute(ToolCall::new("3", "unknown", json!({})))
            .await
            .is_err()
    );
    assert_eq!(log.take(), [""; 0]);

    registration.unregister();
    assert_eq!(
        runner.execute(call("secret")).await.unwrap(),
        "text of secret"
    );
}

#[test]
fn result_hooks_receive_the_output_of_a_hook_that_completes_the_call() {
    let completes = |_: Read, _: ToolCallContext| {
        std::future::ready(ToolDecision::Complete("from the cache".to_owned()))
    };
    let hooks = FileToolsHooksSet::new().with_read_file(completes);
    let runner = ToolRunner::<FileTools, _>::with_hooks(Files, hooks);
    let marks = |input: TransformInput<'_, ToolCallOutput>| {
        Transformed::changed(input.current().with_output(json!([input.raw().output])))
    };
    runner
        .results()
        .register(TransformFn::new("marks", marks), plain());
    assert_eq!(
        block_on(runner.execute(call("a"))).unwrap(),
        json!(["from the cache"])
    );
}
