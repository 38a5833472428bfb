//! PRE and POST hooks (R-01 to R-24, R-34, R-35).

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    HookError, HookResponse, Phase, PhaseRegistry, PostHook, PreHook, RegisterOptions,
    ResponseAction,
};
use proptest::prelude::*;
use serde_json::json;

use crate::kit::{Dropped, Log, at, capture_logs, has_line, plain, yield_once};

type Registry = PhaseRegistry<str, str>;

/// Returns a PRE hook that records its id, with this response.
fn pre(log: &Log, id: &str, response: HookResponse) -> impl PreHook<str> + use<> {
    let (log, line) = (log.clone(), id.to_owned());
    PreFn::new(id, move |_: &str| {
        log.add(&line);
        response.clone()
    })
}

/// Returns a PRE hook that records its id and continues, with its id as the reason.
fn passing(log: &Log, id: &str) -> impl PreHook<str> + use<> {
    pre(log, id, HookResponse::default().reason(id))
}

/// Returns a POST hook that records its id.
fn post(log: &Log, id: &str) -> impl PostHook<str> + use<> {
    let (log, line) = (log.clone(), id.to_owned());
    PostFn::new(id, move |_: &str, _: Option<&str>| log.add(&line))
}

fn run_pre(registry: &Registry) -> HookResponse {
    block_on(registry.execute_pre("request")).expect("no hook fails")
}

fn run_post(registry: &Registry) {
    block_on(registry.execute_post("result", None));
}

fn ids(registry: &Registry, phase: Phase) -> Vec<String> {
    registry
        .registered_hooks(phase)
        .into_iter()
        .map(|hook| hook.id)
        .collect()
}

fn priorities(registry: &Registry) -> Vec<(String, Option<i32>)> {
    let hooks = registry.registered_hooks(Phase::Pre).into_iter();
    hooks.map(|hook| (hook.id, hook.priority)).collect()
}

/// A PRE hook with a priority of its own.
struct OwnPriority(&'static str, Option<i32>);

impl PreHook<str> for OwnPriority {
    fn id(&self) -> &str {
        self.0
    }

    fn priority(&self) -> Option<i32> {
        self.1
    }

    async fn execute(&self, _request: &str) -> Result<HookResponse, HookError> {
        Ok(HookResponse::default().reason(self.0))
    }
}

#[test]
fn r_01_one_id_in_both_phases_names_two_hooks() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(pre(&log, "audit", HookResponse::default()), plain());
    registry.register_post(post(&log, "audit"), plain());
    run_pre(&registry);
    run_post(&registry);
    assert_eq!(log.take(), ["audit", "audit"]);
    assert!(registry.deregister(Phase::Pre, "audit"));
    run_pre(&registry);
    run_post(&registry);
    assert_eq!(log.lines(), ["audit"]);
    assert_eq!(ids(&registry, Phase::Post), ["audit"]);
}

#[test]
fn r_02_options_override_the_priority_of_the_hook_and_default_to_100() {
    let registry = Registry::new();
    registry.register_pre(OwnPriority("options", Some(7)), at(3));
    registry.register_pre(OwnPriority("own", Some(7)), plain());
    registry.register_pre(OwnPriority("none", None), plain());
    let expected = [("options", Some(3)), ("own", Some(7)), ("none", Some(100))];
    assert_eq!(
        priorities(&registry),
        expected.map(|(id, at)| (id.to_owned(), at))
    );
}

/// Also `X-1`.
#[test]
fn r_02_r_03_the_default_priority_is_between_99_and_101() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(passing(&log, "101"), at(101));
    registry.register_pre(passing(&log, "default"), plain());
    registry.register_pre(passing(&log, "99"), at(99));
    run_pre(&registry);
    assert_eq!(log.lines(), ["99", "default", "101"]);
}

#[test]
fn r_03_r_35_seven_hooks_of_varied_priority_run_in_ascending_order() {
    let (registry, log) = (Registry::new(), Log::new());
    for priority in [30, -5, i32::MAX, 10, 0, i32::MIN, 20] {
        registry.register_pre(passing(&log, &priority.to_string()), at(priority));
    }
    let last = run_pre(&registry);
    let expected = [i32::MIN, -5, 0, 10, 20, 30, i32::MAX].map(|priority| priority.to_string());
    assert_eq!(log.lines(), expected);
    assert_eq!(ids(&registry, Phase::Pre), expected);
    assert_eq!(last.reason, Some(i32::MAX.to_string()));
}

#[test]
fn r_03_hooks_of_equal_priority_run_in_registration_order() {
    let (registry, log) = (Registry::new(), Log::new());
    for id in ["a", "b", "c", "d", "e"] {
        registry.register_pre(passing(&log, id), at(10));
    }
    run_pre(&registry);
    assert_eq!(log.lines(), ["a", "b", "c", "d", "e"]);
}

/// Also `X-3`.
#[test]
fn r_04_registering_the_same_id_replaces_the_pre_hook() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(
        pre(&log, "x", HookResponse::default().reason("old")),
        plain(),
    );
    registry.register_pre(
        pre(&log, "x", HookResponse::default().reason("new")),
        plain(),
    );
    assert_eq!(run_pre(&registry).reason.as_deref(), Some("new"));
    assert_eq!(log.lines(), ["x"]);
    assert_eq!(ids(&registry, Phase::Pre), ["x"]);
}

#[test]
fn r_04_registering_the_same_id_replaces_the_post_hook() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_post(PostFn::new("x", panicking), plain());
    registry.register_post(post(&log, "x"), plain());
    run_post(&registry);
    assert_eq!(log.lines(), ["x"]);
    assert_eq!(ids(&registry, Phase::Post), ["x"]);
}

#[test]
fn r_04_the_registration_of_a_replaced_hook_removes_nothing() {
    let (registry, log) = (Registry::new(), Log::new());
    let old = registry.register_pre(passing(&log, "x"), plain());
    let new = registry.register_pre(passing(&log, "x"), plain());
    assert!(!old.unregister());
    assert_eq!(ids(&registry, Phase::Pre), ["x"]);
    assert!(new.unregister());
    assert!(ids(&registry, Phase::Pre).is_empty());
}

#[test]
fn r_07_a_registration_does_not_remove_a_hook_registered_again() {
    let (registry, log) = (Registry::new(), Log::new());
    let old = registry.register_pre(passing(&log, "x"), plain());
    let old_post = registry.register_post(post(&log, "x"), plain());
    assert!(registry.deregister(Phase::Pre, "x"));
    assert!(registry.deregister(Phase::Post, "x"));
    registry.register_pre(passing(&log, "x"), plain());
    registry.register_post(post(&log, "x"), plain());
    assert!(!old.unregister());
    assert!(!old_post.unregister());
    assert_eq!(ids(&registry, Phase::Pre), ["x"]);
    assert_eq!(ids(&registry, Phase::Post), ["x"]);
}

#[test]
fn r_07_unregistering_after_the_registry_is_dropped_does_nothing() {
    let (registry, log) = (Registry::new(), Log::new());
    let registrations = [
        registry.register_pre(passing(&log, "x"), plain()),
        registry.register_post(post(&log, "x"), plain()),
    ];
    drop(registry);
    assert!(
        registrations
            .iter()
            .all(|registration| !registration.unregister())
    );
}

#[test]
fn r_05_a_replacement_keeps_its_place_at_equal_priority() {
    let (registry, log) = (Registry::new(), Log::new());
    for id in ["a", "b", "c"] {
        registry.register_pre(passing(&log, id), at(10));
        registry.register_post(post(&log, id), plain());
    }
    registry.register_pre(passing(&log, "a"), at(10));
    registry.register_post(post(&log, "b"), plain());
    assert_eq!(ids(&registry, Phase::Pre), ["a", "b", "c"]);
    assert_eq!(ids(&registry, Phase::Post), ["a", "b", "c"]);
    run_pre(&registry);
    assert_eq!(log.take(), ["a", "b", "c"]);
    run_post(&registry);
    assert_eq!(log.take(), ["a", "b", "c"]);
}

#[test]
fn r_05_a_replacement_with_another_priority_moves_to_it() {
    let (registry, log) = (Registry::new(), Log::new());
    for (id, priority) in [("a", 10), ("b", 20), ("c", 30)] {
        registry.register_pre(passing(&log, id), at(priority));
    }
    registry.register_pre(passing(&log, "a"), at(25));
    run_pre(&registry);
    assert_eq!(log.lines(), ["b", "a", "c"]);
    assert_eq!(ids(&registry, Phase::Pre), ["b", "a", "c"]);
}

#[test]
fn r_06_a_replacement_without_priority_has_priority_100() {
    let registry = Registry::new();
    registry.register_pre(OwnPriority("x", None), at(10));
    registry.register_pre(OwnPriority("x", None), plain());
    assert_eq!(priorities(&registry), [("x".to_owned(), Some(100))]);
}

#[test]
fn r_06_replace_inherits_the_priority() {
    let registry = Registry::new();
    let second = Duration::from_secs(1);
    registry.register_pre(OwnPriority("a", None), at(10).timeout(second));
    registry.register_pre(OwnPriority("b", None), at(10));
    registry.replace_pre(OwnPriority("a", None));
    let hooks = registry.registered_hooks(Phase::Pre);
    assert_eq!((&*hooks[0].id, hooks[0].priority), ("a", Some(10)));
    assert_eq!(hooks[0].timeout, Some(second));
    assert_eq!(ids(&registry, Phase::Pre), ["a", "b"]);
}

#[test]
fn r_07_deregistering_an_unknown_id_returns_false() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_post(post(&log, "x"), plain());
    assert!(!registry.deregister(Phase::Post, "nonexistent-id"));
    assert!(!registry.deregister(Phase::Pre, "x"));
    assert!(registry.deregister(Phase::Post, "x"));
    assert!(!registry.deregister(Phase::Post, "x"));
    run_post(&registry);
    assert!(log.lines().is_empty());
}

#[test]
fn r_08_a_hook_registered_again_runs_last_at_equal_priority() {
    let (registry, log) = (Registry::new(), Log::new());
    for id in ["a", "b", "c"] {
        registry.register_pre(passing(&log, id), at(10));
        registry.register_post(post(&log, id), plain());
    }
    assert!(registry.deregister(Phase::Pre, "a"));
    assert!(registry.deregister(Phase::Post, "a"));
    run_pre(&registry);
    assert_eq!(log.take(), ["b", "c"]);
    registry.register_pre(passing(&log, "a"), at(10));
    registry.register_post(post(&log, "a"), plain());
    run_pre(&registry);
    assert_eq!(log.take(), ["b", "c", "a"]);
    run_post(&registry);
    assert_eq!(log.take(), ["b", "c", "a"]);
}

#[test]
fn r_09_without_pre_hooks_the_response_is_a_bare_continue() {
    let (registry, log) = (Registry::new(), Log::new());
    assert_eq!(
        run_pre(&registry),
        HookResponse::new(ResponseAction::Continue)
    );
    registry.register_post(post(&log, "x"), plain());
    assert_eq!(run_pre(&registry), HookResponse::default());
    assert!(log.lines().is_empty());
    let json = serde_json::to_value(run_pre(&registry)).unwrap();
    assert_eq!(json, json!({"action": "CONTINUE"}));
}

/// Returns a response with every field.
fn full(action: ResponseAction) -> HookResponse {
    HookResponse::new(action)
        .classification("DESTRUCTIVE")
        .reason("Scope Violation")
        .error_type("scope")
        .details("src/secret.rs is not in scope")
        .recovery_hint("edit a file below `src/`")
}

#[test]
fn r_10_deny_and_halt_stop_with_every_field() {
    for action in [ResponseAction::Deny, ResponseAction::Halt] {
        let (registry, log) = (Registry::new(), Log::new());
        registry.register_pre(passing(&log, "10"), at(10));
        registry.register_pre(pre(&log, "20", full(action.clone())), at(20));
        registry.register_pre(passing(&log, "30"), at(30));
        assert_eq!(run_pre(&registry), full(action));
        assert_eq!(log.lines(), ["10", "20"]);
    }
}

#[test]
fn r_11_any_other_action_stops_and_is_returned() {
    for name in ["WAIT", "continue", "", "Continue ", "deny"] {
        let (registry, log) = (Registry::new(), Log::new());
        let other = full(ResponseAction::Other(name.to_owned()));
        registry.register_pre(pre(&log, "10", other.clone()), at(10));
        registry.register_pre(passing(&log, "20"), at(20));
        assert_eq!(run_pre(&registry), other);
        assert_eq!(log.lines(), ["10"], "{name:?}");
    }
}

#[test]
fn r_11_unknown_actions_round_trip_through_json() {
    let response: HookResponse = serde_json::from_value(json!({"action": "WAIT"})).unwrap();
    assert_eq!(response.action, ResponseAction::Other("WAIT".to_owned()));
    assert!(!response.is_continue());
    assert_eq!(
        serde_json::to_value(&response).unwrap(),
        json!({"action": "WAIT"})
    );
    let response: HookResponse = serde_json::from_value(json!({"action": "continue"})).unwrap();
    assert!(!response.is_continue());
}

/// Also `X-5`.
#[test]
fn r_12_if_all_hooks_continue_the_last_response_is_returned() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(pre(&log, "30", full(ResponseAction::Continue)), at(30));
    registry.register_pre(passing(&log, "10"), at(10));
    registry.register_pre(passing(&log, "20"), at(20));
    assert_eq!(run_pre(&registry), full(ResponseAction::Continue));
    assert_eq!(log.lines(), ["10", "20", "30"]);
}

#[test]
fn r_12_the_last_response_is_not_merged_with_earlier_responses() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(pre(&log, "1", full(ResponseAction::Continue)), at(1));
    registry.register_pre(pre(&log, "2", HookResponse::default()), at(2));
    assert_eq!(run_pre(&registry), HookResponse::default());
}

#[derive(Debug)]
struct TraceabilityError;

impl std::fmt::Display for TraceabilityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no intent is selected")
    }
}

impl std::error::Error for TraceabilityError {}

#[test]
fn r_13_an_error_propagates_unchanged_and_skips_later_hooks() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(passing(&log, "10"), at(10));
    let fails = |_: &str| Err::<HookResponse, _>(TraceabilityError);
    registry.register_pre(PreFn::new("traceability", fails), at(20));
    registry.register_pre(passing(&log, "30"), at(30));
    let error = block_on(registry.execute_pre("request")).unwrap_err();
    assert!(error.downcast_ref::<TraceabilityError>().is_some());
    assert_eq!(error.hook(), Some("traceability"));
    assert_eq!(
        error.to_string(),
        "hook `traceability` failed: no intent is selected"
    );
    assert_eq!(log.lines(), ["10"]);
}

#[test]
fn r_13_a_panic_becomes_an_error_and_skips_later_hooks() {
    let (registry, log) = (Registry::new(), Log::new());
    let panics = |_: &str| -> HookResponse { panic!("out of range") };
    registry.register_pre(PreFn::new("panics", panics), at(20));
    registry.register_pre(passing(&log, "30"), at(30));
    let error = block_on(registry.execute_pre("request")).unwrap_err();
    assert_eq!(
        (error.hook(), error.failure().kind()),
        (Some("panics"), "panic")
    );
    assert!(error.to_string().contains("out of range"), "{error}");
    assert!(log.lines().is_empty());
}

fn panicking(_result: &str, _request_id: Option<&str>) {
    panic!("panics at once");
}

/// Fails, panics at once, panics later: one hook of each kind, between others.
fn with_failing_post_hooks(log: &Log) -> Registry {
    struct Later;
    impl PostHook<str> for Later {
        fn id(&self) -> &str {
            "later"
        }
        async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
            yield_once().await;
            panic!("panics later")
        }
    }
    struct Rejects;
    impl PostHook<str> for Rejects {
        fn id(&self) -> &str {
            "rejects"
        }
        async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
            yield_once().await;
            Err(HookError::new("rejected later"))
        }
    }
    let registry = Registry::new();
    registry.register_post(post(log, "first"), plain());
    let fails = |_: &str, _: Option<&str>| Err::<(), _>(HookError::new("cannot write"));
    registry.register_post(PostFn::new("fails", fails), plain());
    registry.register_post(post(log, "second"), plain());
    registry.register_post(PostFn::new("panics", panicking), plain());
    registry.register_post(Later, plain());
    registry.register_post(post(log, "third"), plain());
    registry.register_post(Rejects, plain());
    registry.register_post(post(log, "last"), plain());
    registry
}

#[test]
fn r_14_r_35_all_post_hooks_run_despite_failures() {
    let log = Log::new();
    let registry = with_failing_post_hooks(&log);
    for _ in 0..2 {
        run_post(&registry);
        assert_eq!(log.take(), ["first", "second", "third", "last"]);
    }
}

#[tokio::test]
async fn r_14_a_failure_is_logged_with_the_id_of_the_hook() {
    let registry = with_failing_post_hooks(&Log::new());
    let ((), lines) = capture_logs(registry.execute_post("result", None)).await;
    let failures = [
        ("fails", "cannot write"),
        ("panics", "panics at once"),
        ("later", "panics later"),
        ("rejects", "rejected later"),
    ];
    for (id, what) in failures {
        let is_logged =
            has_line(&lines, "ERROR", &[id, what]) || has_line(&lines, "WARN", &[id, what]);
        assert!(is_logged, "{id}: {lines:?}");
    }
}

#[test]
fn r_14_without_post_hooks_nothing_happens() {
    run_post(&Registry::new());
    let registry = Registry::new();
    registry.register_pre(pre(&Log::new(), "x", full(ResponseAction::Deny)), plain());
    run_post(&registry);
}

#[test]
fn r_15_post_hooks_run_sequentially_in_registration_order() {
    struct Slow(&'static str, Log);
    impl PostHook<str> for Slow {
        fn id(&self) -> &str {
            self.0
        }
        async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
            self.1.add(format!("{} begins", self.0));
            yield_once().await;
            self.1.add(format!("{} ends", self.0));
            Ok(())
        }
    }
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_post(Slow("a", log.clone()), at(50));
    registry.register_post(Slow("b", log.clone()), at(-50));
    registry.register_post(Slow("c", log.clone()), plain());
    run_post(&registry);
    let expected = [
        "a begins", "a ends", "b begins", "b ends", "c begins", "c ends",
    ];
    assert_eq!(log.lines(), expected);
    let hooks = registry.registered_hooks(Phase::Post);
    assert!(hooks.iter().all(|hook| hook.priority.is_none()));
}

#[test]
fn r_16_execute_post_completes_after_the_last_hook() {
    struct Slow(Log);
    impl PostHook<str> for Slow {
        fn id(&self) -> &str {
            "slow"
        }
        async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
            for _ in 0..50 {
                yield_once().await;
            }
            self.0.add("hook");
            Ok(())
        }
    }
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_post(Slow(log.clone()), plain());
    run_post(&registry);
    log.add("caller");
    assert_eq!(log.lines(), ["hook", "caller"]);
}

#[tokio::test]
async fn r_16_a_caller_can_detach_the_post_hooks() {
    let registry = PhaseRegistry::<str, String>::new();
    let (done, is_done) = tokio::sync::oneshot::channel();
    let done = Mutex::new(Some(done));
    let sends = move |result: &String, request: Option<&str>| {
        let sender = done.lock().unwrap().take().unwrap();
        sender.send(format!("{result} {request:?}")).unwrap();
    };
    registry.register_post(PostFn::new("sends", sends), plain());
    drop(registry.execute_post_detached("result".to_owned(), Some("r-1".to_owned())));
    assert_eq!(is_done.await.unwrap(), r#"result Some("r-1")"#);
}

#[tokio::test(start_paused = true)]
async fn r_17_hooks_have_no_timeout_by_default() {
    struct Day(Log);
    impl PreHook<str> for Day {
        fn id(&self) -> &str {
            "day"
        }
        async fn execute(&self, _: &str) -> Result<HookResponse, HookError> {
            tokio::time::sleep(Duration::from_secs(60 * 60 * 24)).await;
            Ok(HookResponse::default().reason("after a day"))
        }
    }
    impl PostHook<str> for Day {
        fn id(&self) -> &str {
            "day"
        }
        async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
            tokio::time::sleep(Duration::from_secs(60 * 60 * 24)).await;
            self.0.add("after a day");
            Ok(())
        }
    }
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(Day(log.clone()), plain());
    registry.register_post(Day(log.clone()), plain());
    let response = registry.execute_pre("request").await.unwrap();
    assert_eq!(response.reason.as_deref(), Some("after a day"));
    registry.execute_post("result", None).await;
    assert_eq!(log.lines(), ["after a day"]);
}

#[tokio::test(start_paused = true)]
async fn r_17_a_post_hook_can_have_its_own_timeout() {
    struct Hangs(Dropped);
    impl PostHook<str> for Hangs {
        fn id(&self) -> &str {
            "hangs"
        }
        async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
            let _guard = self.0.guard();
            std::future::pending().await
        }
    }
    let (registry, log, dropped) = (Registry::new(), Log::new(), Dropped::default());
    registry.register_post(
        Hangs(dropped.clone()),
        plain().timeout(Duration::from_secs(1)),
    );
    registry.register_post(post(&log, "after"), plain());
    registry.execute_post("result", None).await;
    assert_eq!(log.lines(), ["after"]);
    assert!(dropped.is_set());
}

#[test]
fn r_18_the_request_id_is_passed_unchanged() {
    let (registry, log) = (Registry::new(), Log::new());
    let writing = log.clone();
    let hook = move |result: &str, request: Option<&str>| {
        writing.add(format!("{result} {request:?}"));
    };
    registry.register_post(PostFn::new("x", hook), plain());
    block_on(registry.execute_post("done", Some("request-1 ")));
    block_on(registry.execute_post("done", Some("")));
    block_on(registry.execute_post("done", None));
    assert_eq!(
        log.lines(),
        [
            r#"done Some("request-1 ")"#,
            r#"done Some("")"#,
            "done None"
        ]
    );
}

#[test]
fn r_19_descriptors_are_listed_in_execution_order() {
    let (registry, log) = (Registry::new(), Log::new());
    for (id, priority) in [("c", 30), ("a", 10), ("b", 20)] {
        registry.register_pre(passing(&log, id), at(priority));
        registry.register_post(post(&log, id), plain());
    }
    let expected = [("a", Some(10)), ("b", Some(20)), ("c", Some(30))];
    assert_eq!(
        priorities(&registry),
        expected.map(|(id, at)| (id.to_owned(), at))
    );
    assert_eq!(ids(&registry, Phase::Post), ["c", "a", "b"]);
    let phases = [Phase::Pre, Phase::Post];
    for phase in phases {
        assert!(
            registry
                .registered_hooks(phase)
                .iter()
                .all(|hook| hook.phase == phase)
        );
    }
}

#[test]
fn r_19_without_hooks_the_list_is_empty() {
    let registry = Registry::new();
    assert!(registry.registered_hooks(Phase::Pre).is_empty());
    assert!(registry.registered_hooks(Phase::Post).is_empty());
}

#[test]
fn r_20_changes_by_a_pre_hook_apply_to_the_next_run() {
    let (registry, log) = (Registry::new(), Log::new());
    let (inner, writing) = (registry.clone(), log.clone());
    let registers = move |_: &str| {
        inner.register_pre(passing(&writing, "new"), at(200));
        inner.deregister(Phase::Pre, "gone");
        HookResponse::default()
    };
    registry.register_pre(PreFn::new("registers", registers), at(1));
    registry.register_pre(passing(&log, "gone"), at(2));
    run_pre(&registry);
    assert_eq!(log.take(), ["gone"]);
    run_pre(&registry);
    assert_eq!(log.take(), ["new"]);
}

#[test]
fn r_20_a_post_hook_can_remove_itself_without_skipping_others() {
    let (registry, log) = (Registry::new(), Log::new());
    let inner = registry.clone();
    let once = move |_: &str, _: Option<&str>| {
        assert!(inner.deregister(Phase::Post, "once"));
    };
    registry.register_post(PostFn::new("once", once), plain());
    registry.register_post(post(&log, "next"), plain());
    run_post(&registry);
    run_post(&registry);
    assert_eq!(log.lines(), ["next", "next"]);
    assert_eq!(ids(&registry, Phase::Post), ["next"]);
}

#[test]
fn r_20_a_replacement_during_a_run_applies_to_the_next_run() {
    struct Waits(Log);
    impl PreHook<str> for Waits {
        fn id(&self) -> &str {
            "waits"
        }
        async fn execute(&self, _: &str) -> Result<HookResponse, HookError> {
            yield_once().await;
            self.0.add("waits");
            Ok(HookResponse::default())
        }
    }
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(Waits(log.clone()), at(1));
    registry.register_pre(pre(&log, "x", HookResponse::default().reason("old")), at(2));
    let replaces = async {
        registry.register_pre(pre(&log, "x", HookResponse::default().reason("new")), at(2));
    };
    let (first, ()) = block_on(async { futures::join!(registry.execute_pre("r"), replaces) });
    assert_eq!(first.unwrap().reason.as_deref(), Some("old"));
    assert_eq!(run_pre(&registry).reason.as_deref(), Some("new"));
}

#[test]
fn r_21_registries_share_no_hooks() {
    let (one, other, log) = (Registry::new(), Registry::new(), Log::new());
    one.register_pre(passing(&log, "x"), plain());
    assert!(other.registered_hooks(Phase::Pre).is_empty());
    run_pre(&other);
    assert!(log.lines().is_empty());
    let clone = one.clone();
    assert!(
        clone.deregister(Phase::Pre, "x"),
        "a clone is the same registry"
    );
    assert!(one.registered_hooks(Phase::Pre).is_empty());
}

#[test]
fn r_22_hooks_get_the_request_and_can_hold_a_context() {
    struct Budget(Arc<AtomicUsize>);
    impl PreHook<[u32]> for Budget {
        fn id(&self) -> &str {
            "budget"
        }
        async fn execute(&self, request: &[u32]) -> Result<HookResponse, HookError> {
            self.0.fetch_add(request.len(), Ordering::SeqCst);
            Ok(HookResponse::default())
        }
    }
    let spent = Arc::new(AtomicUsize::new(0));
    let registry = PhaseRegistry::<[u32], ()>::new();
    registry.register_pre(Budget(Arc::clone(&spent)), plain());
    block_on(registry.execute_pre(&[1, 2, 3])).unwrap();
    block_on(registry.execute_pre(&[4])).unwrap();
    assert_eq!(spent.load(Ordering::SeqCst), 4);
}

#[test]
fn r_23_a_response_has_the_specified_fields() {
    let written = serde_json::to_value(full(ResponseAction::Deny)).unwrap();
    let expected = json!({
        "action": "DENY",
        "classification": "DESTRUCTIVE",
        "reason": "Scope Violation",
        "error_type": "scope",
        "details": "src/secret.rs is not in scope",
        "recovery_hint": "edit a file below `src/`",
    });
    assert_eq!(written, expected);
    let back: HookResponse = serde_json::from_value(written).unwrap();
    assert_eq!(back, full(ResponseAction::Deny));
}

#[test]
fn r_23_only_the_action_is_required() {
    let response: HookResponse = serde_json::from_value(json!({"action": "HALT"})).unwrap();
    assert_eq!(response, HookResponse::new(ResponseAction::Halt));
    assert!(serde_json::from_value::<HookResponse>(json!({"reason": "why"})).is_err());
}

#[test]
fn r_24_adding_a_phase_hook_takes_one_registration() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(passing(&log, "old"), at(10));
    run_pre(&registry);
    registry.register_pre(passing(&log, "new"), at(5));
    run_pre(&registry);
    assert_eq!(log.lines(), ["old", "new", "old"]);
}

#[test]
fn r_34_a_mock_with_an_existing_id_replaces_the_hook() {
    let (registry, log) = (Registry::new(), Log::new());
    let real = |_: &str| -> HookResponse { panic!("the real hook must not run") };
    registry.register_pre(PreFn::new("scope-check", real), at(30));
    registry.register_pre(pre(&log, "scope-check", full(ResponseAction::Deny)), at(30));
    assert_eq!(run_pre(&registry), full(ResponseAction::Deny));
    assert_eq!(log.lines(), ["scope-check"]);
}

#[test]
fn r_34_a_new_registry_runs_only_registered_hooks() {
    let (registry, log) = (Registry::new(), Log::new());
    registry.register_pre(pre(&log, "mock", full(ResponseAction::Deny)), plain());
    run_pre(&registry);
    run_post(&registry);
    assert_eq!(log.lines(), ["mock"]);
}

#[test]
fn e_42_dropping_a_run_drops_its_hook_and_leaves_nothing_locked() {
    struct Hangs(Dropped);
    impl PreHook<str> for Hangs {
        fn id(&self) -> &str {
            "hangs"
        }
        async fn execute(&self, _: &str) -> Result<HookResponse, HookError> {
            let _guard = self.0.guard();
            std::future::pending().await
        }
    }
    let (registry, log, dropped) = (Registry::new(), Log::new(), Dropped::default());
    registry.register_pre(Hangs(dropped.clone()), at(1));
    registry.register_pre(passing(&log, "after"), at(2));
    {
        let mut run = pin!(registry.execute_pre("request"));
        assert!(
            run.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    }
    assert!(dropped.is_set());
    assert!(log.lines().is_empty());
    assert!(registry.deregister(Phase::Pre, "hangs"));
    run_pre(&registry);
    assert_eq!(log.lines(), ["after"]);
}

#[test]
fn e_43_a_pre_hook_can_run_its_registry_recursively() {
    let (registry, log) = (PhaseRegistry::<usize, ()>::new(), Log::new());
    let (inner, writing) = (registry.clone(), log.clone());
    let again = move |depth: &usize| {
        writing.add(depth);
        match depth {
            0 => HookResponse::default().reason("done"),
            _ => block_on(inner.execute_pre(&(depth - 1))).unwrap(),
        }
    };
    registry.register_pre(PreFn::new("again", again), RegisterOptions::new());
    // `block_on` does not nest, so the outermost run has a thread without one.
    let mut run = pin!(registry.execute_pre(&1));
    let polled = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, std::task::Poll::Ready(Ok(response))
        if response.reason.as_deref() == Some("done")));
    assert_eq!(log.lines(), ["1", "0"]);
}

/// One step of a model of the PRE hooks.
#[derive(Clone, Debug)]
enum Step {
    Register(usize, Option<i32>),
    Replace(usize),
    Deregister(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let priority = prop::option::of(98..103i32);
    prop_oneof![
        4 => (0..6usize, priority).prop_map(|(id, priority)| Step::Register(id, priority)),
        1 => (0..6usize).prop_map(Step::Replace),
        2 => (0..6usize).prop_map(Step::Deregister),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r_03_to_r_08_the_order_matches_the_reference_model(
        steps in prop::collection::vec(step(), 0..30),
    ) {
        let names = ["a", "b", "c", "d", "e", "f"];
        let (registry, log) = (Registry::new(), Log::new());
        // Id and priority, in the order in which the ids came.
        let mut model: Vec<(usize, i32)> = Vec::new();
        for step in steps {
            let place = |model: &[(usize, i32)], id| model.iter().position(|item| item.0 == id);
            match step {
                Step::Register(id, priority) => {
                    let options = priority.map_or_else(plain, at);
                    registry.register_pre(passing(&log, names[id]), options);
                    let priority = priority.unwrap_or(100);
                    match place(&model, id) {
                        Some(found) => model[found].1 = priority,
                        None => model.push((id, priority)),
                    }
                }
                Step::Replace(id) => {
                    registry.replace_pre(passing(&log, names[id]));
                    if place(&model, id).is_none() {
                        model.push((id, 100));
                    }
                }
                Step::Deregister(id) => {
                    let found = place(&model, id);
                    prop_assert_eq!(registry.deregister(Phase::Pre, names[id]), found.is_some());
                    if let Some(found) = found {
                        model.remove(found);
                    }
                }
            }
        }
        let mut expected = model;
        expected.sort_by_key(|item| item.1);
        let expected: Vec<_> =
            expected.into_iter().map(|(id, at)| (names[id].to_owned(), Some(at))).collect();
        prop_assert_eq!(priorities(&registry), expected.clone());
        run_pre(&registry);
        prop_assert_eq!(log.take(), expected.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    }
}
