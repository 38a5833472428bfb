//! Around hooks of events, PRE, POST and calls of tools.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_runtime::around::{Around, Next};
use hooks_runtime::events::{EventCall, EventField, EventPhase, EventSchema};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserverFn, PreResult};
use hooks_runtime::toolset::{
    ExecuteTool, ToolCall, ToolCallContext, ToolError, ToolFailure, ToolRunner, ToolSet,
};
use hooks_runtime::{
    Action, Emission, EmitError, EmitOptions, Entry, Event, FailurePolicy, HookError, HookRegistry,
    HookResponse, HookResult, Map, PhaseRegistry, ResponseAction,
};
use serde_json::{Value, json};

use crate::kit::{Log, emit, logging, map, named, plain, recording_data, refusal, yield_once};

/// Records the order of the parts before and after the rest of the call.
struct Tracing {
    name: &'static str,
    log: Log,
}

impl Around<EventCall> for Tracing {
    async fn call<'a>(
        &'a self,
        (call,): (EventCall,),
        next: Next<'a, EventCall>,
    ) -> Result<Emission, EmitError> {
        self.log.add(format!("{} before {}", self.name, call.event));
        yield_once().await;
        let outcome = next.call((call,)).await;
        self.log.add(format!("{} after", self.name));
        outcome
    }
}

fn tracing(name: &'static str, log: &Log) -> Entry<Tracing> {
    let log = log.clone();
    Entry::new(Tracing { name, log }).key(name)
}

#[test]
fn around_hooks_enclose_transform_and_decide_and_not_observe() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let line = |line| logging(&log, line, HookResult::proceed());
    registry.register("e", line("transform"), plain());
    registry.register("e", line("decide"), plain().phase(EventPhase::Decide));
    registry.register("e", line("observe"), plain().phase(EventPhase::Observe));
    registry.around("e", tracing("inner", &log));
    registry.around("e", tracing("outer", &log).priority(-1));
    registry.around("e", tracing("middle", &log).before("inner"));
    block_on(emit(&registry, "e", ()));
    assert_eq!(
        log.take(),
        [
            "outer before e",
            "middle before e",
            "inner before e",
            "transform",
            "decide",
            "inner after",
            "middle after",
            "outer after",
            "observe",
        ]
    );
}

#[test]
fn an_around_hook_runs_without_other_hooks_and_is_removed() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let registration = registry.around("e", tracing("a", &log));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(*emission.data, map(json!({"a": 1})));
    assert_eq!(log.take(), ["a before e", "a after"]);
    assert!(registry.set_around_enabled("e", "a", false));
    assert!(!registry.set_around_enabled("e", "b", false));
    assert!(!registry.set_around_enabled("f", "a", false));
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), [""; 0]);
    assert!(registration.unregister());
    assert!(!registry.set_around_enabled("e", "a", true));
    block_on(emit(&registry, "e", ()));
}

#[test]
fn an_around_hook_changes_data_and_outcome() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"session": "s"})));
    registry.register("e", recording_data(&log), plain());
    registry.around("e", async |call: EventCall, next: Next<'_, EventCall>| {
        let data = map(json!({"replaced": call.data.len()}));
        let mut emission = next.call((call.with_data(data),)).await?;
        Arc::make_mut(&mut emission.data).insert("after".to_owned(), true.into());
        Ok(emission)
    });
    let emission = block_on(emit(&registry, "e", json!({"a": 1, "b": 2})));
    assert_eq!(log.take(), [r#"{"replaced":2,"session":"s"}"#]);
    assert_eq!(emission.data["after"], true);
}

#[test]
fn an_around_hook_may_call_again() {
    let registry = HookRegistry::new();
    let attempts = AtomicU32::new(0);
    let flaky = move |_: Event<'_>| match attempts.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => Err("busy"),
        attempt => Ok(HookResult::set("attempt", attempt)),
    };
    registry.register(
        "e",
        flaky,
        named("flaky").on_failure(FailurePolicy::Propagate),
    );
    registry.around("e", async |call: EventCall, next: Next<'_, EventCall>| {
        loop {
            match next.call((call.clone(),)).await {
                Err(EmitError::Hook { .. }) => {}
                outcome => return outcome,
            }
        }
    });
    assert_eq!(block_on(emit(&registry, "e", ())).data["attempt"], 2);
}

#[test]
fn an_around_hook_may_decide_without_the_hooks_and_observers_see_its_decision() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", logging(&log, "hook", HookResult::proceed()), plain());
    let seen = log.clone();
    let observes = move |event: Event<'_>| {
        let emission = event.outcome().unwrap().as_ref().unwrap();
        seen.add(format!("{} {:?}", emission.action, emission.reason()));
        HookResult::proceed()
    };
    registry.register("e", observes, plain().phase(EventPhase::Observe));
    registry.around(
        "e",
        Entry::new(async |call: EventCall, _: Next<'_, EventCall>| {
            Ok(Emission::deny(call.data, "closed", "closed on Sundays"))
        })
        .when(|call: &EventCall| call.data.contains_key("sunday")),
    );
    let emission = block_on(emit(&registry, "e", json!({"sunday": true})));
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.decided_by.as_deref(), Some("closed"));
    assert_eq!(log.take(), [r#"deny Some("closed on Sundays")"#]);
    assert!(!block_on(emit(&registry, "e", ())).is_denied());
    assert_eq!(log.take(), ["hook", "continue None"]);
    assert_eq!(Emission::proceed(Map::new()).action, Action::Continue);
}

#[test]
fn the_data_after_around_hooks_have_to_match_the_schema() {
    let registry = HookRegistry::new();
    registry.declare(EventSchema::new("e").field(EventField::string("a")));
    registry.around("e", async |_: EventCall, _: Next<'_, EventCall>| {
        Ok(Emission::proceed(Map::new()))
    });
    let error = block_on(registry.emit("e", json!({"a": "text"}))).unwrap_err();
    assert!(matches!(error, EmitError::Schema { .. }));
}

#[test]
fn a_panic_of_an_around_hook_reaches_the_caller() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        |_: Event<'_>| -> HookResult { panic!("isolated") },
        plain(),
    );
    registry.around("e", async |call: EventCall, next: Next<'_, EventCall>| {
        let emission = next.call((call,)).await.unwrap();
        assert_eq!(emission.failures.len(), 1, "a panic of a hook is a failure");
        panic!("passes through");
    });
    let emission = AssertUnwindSafe(registry.emit("e", ())).catch_unwind();
    let payload = block_on(emission).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"passes through"));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_covers_around_hooks() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.around("e", async |call: EventCall, next: Next<'_, EventCall>| {
        tokio::time::sleep(Duration::from_secs(2)).await;
        next.call((call,)).await
    });
    let observes = logging(&log, "observed", HookResult::proceed());
    registry.register("e", observes, plain().phase(EventPhase::Observe));
    let emit = |seconds| {
        let options = EmitOptions::new().deadline(Duration::from_secs(seconds));
        registry.emit_with("e", json!({"a": 1}), options)
    };
    let error = emit(1).await.unwrap_err();
    let EmitError::Deadline { after, emission } = &error else {
        panic!("another error: {error}");
    };
    assert_eq!(*after, Duration::from_secs(1));
    assert_eq!(emission.data["a"], 1);
    assert!(emit(3).await.is_ok());
    assert_eq!(log.take().len(), 2);
    // Dropped with the emission.
    let dropped = tokio::time::timeout(Duration::from_secs(1), registry.emit("e", ()));
    assert!(dropped.await.is_err());
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn a_timeout_and_a_failure_policy_are_refused() {
    let registry = HookRegistry::new();
    let around = || {
        Entry::new(async |call: EventCall, next: Next<'_, EventCall>| next.call((call,)).await)
            .name("slow")
    };
    for (entry, option) in [
        (around().timeout(Duration::from_secs(1)), "a timeout"),
        (
            around().on_failure(FailurePolicy::Isolate),
            "a failure policy",
        ),
    ] {
        let message = refusal(|| registry.around("e", entry));
        assert!(
            message.starts_with(&format!("around hook `slow` has {option}")),
            "{message}"
        );
    }
    assert!(registry.list_handlers(None).is_empty());
}

#[tokio::test]
async fn emissions_with_around_hooks_are_sent_between_threads() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.around("e", tracing("a", &log));
    let copy = registry.for_call(|_| {});
    assert!(registry.emit_detached("e", ()).await.unwrap().is_ok());
    let options = EmitOptions::new().report();
    let task = tokio::spawn(async move { copy.emit_with("e", (), options).await });
    assert!(task.await.unwrap().is_ok());
    assert_eq!(log.take().len(), 4);
}

type Phases = PhaseRegistry<str, str>;

#[test]
fn around_hooks_enclose_the_pre_hooks() {
    let (registry, log) = (Phases::new(), Log::new());
    let seen = log.clone();
    let hook = PreFn::new("hook", move |request: &str| {
        seen.add(request);
        HookResponse::default()
    });
    registry.register_pre(hook, plain());
    let seen = log.clone();
    let observes = PreObserverFn::new("observes", move |request: &str, response: PreResult<'_>| {
        seen.add(format!("{request} {}", response.unwrap().action));
    });
    registry.register_observer(observes, plain());
    registry.around_pre().register(
        Entry::new(async |request: &str, next: Next<'_, PreCall<str>>| {
            if request == "stop" {
                return Ok(HookResponse::new(ResponseAction::Halt));
            }
            next.call((request.trim_start_matches("sudo "),)).await?;
            next.call((request,)).await
        })
        .key("twice"),
    );
    let execute = |request| block_on(registry.execute_pre(request)).unwrap().action;
    assert_eq!(execute("sudo ls"), ResponseAction::Continue);
    assert_eq!(log.take(), ["ls", "sudo ls", "sudo ls CONTINUE"]);
    assert_eq!(execute("stop"), ResponseAction::Halt);
    assert_eq!(log.take(), ["stop HALT"]);

    let (response, report) = block_on(registry.execute_pre_reported("ls"));
    assert!(response.unwrap().is_continue());
    let names: Vec<_> = report.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(
        names,
        ["closure", "hook", "hook", "observes"],
        "the around hook, each call, then the observers"
    );
    log.take();

    // A copy has around hooks of its own.
    let call = registry.for_call(|call| _ = call.around_pre().set_enabled("twice", false));
    block_on(call.execute_pre("ls")).unwrap();
    assert_eq!(log.take().len(), 2);
    assert!(registry.around_pre().remove("twice"));
    execute("ls");
    assert_eq!(log.take().len(), 2);
}

#[tokio::test]
async fn errors_pass_through_around_hooks_of_pre() {
    let registry = Phases::new();
    let fails = PreFn::new("fails", |_: &str| Err::<HookResponse, _>("broken"));
    registry.register_pre(fails, plain());
    registry
        .around_pre()
        .register(async |request: &str, next: Next<'_, PreCall<str>>| {
            let response: Result<_, HookError> = next.call((request,)).await;
            assert!(response.is_err());
            response
        });
    let task = tokio::spawn(async move { registry.execute_pre("r").await });
    assert_eq!(task.await.unwrap().unwrap_err().hook(), Some("fails"));
}

#[tokio::test]
async fn around_hooks_enclose_the_post_hooks() {
    let (registry, log) = (Phases::new(), Log::new());
    let seen = log.clone();
    let records = PostFn::new("records", move |result: &str, id: Option<&str>| {
        seen.add(format!("{result} {id:?}"));
    });
    registry.register_post(records, plain());
    registry.around_post().register(
        async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
            if !result.is_empty() {
                next.call((result, id)).await;
            }
        },
    );
    registry.execute_post("", None).await;
    registry.execute_post("done", Some("1")).await;
    assert_eq!(log.take(), [r#"done Some("1")"#]);
    let report = registry.execute_post_reported("done", None).await;
    assert_eq!(report.entries.len(), 2);
    registry.execute_post_detached("done", None).await.unwrap();
    assert_eq!(log.take().len(), 2);
}

#[derive(serde::Deserialize)]
struct Fetch {
    url: String,
}

#[derive(ToolSet)]
enum WebTools {
    #[tool(output = String)]
    Fetch(Fetch),
}

struct Web {
    failures: AtomicU32,
}

impl ExecuteTool<Fetch, String> for Web {
    async fn execute(&self, input: Fetch, _: ToolCallContext) -> Result<String, ToolFailure> {
        yield_once().await;
        let left = self.failures.load(Ordering::Relaxed);
        if left > 0 {
            self.failures.store(left - 1, Ordering::Relaxed);
            return Err("busy".into());
        }
        Ok(format!("text of {}", input.url))
    }
}

/// Calls again after a failure of the tool.
struct Retry(u32);

impl Around<ToolCall> for Retry {
    async fn call<'a>(
        &'a self,
        (call,): (ToolCall,),
        next: Next<'a, ToolCall>,
    ) -> Result<Value, ToolError> {
        for _ in 0..self.0 {
            match next.call((call.clone(),)).await {
                Err(ToolError::Failed { .. }) => {}
                result => return result,
            }
        }
        next.call((call,)).await
    }
}

#[tokio::test]
async fn around_hooks_enclose_the_call_of_a_tool() {
    let runner = |failures| {
        let failures = AtomicU32::new(failures);
        let runner = ToolRunner::<WebTools, _>::new(Arc::new(Web { failures }));
        runner.around().register(Retry(2));
        runner
    };
    let call = || ToolCall::new("1", "fetch", json!({"url": "/"}));
    let task = tokio::spawn(async move { runner(2).execute(call()).await });
    assert_eq!(task.await.unwrap().unwrap(), "text of /");
    let exhausted = runner(3);
    assert!(matches!(
        exhausted.execute(call()).await,
        Err(ToolError::Failed { .. })
    ));

    // Mistakes of the model pass through, and are not retried.
    let unknown = ToolCall::new("2", "unknown", json!({}));
    let error = exhausted.execute(unknown).await;
    assert!(matches!(error, Err(ToolError::Unknown { .. })));

    let cached = runner(9);
    cached
        .around()
        .register(Entry::new(async |_: ToolCall, _: Next<'_, ToolCall>| {
            Ok(json!("from the cache"))
        }));
    assert_eq!(
        cached.clone().execute(call()).await.unwrap(),
        "from the cache"
    );
}
