//! Reports of runs with around hooks, and panics of around hooks before observers.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::join;
use hooks_runtime::around::Next;
use hooks_runtime::events::{EventCall, EventPhase};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserverFn, PreResult};
use hooks_runtime::{
    Around, Emission, EmitError, EmitOptions, Entry, Event, HookError, HookRegistry, HookResponse,
    HookResult, HookStatus, Map, Phase, PhaseRegistry, Report, ResponseAction,
};

use crate::kit::{Log, named, plain, yield_once};

type Outcome = Result<Emission, EmitError>;

/// Returns the rows of a report.
fn rows(report: &Report) -> Vec<String> {
    let row = |status: &HookStatus| match status {
        HookStatus::Completed => "ran".to_owned(),
        HookStatus::Stopped => "stopped".to_owned(),
        status => status.to_string(),
    };
    let entries = report.entries.iter();
    let rows = entries.map(|entry| format!("{}: {}", entry.name, row(&entry.status)));
    rows.collect()
}

fn stopped_by(report: &Report) -> Option<&str> {
    report.stopped_by().map(|entry| &*entry.name)
}

async fn report(registry: &HookRegistry) -> Report {
    let options = EmitOptions::new().report();
    let outcome = registry.emit_with("e", (), options).await;
    let emission = match &outcome {
        Ok(emission) => emission,
        Err(error) => error.emission().expect("the error has an emission"),
    };
    emission.report().expect("a report was requested").clone()
}

fn proceed(_: Event<'_>) -> HookResult {
    HookResult::proceed()
}

/// A registry with a hook in each phase.
fn guarded() -> HookRegistry {
    let registry = HookRegistry::new();
    registry.register("e", proceed, named("guard"));
    registry.register("e", proceed, named("judge").phase(EventPhase::Decide));
    registry.register("e", proceed, named("audit").phase(EventPhase::Observe));
    registry
}

async fn passes(call: EventCall, next: Next<'_, EventCall>) -> Outcome {
    yield_once().await;
    next.call((call,)).await
}

async fn closes(call: EventCall, _: Next<'_, EventCall>) -> Outcome {
    yield_once().await;
    Ok(Emission::deny(call.data, "policy", "closed"))
}

async fn twice(call: EventCall, next: Next<'_, EventCall>) -> Outcome {
    let _ = next.call((call.clone(),)).await;
    next.call((call,)).await
}

/// Polls both calls of `next` in turns.
async fn both(call: EventCall, next: Next<'_, EventCall>) -> Outcome {
    join(next.call((call.clone(),)), next.call((call,))).await.1
}

#[test]
fn a_report_names_the_around_hook_that_did_not_call_next_and_the_hooks_that_did_not_run() {
    let registry = guarded();
    registry.around("e", Entry::new(passes).name("outer"));
    registry.around("e", Entry::new(closes).name("closes"));
    registry.around("e", Entry::new(passes).name("inner"));
    let found = block_on(report(&registry));
    let expected = [
        "outer: ran",
        "closes: stopped",
        "inner: skipped",
        "guard: skipped",
        "judge: skipped",
        "audit: ran",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(stopped_by(&found), Some("closes"));
    let elapsed = found.entries.iter().map(|entry| entry.elapsed.is_some());
    let is_started = [true, true, false, false, false, true];
    assert_eq!(elapsed.collect::<Vec<_>>(), is_started);
    let ids: Vec<_> = registry
        .around_hooks("e")
        .iter()
        .map(|hook| hook.id())
        .collect();
    assert_eq!(
        found.entries[..3]
            .iter()
            .map(|entry| entry.id)
            .collect::<Vec<_>>(),
        ids
    );
}

#[test]
fn a_hook_within_around_hooks_that_stops_the_dispatch_is_named_and_the_around_hooks_ran() {
    let registry = guarded();
    registry.around("e", Entry::new(passes).name("around"));
    let deny = |_: Event<'_>| HookResult::deny("no");
    registry.register("e", deny, named("denies").priority(-1));
    let found = block_on(report(&registry));
    let expected = [
        "around: ran",
        "denies: stopped",
        "guard: skipped",
        "judge: skipped",
        "audit: ran",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(stopped_by(&found), Some("denies"));
}

#[test]
fn hooks_are_in_the_report_once_for_each_call_of_next() {
    let hooks = ["guard: ran", "judge: ran"];
    let registry = guarded();
    registry.around("e", Entry::new(twice).name("twice"));
    registry.around("e", Entry::new(passes).name("inner"));
    let found = block_on(report(&registry));
    let pass = [&["inner: ran"][..], &hooks].concat();
    let expected = [&["twice: ran"][..], &pass, &pass, &["audit: ran"]].concat();
    assert_eq!(rows(&found), expected);
    assert_eq!(stopped_by(&found), None);

    // The rows of concurrent calls are interleaved, and the status of each is its own.
    let registry = guarded();
    registry.around("e", Entry::new(both).name("both"));
    registry.around("e", Entry::new(passes).name("inner"));
    let found = block_on(report(&registry));
    let mut sorted = rows(&found);
    sorted.sort();
    let expected = [
        "audit: ran",
        "both: ran",
        "guard: ran",
        "guard: ran",
        "inner: ran",
        "inner: ran",
        "judge: ran",
        "judge: ran",
    ];
    assert_eq!(sorted, expected);
}

#[test]
fn the_first_around_hook_that_did_not_call_next_is_named_if_another_calls_again() {
    /// Answers the first call itself.
    struct Cache(std::sync::atomic::AtomicBool);

    impl Around<EventCall> for Cache {
        async fn call<'a>(&'a self, (call,): (EventCall,), next: Next<'a, EventCall>) -> Outcome {
            match self.0.swap(true, std::sync::atomic::Ordering::Relaxed) {
                false => Ok(Emission::proceed(call.data)),
                true => next.call((call,)).await,
            }
        }
    }

    let registry = guarded();
    registry.around("e", Entry::new(twice).name("twice"));
    registry.around("e", Entry::new(Cache(false.into())).name("cache"));
    let found = block_on(report(&registry));
    let expected = [
        "twice: ran",
        "cache: stopped",
        "cache: ran",
        "guard: ran",
        "judge: ran",
        "audit: ran",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(stopped_by(&found), Some("cache"));
}

#[test]
fn disabled_and_excluded_around_hooks_are_in_the_report_in_their_places() {
    let registry = guarded();
    let never = |_: &EventCall| false;
    registry.around("e", Entry::new(closes).name("off").enabled(false));
    registry.around("e", Entry::new(passes).name("first"));
    registry.around("e", Entry::new(closes).name("never").when(never));
    registry.around("e", Entry::new(closes).name("off, too").enabled(false));
    registry.around("e", Entry::new(passes).name("last"));
    let found = block_on(report(&registry));
    let expected = [
        "off: excluded",
        "first: ran",
        "never: excluded",
        "off, too: excluded",
        "last: ran",
        "guard: ran",
        "judge: ran",
        "audit: ran",
    ];
    assert_eq!(rows(&found), expected);

    let registry = HookRegistry::new();
    registry.around("e", Entry::new(closes).name("off").enabled(false));
    assert_eq!(rows(&block_on(report(&registry))), ["off: excluded"]);
}

#[tokio::test(start_paused = true)]
async fn no_hook_is_missing_after_a_deadline_with_and_without_around_hooks() {
    for has_around in [false, true] {
        let registry = guarded();
        if has_around {
            registry.around("e", Entry::new(passes).name("around"));
        }
        let hangs = |_: Arc<str>, _: Arc<Map>| async {
            std::future::pending::<()>().await;
            HookResult::proceed()
        };
        registry.register("e", hangs, named("hangs"));
        registry.register("e", proceed, named("after"));
        let options = EmitOptions::new().report().deadline(Duration::from_secs(1));
        let error = registry.emit_with("e", (), options).await.unwrap_err();
        assert!(matches!(error, EmitError::Deadline { .. }));
        let found = rows(error.emission().unwrap().report().unwrap());
        let hooks = [
            "guard: ran",
            "hangs: cancelled",
            "after: skipped",
            "judge: skipped",
            "audit: ran",
        ];
        let around = ["around: cancelled"];
        let around = if has_around { &around[..] } else { &[] };
        assert_eq!(found, [around, &hooks].concat());
    }
}

#[test]
fn a_panic_that_an_around_hook_catches_is_a_failure_of_the_inner_hook() {
    /// Denies if the rest of the call panics.
    struct FailsClosed;

    impl Around<EventCall> for FailsClosed {
        async fn call<'a>(&'a self, (call,): (EventCall,), next: Next<'a, EventCall>) -> Outcome {
            let data = Arc::clone(&call.data);
            let rest = AssertUnwindSafe(next.call((call,))).catch_unwind();
            rest.await
                .unwrap_or_else(|_| Ok(Emission::deny(data, "closed", "panicked")))
        }
    }

    let registry = guarded();
    registry.around("e", Entry::new(FailsClosed).name("closed"));
    registry.around("e", Entry::new(panics).name("panics"));
    let found = block_on(report(&registry));
    let expected = [
        "closed: ran",
        "panics: panicked: out of order; stopped the dispatch",
        "guard: skipped",
        "judge: skipped",
        "audit: ran",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(stopped_by(&found), Some("panics"));
}

#[test]
fn a_report_does_not_change_the_result_of_an_emission_with_around_hooks() {
    let registry = guarded();
    let sets = |_: Event<'_>| HookResult::set("n", 1).user_message("m");
    registry.register("e", sets, named("sets"));
    registry.around("e", Entry::new(twice).name("twice"));
    let with = block_on(registry.emit_with("e", (), EmitOptions::new().report())).unwrap();
    let without = block_on(registry.emit("e", ())).unwrap();
    assert!(without.report().is_none());
    assert_eq!((with.action, &with.data), (without.action, &without.data));
    assert_eq!(with.messages, without.messages);
    assert_eq!(with.decided_by, without.decided_by);
    assert_eq!(with.decision(), without.decision());
}

type Phases = PhaseRegistry<str, str>;
type PreOutcome = Result<HookResponse, HookError>;

#[test]
fn reports_of_pre_name_around_hooks_and_skipped_hooks_before_the_observers() {
    for has_observer in [false, true] {
        let registry = Phases::new();
        registry.register_pre(
            PreFn::new("guard", |_: &str| HookResponse::default()),
            plain(),
        );
        if has_observer {
            let observe = |_: &str, _: PreResult<'_>| {};
            registry.register_observer(PreObserverFn::new("audit", observe), plain());
        }
        let audit = ["audit: ran"];
        let audit = if has_observer { &audit[..] } else { &[] };
        let around = registry.around_pre();
        let pass = async |request: &str, next: Next<'_, PreCall<str>>| -> PreOutcome {
            yield_once().await;
            next.call((request,)).await
        };
        around.register(Entry::new(pass).name("pass"));
        let (response, found) = block_on(registry.execute_pre_reported("r"));
        assert!(response.unwrap().is_continue());
        assert_eq!(
            rows(&found),
            [&["pass: ran", "guard: ran"][..], audit].concat()
        );
        assert_eq!(stopped_by(&found), None);

        let deny = async |_: &str, _: Next<'_, PreCall<str>>| -> PreOutcome {
            Ok(HookResponse::new(ResponseAction::Deny))
        };
        around.register(Entry::new(deny).name("deny"));
        let (response, found) = block_on(registry.execute_pre_reported("r"));
        assert_eq!(response.unwrap().action, ResponseAction::Deny);
        let hooks = ["pass: ran", "deny: stopped", "guard: skipped"];
        assert_eq!(rows(&found), [&hooks[..], audit].concat());
        assert_eq!(stopped_by(&found), Some("deny"));

        registry.set_enabled(Phase::Pre, "guard", false);
        let (_, found) = block_on(registry.execute_pre_reported("r"));
        assert_eq!(rows(&found)[2], "guard: excluded");
    }
}

#[test]
fn reports_of_post_name_around_hooks_and_skipped_hooks() {
    let registry = Phases::new();
    registry.register_post(PostFn::new("log", |_: &str, _: Option<&str>| {}), plain());
    let around = registry.around_post();
    let twice = async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
        next.call((result, id)).await;
        next.call((result, id)).await;
    };
    let handle = around.register(Entry::new(twice).name("twice"));
    let found = block_on(registry.execute_post_reported("r", None));
    assert_eq!(rows(&found), ["twice: ran", "log: ran", "log: ran"]);

    handle.unregister();
    let drops = async |_: &str, _: Option<&str>, _: Next<'_, PostCall<str>>| {};
    around.register(Entry::new(drops).name("drops"));
    let found = block_on(registry.execute_post_reported("r", None));
    assert_eq!(rows(&found), ["drops: stopped", "log: skipped"]);
    assert_eq!(stopped_by(&found), Some("drops"));
}

#[tokio::test]
async fn runs_with_around_hooks_reports_and_observers_are_sent_between_threads() {
    let registry = guarded();
    registry.around("e", Entry::new(passes).name("around"));
    let phases = Phases::new();
    let pass = async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await;
    phases.around_pre().register(pass);
    let observe = |_: &str, _: PreResult<'_>| {};
    phases.register_observer(PreObserverFn::new("audit", observe), plain());
    let task = tokio::spawn(async move {
        let rows = report(&registry).await.entries.len();
        let (_, found) = phases.execute_pre_reported("r").await;
        (
            rows,
            found.entries.len(),
            phases.execute_pre("r").await.is_ok(),
        )
    });
    assert_eq!(task.await.unwrap(), (4, 2, true));
}

/// Panics before or after the rest of the call.
async fn panics(_: EventCall, _: Next<'_, EventCall>) -> Outcome {
    yield_once().await;
    panic!("out of order")
}

async fn panics_after(call: EventCall, next: Next<'_, EventCall>) -> Outcome {
    let _ = next.call((call,)).await;
    panic!("out of order")
}

fn message(payload: Box<dyn Any + Send>) -> &'static str {
    payload
        .downcast_ref::<&'static str>()
        .expect("the payload of the around hook")
}

#[test]
fn observers_of_an_event_receive_the_panic_of_an_around_hook_and_then_the_caller_does() {
    for (is_after, reported) in [(false, false), (false, true), (true, false), (true, true)] {
        let (registry, log) = (HookRegistry::new(), Log::new());
        let lines = log.clone();
        let guard = move |_: Event<'_>| {
            lines.add("guard");
            HookResult::proceed()
        };
        registry.register("e", guard, plain());
        registry.around("e", Entry::new(passes).name("outer"));
        if is_after {
            registry.around("e", Entry::new(panics_after).name("broken"));
        } else {
            registry.around("e", Entry::new(panics).name("broken"));
        }
        for name in ["one", "two"] {
            let lines = log.clone();
            let observe = move |event: Event<'_>| {
                let error = event.outcome().unwrap().as_ref().unwrap_err();
                lines.add(format!("{name}: {error}"));
                HookResult::proceed()
            };
            registry.register("e", observe, plain().phase(EventPhase::Observe));
        }
        let options = match reported {
            true => EmitOptions::new().report(),
            false => EmitOptions::new(),
        };
        let emission = AssertUnwindSafe(registry.emit_with("e", (), options)).catch_unwind();
        assert_eq!(message(block_on(emission).unwrap_err()), "out of order");
        let error = "hook `broken` of event `e` panicked: out of order";
        let observed = [format!("one: {error}"), format!("two: {error}")];
        let guard = if is_after {
            &["guard".to_owned()][..]
        } else {
            &[]
        };
        assert_eq!(log.take(), [guard, &observed].concat());
        // The registry stays usable.
        let emission = AssertUnwindSafe(registry.emit("e", ())).catch_unwind();
        assert!(block_on(emission).is_err());
    }
}

#[test]
fn observers_of_pre_receive_the_panic_of_an_around_hook_and_then_the_caller_does() {
    for reported in [false, true] {
        let (registry, log) = (Phases::new(), Log::new());
        let pass = async |request: &str, next: Next<'_, PreCall<str>>| -> PreOutcome {
            next.call((request,)).await
        };
        registry
            .around_pre()
            .register(Entry::new(pass).name("outer"));
        let broken = async |_: &str, _: Next<'_, PreCall<str>>| -> PreOutcome {
            yield_once().await;
            panic!("out of order")
        };
        registry
            .around_pre()
            .register(Entry::new(broken).name("broken"));
        let lines = log.clone();
        let observe = move |request: &str, response: PreResult<'_>| {
            let error = response.unwrap_err();
            lines.add(format!("{request}: {error}, {:?}", error.hook()));
        };
        registry.register_observer(PreObserverFn::new("audit", observe), plain());
        let panicking = |_: &str, _: PreResult<'_>| -> () { panic!("an observer") };
        registry.register_observer(PreObserverFn::new("panics", panicking), plain());
        let payload = if reported {
            let run = AssertUnwindSafe(registry.execute_pre_reported("r")).catch_unwind();
            block_on(run).unwrap_err()
        } else {
            let run = AssertUnwindSafe(registry.execute_pre("r")).catch_unwind();
            block_on(run).unwrap_err()
        };
        assert_eq!(message(payload), "out of order");
        let expected = r#"r: hook `broken` panicked: out of order, Some("broken")"#;
        assert_eq!(log.take(), [expected]);
    }
}
