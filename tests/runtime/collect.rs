//! Concurrent hooks, and the collection of their results (E-50 to E-59).

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::{Action, EmitError, FailurePolicy, HookError, HookRegistry, HookResult, Map};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::{Instant, sleep};

use crate::kit::{
    Dropped, Log, at, capture_logs, has_line, logging, map, named, plain, recording_data,
    returning, yield_once,
};

const SECOND: Duration = Duration::from_secs(1);

/// Returns a handler that completes with this result after some time.
fn after(
    time: Duration,
    vote: &'static str,
) -> impl Fn(Arc<str>, Arc<Map>) -> std::pin::Pin<Box<dyn Future<Output = HookResult> + Send>>
+ Send
+ Sync
+ 'static {
    move |_: Arc<str>, _: Arc<Map>| {
        Box::pin(async move {
            sleep(time).await;
            HookResult::modify(map(json!({"vote": vote})))
        })
    }
}

fn votes(answers: &[Map]) -> Vec<&str> {
    answers
        .iter()
        .map(|answer| answer["vote"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn e_50_all_handlers_run_concurrently() {
    let registry = HookRegistry::new();
    let barrier = Arc::new(Barrier::new(5));
    for vote in ["a", "b", "c", "d", "e"] {
        let barrier = Arc::clone(&barrier);
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                HookResult::modify(map(json!({"vote": vote})))
            }
        };
        registry.register("e", handler, plain());
    }
    let answers = registry.emit_and_collect("e", (), SECOND).await;
    assert_eq!(votes(&answers), ["a", "b", "c", "d", "e"]);
}

#[test]
fn e_51_the_default_timeout_is_one_second() {
    assert_eq!(HookRegistry::COLLECT_TIMEOUT, SECOND);
}

/// With a clock that only advances when all tasks sleep.
#[tokio::test(start_paused = true)]
async fn e_51_the_duration_is_that_of_the_slowest_handler() {
    let registry = HookRegistry::new();
    for _ in 0..5 {
        registry.register("e", after(Duration::from_millis(900), "x"), plain());
    }
    let begin = Instant::now();
    let answers = registry
        .emit_and_collect("e", (), HookRegistry::COLLECT_TIMEOUT)
        .await;
    assert_eq!(answers.len(), 5);
    assert!(
        begin.elapsed() < Duration::from_millis(1800),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn e_51_the_timeout_applies_to_each_handler() {
    let registry = HookRegistry::new();
    registry.register("e", after(Duration::from_millis(500), "in time"), plain());
    registry.register("e", after(Duration::from_millis(1500), "late"), plain());
    registry.register("e", after(Duration::from_millis(999), "just"), plain());
    let begin = Instant::now();
    let answers = registry.emit_and_collect("e", (), SECOND).await;
    assert_eq!(votes(&answers), ["in time", "just"]);
    assert!(
        begin.elapsed() < Duration::from_millis(1500),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn e_51_an_entry_can_shorten_but_not_extend_the_timeout() {
    let registry = HookRegistry::new();
    let less = at(1).timeout(Duration::from_millis(100));
    registry.register("e", after(Duration::from_millis(500), "less"), less);
    let more = at(2).timeout(Duration::from_secs(60));
    registry.register("e", after(Duration::from_millis(2000), "more"), more);
    registry.register("e", after(Duration::from_millis(500), "plain"), at(3));
    let answers = registry.emit_and_collect("e", (), SECOND).await;
    assert_eq!(votes(&answers), ["plain"]);
}

#[tokio::test(start_paused = true)]
async fn e_52_outputs_are_in_priority_order_not_completion_order() {
    let registry = HookRegistry::new();
    registry.register("e", after(Duration::from_millis(100), "third"), at(3));
    registry.register("e", after(Duration::from_millis(900), "first"), at(1));
    registry.register("e", after(Duration::from_millis(500), "second"), at(2));
    registry.register("e", after(Duration::ZERO, "also third"), at(3));
    let answers = registry.emit_and_collect("e", (), SECOND).await;
    assert_eq!(votes(&answers), ["first", "second", "third", "also third"]);
}

#[test]
fn e_52_outputs_without_data_are_omitted() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::proceed()), plain());
    registry.register("e", returning(HookResult::inject_context("x")), plain());
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"vote": "a"})))),
        plain(),
    );
    registry.register("e", returning(HookResult::ask_user("?")), plain());
    let answers = block_on(registry.emit_and_collect("e", (), SECOND));
    assert_eq!(votes(&answers), ["a"]);
}

#[test]
fn e_52_outputs_with_empty_data_are_included() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::modify(Map::new())), plain());
    assert_eq!(
        block_on(registry.emit_and_collect("e", (), SECOND)),
        [Map::new()]
    );
}

#[test]
fn e_52_e_59_collect_returns_the_hook_of_each_output() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"n": 2})))),
        at(2).name("b"),
    );
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"n": 1})))),
        at(1).name("a"),
    );
    let collected = block_on(registry.collect("e", (), SECOND)).unwrap();
    let answers: Vec<_> = collected
        .outputs
        .iter()
        .map(|(hook, data)| (&**hook, data["n"].clone()))
        .collect();
    assert_eq!(answers, [("a", json!(1)), ("b", json!(2))]);
    assert_eq!(collected.into_data().len(), 2);
}

#[test]
fn e_53_deny_does_not_stop_a_collection_and_its_data_are_collected() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let data = |vote| Some(map(json!({"vote": vote})));
    let denial = HookResult {
        data: data("deny"),
        ..HookResult::deny("no")
    };
    registry.register("e", logging(&log, "deny", denial), at(1));
    for (priority, action) in [
        (2, Action::Continue),
        (3, Action::InjectContext),
        (4, Action::AskUser),
    ] {
        let result = HookResult {
            action,
            data: data(action.name()),
            ..HookResult::default()
        };
        registry.register("e", logging(&log, action.name(), result), at(priority));
    }
    let answers = block_on(registry.emit_and_collect("e", (), SECOND));
    assert_eq!(
        votes(&answers),
        ["deny", "continue", "inject_context", "ask_user"]
    );
    assert_eq!(log.lines().len(), 4);
}

/// Returns a registry with a hook for each kind of failure between two that succeed.
fn with_failing_hooks(dropped: &Dropped) -> HookRegistry {
    let registry = HookRegistry::new();
    registry.register("e", after(Duration::ZERO, "first"), at(0));
    let fails = |_: Arc<str>, _: Arc<Map>| Err::<HookResult, _>(HookError::new("broken"));
    registry.register("e", fails, at(1).name("fails"));
    let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("at once") };
    registry.register("e", panics, at(2).name("panics"));
    let panics_later = |_: Arc<str>, _: Arc<Map>| async {
        yield_once().await;
        if true {
            panic!("later");
        }
        HookResult::proceed()
    };
    registry.register("e", panics_later, at(3).name("panics_later"));
    let drops = dropped.clone();
    let hangs = move |_: Arc<str>, _: Arc<Map>| {
        let guard = drops.guard();
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            HookResult::proceed()
        }
    };
    registry.register("e", hangs, at(4).name("hangs"));
    registry.register("e", after(Duration::from_millis(500), "last"), at(5));
    registry
}

#[tokio::test(start_paused = true)]
async fn e_54_a_failing_handler_does_not_affect_the_others() {
    let registry = with_failing_hooks(&Dropped::default());
    let collected = registry.collect("e", (), SECOND).await.unwrap();
    let failures: Vec<_> = collected
        .failures
        .iter()
        .map(|item| (&*item.hook, item.failure.kind()))
        .collect();
    let expected = [
        ("fails", "error"),
        ("panics", "panic"),
        ("panics_later", "panic"),
        ("hangs", "timeout"),
    ];
    assert_eq!(failures, expected);
    assert_eq!(votes(&collected.into_data()), ["first", "last"]);
}

#[tokio::test(start_paused = true)]
async fn e_54_failures_are_logged() {
    let registry = with_failing_hooks(&Dropped::default());
    let (answers, lines) = capture_logs(registry.emit_and_collect("e", (), SECOND)).await;
    assert_eq!(votes(&answers), ["first", "last"]);
    for (hook, word) in [
        ("fails", "broken"),
        ("panics", "at once"),
        ("panics_later", "later"),
        ("hangs", "1s"),
    ] {
        let is_logged =
            has_line(&lines, "WARN", &[hook, word]) || has_line(&lines, "ERROR", &[hook, word]);
        assert!(is_logged, "{hook}: {lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn e_54_the_future_of_a_timed_out_handler_is_dropped() {
    let dropped = Dropped::default();
    let registry = with_failing_hooks(&dropped);
    assert!(!dropped.is_set());
    registry.emit_and_collect("e", (), SECOND).await;
    assert!(dropped.is_set());
}

#[tokio::test(start_paused = true)]
async fn e_54_failure_policies_of_entries_do_not_affect_a_collection() {
    for policy in [FailurePolicy::FailClosed, FailurePolicy::Propagate] {
        let registry = HookRegistry::new();
        let fails = |_: Arc<str>, _: Arc<Map>| Err::<HookResult, _>(HookError::new("broken"));
        registry.register("e", fails, at(1).on_failure(policy));
        registry.register("e", after(Duration::ZERO, "last"), at(2));
        let answers = registry.emit_and_collect("e", (), SECOND).await;
        assert_eq!(votes(&answers), ["last"], "{policy}");
    }
}

#[test]
fn e_55_the_defaults_are_merged() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"session_id": "s", "a": 0, "n": 1})));
    registry.register("e", recording_data(&log), plain());
    block_on(registry.emit_and_collect("e", json!({"a": 1, "n": null}), SECOND));
    let expected = json!({"session_id": "s", "a": 1, "n": null});
    assert_eq!(log.lines()[0].parse::<Value>().unwrap(), expected);
}

#[test]
fn e_56_every_handler_sees_the_same_data() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", recording_data(&log), at(1));
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"b": 2})))),
        at(2),
    );
    registry.register("e", returning(HookResult::set("a", 2)), at(3));
    registry.register("e", recording_data(&log), at(4));
    block_on(registry.emit_and_collect("e", json!({"a": 1}), SECOND));
    assert_eq!(log.lines(), [r#"{"a":1}"#; 2]);
}

#[test]
fn e_57_without_handlers_the_list_is_empty() {
    let registry = HookRegistry::new();
    assert!(block_on(registry.emit_and_collect("e", json!({"a": 1}), SECOND)).is_empty());
    registry.register("other", returning(HookResult::set("a", 1)), plain());
    assert!(block_on(registry.emit_and_collect("e", (), SECOND)).is_empty());
}

#[tokio::test(start_paused = true)]
async fn e_58_with_timeout_zero_only_ready_handlers_are_collected() {
    let registry = HookRegistry::new();
    let vote = |vote: &'static str| HookResult::modify(map(json!({"vote": vote})));
    registry.register("e", returning(vote("plain")), at(1));
    let ready = move |_: Arc<str>, _: Arc<Map>| async move { vote("async") };
    registry.register("e", ready, at(2));
    registry.register(
        "e",
        after(Duration::from_millis(1), "late"),
        at(3).name("late"),
    );
    let collected = registry.collect("e", (), Duration::ZERO).await.unwrap();
    let failures: Vec<_> = collected.failures.iter().map(|item| &*item.hook).collect();
    assert_eq!(failures, ["late"]);
    assert_eq!(votes(&collected.into_data()), ["plain", "async"]);
}

#[tokio::test(start_paused = true)]
async fn e_58_the_timeout_can_be_duration_max() {
    let registry = HookRegistry::new();
    registry.register("e", after(Duration::from_secs(60), "slow"), plain());
    let answers = registry.emit_and_collect("e", (), Duration::MAX).await;
    assert_eq!(votes(&answers), ["slow"]);
}

#[test]
fn e_59_the_outputs_are_maps() {
    let registry = HookRegistry::new();
    let data = map(json!({"nested": {"list": [1, null, "x"]}, "n": 1.5}));
    registry.register("e", returning(HookResult::modify(data.clone())), plain());
    let answers: Vec<Map> = block_on(registry.emit_and_collect("e", (), SECOND));
    assert_eq!(answers, [data]);
}

#[tokio::test]
async fn e_41_collecting_with_data_that_are_not_an_object_is_an_error() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register(
        "e",
        logging(&log, "ran", HookResult::set("a", 1)),
        named("hook"),
    );
    let error = registry.collect("e", json!([1]), SECOND).await.unwrap_err();
    assert!(matches!(error, EmitError::NotAnObject { .. }), "{error}");
    let (answers, lines) = capture_logs(registry.emit_and_collect("e", json!(1), SECOND)).await;
    assert!(answers.is_empty());
    assert!(has_line(&lines, "ERROR", &["object"]), "{lines:?}");
    assert!(log.lines().is_empty());
    assert_eq!(
        registry
            .emit_and_collect("e", Value::Null, SECOND)
            .await
            .len(),
        1
    );
}

#[test]
fn e_37_e_56_changes_in_place_are_invisible_to_other_handlers() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let in_place = |_: Arc<str>, mut data: Arc<Map>| {
        Arc::make_mut(&mut data).insert("leaked".to_owned(), Value::Bool(true));
        HookResult::proceed()
    };
    registry.register("e", in_place, at(1));
    registry.register("e", recording_data(&log), at(2));
    block_on(registry.emit_and_collect("e", json!({"a": 1}), SECOND));
    assert_eq!(log.lines(), [r#"{"a":1}"#]);
}

/// Also `X-10`.
#[test]
fn e_42_dropping_a_collection_drops_every_pending_hook() {
    let registry = HookRegistry::new();
    let all = [Dropped::default(), Dropped::default(), Dropped::default()];
    for dropped in &all {
        let drops = dropped.clone();
        let hangs = move |_: Arc<str>, _: Arc<Map>| {
            let guard = drops.guard();
            async move {
                std::future::pending::<()>().await;
                drop(guard);
                HookResult::proceed()
            }
        };
        registry.register("e", hangs, plain());
    }
    {
        let mut collection = std::pin::pin!(registry.emit_and_collect("e", (), SECOND));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(collection.as_mut().poll(&mut context).is_pending());
        assert!(
            all.iter().all(|dropped| !dropped.is_set()),
            "all have started, none has ended"
        );
    }
    assert!(all.iter().all(Dropped::is_set));
}

#[tokio::test(start_paused = true)]
async fn e_43_handlers_can_collect_recursively() {
    let registry = HookRegistry::new();
    let inner = registry.clone();
    let collects = move |_: Arc<str>, _: Arc<Map>| {
        let registry = inner.clone();
        async move {
            let answers = registry.emit_and_collect("other", (), SECOND).await;
            HookResult::set("answers", answers.len())
        }
    };
    registry.register("e", collects, plain());
    registry.register("other", after(Duration::from_millis(10), "a"), plain());
    registry.register("other", after(Duration::from_millis(10), "b"), plain());
    let answers = registry.emit_and_collect("e", (), SECOND).await;
    assert_eq!(answers, [map(json!({"answers": 2}))]);
}

#[tokio::test(start_paused = true)]
async fn e_54_a_panic_on_drop_of_a_timed_out_handler_does_not_affect_the_others() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("while dropping");
            }
        }
    }
    let registry = HookRegistry::new();
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        let held = PanicsOnDrop;
        std::future::pending::<()>().await;
        std::mem::forget(held);
        HookResult::proceed()
    };
    registry.register("e", hangs, at(1).timeout(SECOND / 2));
    registry.register("e", after(SECOND * 8 / 10, "last"), at(2));
    let answers = registry.emit_and_collect("e", (), SECOND).await;
    assert_eq!(votes(&answers), ["last"]);
}

#[tokio::test(start_paused = true)]
async fn e_08_a_hook_registered_during_a_collection_runs_in_the_next_one() {
    let registry = HookRegistry::new();
    let inner = registry.clone();
    let registers = move |_: Arc<str>, _: Arc<Map>| {
        inner.register(
            "e",
            returning(HookResult::modify(map(json!({"vote": "new"})))),
            at(10),
        );
        HookResult::modify(map(json!({"vote": "old"})))
    };
    registry.register("e", registers, plain());
    assert_eq!(
        votes(&registry.emit_and_collect("e", (), SECOND).await),
        ["old"]
    );
    assert_eq!(
        votes(&registry.emit_and_collect("e", (), SECOND).await),
        ["old", "new"]
    );
}

#[test]
fn e_51_timeouts_work_without_a_runtime() {
    let registry = HookRegistry::new();
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        std::future::pending::<()>().await;
        HookResult::proceed()
    };
    registry.register("e", hangs, at(1).name("hangs"));
    registry.register("e", returning(HookResult::set("a", 1)), at(2));
    let collected = block_on(registry.collect("e", (), Duration::from_millis(5))).unwrap();
    assert_eq!(collected.failures[0].failure.kind(), "timeout");
    assert_eq!(collected.into_data(), [map(json!({"a": 1}))]);
}

#[test]
fn e_50_hooks_that_do_not_suspend_work_without_a_timer() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), plain());
    let ready = |_: Arc<str>, _: Arc<Map>| async { HookResult::set("b", 2) };
    registry.register("e", ready, plain().timeout(SECOND));
    let answers = runtime.block_on(registry.emit_and_collect("e", (), SECOND));
    assert_eq!(answers.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn e_50_all_handlers_start_before_the_first_completes() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for (priority, name, millis) in [(1, "a", 300), (2, "b", 100), (3, "c", 200)] {
        let log = log.clone();
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let log = log.clone();
            async move {
                log.add(format!("{name} starts"));
                sleep(Duration::from_millis(millis)).await;
                log.add(format!("{name} ends"));
                HookResult::proceed()
            }
        };
        registry.register("e", handler, at(priority));
    }
    registry.emit_and_collect("e", (), SECOND).await;
    let expected = [
        "a starts", "b starts", "c starts", "b ends", "c ends", "a ends",
    ];
    assert_eq!(log.lines(), expected);
}
