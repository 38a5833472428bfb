//! The phases of an emission: hooks that decide on the final data, and observers that run whatever
//! was decided.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_runtime::events::EventPhase;
use hooks_runtime::{
    Action, EmitError, EmitOptions, Event, EventHook, FailurePolicy, HookError, HookRegistry,
    HookResult, HookStatus, Map, RegisterOptions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{
    Log, at, emit, logging, map, named, plain, recording_data, refusal, returning, yield_once,
};

fn in_phase(phase: EventPhase) -> RegisterOptions {
    plain().phase(phase)
}

fn deciding() -> RegisterOptions {
    in_phase(EventPhase::Decide)
}

fn observing() -> RegisterOptions {
    in_phase(EventPhase::Observe)
}

/// Returns an observer that records the outcome in one line.
fn recording_outcome(log: &Log) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |event: Event<'_>| {
        match event.outcome() {
            None => log.add("no outcome"),
            Some(Ok(emission)) => log.add(format!(
                "{} by {} because {}: {}",
                emission.action,
                emission.decided_by.as_deref().unwrap_or("none"),
                emission.reason().unwrap_or("none"),
                Value::Object(Map::clone(&event.data())),
            )),
            Some(Err(error)) => log.add(format!("error: {error}")),
        }
        HookResult::proceed()
    }
}

#[test]
fn a_deciding_hook_sees_the_final_data_whatever_the_priorities() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", recording_data(&log), deciding().priority(-100));
    registry.register("e", returning(HookResult::set("a", 1)), at(100));
    registry.register("e", returning(HookResult::set("b", 2)), plain());
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), [r#"{"b":2,"a":1}"#]);
    assert_eq!(emission.action, Action::Modify);
}

#[test]
fn a_deciding_hook_denies_and_is_named() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), named("changes"));
    let denies = returning(HookResult::deny("not this"));
    registry.register("e", denies, deciding().name("judge"));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.decided_by.as_deref(), Some("judge"));
    assert_eq!(emission.reason(), Some("not this"));
    assert_eq!(emission.data["a"], 1);
}

#[test]
fn a_denial_skips_later_hooks_and_runs_every_observer() {
    for denied_in in [EventPhase::Transform, EventPhase::Decide] {
        let (registry, log) = (HookRegistry::new(), Log::new());
        registry.register("e", recording_outcome(&log), observing());
        let late = logging(&log, "late", HookResult::proceed());
        registry.register("e", late, deciding().priority(1));
        registry.register("e", returning(HookResult::set("a", 1)), at(-1));
        let denies = returning(HookResult::deny("no"));
        registry.register("e", denies, in_phase(denied_in).name("denies"));
        let emission = block_on(emit(&registry, "e", ()));
        assert!(emission.is_denied());
        assert_eq!(log.lines(), [r#"deny by denies because no: {"a":1}"#]);
    }
}

#[test]
fn observers_run_without_other_hooks() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let registration = registry.register("e", recording_outcome(&log), observing());
    block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(log.take(), [r#"continue by none because none: {"a":1}"#]);
    assert!(registration.unregister());
    assert!(!registration.unregister());
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), [""; 0]);
    assert!(registry.descriptors().is_empty());
}

#[test]
fn observers_run_after_an_error() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let propagates = named("fails").on_failure(FailurePolicy::Propagate);
    registry.register("e", fails, propagates);
    registry.register("e", recording_data(&log), deciding());
    registry.register("e", recording_outcome(&log), observing());
    let error = block_on(registry.emit("e", ())).unwrap_err();
    assert!(matches!(error, EmitError::Hook { .. }));
    assert_eq!(log.lines(), [format!("error: {error}")]);
}

#[test]
fn only_observers_see_an_outcome() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for phase in [EventPhase::Transform, EventPhase::Decide] {
        registry.register("e", recording_outcome(&log), in_phase(phase));
    }
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["no outcome", "no outcome"]);
}

#[test]
fn a_deciding_hook_cannot_change_the_data() {
    let full: fn() -> HookResult = || HookResult::modify(map(json!({"b": 2})));
    let single: fn() -> HookResult = || HookResult::set("a", 2);
    for change in [full, single] {
        // By default, a deciding hook fails closed.
        let registry = HookRegistry::new();
        registry.register("e", move |_: Event<'_>| change(), deciding().name("judge"));
        let emission = block_on(emit(&registry, "e", json!({"a": 1})));
        assert_eq!(emission.action, Action::Deny);
        assert_eq!(*emission.data, map(json!({"a": 1})));
        let reason = emission.reason().unwrap();
        assert!(
            reason.contains("`modify` in the phase `decide`"),
            "{reason}"
        );

        let registry = HookRegistry::new();
        let isolated = deciding().on_failure(FailurePolicy::Isolate);
        let waits = move |_: Arc<str>, _: Arc<Map>| async move {
            yield_once().await;
            change()
        };
        registry.register("e", waits, isolated);
        let emission = block_on(emit(&registry, "e", json!({"a": 1})));
        assert_eq!(emission.action, Action::Continue);
        assert_eq!(*emission.data, map(json!({"a": 1})));
        assert_eq!(emission.failures.len(), 1);
    }
}

#[test]
fn a_failing_deciding_hook_denies() {
    let panics = |_: Event<'_>| -> HookResult { panic!("out of order") };
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let registry = HookRegistry::new();
    registry.register("panics", panics, deciding());
    registry.register("fails", fails, deciding());
    assert!(block_on(emit(&registry, "panics", ())).is_denied());
    assert!(block_on(emit(&registry, "fails", ())).is_denied());
    let policies: Vec<_> = registry
        .descriptors()
        .into_iter()
        .map(|hook| hook.on_failure)
        .collect();
    assert_eq!(policies, [FailurePolicy::FailClosed; 2]);
}

#[test]
fn a_deciding_hook_may_ask_inject_and_send_messages() {
    let registry = HookRegistry::new();
    let asks = HookResult::ask_user("Really?").user_message("look here");
    registry.register("e", returning(asks), deciding().name("asks"));
    let injects = HookResult::inject_context("a note");
    registry.register("e", returning(injects), deciding().name("injects"));
    registry.register("e", returning(HookResult::set("a", 1)), plain());
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.action, Action::AskUser);
    assert_eq!(emission.decided_by.as_deref(), Some("asks"));
    assert_eq!(emission.injections[0].content, "a note");
    assert_eq!(emission.messages[0].text, "look here");
    assert_eq!(emission.data["a"], 1);
}

#[test]
fn observers_change_nothing_and_their_failures_are_isolated() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", returning(HookResult::set("a", 1)), named("changes"));
    let outputs = [
        HookResult::deny("too late"),
        HookResult::set("a", 2),
        HookResult::modify(Map::new()),
        HookResult::ask_user("Again?"),
        HookResult::inject_context("a note"),
    ];
    for output in outputs {
        registry.register("e", returning(output), observing());
    }
    let panics = |_: Event<'_>| -> HookResult { panic!("out of order") };
    registry.register("e", panics, observing());
    registry.register(
        "e",
        |_: Event<'_>| Err::<HookResult, _>("broken"),
        observing(),
    );
    registry.register("e", recording_outcome(&log), observing().priority(9));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(emission.decided_by.as_deref(), Some("changes"));
    assert_eq!(*emission.data, map(json!({"a": 1})));
    assert!(emission.injections.is_empty());
    assert_eq!(emission.failures.len(), 7);
    assert_eq!(log.lines(), [r#"modify by changes because none: {"a":1}"#]);
}

#[test]
fn messages_and_printed_texts_of_observers_are_in_the_emission() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::deny("no")), named("denies"));
    let prints = |event: Event<'_>| {
        event.print("recorded");
        HookResult::proceed().user_message("a record was written")
    };
    registry.register("e", prints, observing().name("audit"));
    let muted = |event: Event<'_>| {
        event.print("noise");
        HookResult::proceed().suppress_output(true)
    };
    registry.register("e", muted, observing());
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.messages.len(), 1);
    assert_eq!(&*emission.messages[0].hook, "audit");
    assert_eq!(emission.output().len(), 1);
    assert_eq!(emission.output()[0].text, "recorded");
}

#[test]
fn an_observer_with_another_failure_policy_is_refused() {
    for policy in [FailurePolicy::FailClosed, FailurePolicy::Propagate] {
        let registry = HookRegistry::new();
        let register = || {
            let options = observing().name("audit").on_failure(policy);
            registry.register("e", returning(HookResult::proceed()), options)
        };
        let message = refusal(register);
        assert!(
            message.starts_with("hook `audit` of the phase `observe` cannot"),
            "{message}"
        );
        assert!(registry.descriptors().is_empty());
    }
}

struct Audit(Log);

impl EventHook for Audit {
    async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        yield_once().await;
        let outcome = event.outcome().expect("an observer has an outcome");
        self.0
            .add(outcome.as_ref().map_err(EmitError::clone)?.action);
        Ok(HookResult::proceed())
    }
}

#[test]
fn observers_may_wait_and_run_concurrently() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", returning(HookResult::deny("no")), plain());
    registry.register("e", Audit(log.clone()), observing().priority(1));
    let second = logging(&log, "second", HookResult::proceed());
    registry.register("e", second, observing().priority(2));
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["second", "deny"]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_covers_all_phases() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let sleeps = |seconds| {
        move |_: Arc<str>, _: Arc<Map>| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            HookResult::proceed()
        }
    };
    registry.register("e", sleeps(2), plain());
    registry.register("e", sleeps(2), deciding());
    registry.register("e", recording_outcome(&log), observing());
    registry.register("e", sleeps(2), observing().name("slow").priority(-1));
    let emit = |seconds| {
        let options = EmitOptions::new()
            .deadline(Duration::from_secs(seconds))
            .report();
        registry.emit_with("e", (), options)
    };

    let error = emit(3).await.unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }));
    // Observers run after the deadline, too, but are not awaited.
    assert_eq!(log.take(), [format!("error: {error}")]);
    let emission = error.emission().unwrap();
    assert_eq!(emission.failures.len(), 1);
    assert_eq!(&*emission.failures[0].hook, "slow");

    // The decision was made in time.
    let emission = emit(5).await.unwrap();
    assert_eq!(emission.failures.len(), 1);
    assert_eq!(log.take(), ["continue by none because none: {}"]);

    let emission = emit(7).await.unwrap();
    assert!(emission.failures.is_empty());
}

#[test]
fn the_report_lists_the_hooks_of_all_phases() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::proceed()),
        observing().name("audit"),
    );
    registry.register(
        "e",
        returning(HookResult::proceed()),
        deciding().name("judge"),
    );
    registry.register("e", returning(HookResult::deny("no")), named("denies"));
    let emission = block_on(registry.emit_with("e", (), EmitOptions::new().report())).unwrap();
    let report = emission.report().unwrap();
    let names: Vec<_> = report.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["denies", "judge", "audit"]);
    assert!(matches!(report.entries[0].status, HookStatus::Stopped));
    assert!(matches!(report.entries[1].status, HookStatus::Skipped));
    assert!(matches!(report.entries[2].status, HookStatus::Completed));
}

#[test]
fn listings_are_in_execution_order() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::proceed()),
        observing().name("c").priority(-5),
    );
    registry.register("e", returning(HookResult::proceed()), deciding().name("b"));
    registry.register("e", returning(HookResult::proceed()), at(7).name("a"));
    assert_eq!(registry.list_handlers(None)["e"], ["a", "b", "c"]);
    let phases: Vec<_> = registry
        .descriptors()
        .into_iter()
        .map(|hook| hook.phase.to_string())
        .collect();
    assert_eq!(phases, ["transform", "decide", "observe"]);
}

#[test]
fn a_collection_runs_the_first_phase_alone() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", returning(HookResult::set("a", 1)), plain());
    let line = |line| logging(&log, line, HookResult::proceed());
    registry.register("e", line("decide"), deciding());
    registry.register("e", line("observe"), observing());
    let wait = Duration::from_secs(1);
    let collected = block_on(registry.emit_and_collect("e", (), wait));
    assert_eq!(collected, [map(json!({"a": 1}))]);
    assert_eq!(log.lines(), [""; 0]);
}

#[test]
fn a_dropped_emission_runs_no_observer() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let pends = |_: Arc<str>, _: Arc<Map>| std::future::pending::<HookResult>();
    registry.register("e", pends, deciding());
    registry.register("e", recording_outcome(&log), observing());
    assert!(registry.emit("e", ()).now_or_never().is_none());
    assert_eq!(log.lines(), [""; 0]);
}

#[test]
fn the_original_data_stay_available() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"session": "s"})));
    registry.register(
        "tool:post",
        returning(HookResult::set("result", "[redacted]")),
        plain(),
    );
    let seen = log.clone();
    let compares = move |event: Event<'_>| {
        let original = event.original().map(|data| Value::Object(data.clone()));
        seen.add(format!("{original:?} {:?}", event.str("result")));
        HookResult::proceed()
    };
    registry.register("tool:post", compares.clone(), at(1));
    registry.register("tool:post", compares, observing());
    let data = json!({"result": "key-1"});
    let options = EmitOptions::new().keep_original();
    let emission = block_on(registry.emit_with("tool:post", data.clone(), options)).unwrap();
    assert_eq!(emission.data["result"], "[redacted]");
    let line = format!("{:?} {:?}", Some(data.clone()), Some("[redacted]"));
    assert_eq!(log.take(), [line.clone(), line]);

    block_on(emit(&registry, "tool:post", data));
    assert_eq!(log.take()[0], r#"None Some("[redacted]")"#);
}

#[tokio::test]
async fn emissions_with_phases_and_reports_are_sent_between_threads() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", Audit(log.clone()), observing());
    let detached = registry.emit_detached("e", ());
    assert!(detached.await.unwrap().is_ok());
    let spawned = tokio::spawn(async move {
        let options = EmitOptions::new().report();
        registry.emit_with("e", (), options).await
    });
    assert!(spawned.await.unwrap().is_ok());
    assert_eq!(log.lines(), ["continue", "continue"]);
}

/// Output of a hook of the model.
#[derive(Debug, Clone, Copy)]
enum Output {
    Proceed,
    Set(u8),
    Ask,
    Deny,
    Fail,
}

fn hooks() -> impl Strategy<Value = Vec<(EventPhase, i32, Output)>> {
    let phase = prop_oneof![
        Just(EventPhase::Transform),
        Just(EventPhase::Decide),
        Just(EventPhase::Observe)
    ];
    let output = prop_oneof![
        4 => Just(Output::Proceed),
        3 => any::<u8>().prop_map(Output::Set),
        1 => Just(Output::Ask),
        1 => Just(Output::Deny),
        1 => Just(Output::Fail),
    ];
    prop::collection::vec((phase, -2..3, output), 0..10)
}

/// What the model expects of an emission.
#[derive(Debug, Default)]
struct Expected {
    calls: Vec<String>,
    value: u8,
    action: Action,
}

fn expected(hooks: &[(EventPhase, i32, Output)]) -> Expected {
    let mut expected = Expected::default();
    let mut order: Vec<_> = hooks.iter().enumerate().collect();
    order.sort_by_key(|(at, (phase, priority, _))| (*phase, *priority, *at));
    for (at, (phase, _, output)) in order {
        if *phase != EventPhase::Observe && expected.action == Action::Deny {
            continue;
        }
        expected.calls.push(format!("{at} {}", expected.value));
        let stronger = |action| match (expected.action, action) {
            (_, Action::Deny) => Action::Deny,
            (Action::AskUser, _) | (_, Action::AskUser) => Action::AskUser,
            _ => Action::Modify,
        };
        match (phase, output) {
            (EventPhase::Observe, _) | (_, Output::Proceed) => {}
            (EventPhase::Transform, Output::Set(value)) => {
                expected.action = stronger(Action::Modify);
                expected.value = *value;
            }
            (EventPhase::Transform, Output::Fail) => {}
            (_, Output::Ask) => expected.action = stronger(Action::AskUser),
            (_, Output::Deny) | (EventPhase::Decide, Output::Set(_) | Output::Fail) => {
                expected.action = stronger(Action::Deny);
            }
        }
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_phases_behave_like_the_model(hooks in hooks(), waits in any::<bool>()) {
        let (registry, log) = (HookRegistry::new(), Log::new());
        for (at, (phase, priority, output)) in hooks.iter().copied().enumerate() {
            let log = log.clone();
            let respond = move || match output {
                Output::Proceed => Ok(HookResult::proceed()),
                Output::Set(value) => Ok(HookResult::set("value", value)),
                Output::Ask => Ok(HookResult::ask_user("?")),
                Output::Deny => Ok(HookResult::deny("no")),
                Output::Fail => Err("broken"),
            };
            let options = in_phase(phase).priority(priority);
            if waits && phase != EventPhase::Observe {
                let hook = move |_: Arc<str>, data: Arc<Map>| {
                    log.add(format!("{at} {}", data["value"]));
                    async move {
                        yield_once().await;
                        respond()
                    }
                };
                registry.register("e", hook, options);
            } else {
                let hook = move |event: Event<'_>| {
                    log.add(format!("{at} {}", event.get("value").unwrap()));
                    respond()
                };
                registry.register("e", hook, options);
            }
        }
        let emission = block_on(emit(&registry, "e", json!({"value": 0})));
        let expected = expected(&hooks);
        prop_assert_eq!(log.lines(), expected.calls);
        prop_assert_eq!(emission.action, expected.action);
        prop_assert_eq!(&emission.data["value"], &json!(expected.value));
    }
}
