//! Effect of failures, panics and timeouts of hooks, by policy (X-2).

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    Action, Emission, EmitError, EmitOptions, Event, Failure, FailurePolicy, HookError,
    HookRegistry, HookResponse, HookResult, Map, PhaseRegistry, PreHook, RegisterOptions,
    ResponseAction, Stateful, StatefulEventHook,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::kit::{
    DropGuard, Dropped, Log, at, emit, logging, map, named, plain, returning, yield_once,
};

const SECOND: Duration = Duration::from_secs(1);
const KINDS: [Kind; 4] = [Kind::Error, Kind::Panic, Kind::LatePanic, Kind::Timeout];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Error,
    Panic,
    LatePanic,
    Timeout,
}

impl Kind {
    /// Returns the name of the failure.
    fn name(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Panic | Kind::LatePanic => "panic",
            Kind::Timeout => "timeout",
        }
    }

    /// Fails; its change must not apply.
    async fn happen(self) -> Result<(), HookError> {
        match self {
            Kind::Error => return Err(HookError::new("broken")),
            Kind::Panic => panic!("broken"),
            Kind::LatePanic => {
                yield_once().await;
                panic!("broken");
            }
            Kind::Timeout => sleep(60 * SECOND).await,
        }
        Ok(())
    }
}

/// Returns the options of the failing hook.
fn failing_options(policy: Option<FailurePolicy>) -> RegisterOptions {
    let options = at(2).name("faulty").timeout(SECOND);
    match policy {
        Some(policy) => options.on_failure(policy),
        None => options,
    }
}

/// Returns a registry with a hook that injects, one that fails, and one that records `after`.
fn events(kind: Kind, policy: Option<FailurePolicy>, log: &Log) -> HookRegistry {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::inject_context("before")),
        at(1).name("before"),
    );
    if kind == Kind::Panic {
        let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("broken") };
        registry.register("e", panics, failing_options(policy));
    } else {
        let handler = move |_: Arc<str>, _: Arc<Map>| async move {
            kind.happen().await?;
            Ok::<_, HookError>(HookResult::set("late", true))
        };
        registry.register("e", handler, failing_options(policy));
    }
    registry.register("e", logging(log, "after", HookResult::set("a", 2)), at(3));
    registry
}

fn kinds(emission: &Emission) -> Vec<(&str, &str)> {
    emission
        .failures
        .iter()
        .map(|item| (&*item.hook, item.failure.kind()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn x_2_isolate_records_the_failure_and_continues() {
    for policy in [None, Some(FailurePolicy::Isolate)] {
        for kind in KINDS {
            let log = Log::new();
            let emission = emit(&events(kind, policy, &log), "e", json!({"a": 1})).await;
            assert_eq!(emission.action, Action::InjectContext, "{kind:?}");
            assert_eq!(*emission.data, map(json!({"a": 2})), "{kind:?}");
            assert_eq!(kinds(&emission), [("faulty", kind.name())]);
            assert_eq!(log.lines(), ["after"], "{kind:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_fail_closed_denies_and_names_the_failed_hook() {
    for kind in KINDS {
        let log = Log::new();
        let registry = events(kind, Some(FailurePolicy::FailClosed), &log);
        let emission = emit(&registry, "e", json!({"a": 1})).await;
        assert!(emission.is_denied(), "{kind:?}");
        assert_eq!(emission.decided_by.as_deref(), Some("faulty"));
        let reason = emission.reason().expect("a reason");
        assert!(reason.contains("faulty"), "{kind:?}: {reason}");
        assert_eq!(emission.result().action, Action::Deny);
        assert_eq!(emission.result().reason.as_deref(), Some(reason));
        assert_eq!(kinds(&emission), [("faulty", kind.name())]);
        assert!(log.lines().is_empty(), "{kind:?}: later hooks do not run");
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_fail_closed_keeps_earlier_injections_and_data() {
    for kind in KINDS {
        let registry = events(kind, Some(FailurePolicy::FailClosed), &Log::new());
        let emission = emit(&registry, "e", json!({"a": 1})).await;
        assert_eq!(emission.injections.len(), 1, "{kind:?}");
        assert_eq!(*emission.data, map(json!({"a": 1})), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_propagate_returns_the_error_and_stops() {
    for kind in KINDS {
        let log = Log::new();
        let registry = events(kind, Some(FailurePolicy::Propagate), &log);
        let error = registry.emit("e", json!({"a": 1})).await.unwrap_err();
        let EmitError::Hook { failure, emission } = &error else {
            panic!("{kind:?}: {error}")
        };
        assert_eq!(
            (&*failure.hook, &*failure.event, failure.failure.kind()),
            ("faulty", "e", kind.name())
        );
        assert_eq!(emission.injections.len(), 1, "{kind:?}");
        assert!(error.to_string().contains("faulty"), "{error}");
        assert!(log.lines().is_empty(), "{kind:?}: later hooks do not run");
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_an_earlier_ask_user_does_not_override_fail_closed() {
    for kind in KINDS {
        let registry = events(kind, Some(FailurePolicy::FailClosed), &Log::new());
        registry.register("e", returning(HookResult::ask_user("Sure?")), at(0));
        assert!(emit(&registry, "e", ()).await.is_denied(), "{kind:?}");
    }
}

#[test]
fn x_2_a_failure_contains_the_error_of_the_hook() {
    let registry = HookRegistry::new();
    let fails = |_: Arc<str>, _: Arc<Map>| Err::<HookResult, _>(std::fmt::Error);
    registry.register("e", fails, plain());
    let emission = block_on(emit(&registry, "e", ()));
    let Failure::Error(error) = &emission.failures[0].failure else {
        panic!("an error")
    };
    assert!(error.is::<std::fmt::Error>());
}

#[test]
fn x_2_panics_with_any_payload_are_caught() {
    let registry = HookRegistry::new();
    let formatted = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("number {}", 7) };
    registry.register("e", formatted, plain());
    let any = |_: Arc<str>, _: Arc<Map>| -> HookResult { std::panic::panic_any(7_u32) };
    registry.register("e", any, plain());
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(
        emission.failures[0].failure.to_string(),
        "panicked: number 7"
    );
    assert_eq!(emission.failures[1].failure.kind(), "panic");
}

#[test]
fn x_2_the_registry_is_usable_after_a_panic() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("broken") };
    let registration = registry.register("e", panics, plain());
    block_on(emit(&registry, "e", ()));
    assert!(registration.unregister());
    registry.register("e", logging(&log, "ran", HookResult::proceed()), plain());
    assert!(block_on(emit(&registry, "e", ())).failures.is_empty());
    assert_eq!(log.lines(), ["ran"]);
}

/// Panics when it is dropped.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("while dropping");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_a_panic_on_drop_of_a_timed_out_hook_is_isolated() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        let held = PanicsOnDrop;
        std::future::pending::<()>().await;
        std::mem::forget(held);
        HookResult::proceed()
    };
    registry.register("e", hangs, at(1).timeout(SECOND));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    let emission = emit(&registry, "e", ()).await;
    assert_eq!(log.lines(), ["after"]);
    assert_eq!(emission.failures.len(), 1);
}

#[test]
fn x_2_a_panic_on_drop_of_a_local_of_a_hook_is_isolated() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let drops = |_: Arc<str>, _: Arc<Map>| async {
        let held = PanicsOnDrop;
        yield_once().await;
        drop(held);
        HookResult::proceed()
    };
    registry.register("e", drops, at(1));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["after"]);
    assert_eq!(
        emission.failures[0].failure.to_string(),
        "panicked: while dropping"
    );
}

/// Returns a hook that takes this long and then allows, with a change.
fn slow(
    time: Duration,
) -> impl Fn(Arc<str>, Arc<Map>) -> std::pin::Pin<Box<dyn Future<Output = HookResult> + Send>>
+ Send
+ Sync
+ 'static {
    move |_: Arc<str>, _: Arc<Map>| {
        Box::pin(async move {
            sleep(time).await;
            HookResult::set("late", true).user_message("late")
        })
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_the_output_of_a_timed_out_hook_is_discarded() {
    let registry = HookRegistry::new();
    registry.register("e", slow(2 * SECOND), plain().timeout(SECOND));
    let emission = emit(&registry, "e", ()).await;
    assert!(emission.data.is_empty());
    assert!(emission.messages.is_empty());
    assert_eq!(emission.decided_by, None);
    assert!(matches!(&emission.failures[0].failure, Failure::Timeout(limit) if *limit == SECOND));
}

#[tokio::test(start_paused = true)]
async fn x_2_the_output_of_a_hook_within_its_timeout_is_used() {
    let registry = HookRegistry::new();
    registry.register("e", slow(SECOND / 2), plain().timeout(SECOND));
    let emission = emit(&registry, "e", ()).await;
    assert_eq!(emission.data["late"], true);
    assert!(emission.failures.is_empty());
}

#[tokio::test(start_paused = true)]
async fn x_2_the_timeout_applies_to_each_hook_separately() {
    let registry = HookRegistry::new();
    for _ in 0..5 {
        registry.register("e", slow(SECOND * 8 / 10), plain().timeout(SECOND));
    }
    assert!(emit(&registry, "e", ()).await.failures.is_empty());
}

#[tokio::test(start_paused = true)]
async fn x_2_a_hook_that_does_not_suspend_succeeds_with_timeout_zero() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::set("a", 1)),
        plain().timeout(Duration::ZERO),
    );
    let at_once = |_: Arc<str>, _: Arc<Map>| async { HookResult::set("b", 2) };
    registry.register("e", at_once, plain().timeout(Duration::ZERO));
    let emission = emit(&registry, "e", ()).await;
    assert_eq!(*emission.data, map(json!({"a": 1, "b": 2})));
}

#[test]
fn x_2_timeouts_work_without_a_runtime() {
    let registry = HookRegistry::new();
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        std::future::pending::<()>().await;
        HookResult::proceed()
    };
    let short = plain()
        .timeout(Duration::from_millis(1))
        .on_failure(FailurePolicy::FailClosed);
    registry.register("e", hangs, short);
    assert!(block_on(emit(&registry, "e", ())).is_denied());
}

#[tokio::test(start_paused = true)]
async fn x_2_the_future_of_a_timed_out_hook_is_dropped() {
    let (registry, dropped) = (HookRegistry::new(), Dropped::default());
    let drops = dropped.clone();
    let hangs = move |_: Arc<str>, _: Arc<Map>| {
        let guard: DropGuard = drops.guard();
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            HookResult::proceed()
        }
    };
    registry.register("e", hangs, at(1).timeout(SECOND));
    let seen = dropped.clone();
    let checks = move |_: Arc<str>, _: Arc<Map>| HookResult::set("dropped", seen.is_set());
    registry.register("e", checks, at(2));
    assert_eq!(emit(&registry, "e", ()).await.data["dropped"], true);
}

fn deadline(after: Duration) -> EmitOptions {
    EmitOptions::new().deadline(after)
}

#[tokio::test(start_paused = true)]
async fn x_2_a_missed_deadline_is_an_error() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let before = HookResult::inject_context("before").user_message("told");
    registry.register("e", returning(before), at(1));
    registry.register("e", slow(10 * SECOND), at(2));
    registry.register("e", logging(&log, "after", HookResult::deny("no")), at(3));
    let begin = Instant::now();
    let error = registry
        .emit_with("e", json!({"a": 1}), deadline(SECOND))
        .await
        .unwrap_err();
    assert!(begin.elapsed() < 9 * SECOND, "{:?}", begin.elapsed());
    let EmitError::Deadline { after, emission } = &error else {
        panic!("{error}")
    };
    assert_eq!(*after, SECOND);
    assert_eq!((emission.injections.len(), emission.messages.len()), (1, 1));
    assert_eq!(*emission.data, map(json!({"a": 1})));
    assert!(log.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn x_2_the_deadline_applies_to_all_hooks_together() {
    let registry = HookRegistry::new();
    for _ in 0..4 {
        registry.register("e", slow(SECOND * 4 / 10), plain().timeout(SECOND));
    }
    assert!(
        registry
            .emit_with("e", (), deadline(2 * SECOND))
            .await
            .is_ok()
    );
    let error = registry
        .emit_with("e", (), deadline(SECOND))
        .await
        .unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn x_2_a_denial_before_the_deadline_is_returned() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::deny("no")), at(1));
    registry.register("e", slow(10 * SECOND), at(2));
    let emission = registry.emit_with("e", (), deadline(SECOND)).await.unwrap();
    assert!(emission.is_denied());
}

#[tokio::test(start_paused = true)]
async fn x_2_a_missed_deadline_is_an_error_despite_an_earlier_ask_user() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::ask_user("Sure?")), at(1));
    registry.register("e", slow(10 * SECOND), at(2));
    let error = registry
        .emit_with("e", (), deadline(SECOND))
        .await
        .unwrap_err();
    assert_eq!(error.emission().unwrap().action, Action::AskUser);
}

#[tokio::test(start_paused = true)]
async fn x_2_a_timeout_before_the_deadline_follows_the_failure_policy() {
    let registry = HookRegistry::new();
    registry.register("e", slow(10 * SECOND), at(1).timeout(SECOND));
    registry.register("e", returning(HookResult::set("a", 1)), at(2));
    let emission = registry
        .emit_with("e", (), deadline(5 * SECOND))
        .await
        .unwrap();
    assert_eq!(
        (emission.failures.len(), emission.action),
        (1, Action::Modify)
    );
}

#[tokio::test(start_paused = true)]
async fn x_2_no_failure_policy_hides_a_missed_deadline() {
    for policy in [
        FailurePolicy::Isolate,
        FailurePolicy::FailClosed,
        FailurePolicy::Propagate,
    ] {
        let registry = HookRegistry::new();
        registry.register("e", slow(10 * SECOND), plain().on_failure(policy));
        let error = registry
            .emit_with("e", (), deadline(SECOND))
            .await
            .unwrap_err();
        assert!(
            matches!(error, EmitError::Deadline { .. }),
            "{policy}: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_a_missed_deadline_drops_the_hook() {
    let (registry, dropped) = (HookRegistry::new(), Dropped::default());
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
    assert!(registry.emit_with("e", (), deadline(SECOND)).await.is_err());
    assert!(dropped.is_set());
}

#[tokio::test(start_paused = true)]
async fn x_2_with_deadline_zero_hooks_that_do_not_suspend_still_run() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), plain());
    let emission = registry
        .emit_with("e", (), deadline(Duration::ZERO))
        .await
        .unwrap();
    assert_eq!(emission.data["a"], 1);
    registry.register("e", slow(Duration::from_millis(1)), plain());
    assert!(
        registry
            .emit_with("e", (), deadline(Duration::ZERO))
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn x_2_without_hooks_no_deadline_is_missed() {
    let emission = HookRegistry::new()
        .emit_with("e", (), deadline(Duration::ZERO))
        .await
        .unwrap();
    assert_eq!(emission.action, Action::Continue);
}

#[tokio::test(start_paused = true)]
async fn x_2_the_deadline_can_be_duration_max() {
    let registry = HookRegistry::new();
    registry.register("e", slow(SECOND), plain().timeout(Duration::MAX));
    let emission = registry
        .emit_with("e", (), deadline(Duration::MAX))
        .await
        .unwrap();
    assert_eq!(emission.data["late"], true);
}

/// A PRE hook that fails.
struct FailingPreHook(Kind);

impl PreHook<str> for FailingPreHook {
    fn id(&self) -> &str {
        "faulty"
    }

    async fn execute(&self, _request: &str) -> Result<HookResponse, HookError> {
        self.0.happen().await?;
        Ok(HookResponse::default().reason("late"))
    }
}

/// Returns a registry with a PRE hook that continues, one that fails, and one that records `after`.
fn phases(kind: Kind, policy: Option<FailurePolicy>, log: &Log) -> PhaseRegistry<str, str> {
    let registry = PhaseRegistry::new();
    let before = |_: &str| HookResponse::default().reason("before");
    registry.register_pre(PreFn::new("before", before), at(1));
    registry.register_pre(FailingPreHook(kind), failing_options(policy));
    let log = log.clone();
    let after = move |_: &str| {
        log.add("after");
        HookResponse::default().reason("after")
    };
    registry.register_pre(PreFn::new("after", after), at(3));
    registry
}

#[tokio::test(start_paused = true)]
async fn x_2_r_13_a_pre_hook_failure_propagates_by_default() {
    for policy in [None, Some(FailurePolicy::Propagate)] {
        for kind in KINDS {
            let log = Log::new();
            let error = phases(kind, policy, &log)
                .execute_pre("r")
                .await
                .unwrap_err();
            assert_eq!(
                (error.hook(), error.failure().kind()),
                (Some("faulty"), kind.name())
            );
            assert!(log.lines().is_empty(), "{kind:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_a_pre_hook_failure_with_fail_closed_denies() {
    for kind in KINDS {
        let log = Log::new();
        let registry = phases(kind, Some(FailurePolicy::FailClosed), &log);
        let response = registry.execute_pre("r").await.unwrap();
        assert_eq!(response.action, ResponseAction::Deny, "{kind:?}");
        assert!(response.reason.unwrap().contains("faulty"), "{kind:?}");
        assert!(log.lines().is_empty(), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_a_pre_hook_failure_with_isolate_is_skipped() {
    for kind in KINDS {
        let log = Log::new();
        let registry = phases(kind, Some(FailurePolicy::Isolate), &log);
        let response = registry.execute_pre("r").await.unwrap();
        assert_eq!(
            response,
            HookResponse::default().reason("after"),
            "{kind:?}"
        );
        assert_eq!(log.lines(), ["after"]);
    }
}

#[tokio::test(start_paused = true)]
async fn x_2_an_isolated_pre_hook_failure_keeps_the_previous_response() {
    let registry = PhaseRegistry::<str, str>::new();
    let before = |_: &str| HookResponse::default().reason("before");
    registry.register_pre(PreFn::new("before", before), at(1));
    registry.register_pre(
        FailingPreHook(Kind::Error),
        failing_options(Some(FailurePolicy::Isolate)),
    );
    let response = registry.execute_pre("r").await.unwrap();
    assert_eq!(response, HookResponse::default().reason("before"));
}

#[test]
#[should_panic(expected = "audit")]
fn x_2_registering_a_post_hook_with_fail_closed_panics() {
    let registry = PhaseRegistry::<str, str>::new();
    let options = named("audit").on_failure(FailurePolicy::FailClosed);
    registry.register_post(PostFn::new("audit", |_: &str, _: Option<&str>| ()), options);
}

#[test]
#[should_panic(expected = "audit")]
fn x_2_registering_a_post_hook_with_propagate_panics() {
    let registry = PhaseRegistry::<str, str>::new();
    let options = plain().on_failure(FailurePolicy::Propagate);
    registry.register_post(PostFn::new("audit", |_: &str, _: Option<&str>| ()), options);
}

#[tokio::test(start_paused = true)]
async fn x_2_a_panic_on_drop_does_not_hide_a_missed_deadline() {
    let registry = HookRegistry::new();
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        let held = PanicsOnDrop;
        std::future::pending::<()>().await;
        std::mem::forget(held);
        HookResult::proceed()
    };
    registry.register("e", hangs, plain());
    let error = registry
        .emit_with("e", (), deadline(SECOND))
        .await
        .unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn x_2_a_hook_ready_after_its_timeout_is_discarded() {
    let registry = HookRegistry::new();
    let together = |_: Arc<str>, _: Arc<Map>| async {
        for _ in 0..10 {
            sleep(SECOND).await;
        }
        HookResult::set("late", true)
    };
    registry.register("e", together, plain().timeout(5 * SECOND));
    let emission = emit(&registry, "e", ()).await;
    assert!(emission.data.is_empty());
    assert_eq!(emission.failures[0].failure.kind(), "timeout");
}

#[tokio::test(start_paused = true)]
async fn x_2_the_first_failure_with_a_stopping_policy_decides() {
    use FailurePolicy::{FailClosed, Isolate, Propagate};
    let fails = |_: Arc<str>, _: Arc<Map>| Err::<HookResult, _>(HookError::new("broken"));
    for (policies, is_error) in [
        ([Isolate, FailClosed, Propagate], false),
        ([Isolate, Propagate, FailClosed], true),
        ([FailClosed, Propagate, Isolate], false),
    ] {
        let registry = HookRegistry::new();
        for policy in policies {
            registry.register("e", fails, named(policy.to_string()).on_failure(policy));
        }
        match registry.emit("e", ()).await {
            Ok(emission) => {
                assert!(!is_error && emission.is_denied(), "{policies:?}");
                assert_eq!(emission.decided_by.as_deref(), Some("fail closed"));
            }
            Err(error) => assert!(is_error, "{policies:?}: {error}"),
        }
    }
}

#[test]
fn x_2_a_panic_payload_that_panics_on_drop_is_isolated() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { std::panic::panic_any(PanicsOnDrop) };
    registry.register("e", panics, at(1));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["after"]);
    assert_eq!(emission.failures.len(), 1);
}

/// Returns the result of a hook under this policy whose question has an invalid timeout.
fn invalid(policy: FailurePolicy) -> Result<Emission, EmitError> {
    let registry = HookRegistry::new();
    let asks = HookResult::ask_user("Sure?").approval_timeout(f64::NAN);
    registry.register("e", returning(asks), named("asks").on_failure(policy));
    block_on(registry.emit("e", ()))
}

#[test]
fn x_2_an_invalid_output_with_fail_closed_denies() {
    let emission = invalid(FailurePolicy::FailClosed).unwrap();
    assert!(emission.is_denied(), "{}", emission.action);
}

#[test]
fn x_2_an_invalid_output_with_propagate_is_an_error() {
    let outcome = invalid(FailurePolicy::Propagate).map(|emission| emission.action);
    assert!(
        matches!(outcome, Err(EmitError::Hook { .. })),
        "{outcome:?}"
    );
}

#[test]
fn x_2_an_invalid_ask_user_output_never_allows() {
    for policy in [FailurePolicy::Isolate, FailurePolicy::FailClosed] {
        let action = invalid(policy).unwrap().action;
        assert!(
            matches!(action, Action::AskUser | Action::Deny),
            "{policy}: {action}"
        );
    }
}

/// Waits while it holds its state.
struct Waits(u32);

impl StatefulEventHook for Waits {
    async fn call_mut(&mut self, event: Event<'_>) -> Result<HookResult, HookError> {
        self.0 += 1;
        if event.get("hang").is_some() {
            std::future::pending::<()>().await;
        }
        yield_once().await;
        Ok(HookResult::set("count", self.0))
    }
}

#[tokio::test(start_paused = true)]
async fn t_44_a_timed_out_hook_does_not_leave_its_state_locked() {
    let registry = HookRegistry::new();
    registry.register("e", Stateful::new(Waits(0)), plain().timeout(SECOND));
    let late = emit(&registry, "e", json!({"hang": true})).await;
    assert_eq!(late.failures[0].failure.kind(), "timeout");
    let next = emit(&registry, "e", ()).await;
    assert!(next.failures.is_empty(), "{:?}", next.failures);
    assert_eq!(next.data["count"], 2);
}

#[tokio::test]
async fn t_43_concurrent_emissions_take_turns_on_the_state() {
    let registry = HookRegistry::new();
    registry.register("e", Stateful::new(Waits(0)), plain());
    let (one, two) = (
        registry.emit_detached("e", ()),
        registry.emit_detached("e", ()),
    );
    let (one, two) = (one.await.unwrap().unwrap(), two.await.unwrap().unwrap());
    assert!(one.failures.is_empty() && two.failures.is_empty());
    let mut counts = [one.data["count"].as_u64(), two.data["count"].as_u64()];
    counts.sort();
    assert_eq!(counts, [Some(1), Some(2)]);
}

/// Emits its own event again.
struct Reenters(HookRegistry);

impl StatefulEventHook for Reenters {
    async fn call_mut(&mut self, event: Event<'_>) -> Result<HookResult, HookError> {
        let inner = self.0.emit(event.name(), ());
        let inner: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(inner);
        let inner = inner.await.map_err(HookError::new)?;
        Ok(HookResult::set("inner_failures", inner.failures.len()))
    }
}

#[test]
fn t_43_a_hook_that_reenters_its_own_state_fails_without_deadlock() {
    let registry = HookRegistry::new();
    registry.register("e", Stateful::new(Reenters(registry.clone())), plain());
    let mut emission = pin!(registry.emit("e", ()));
    let polled = emission
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Ok(emission)) = polled else {
        panic!("the hook waits for itself")
    };
    assert_eq!(emission.data["inner_failures"], 1);
}

/// A value whose `Display` panics.
#[derive(Debug)]
struct PanicsInDisplay;

impl std::fmt::Display for PanicsInDisplay {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("the display panics")
    }
}

impl std::error::Error for PanicsInDisplay {}

#[test]
fn x_2_an_error_with_a_panicking_display_follows_the_failure_policy() {
    let fails = |_: hooks_runtime::Event<'_>| Err::<HookResult, _>(PanicsInDisplay);
    for policy in [FailurePolicy::Isolate, FailurePolicy::FailClosed] {
        let registry = HookRegistry::new();
        registry.register("e", fails, RegisterOptions::new().on_failure(policy));
        let emission = futures::executor::block_on(registry.emit("e", ())).unwrap();
        let denies = policy == FailurePolicy::FailClosed;
        assert_eq!(emission.is_denied(), denies);
        assert_eq!(emission.failures.len(), 1);
    }
}

#[test]
fn x_2_a_hook_error_is_the_direct_source_of_an_emit_error() {
    let registry = HookRegistry::new();
    let fails = |_: hooks_runtime::Event<'_>| -> Result<HookResult, hooks_runtime::HookError> {
        std::fs::read("/no/such/file")?;
        Ok(HookResult::proceed())
    };
    let options = RegisterOptions::new().on_failure(FailurePolicy::Propagate);
    registry.register("e", fails, options);
    let error = futures::executor::block_on(registry.emit("e", ())).unwrap_err();
    let source = std::error::Error::source(&error).expect("the hook's own error");
    assert!(
        source.downcast_ref::<std::io::Error>().is_some(),
        "{source:?}"
    );
}

#[test]
fn x_2_printed_output_is_kept_if_the_error_propagates() {
    let registry = HookRegistry::new();
    let fails = |event: hooks_runtime::Event<'_>| {
        event.print("looking");
        Err::<HookResult, _>("broken")
    };
    let options = RegisterOptions::new().on_failure(FailurePolicy::Propagate);
    registry.register("e", fails, options);
    let error = futures::executor::block_on(registry.emit("e", ())).unwrap_err();
    assert_eq!(error.emission().unwrap().output()[0].text, "looking");
}

#[test]
fn section_0_3_a_collection_keeps_messages_and_printed_output() {
    let registry = HookRegistry::new();
    let prints = |event: hooks_runtime::Event<'_>| {
        event.print("looking");
        HookResult::proceed().user_message("seen")
    };
    registry.register("e", prints, RegisterOptions::new().name("prints"));
    let collected =
        futures::executor::block_on(registry.collect("e", (), HookRegistry::COLLECT_TIMEOUT));
    let collected = collected.unwrap();
    assert_eq!(collected.messages[0].text, "seen");
    assert_eq!(collected.output[0].text, "looking");
    assert!(collected.outputs.is_empty());
}

#[test]
fn x_2_a_panic_on_drop_of_an_unregistered_hook_keeps_its_output() {
    struct OnDrop;
    impl Drop for OnDrop {
        fn drop(&mut self) {
            panic!("in the destructor");
        }
    }
    let registry = HookRegistry::new();
    let own = Arc::new(std::sync::Mutex::new(None::<hooks_runtime::Registration>));
    let (registration, held) = (Arc::clone(&own), OnDrop);
    let unregisters = move |_: hooks_runtime::Event<'_>| {
        let _keep = &held;
        registration
            .lock()
            .unwrap()
            .take()
            .map(|own| own.unregister());
        HookResult::deny("no")
    };
    *own.lock().unwrap() = Some(registry.register("e", unregisters, RegisterOptions::new()));
    let emission = futures::executor::block_on(registry.emit("e", ())).unwrap();
    assert!(emission.is_denied());
}

/// Is ready at every poll, and uses up its cooperative budget.
async fn busy() {
    let lock = tokio::sync::Mutex::new(());
    loop {
        drop(lock.lock().await);
    }
}

struct Busy;

impl PreHook<str> for Busy {
    fn id(&self) -> &str {
        "busy"
    }

    async fn execute(&self, _request: &str) -> Result<HookResponse, HookError> {
        busy().await;
        Ok(HookResponse::default())
    }
}

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn e_39_a_hook_that_is_ready_at_every_poll_still_times_out() {
    let registry = HookRegistry::new();
    let hook = |_: Arc<str>, _: Arc<Map>| async {
        busy().await;
        HookResult::proceed()
    };
    let options = plain().timeout(SHORT).on_failure(FailurePolicy::FailClosed);
    registry.register("e", hook, options);
    assert!(emit(&registry, "e", ()).await.is_denied());
    registry.register("other", hook, plain());
    let options = EmitOptions::new().deadline(SHORT);
    let error = registry.emit_with("other", (), options).await.unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }));
    let phases = PhaseRegistry::<str, ()>::new();
    phases.register_pre(Busy, plain().timeout(SHORT));
    assert!(phases.execute_pre("request").await.is_err());
}

#[tokio::test]
async fn e_54_busy_hooks_do_not_starve_other_hooks() {
    let registry = HookRegistry::new();
    for name in ["busy", "busy too"] {
        let hook = |_: Arc<str>, _: Arc<Map>| async {
            busy().await;
            HookResult::proceed()
        };
        registry.register("e", hook, named(name));
    }
    let quick = |_: Arc<str>, _: Arc<Map>| async {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        drop(tokio::sync::Mutex::new(()).lock().await);
        HookResult::set("quick", true)
    };
    registry.register("e", quick, named("quick"));
    let collected = registry.collect("e", (), 2 * SECOND).await.unwrap();
    assert_eq!(collected.outputs.len(), 1, "{:?}", collected.failures);
    assert_eq!(collected.failures.len(), 2);
}

/// An error that panics when it is dropped.
#[derive(Debug)]
struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in the destructor");
        }
    }
}

impl std::fmt::Display for PanicsWhenDropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for PanicsWhenDropped {}

#[test]
fn r_14_an_error_that_panics_on_drop_does_not_stop_later_hooks() {
    let log = Log::new();
    let phases = PhaseRegistry::<str, ()>::new();
    let fails = PostFn::new("fails", |_: &(), _: Option<&str>| Err(PanicsWhenDropped));
    phases.register_post(fails, at(1));
    let seen = log.clone();
    let after = PostFn::new("after", move |_: &(), _: Option<&str>| seen.add("after"));
    phases.register_post(after, at(2));
    block_on(phases.execute_post(&(), None));
    assert_eq!(log.lines(), ["after"]);
    for (policy, is_denied) in [
        (FailurePolicy::Isolate, false),
        (FailurePolicy::FailClosed, true),
    ] {
        let phases = PhaseRegistry::<str, ()>::new();
        let fails = PreFn::new("fails", |_: &str| Err::<HookResponse, _>(PanicsWhenDropped));
        phases.register_pre(fails, plain().on_failure(policy));
        let response = block_on(phases.execute_pre("request")).unwrap();
        assert_eq!(response.action == ResponseAction::Deny, is_denied);
    }
}

#[test]
fn e_42_dropping_a_collection_of_hooks_that_panic_on_drop_does_not_abort() {
    let registry = HookRegistry::new();
    for name in ["a", "b"] {
        let hook = |_: Arc<str>, _: Arc<Map>| async {
            let _held = PanicsWhenDropped;
            std::future::pending::<HookResult>().await
        };
        registry.register("e", hook, named(name));
    }
    let mut collection = Box::pin(registry.collect("e", (), SECOND));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(collection.as_mut().poll(&mut cx).is_pending());
    drop(collection);
}

#[test]
fn e_95_an_invalid_output_changes_no_data_and_is_reported() {
    for policy in [FailurePolicy::Isolate, FailurePolicy::FailClosed] {
        let registry = HookRegistry::new();
        let hook = |_: Event<'_>| HookResult::set("x", 1).approval_timeout(f64::NAN);
        registry.register("e", hook, plain().on_failure(policy));
        // There, actions have no effect (`E-53`).
        let denies = |_: Event<'_>| {
            let mut no = HookResult::deny("no").approval_timeout(f64::NAN);
            no.data = json!({"x": 1}).as_object().cloned();
            no
        };
        registry.register("collected", denies, plain().on_failure(policy));
        let options = EmitOptions::new().report();
        let emission = block_on(registry.emit_with("e", (), options)).unwrap();
        assert!(emission.data.is_empty());
        assert_eq!(emission.failures.len(), 1);
        assert_eq!(emission.is_denied(), policy == FailurePolicy::FailClosed);
        let report = emission.report().unwrap().to_string();
        assert!(report.contains("returned an invalid output"), "{report}");
        for event in ["e", "collected"] {
            let collected = block_on(registry.collect(event, (), SECOND)).unwrap();
            assert!(collected.outputs.is_empty());
            assert_eq!(collected.failures.len(), 1);
        }
    }
}

#[test]
fn e_36_an_error_with_a_panicking_display_is_a_failure() {
    #[derive(Debug)]
    struct PanickingPayload;
    impl std::fmt::Display for PanickingPayload {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            std::panic::panic_any(PanicsWhenDropped)
        }
    }
    impl std::error::Error for PanickingPayload {}
    let registry = HookRegistry::new();
    let hook = |_: Event<'_>| Err::<HookResult, _>(PanickingPayload);
    registry.register("e", hook, plain().on_failure(FailurePolicy::FailClosed));
    assert!(block_on(registry.emit("e", ())).unwrap().is_denied());
}
