//! Registering and unregistering event hooks (E-01 to E-13).

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use futures::executor::block_on;
use hooks_runtime::{
    Event, EventHook, HookError, HookRegistry, HookResult, Map, RegisterOptions, Registration,
    Stateful, StatefulEventHook, impl_hook,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::kit::{Log, at, capture_logs, emit, has_line, logging, named, plain, yield_once};

/// Returns the order in which hooks run for the event `e`.
fn order(registry: &HookRegistry, log: &Log) -> Vec<String> {
    block_on(emit(registry, "e", ()));
    log.take()
}

fn proceed() -> HookResult {
    HookResult::proceed()
}

#[test]
fn e_01_register_returns_a_registration_that_unregisters() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let registration: Registration = registry.register("e", logging(&log, "a", proceed()), plain());
    assert_eq!(order(&registry, &log), ["a"]);
    assert!(registration.unregister());
    assert!(order(&registry, &log).is_empty());
}

/// Also `X-1`.
#[test]
fn e_01_the_default_priority_is_zero() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", logging(&log, "1", proceed()), at(1));
    registry.register("e", logging(&log, "default", proceed()), plain());
    registry.register("e", logging(&log, "0", proceed()), at(0));
    registry.register("e", logging(&log, "-1", proceed()), at(-1));
    assert_eq!(order(&registry, &log), ["-1", "default", "0", "1"]);
}

#[test]
fn e_02_on_is_an_alias_of_register() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let on = registry.on("e", logging(&log, "on", proceed()), at(1).name("on"));
    registry.register(
        "e",
        logging(&log, "register", proceed()),
        at(2).name("register"),
    );
    assert_eq!(order(&registry, &log), ["on", "register"]);
    assert_eq!(registry.list_handlers(None)["e"], ["on", "register"]);
    assert!(on.unregister());
    assert_eq!(order(&registry, &log), ["register"]);
}

#[test]
fn e_03_lower_priorities_run_first_and_can_be_negative() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for priority in [7, i32::MAX, -3, 0, i32::MIN, 100, -100] {
        registry.register(
            "e",
            logging(&log, priority.to_string(), proceed()),
            at(priority),
        );
    }
    let expected = [i32::MIN, -100, -3, 0, 7, 100, i32::MAX].map(|priority| priority.to_string());
    assert_eq!(order(&registry, &log), expected);
}

#[test]
fn e_04_hooks_of_equal_priority_run_in_registration_order() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for line in ["a", "b", "c", "d", "e", "f"] {
        registry.register("e", logging(&log, line, proceed()), at(5));
    }
    assert_eq!(order(&registry, &log), ["a", "b", "c", "d", "e", "f"]);
}

#[test]
fn e_04_a_hook_registered_again_runs_last_at_equal_priority() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let first = registry.register("e", logging(&log, "a", proceed()), plain());
    registry.register("e", logging(&log, "b", proceed()), plain());
    first.unregister();
    registry.register("e", logging(&log, "a", proceed()), plain());
    assert_eq!(order(&registry, &log), ["b", "a"]);
}

#[test]
fn e_05_one_handler_can_be_registered_twice_and_for_many_events() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let writing = log.clone();
    let handler = move |event: Arc<str>, _data: Arc<Map>| {
        writing.add(event);
        HookResult::proceed()
    };
    let first = registry.register("e", handler.clone(), plain());
    registry.register("e", handler.clone(), plain());
    registry.register("other", handler, plain());
    assert_eq!(order(&registry, &log), ["e", "e"]);
    first.unregister();
    assert_eq!(order(&registry, &log), ["e"]);
    block_on(emit(&registry, "other", ()));
    assert_eq!(log.lines(), ["other"]);
}

/// Also `X-3`.
#[test]
fn e_06_hooks_with_the_same_name_are_unregistered_separately() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let first = registry.register("e", logging(&log, "first", proceed()), named("same"));
    let second = registry.register("e", logging(&log, "second", proceed()), named("same"));
    let other = registry.register("other", logging(&log, "other", proceed()), named("same"));
    assert_eq!(registry.list_handlers(Some("e"))["e"], ["same", "same"]);
    assert!(first.unregister());
    assert_eq!(order(&registry, &log), ["second"]);
    assert!(second.unregister());
    assert!(order(&registry, &log).is_empty());
    assert_eq!(registry.list_handlers(None)["other"], ["same"]);
    assert!(other.unregister());
    assert!(registry.list_handlers(None).is_empty());
}

#[test]
fn e_07_a_second_unregister_does_nothing() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let first = registry.register("e", logging(&log, "a", proceed()), named("a"));
    assert!(first.unregister());
    registry.register("e", logging(&log, "b", proceed()), named("a"));
    assert!(!first.unregister());
    assert_eq!(order(&registry, &log), ["b"]);
}

#[test]
fn e_07_unregistering_after_the_registry_is_dropped_does_nothing() {
    let registry = HookRegistry::new();
    let registration = registry.register("e", logging(&Log::new(), "a", proceed()), plain());
    drop(registry);
    assert!(!registration.unregister());
    assert!(!registration.unregister());
}

#[test]
fn e_07_dropping_the_registration_keeps_the_hook() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    drop(registry.register("e", logging(&log, "a", proceed()), plain()));
    assert_eq!(order(&registry, &log), ["a"]);
}

#[test]
fn e_07_a_guard_unregisters_only_its_own_hook() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", logging(&log, "a", proceed()), plain());
    let guard = registry
        .register("e", logging(&log, "b", proceed()), plain())
        .unregister_on_drop();
    assert_eq!(order(&registry, &log), ["a", "b"]);
    drop(guard);
    assert_eq!(order(&registry, &log), ["a"]);
}

#[test]
fn e_08_a_hook_registered_by_a_hook_runs_in_the_next_emission() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let (inner, writing) = (registry.clone(), log.clone());
    registry.register(
        "e",
        move |_event: Arc<str>, _data: Arc<Map>| {
            writing.add("registers");
            inner.register("e", logging(&writing, "new", proceed()), at(10));
            HookResult::proceed()
        },
        plain(),
    );
    assert_eq!(order(&registry, &log), ["registers"]);
    assert_eq!(order(&registry, &log), ["registers", "new"]);
}

#[test]
fn e_08_a_hook_unregistered_by_a_hook_still_runs_in_the_current_emission() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let later = registry.register("e", logging(&log, "later", proceed()), at(10));
    let writing = log.clone();
    registry.register(
        "e",
        move |_event: Arc<str>, _data: Arc<Map>| {
            writing.add("unregisters");
            later.unregister();
            HookResult::proceed()
        },
        plain(),
    );
    registry.register("e", logging(&log, "last", proceed()), at(20));
    assert_eq!(order(&registry, &log), ["unregisters", "later", "last"]);
    assert_eq!(order(&registry, &log), ["unregisters", "last"]);
}

#[test]
fn e_08_a_hook_can_unregister_itself_without_skipping_others() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let (itself, writing) = (Arc::new(OnceLock::<Registration>::new()), log.clone());
    let own = Arc::clone(&itself);
    let registration = registry.register(
        "e",
        move |_event: Arc<str>, _data: Arc<Map>| {
            writing.add("once");
            own.get().unwrap().unregister();
            HookResult::proceed()
        },
        at(1),
    );
    itself.set(registration).unwrap();
    registry.register("e", logging(&log, "next", proceed()), at(2));
    assert_eq!(order(&registry, &log), ["once", "next"]);
    assert_eq!(order(&registry, &log), ["next"]);
}

#[test]
fn e_08_changes_while_a_hook_is_pending_apply_to_the_next_emission() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let writing = log.clone();
    let waits = move |_event: Arc<str>, _data: Arc<Map>| {
        let log = writing.clone();
        async move {
            log.add("waits");
            yield_once().await;
            HookResult::proceed()
        }
    };
    registry.register("e", waits, plain());
    let gone = registry.register("e", logging(&log, "gone", proceed()), at(1));
    let changes = async {
        gone.unregister();
        registry.register("e", logging(&log, "new", proceed()), at(2));
    };
    block_on(async { futures::join!(emit(&registry, "e", ()), changes) });
    assert_eq!(log.take(), ["waits", "gone"]);
    assert_eq!(order(&registry, &log), ["waits", "new"]);
}

fn plain_function(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
    HookResult::proceed()
}

async fn async_function(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
    HookResult::proceed()
}

async fn fallible_function(_event: Arc<str>, _data: Arc<Map>) -> Result<HookResult, HookError> {
    Ok(HookResult::proceed())
}

fn borrowing_function(_event: Event<'_>) -> HookResult {
    HookResult::proceed()
}

fn generic_function<T: Default + Into<Value>>(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
    HookResult::set("generic", T::default())
}

struct Audit;

impl EventHook for Audit {
    async fn call(&self, _event: Event<'_>) -> Result<HookResult, HookError> {
        Ok(HookResult::proceed())
    }
}

struct Counter(u32);

impl StatefulEventHook for Counter {
    async fn call_mut(&mut self, _event: Event<'_>) -> Result<HookResult, HookError> {
        self.0 += 1;
        Ok(HookResult::set("count", self.0))
    }
}

#[impl_hook(EventHook)]
async fn by_attribute(event: Event<'_>) -> Result<HookResult, HookError> {
    Ok(HookResult::set("by_attribute", event.name()))
}

/// Returns the names that the registry lists for `e`.
fn names(registry: &HookRegistry) -> Vec<String> {
    registry.list_handlers(Some("e"))["e"].clone()
}

/// Counts its calls before it returns its future.
struct CountsBefore(Arc<AtomicU32>);

impl EventHook for CountsBefore {
    fn call(
        &self,
        _event: Event<'_>,
    ) -> impl Future<Output = Result<HookResult, HookError>> + Send {
        self.0.fetch_add(1, Ordering::Relaxed);
        ready(Ok(HookResult::proceed()))
    }
}

#[test]
fn e_05_an_emission_calls_a_hook_once() {
    let calls = Arc::new(AtomicU32::new(0));
    let registry = HookRegistry::new();
    registry.register("e", CountsBefore(Arc::clone(&calls)), plain());
    block_on(emit(&registry, "e", ()));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn e_09_a_function_is_registered_under_its_name() {
    let registry = HookRegistry::new();
    registry.register("e", plain_function, plain());
    registry.register("e", async_function, plain());
    registry.register("e", fallible_function, plain());
    registry.register("e", borrowing_function, plain());
    let expected = [
        "plain_function",
        "async_function",
        "fallible_function",
        "borrowing_function",
    ];
    assert_eq!(names(&registry), expected);
}

#[test]
fn e_09_a_generic_function_is_registered_under_its_name() {
    let registry = HookRegistry::new();
    registry.register("e", generic_function::<Vec<std::string::String>>, plain());
    assert_eq!(names(&registry), ["generic_function"]);
}

struct Checker<T>(T);

impl<T: Send + Sync + 'static> Checker<T> {
    fn check(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
        HookResult::proceed()
    }
}

trait Checks {
    fn by_trait(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
        HookResult::proceed()
    }
}

impl Checks for Audit {}

#[test]
fn e_09_an_associated_function_is_registered_under_its_name() {
    let registry = HookRegistry::new();
    let _ = Checker(0).0;
    registry.register("e", Checker::<u8>::check, plain());
    assert_eq!(names(&registry), ["check"]);
}

#[test]
fn e_09_a_trait_function_is_registered_under_its_name() {
    let registry = HookRegistry::new();
    registry.register("e", <Audit as Checks>::by_trait, plain());
    assert_eq!(names(&registry), ["by_trait"]);
}

#[test]
fn e_09_a_hook_type_is_registered_under_its_name() {
    let registry = HookRegistry::new();
    registry.register("e", Audit, plain());
    registry.register("e", Stateful::new(Counter(0)), plain());
    assert_eq!(names(&registry), ["Audit", "Counter"]);
}

#[test]
fn e_09_closures_are_anonymous() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        |_event: Arc<str>, _data: Arc<Map>| HookResult::proceed(),
        plain(),
    );
    assert!(names(&registry).is_empty());
}

#[test]
fn e_09_a_boxed_closure_is_anonymous() {
    type Boxed = Box<dyn Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync>;
    let registry = HookRegistry::new();
    let boxed: Boxed = Box::new(|_: Arc<str>, _: Arc<Map>| HookResult::proceed());
    registry.register("e", boxed, plain());
    assert!(names(&registry).is_empty(), "{:?}", names(&registry));
}

#[test]
fn e_09_references_to_function_objects_and_pointers_are_anonymous() {
    type Known = &'static (dyn Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync);
    let registry = HookRegistry::new();
    let known: Known = &plain_function;
    registry.register("e", known, plain());
    static POINTER: fn(Arc<str>, Arc<Map>) -> HookResult = plain_function;
    let pointer: &'static fn(Arc<str>, Arc<Map>) -> HookResult = &POINTER;
    registry.register("e", pointer, plain());
    assert!(names(&registry).is_empty(), "{:?}", names(&registry));
}

#[test]
fn e_09_a_type_generic_over_a_function_is_registered_under_its_name() {
    struct Rule<F>(F);
    impl hooks_runtime::EventHook for Rule<fn() -> HookResult> {
        async fn call(
            &self,
            _: hooks_runtime::Event<'_>,
        ) -> Result<HookResult, hooks_runtime::HookError> {
            Ok((self.0)())
        }
    }
    let registry = HookRegistry::new();
    registry.register(
        "e",
        Rule(HookResult::proceed as fn() -> HookResult),
        plain(),
    );
    assert_eq!(names(&registry), ["Rule"]);
}

#[test]
fn e_09_a_function_pointer_is_anonymous() {
    let registry = HookRegistry::new();
    let pointer: fn(Arc<str>, Arc<Map>) -> HookResult = plain_function;
    registry.register("e", pointer, plain());
    assert!(names(&registry).is_empty(), "{:?}", names(&registry));
}

#[test]
fn e_09_an_explicit_name_overrides_the_name_of_a_function_or_type() {
    let registry = HookRegistry::new();
    registry.register("e", plain_function, named("given"));
    registry.register("e", Audit, RegisterOptions::new().name("audit"));
    assert_eq!(names(&registry), ["given", "audit"]);
}

#[tokio::test]
async fn e_10_registering_and_unregistering_are_logged() {
    let registry = HookRegistry::new();
    let (registration, lines) = capture_logs(async {
        registry.register("deploy:start", plain_function, at(7).name("gate"))
    })
    .await;
    assert!(
        has_line(&lines, "DEBUG", &["deploy:start", "gate", "7"]),
        "{lines:?}"
    );
    let (_, lines) = capture_logs(async { registration.unregister() }).await;
    assert!(
        has_line(&lines, "DEBUG", &["deploy:start", "gate", "7"]),
        "{lines:?}"
    );
    let (_, lines) = capture_logs(async { registration.unregister() }).await;
    assert!(lines.is_empty(), "nothing was unregistered: {lines:?}");
}

#[test]
fn e_11_any_string_can_be_an_event_name() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for event in ["", " ", "custom:event", "Ereignis 🦀", "a\nb", "tool:pre"] {
        registry.register(event, logging(&log, event, proceed()), plain());
    }
    for event in ["", " ", "custom:event", "Ereignis 🦀", "a\nb", "tool:pre"] {
        block_on(emit(&registry, event, ()));
        assert_eq!(log.take(), [event]);
    }
}

#[test]
fn e_11_event_names_are_matched_exactly() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for event in [
        "tool",
        "tool:*",
        "*",
        "Tool:pre",
        "tool:pre ",
        "tool:pre:sub",
        "",
    ] {
        registry.register(event, logging(&log, event, proceed()), plain());
    }
    block_on(emit(&registry, "tool:pre", ()));
    assert!(log.lines().is_empty(), "{:?}", log.lines());
}

#[test]
fn e_12_a_handler_gets_the_event_name_and_the_data() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let writing = log.clone();
    let handler = move |event: Arc<str>, data: Arc<Map>| {
        writing.add(format!("{event} {}", data["n"]));
        HookResult::proceed()
    };
    registry.register("tool:pre", handler.clone(), plain());
    registry.register("custom:ÄÖ", handler, plain());
    block_on(emit(&registry, "tool:pre", serde_json::json!({"n": 1})));
    block_on(emit(&registry, "custom:ÄÖ", serde_json::json!({"n": 2})));
    assert_eq!(log.lines(), ["tool:pre 1", "custom:ÄÖ 2"]);
}

#[test]
fn e_13_handlers_can_be_sync_or_async_functions_and_closures() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        |_: Arc<str>, _: Arc<Map>| HookResult::set("a", 1),
        plain(),
    );
    let later = |_: Arc<str>, _: Arc<Map>| async {
        yield_once().await;
        HookResult::set("b", 2)
    };
    registry.register("e", later, plain());
    let fallible = |_: Arc<str>, _: Arc<Map>| Ok::<_, std::io::Error>(HookResult::set("c", 3));
    registry.register("e", fallible, plain());
    let both = |_: Arc<str>, _: Arc<Map>| async {
        yield_once().await;
        Ok::<_, HookError>(HookResult::set("d", 4))
    };
    registry.register("e", both, plain());
    registry.register(
        "e",
        |event: Event<'_>| HookResult::set("e", event.name()),
        plain(),
    );
    registry.register("e", async_function, plain());
    registry.register("e", plain_function, plain());
    let data = block_on(emit(&registry, "e", ())).data;
    let expected = serde_json::json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": "e"});
    assert_eq!(serde_json::Value::Object(Map::clone(&data)), expected);
}

#[test]
fn e_13_async_closures_can_be_handlers() {
    let registry = HookRegistry::new();
    let later = async |event: Arc<str>, _: Arc<Map>| {
        yield_once().await;
        HookResult::set("event", &*event)
    };
    registry.register("e", later, plain());
    assert_eq!(block_on(emit(&registry, "e", ())).data["event"], "e");
}

#[test]
fn e_13_hook_types_can_be_handlers() {
    let registry = HookRegistry::new();
    registry.register("e", Audit, plain());
    registry.register("e", ByAttribute, plain());
    registry.register("e", Stateful::new(Counter(0)), plain());
    block_on(emit(&registry, "e", ()));
    let data = block_on(emit(&registry, "e", ())).data;
    assert_eq!(data["count"], 2, "the state is kept between the emissions");
    assert_eq!(data["by_attribute"], "e");
}

/// One step of a model of the registry.
#[derive(Clone, Copy, Debug)]
enum Step {
    Register {
        event: usize,
        priority: i32,
    },
    /// Of all registrations so far, by a number that is taken modulo their count.
    Unregister(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..2usize, -2..3i32).prop_map(|(event, priority)| Step::Register { event, priority }),
        2 => any::<usize>().prop_map(Step::Unregister),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_03_e_04_e_07_the_execution_order_matches_the_reference_model(
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let events = ["even", "odd"];
        let (registry, log) = (HookRegistry::new(), Log::new());
        let mut registrations = Vec::new();
        // Event, priority and number of the registered hooks, in the order of registration.
        let mut model: Vec<(usize, i32, usize)> = Vec::new();
        for step in steps {
            match step {
                Step::Register { event, priority } => {
                    let number = registrations.len();
                    let options = at(priority).name(number.to_string());
                    let handler = logging(&log, number.to_string(), proceed());
                    registrations.push(registry.register(events[event], handler, options));
                    model.push((event, priority, number));
                }
                Step::Unregister(any) if !registrations.is_empty() => {
                    let number = any % registrations.len();
                    let was_there = model.iter().any(|item| item.2 == number);
                    prop_assert_eq!(registrations[number].unregister(), was_there);
                    model.retain(|item| item.2 != number);
                }
                Step::Unregister(_) => {}
            }
        }
        let mut listing = BTreeMap::new();
        for (index, event) in events.into_iter().enumerate() {
            let mut expected: Vec<_> = model.iter().filter(|item| item.0 == index).collect();
            expected.sort_by_key(|item| item.1);
            let expected: Vec<_> = expected.iter().map(|item| item.2.to_string()).collect();
            block_on(emit(&registry, event, ()));
            prop_assert_eq!(log.take(), expected.clone());
            if !expected.is_empty() {
                listing.insert(event.to_owned(), expected);
            }
        }
        prop_assert_eq!(registry.list_handlers(None), listing);
        prop_assert_eq!(registry.descriptors().len(), model.len());
    }
}
