//! Switches, filters, limits of failures, relative order and copies for one call, of the registries.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::events::EventPhase;
use hooks_runtime::phases::{PostFn, PreFn, PreObserverFn, PreResult};
use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
use hooks_runtime::{
    Action, DisabledHook, EmitOptions, Event, FailurePolicy, HookRegistry, HookResponse,
    HookResult, HookStatus, Map, Phase, PhaseRegistry, RegisterOptions, ResponseAction,
};
use proptest::prelude::*;
use serde_json::json;

use crate::kit::{
    Log, at, capture_logs, emit, has_line, logging, named, plain, refusal, returning,
};

fn proceeding(
    log: &Log,
    line: &str,
) -> impl Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync + 'static {
    logging(log, line, HookResult::proceed())
}

#[test]
fn a_disabled_hook_keeps_its_place_and_does_not_run() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for name in ["a", "b", "c"] {
        registry.register("e", proceeding(&log, name), named(name));
    }
    registry.register("other", proceeding(&log, "other b"), named("b"));
    assert_eq!(registry.set_enabled("b", false), 2);
    assert_eq!(registry.set_enabled("unknown", false), 0);
    block_on(emit(&registry, "e", ()));
    block_on(emit(&registry, "other", ()));
    assert_eq!(log.take(), ["a", "c"]);
    let enabled: Vec<_> = registry
        .descriptors()
        .into_iter()
        .map(|hook| hook.enabled)
        .collect();
    assert_eq!(enabled, [true, false, true, false]);
    assert_eq!(registry.list_handlers(Some("e"))["e"], ["a", "b", "c"]);

    assert_eq!(registry.set_enabled("b", true), 2);
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["a", "b", "c"]);
}

#[test]
fn one_registration_is_disabled_by_its_id() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let kept = registry.register("e", proceeding(&log, "first"), named("same"));
    registry.register("e", proceeding(&log, "second"), named("same"));
    let id = registry.descriptors()[0].id;
    assert!(registry.set_entry_enabled(id, false));
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["second"]);
    // The registration still removes its hook.
    assert!(kept.unregister());
    assert!(!registry.set_entry_enabled(id, true));
}

#[test]
fn a_hook_may_be_registered_disabled() {
    for phase in [
        EventPhase::Transform,
        EventPhase::Decide,
        EventPhase::Observe,
    ] {
        let (registry, log) = (HookRegistry::new(), Log::new());
        let options = named("off").enabled(false).phase(phase);
        registry.register("e", proceeding(&log, "ran"), options);
        block_on(emit(&registry, "e", ()));
        assert_eq!(log.take(), [""; 0]);
        registry.set_enabled("off", true);
        block_on(emit(&registry, "e", ()));
        assert_eq!(log.take(), ["ran"]);
    }
}

#[test]
fn the_report_has_disabled_and_filtered_hooks() {
    let registry = HookRegistry::new();
    let proceed = |_: Event<'_>| HookResult::proceed();
    registry.register("e", proceed, named("off").enabled(false));
    registry.register("e", proceed, named("filtered").when(|_| false));
    registry.register("e", proceed, named("runs").when(|_| true));
    let emission = block_on(registry.emit_with("e", (), EmitOptions::new().report())).unwrap();
    let statuses: Vec<_> = emission
        .report()
        .unwrap()
        .entries
        .iter()
        .map(|e| &e.status)
        .collect();
    assert!(
        matches!(
            *statuses,
            [
                HookStatus::Excluded,
                HookStatus::Excluded,
                HookStatus::Completed
            ]
        ),
        "{statuses:?}"
    );
    let conditional: Vec<_> = registry
        .descriptors()
        .iter()
        .map(|hook| hook.conditional)
        .collect();
    assert_eq!(conditional, [false, true, true]);
}

#[test]
fn a_filter_selects_events_in_every_phase() {
    for phase in [
        EventPhase::Transform,
        EventPhase::Decide,
        EventPhase::Observe,
    ] {
        let (registry, log) = (HookRegistry::new(), Log::new());
        let options = plain().phase(phase);
        let options = options.when(|event| event.str("target") == Some("production"));
        registry.register("deploy", proceeding(&log, "ran"), options);
        block_on(emit(&registry, "deploy", json!({"target": "staging"})));
        assert_eq!(log.take(), [""; 0]);
        block_on(emit(&registry, "deploy", json!({"target": "production"})));
        assert_eq!(log.take(), ["ran"]);
    }
}

#[test]
fn a_filter_of_a_deciding_hook_sees_the_final_data() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::set("tool_name", "bash")),
        plain(),
    );
    let deny = || returning(HookResult::deny("no shell"));
    registry.register("e", deny(), plain().tools(["bash"]));
    let emission = block_on(emit(&registry, "e", json!({"tool_name": "sh"})));
    assert_eq!(emission.action, Action::Modify, "the data before the phase");
    registry.register(
        "e",
        deny(),
        plain().tools(["bash"]).phase(EventPhase::Decide),
    );
    let emission = block_on(emit(&registry, "e", json!({"tool_name": "sh"})));
    assert!(emission.is_denied());
}

#[test]
fn patterns_select_tools() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register(
        "tool:pre",
        proceeding(&log, "ran"),
        plain().tools(["bash", "write_*"]),
    );
    for (tool, runs) in [
        (json!("bash"), true),
        (json!("write_file"), true),
        (json!("rewrite_file"), false),
        (json!("read_file"), false),
        // A check must not be skipped because the name is unknown.
        (json!(null), true),
        (json!(7), true),
    ] {
        block_on(emit(&registry, "tool:pre", json!({"tool_name": tool})));
        assert_eq!(log.take().len(), usize::from(runs), "{tool}");
    }
    block_on(emit(&registry, "tool:pre", ()));
    assert_eq!(log.take().len(), 1);
}

#[test]
fn filters_and_patterns_have_to_hold_together() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let options = plain()
        .tools(["bash"])
        .when(|event| event.get("dry_run").is_none());
    registry.register("e", proceeding(&log, "ran"), options);
    block_on(emit(
        &registry,
        "e",
        json!({"tool_name": "bash", "dry_run": true}),
    ));
    block_on(emit(&registry, "e", json!({"tool_name": "ls"})));
    assert_eq!(log.take(), [""; 0]);
    block_on(emit(&registry, "e", json!({"tool_name": "bash"})));
    assert_eq!(log.take(), ["ran"]);
}

#[test]
fn a_hook_runs_if_its_filter_panics() {
    let registry = HookRegistry::new();
    let denies = returning(HookResult::deny("checked"));
    registry.register("e", denies, named("check").when(|_| panic!("out of order")));
    let (emission, lines) = block_on(capture_logs(emit(&registry, "e", ())));
    assert!(emission.is_denied());
    assert!(
        has_line(&lines, "WARN", &["hook=check", "out of order"]),
        "{lines:?}"
    );
}

#[test]
fn a_collection_respects_filters_and_switches() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), named("a"));
    registry.register(
        "e",
        returning(HookResult::set("b", 1)),
        plain().when(|_| false),
    );
    registry.register(
        "e",
        returning(HookResult::set("c", 1)),
        named("c").enabled(false),
    );
    let collected = block_on(registry.emit_and_collect("e", (), Duration::from_secs(1)));
    assert_eq!(collected.len(), 1);
    assert!(collected[0].contains_key("a"));
}

#[test]
fn a_hook_is_disabled_after_consecutive_failures() {
    let registry = HookRegistry::new();
    let flaky = |event: Event<'_>| match event.str("mode") {
        Some("error") => Err("broken"),
        Some("panic") => panic!("out of order"),
        _ => Ok(HookResult::proceed()),
    };
    registry.register("e", flaky, named("flaky").disable_after(3));
    let run = |mode: &str| block_on(emit(&registry, "e", json!({ "mode": mode })));
    let hook = || registry.descriptors().remove(0);

    run("error");
    run("panic");
    assert_eq!((hook().failures, hook().enabled), (2, true));
    run("ok");
    assert_eq!(hook().failures, 0, "a success resets the number");
    run("error");
    run("error");
    let third = async {
        emit(&registry, "e", json!({"mode": "panic"})).await;
    };
    let ((), lines) = block_on(capture_logs(third));
    assert_eq!((hook().failures, hook().enabled), (3, false));
    assert!(
        has_line(
            &lines,
            "WARN",
            &["disabled hook `flaky` of `e` after 3 consecutive failures"]
        ),
        "{lines:?}"
    );
    assert!(run("error").failures.is_empty(), "it does not run");

    registry.set_enabled("flaky", true);
    assert_eq!((hook().failures, hook().enabled), (0, true));
    assert_eq!(run("error").failures.len(), 1);
}

/// Returns a log of the hooks that a registry disables, and its callback.
fn disabled_hooks() -> (Log, impl Fn(&DisabledHook) + Clone + Send + Sync + 'static) {
    let log = Log::new();
    let callback = {
        let log = log.clone();
        move |hook: &DisabledHook| {
            log.add(format!(
                "{} of {} after {}",
                hook.name, hook.place, hook.failures
            ));
        }
    };
    (log, callback)
}

#[test]
fn the_host_is_called_for_a_disabled_hook_of_every_front_end() {
    let (log, callback) = disabled_hooks();
    let hooks = HookRegistry::new();
    hooks.set_on_disabled(callback.clone());
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    hooks.register("e", fails, named("twice").disable_after(2));
    let observes = named("observer")
        .phase(EventPhase::Observe)
        .disable_after(1);
    hooks.register("e", fails, observes);
    hooks.register("collected", fails, named("collected").disable_after(1));
    block_on(emit(&hooks, "e", ()));
    assert_eq!(log.take(), ["observer of e after 1"]);
    block_on(emit(&hooks, "e", ()));
    assert_eq!(log.take(), ["twice of e after 2"]);
    block_on(emit(&hooks, "e", ()));
    assert!(
        log.take().is_empty(),
        "once for each time that a hook is disabled"
    );
    block_on(hooks.emit_and_collect("collected", (), Duration::from_secs(1)));
    assert_eq!(log.take(), ["collected of collected after 1"]);
    // A copy has the callback, and calls it once for both registries.
    hooks.register("copied", fails, named("copied").disable_after(1));
    let copy = hooks.for_call(|_| {});
    block_on(emit(&copy, "copied", ()));
    assert_eq!(log.take(), ["copied of copied after 1"]);

    let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
    phases.set_on_disabled(callback);
    let isolated = || plain().on_failure(FailurePolicy::Isolate).disable_after(1);
    let pre = PreFn::new("pre", |_: &str| Err::<HookResponse, _>("broken"));
    phases.register_pre(pre, isolated());
    let post = PostFn::new("post", |_: &str, _: Option<&str>| Err::<(), _>("broken"));
    phases.register_post(post, plain().disable_after(1));
    let observer = PreObserverFn::new("observer", |_: &str, _: PreResult<'_>| {
        Err::<(), _>("broken")
    });
    phases.register_observer(observer, plain().disable_after(1));
    let result = TransformFn::new("result", |_: TransformInput<'_, str>| {
        Err::<Transformed<str>, _>("broken")
    });
    phases.results().register(result, isolated());
    block_on(phases.execute_pre("call")).unwrap();
    block_on(phases.execute_post("done", None));
    block_on(phases.results().apply("raw")).unwrap();
    let mut lines = log.take();
    lines.sort();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, name) in lines.iter().zip(["observer", "post", "pre", "result"]) {
        assert!(
            line.starts_with(name) && line.ends_with("after 1"),
            "{line}"
        );
    }
}

#[test]
fn the_callback_uses_its_registry_and_a_panic_of_it_is_logged() {
    let hooks = HookRegistry::new();
    let weak = hooks.downgrade();
    hooks.set_on_disabled(move |hook| {
        let hooks = weak.upgrade().expect("the registry lives");
        assert_eq!(hooks.set_enabled(&hook.name, true), 1);
        hooks.register("e", |_: Event<'_>| HookResult::proceed(), named("added"));
        hooks.set_on_disabled(|_| panic!("out of order"));
    });
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    hooks.register("e", fails, named("flaky").disable_after(1));
    block_on(emit(&hooks, "e", ()));
    assert!(
        hooks.descriptors()[0].enabled,
        "the callback enabled it again"
    );
    assert_eq!(hooks.list_handlers(Some("e"))["e"], ["flaky", "added"]);

    let second = async { emit(&hooks, "e", ()).await.failures.len() };
    let (failures, lines) = block_on(capture_logs(second));
    assert_eq!(failures, 1, "the emission has its result");
    assert!(!hooks.descriptors()[0].enabled);
    let panicked = ["the callback for disabled hooks panicked"];
    assert!(has_line(&lines, "ERROR", &panicked), "{lines:?}");
}

#[test]
fn a_replaced_callback_is_dropped_without_a_lock() {
    struct Uses(HookRegistry);
    impl Drop for Uses {
        fn drop(&mut self) {
            self.0.set_on_disabled(|_| {});
        }
    }
    let hooks = HookRegistry::new();
    let other = HookRegistry::new();
    let uses = Uses(hooks.clone());
    other.set_on_disabled(move |_| _ = &uses);
    other.set_on_disabled(|_| {});
    let uses = Uses(other.clone());
    other.set_on_disabled(move |_| _ = &uses);
    other.set_on_disabled(|_| {});
}

#[tokio::test(start_paused = true)]
async fn timeouts_count_and_cancellations_do_not() {
    let registry = HookRegistry::new();
    let sleeps = |_: Arc<str>, _: Arc<Map>| async {
        tokio::time::sleep(Duration::from_secs(9)).await;
        HookResult::proceed()
    };
    let options = named("slow")
        .timeout(Duration::from_secs(1))
        .disable_after(2);
    registry.register("e", sleeps, options);
    for _ in 0..5 {
        let cancelled = Duration::from_millis(10);
        assert!(
            tokio::time::timeout(cancelled, registry.emit("e", ()))
                .await
                .is_err()
        );
    }
    assert_eq!(registry.descriptors()[0].failures, 0);
    registry.emit("e", ()).await.unwrap();
    let collected = registry
        .collect("e", (), Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(collected.failures.len(), 1);
    assert!(!registry.descriptors()[0].enabled);
}

#[test]
fn observers_are_disabled_after_failures() {
    let registry = HookRegistry::new();
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let options = named("audit").phase(EventPhase::Observe).disable_after(1);
    registry.register("e", fails, options);
    assert_eq!(block_on(emit(&registry, "e", ())).failures.len(), 1);
    assert!(!registry.descriptors()[0].enabled);
    assert_eq!(block_on(emit(&registry, "e", ())).failures.len(), 0);
}

#[test]
fn a_hook_that_has_to_deny_is_never_disabled_by_failures() {
    let registry = HookRegistry::new();
    let proceed = || returning(HookResult::proceed());
    for options in [
        plain().on_failure(FailurePolicy::FailClosed),
        plain().on_failure(FailurePolicy::Propagate),
        plain().phase(EventPhase::Decide),
    ] {
        let options = options.name("check").disable_after(3);
        let message = refusal(|| registry.register("e", proceed(), options));
        assert!(
            message.starts_with("hook `check` of event `e` is to be disabled after failures"),
            "{message}"
        );
    }
    let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
    let pass = PreFn::new("check", |_: &str| HookResponse::default());
    let message = refusal(|| phases.register_pre(pass, plain().disable_after(3)));
    assert!(
        message.starts_with("PRE hook `check` is to be disabled"),
        "{message}"
    );
    assert!(registry.descriptors().is_empty());
    assert!(refusal(|| plain().disable_after(0)).contains("0 failures"));
}

#[test]
fn a_key_replaces_a_hook_in_its_place() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let keyed = |key: &'static str| plain().key(key);
    registry.register("e", proceeding(&log, "a"), keyed("a").disable_after(2));
    registry.register("e", proceeding(&log, "b"), keyed("b"));
    registry.register("e", proceeding(&log, "new a"), keyed("a"));
    // Another event and another phase have keys of their own.
    registry.register("f", proceeding(&log, "f"), keyed("a"));
    registry.register(
        "e",
        proceeding(&log, "decides"),
        keyed("a").phase(EventPhase::Decide),
    );
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["new a", "b", "decides"]);
    assert_eq!(registry.descriptors()[0].key.as_deref(), Some("a"));
    assert_eq!(registry.descriptors()[0].failures, 0);
}

#[test]
fn hooks_are_ordered_relative_to_keys() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", proceeding(&log, "audit"), at(-10).key("audit"));
    registry.register("e", proceeding(&log, "redact"), plain().before("audit"));
    registry.register("e", proceeding(&log, "late"), at(-20).after("audit"));
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["redact", "audit", "late"]);
}

#[test]
fn an_unknown_key_and_a_cycle_are_refused_and_change_nothing() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let unknown = named("redact").before("audit");
    let message = refusal(|| registry.register("e", proceeding(&log, "x"), unknown.clone()));
    assert!(
        message.contains("`redact`") && message.contains("`audit`"),
        "{message}"
    );
    assert!(registry.descriptors().is_empty());
    assert!(registry.list_handlers(None).is_empty());
    assert_eq!(block_on(emit(&registry, "e", ())).action, Action::Continue);

    registry.register("e", proceeding(&log, "audit"), named("audit").key("audit"));
    registry.register("e", proceeding(&log, "redact"), unknown.key("redact"));
    let cycle = named("audit").key("audit").before("redact");
    let message = refusal(|| registry.register("e", proceeding(&log, "y"), cycle));
    assert!(
        message.contains("`redact`") && message.contains("`audit`"),
        "{message}"
    );
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["redact", "audit"]);
}

#[test]
fn a_copy_for_one_call_leaves_the_registry_unchanged() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", proceeding(&log, "a"), named("a"));
    registry.register("e", proceeding(&log, "b"), named("b"));
    let call = registry.for_call(|call| {
        assert_eq!(call.set_enabled("a", false), 1);
        call.register("e", proceeding(&log, "extra"), at(-1));
    });
    block_on(emit(&call, "e", ()));
    assert_eq!(log.take(), ["extra", "b"]);
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["a", "b"]);
    // Later changes of the registry do not reach the copy.
    registry.register("e", proceeding(&log, "later"), plain());
    block_on(emit(&call, "e", ()));
    assert_eq!(log.take(), ["extra", "b"]);
}

#[test]
fn a_copy_of_many_events_has_all_of_them() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for event in 0..200 {
        let options = named(format!("hook {}", event % 2));
        registry.register(format!("event {event}"), proceeding(&log, "ran"), options);
    }
    let call = registry.for_call(|call| assert_eq!(call.set_enabled("hook 1", false), 100));
    for event in 0..200 {
        block_on(emit(&call, &format!("event {event}"), ()));
    }
    assert_eq!(log.take().len(), 100);
    for event in 0..200 {
        block_on(emit(&registry, &format!("event {event}"), ()));
    }
    assert_eq!(log.take().len(), 200);
}

type Phases = PhaseRegistry<str, str>;

fn pre(log: &Log, id: &str) -> PreFn<impl Fn(&str) -> HookResponse + use<>, HookResponse> {
    let (log, line) = (log.clone(), id.to_owned());
    PreFn::new(id, move |_: &str| {
        log.add(&line);
        HookResponse::default()
    })
}

#[test]
fn pre_and_post_hooks_and_observers_are_switched_by_id() {
    let (registry, log) = (Phases::new(), Log::new());
    registry.register_pre(pre(&log, "a"), plain());
    registry.register_pre(pre(&log, "b"), plain().enabled(false));
    let seen = log.clone();
    let post = PostFn::new("post", move |_: &str, _: Option<&str>| seen.add("post"));
    registry.register_post(post, plain());
    let seen = log.clone();
    let observer = PreObserverFn::new("see", move |_: &str, _: PreResult<'_>| seen.add("see"));
    registry.register_observer(observer, plain());
    let run = || {
        assert!(block_on(registry.execute_pre("r")).unwrap().is_continue());
        block_on(registry.execute_post("r", None));
        log.take()
    };
    assert_eq!(run(), ["a", "see", "post"]);
    assert!(registry.set_enabled(Phase::Pre, "b", true));
    assert!(registry.set_enabled(Phase::Pre, "a", false));
    assert!(registry.set_enabled(Phase::Post, "post", false));
    assert_eq!(run(), ["b", "see"]);
    assert!(registry.set_enabled(Phase::Observe, "see", false));
    assert!(!registry.set_enabled(Phase::Post, "see", false));
    assert_eq!(run(), ["b"]);
    let enabled = |phase| {
        let hooks = registry.registered_hooks(phase).into_iter();
        hooks.map(|hook| hook.enabled).collect::<Vec<_>>()
    };
    assert_eq!(enabled(Phase::Pre), [false, true]);
    assert_eq!(enabled(Phase::Observe), [false]);
}

#[test]
fn pre_and_post_hooks_are_ordered_relative_to_ids() {
    let (registry, log) = (Phases::new(), Log::new());
    registry.register_pre(pre(&log, "b"), at(10));
    registry.register_pre(pre(&log, "a"), at(20).before("b"));
    block_on(registry.execute_pre("r")).unwrap();
    assert_eq!(log.take(), ["a", "b"]);
    let post = |id: &str| {
        let (log, line) = (log.clone(), id.to_owned());
        PostFn::new(id, move |_: &str, _: Option<&str>| log.add(&line))
    };
    registry.register_post(post("b"), plain());
    registry.register_post(post("a"), plain().before("b"));
    block_on(registry.execute_post("r", None));
    assert_eq!(log.take(), ["a", "b"]);
    let message = refusal(|| registry.register_pre(pre(&log, "c"), plain().after("x")));
    assert!(
        message.contains("`c`") && message.contains("`x`"),
        "{message}"
    );
    // The registry works after the refusal.
    block_on(registry.execute_pre("r")).unwrap();
    assert_eq!(log.take(), ["a", "b"]);
}

#[test]
fn post_hooks_are_disabled_after_failures() {
    for reported in [false, true] {
        let registry = Phases::new();
        let fails = PostFn::new("audit", |_: &str, _: Option<&str>| Err::<(), _>("broken"));
        registry.register_post(fails, plain().disable_after(2));
        let isolated = plain().on_failure(FailurePolicy::Isolate).disable_after(1);
        let fails = PreFn::new("lint", |_: &str| Err::<HookResponse, _>("broken"));
        registry.register_pre(fails, isolated);
        let failures = || {
            let post = registry.registered_hooks(Phase::Post).remove(0);
            let pre = registry.registered_hooks(Phase::Pre).remove(0);
            ((post.failures, post.enabled), (pre.failures, pre.enabled))
        };
        let run = || {
            if reported {
                block_on(registry.execute_pre_reported("r")).0.unwrap();
                block_on(registry.execute_post_reported("r", None));
            } else {
                block_on(registry.execute_pre("r")).unwrap();
                block_on(registry.execute_post("r", None));
            }
        };
        run();
        assert_eq!(failures(), ((1, true), (1, false)));
        run();
        assert_eq!(failures(), ((2, false), (1, false)));
        registry.set_enabled(Phase::Post, "audit", true);
        assert_eq!(failures().0, (0, true));
    }
}

#[test]
fn failures_in_copies_for_one_call_disable_the_hook_of_the_registry() {
    let registry = Phases::new();
    let lint = || PreFn::new("lint", |_: &str| Err::<HookResponse, _>("broken"));
    let isolated = || plain().on_failure(FailurePolicy::Isolate).disable_after(2);
    registry.register_pre(lint(), isolated());
    let state = |registry: &Phases| {
        let hook = registry.registered_hooks(Phase::Pre).remove(0);
        (hook.failures, hook.enabled)
    };
    let run = |registry: &Phases| block_on(registry.execute_pre("r")).unwrap();
    run(&registry.for_call(|_| {}));
    assert_eq!(state(&registry), (1, true));

    // A hook that a copy registers, or a removal in a copy, does not affect the count.
    let replaced = registry.for_call(|call| _ = call.register_pre(lint(), isolated()));
    run(&replaced);
    assert_eq!((state(&replaced), state(&registry)), ((1, true), (1, true)));
    let removed = registry.for_call(|call| assert!(call.deregister(Phase::Pre, "lint")));
    run(&removed);
    assert_eq!(state(&registry), (1, true));

    let copy = registry.for_call(|_| {}).for_call(|_| {});
    run(&copy);
    assert_eq!((state(&copy), state(&registry)), ((2, false), (2, false)));
}

#[test]
fn a_hook_that_a_copy_enables_keeps_its_failures_in_the_registry() {
    let isolated = || plain().on_failure(FailurePolicy::Isolate).disable_after(2);
    let phases = Phases::new();
    let lint = PreFn::new("lint", |_: &str| Err::<HookResponse, _>("broken"));
    phases.register_pre(lint, isolated());
    let failures = |registry: &Phases| registry.registered_hooks(Phase::Pre)[0].failures;
    let run = |registry: &Phases| block_on(registry.execute_pre("r")).unwrap();
    run(&phases);
    let copy = phases.for_call(|call| _ = call.set_enabled(Phase::Pre, "lint", true));
    assert_eq!((failures(&copy), failures(&phases)), (0, 1));
    run(&copy);
    assert_eq!((failures(&copy), failures(&phases)), (1, 1));
    // Enabling the hook in the registry resets its count, also for earlier copies.
    let copy = phases.for_call(|_| {});
    phases.set_enabled(Phase::Pre, "lint", true);
    assert_eq!((failures(&copy), failures(&phases)), (0, 0));

    let hooks = HookRegistry::new();
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    hooks.register("e", fails, plain().name("fails").disable_after(2));
    let failures = |registry: &HookRegistry| registry.descriptors()[0].failures;
    block_on(emit(&hooks, "e", ()));
    let copy = hooks.for_call(|call| _ = call.set_enabled("fails", true));
    assert_eq!((failures(&copy), failures(&hooks)), (0, 1));

    let values = TransformRegistry::<str>::new();
    let fails = |_: TransformInput<'_, str>| Err::<Transformed<str>, _>("broken");
    values.register(TransformFn::new("fails", fails), isolated());
    let failures = |registry: &TransformRegistry<str>| registry.hooks()[0].failures;
    block_on(values.apply("v")).unwrap();
    let copy = values.for_call(|call| _ = call.set_enabled("fails", true));
    assert_eq!((failures(&copy), failures(&values)), (0, 1));
}

#[test]
fn options_of_events_are_refused_for_pre_and_post_hooks() {
    let (registry, log) = (Phases::new(), Log::new());
    for (options, option) in [
        (plain().phase(EventPhase::Observe), "phase"),
        (plain().key("k"), "key"),
        (plain().when(|_| true), "when"),
        (plain().tools(["bash"]), "tools"),
    ] {
        let message = refusal(|| registry.register_pre(pre(&log, "a"), options.clone()));
        assert!(message.contains(&format!("`{option}`")), "{message}");
        let post = PostFn::new("a", |_: &str, _: Option<&str>| {});
        let message = refusal(|| registry.register_post(post, options));
        assert!(message.contains(&format!("`{option}`")), "{message}");
    }
}

#[test]
fn a_copy_of_pre_and_post_hooks_leaves_the_registry_unchanged() {
    let registry = Phases::new();
    let denies = |_: &str| HookResponse::new(ResponseAction::Deny);
    registry.register_pre(PreFn::new("closed", denies), plain());
    let call = registry.for_call(|call| {
        call.set_enabled(Phase::Pre, "closed", false);
        let halts = |_: &str| HookResponse::new(ResponseAction::Halt);
        call.register_pre(PreFn::new("halts", halts), plain());
    });
    let action = |registry: &Phases| block_on(registry.execute_pre("r")).unwrap().action;
    assert_eq!(action(&call), ResponseAction::Halt);
    assert_eq!(action(&registry), ResponseAction::Deny);
}

#[test]
fn options_with_equal_filters_are_equal() {
    let options = RegisterOptions::new().tools(["bash"]).when(|_| true);
    assert_eq!(options, options.clone());
    assert_ne!(
        options,
        RegisterOptions::new().tools(["bash"]).when(|_| true)
    );
    let debug = format!("{options:?}");
    assert!(debug.contains("bash"), "{debug}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A registry with switches, limits and filters, against a model of each hook. Some emissions use
    /// a copy for one call, with a hook less and a hook more.
    #[test]
    fn hooks_run_as_the_model_says(
        limits in prop::collection::vec(prop::option::of(1_u32..4), 1..5),
        steps in prop::collection::vec((0_usize..5, 0_u8..4, prop::option::of(0_usize..5)), 0..30),
    ) {
        let (registry, log) = (HookRegistry::new(), Log::new());
        for (at, limit) in limits.iter().enumerate() {
            let log = log.clone();
            let hook = move |event: Event<'_>| {
                log.add(at);
                match event.get("fails").and_then(|fails| fails.as_u64()) == Some(at as u64) {
                    true => Err("broken"),
                    false => Ok(HookResult::proceed()),
                }
            };
            let options = named(at.to_string());
            let skips = at as u64;
            let options = options.when(move |event| event.get("skips") != Some(&json!(skips)));
            registry.register("e", hook, match limit {
                Some(limit) => options.disable_after(*limit),
                None => options,
            });
        }
        let mut model: Vec<(bool, u32)> = vec![(true, 0); limits.len()];
        for (at, step, left_out) in steps {
            let mut data = Map::new();
            match step {
                0 | 1 => {
                    registry.set_enabled(&at.to_string(), step == 1);
                    if let Some(hook) = model.get_mut(at) {
                        hook.0 = step == 1;
                        hook.1 = if step == 1 { 0 } else { hook.1 };
                    }
                    continue;
                }
                2 => drop(data.insert("fails".to_owned(), at.into())),
                _ => drop(data.insert("skips".to_owned(), at.into())),
            }
            let mut expected = Vec::new();
            for (hook, state) in model.iter_mut().enumerate() {
                if !state.0 || step == 3 && hook == at || Some(hook) == left_out {
                    continue;
                }
                expected.push(hook.to_string());
                let Some(limit) = limits[hook] else { continue };
                state.1 = if step == 2 && hook == at { state.1 + 1 } else { 0 };
                state.0 = state.1 < limit;
            }
            let Some(left_out) = left_out else {
                block_on(emit(&registry, "e", data));
                prop_assert_eq!(log.take(), expected);
                continue;
            };
            let call = registry.for_call(|call| {
                call.set_enabled(&left_out.to_string(), false);
                call.register("e", proceeding(&log, "added"), plain());
            });
            expected.push("added".to_owned());
            block_on(emit(&call, "e", data));
            prop_assert_eq!(log.take(), expected);
        }
        let enabled: Vec<_> = registry.descriptors().iter().map(|hook| hook.enabled).collect();
        let expected: Vec<_> = model.iter().map(|hook| hook.0).collect();
        prop_assert_eq!(enabled, expected);
    }
}
