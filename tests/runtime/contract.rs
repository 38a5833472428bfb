//! The contract of the test kit (`E-160`): hooks that violate it fail exactly the cases of the violation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hooks_runtime::testing::contract::{CASES, Subject, case};
use hooks_runtime::{Event, EventHook, HookError, HookResult, Map};
use serde_json::Value;

/// Returns the names of the cases that a hook fails.
fn failures(subject: &Subject) -> BTreeSet<&'static str> {
    let failures = CASES.iter().filter_map(|case| case.check(subject).err());
    failures.map(|failure| failure.case).collect()
}

fn set<const N: usize>(names: [&'static str; N]) -> BTreeSet<&'static str> {
    for name in names {
        assert!(case(name).is_some(), "there is no case `{name}`");
    }
    BTreeSet::from(names)
}

/// Returns the message of the case of this name about a hook.
fn failure_message(name: &str, subject: &Subject) -> String {
    let case = case(name).expect("there is such a case");
    case.check(subject)
        .expect_err("it does not hold")
        .to_string()
}

/// Condition under which a hook fails.
type When = fn(Event<'_>) -> bool;

/// Returns a hook that panics if this holds for an event.
fn panicking(when: When) -> Subject {
    Subject::new(move || {
        move |event: Event<'_>| {
            assert!(!when(event), "this is where it breaks");
            HookResult::proceed()
        }
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn e_160_a_correct_hook_passes_every_case() {
    assert_eq!(
        failures(&Subject::new(|| |_: Event<'_>| HookResult::proceed())),
        set([])
    );
}

#[test]
fn e_160_a_panic_on_one_kind_of_data_fails_only_its_case() {
    let broken: [(&str, When); 7] = [
        ("survives_null_data", |event| {
            event.get("tool_name").is_some_and(Value::is_null)
        }),
        ("handles_every_standard_event", |event| {
            event.name() == "error:orchestration"
        }),
        ("handles_an_unknown_event", |event| {
            !event.name().contains(':')
        }),
        ("survives_a_huge_text", |event| {
            event
                .str("content")
                .is_some_and(|text| text.len() >= 1 << 20)
        }),
        ("survives_many_fields", |event| event.data().len() >= 10_000),
        ("survives_deep_nesting", |event| {
            event.data().values().any(|value| depth(value) > 100)
        }),
        ("survives_wrong_types", |event| {
            event.get("tool_name").is_some_and(Value::is_i64)
        }),
    ];
    for (name, when) in broken {
        assert_eq!(failures(&panicking(when)), set([name]), "{name}");
        let message = failure_message(name, &panicking(when));
        assert!(
            message.contains("panicked: this is where it breaks"),
            "{message}"
        );
    }
}

#[test]
fn e_160_a_hook_that_requires_a_field_fails_the_cases_without_it() {
    let needy = panicking(|event| event.get("tool_name").is_none());
    let expected = [
        "survives_empty_data",
        "survives_null_data",
        "survives_odd_text",
    ];
    assert_eq!(failures(&needy), set(expected));
    let odd = panicking(|event| {
        event
            .str("tool_name")
            .is_some_and(|text| text.contains('\0'))
    });
    assert_eq!(failures(&odd), set(["survives_odd_text"]));
    let key = panicking(|event| event.data().keys().any(|key| key.len() >= 1 << 16));
    assert_eq!(failures(&key), set(["survives_odd_text"]));
}

#[test]
fn e_95_the_message_for_an_invalid_output_names_the_field() {
    let subject = Subject::new(|| {
        |event: Event<'_>| match event.str("tool_name") {
            Some(_) => HookResult::proceed().approval_timeout(f64::NAN),
            None => HookResult::proceed(),
        }
    });
    for name in [
        "returns_valid_results",
        "handles_collected_events",
        "handles_concurrent_events",
    ] {
        let message = failure_message(name, &subject);
        assert!(
            message.contains("field `approval_timeout` is NaN"),
            "{message}"
        );
    }
    assert!(case("survives_empty_data").unwrap().check(&subject).is_ok());
}

#[test]
fn e_36_the_message_for_an_error_contains_the_sent_data_and_the_failure() {
    let subject = Subject::new(|| |_: Event<'_>| Err::<HookResult, _>("no\u{1b}[31m rules\n"));
    assert_eq!(
        failure_message("survives_empty_data", &subject),
        r"case `survives_empty_data` failed: sent `tool:pre` with {}; got a failure: the hook failed: no\u{1b}[31m rules\n; handle missing fields"
    );
    assert_eq!(failures(&subject).len(), CASES.len());
    let message = failure_message("survives_a_huge_text", &subject);
    assert!(
        message.contains("bytes)") && message.len() < 1000,
        "{message}"
    );
}

#[test]
fn e_160_a_hook_that_panics_after_some_calls_fails() {
    let subject = Subject::new(|| {
        let calls = AtomicUsize::new(0);
        move |_: Event<'_>| {
            assert!(calls.fetch_add(1, Ordering::SeqCst) < 5, "worn out");
            HookResult::proceed()
        }
    });
    let failed = failures(&subject);
    assert!(failed.contains("handles_repeated_events"), "{failed:?}");
    assert!(
        !failed.contains("survives_null_data"),
        "each case has a new hook: {failed:?}"
    );
}

/// Handles one call at a time. Without a guard, a dropped call leaves it busy.
struct OneAtATime {
    busy: Arc<AtomicBool>,
    guarded: bool,
}

struct Done(Arc<AtomicBool>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl EventHook for OneAtATime {
    async fn call(&self, _: Event<'_>) -> Result<HookResult, HookError> {
        if self.busy.swap(true, Ordering::SeqCst) {
            return Err(HookError::new("busy"));
        }
        let done = Done(Arc::clone(&self.busy));
        if self.guarded {
            tokio::time::sleep(Duration::from_millis(20)).await;
        } else {
            std::mem::forget(done);
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.busy.store(false, Ordering::SeqCst);
        }
        Ok(HookResult::proceed())
    }
}

#[test]
fn e_42_e_43_hooks_that_fail_concurrently_or_when_dropped_fail() {
    let one = |guarded| {
        Subject::new(move || OneAtATime {
            busy: Arc::default(),
            guarded,
        })
    };
    assert_eq!(failures(&one(true)), set(["handles_concurrent_events"]));
    let expected = ["handles_concurrent_events", "survives_being_dropped"];
    assert_eq!(failures(&one(false)), set(expected));
    assert!(
        failure_message("handles_concurrent_events", &one(true))
            .contains("8 times at once `tool:pre`")
    );
}

/// Enough for short work, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(2);

async fn hangs(event: Arc<str>, _data: Arc<Map>) -> HookResult {
    if &*event == "session:end" {
        std::future::pending::<()>().await;
    }
    HookResult::proceed()
}

#[test]
fn e_160_a_hook_that_never_completes_fails() {
    let subject = Subject::new(|| hangs).time_limit(LIMIT);
    assert_eq!(failures(&subject), set(["handles_every_standard_event"]));
    let message = failure_message("handles_every_standard_event", &subject);
    assert!(
        message.contains("sent `session:end`") && message.contains("no output within 2s"),
        "{message}"
    );
    let subject = subject.events(["session:end"]);
    assert!(failure_message("handles_collected_events", &subject).contains("timed out after 2s"));
    assert!(failure_message("handles_concurrent_events", &subject).contains("no output within 2s"));
}

#[test]
fn e_160_a_hook_that_blocks_its_thread_fails() {
    let blocks = |event: Event<'_>| {
        if event.name() == "session:end" {
            std::thread::sleep(Duration::from_secs(3600));
        }
        HookResult::proceed()
    };
    let subject = Subject::new(move || blocks).time_limit(LIMIT);
    let message = failure_message("handles_every_standard_event", &subject);
    assert!(
        message.contains("sent `session:end`") && message.contains("thread is blocked"),
        "{message}"
    );
}

#[test]
fn e_160_a_hook_that_completes_after_blocking_too_long_fails() {
    let slow = |event: Event<'_>| {
        if event.name() == "session:end" {
            std::thread::sleep(LIMIT + Duration::from_millis(200));
        }
        HookResult::proceed()
    };
    let subject = Subject::new(move || slow).time_limit(LIMIT);
    let message = failure_message("handles_every_standard_event", &subject);
    assert!(
        message.contains("sent `session:end`")
            && (message.contains("2s a call are allowed") || message.contains("thread is blocked")),
        "{message}"
    );
}

/// Panics when it is dropped.
struct PanicsOnDrop;

impl EventHook for PanicsOnDrop {
    async fn call(&self, _: Event<'_>) -> Result<HookResult, HookError> {
        Ok(HookResult::proceed())
    }
}

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("not me");
    }
}

#[test]
fn e_07_a_hook_that_panics_when_unregistered_fails() {
    let subject = Subject::new(|| PanicsOnDrop);
    assert_eq!(failures(&subject), set(["unregisters"]));
    assert!(failure_message("unregisters", &subject).contains("got a panic: not me"));
}

#[test]
fn e_160_a_hook_whose_constructor_panics_fails() {
    fn make() -> fn(Event<'_>) -> HookResult {
        panic!("no rules are loaded")
    }
    let message = failure_message("returns_valid_results", &Subject::new(make));
    assert!(
        message.contains("a panic outside of a call: no rules are loaded"),
        "{message}"
    );
}

#[test]
fn e_160_unusual_data_are_sent_to_the_selected_events() {
    let subject = panicking(|event| event.name() == "deploy:start" && event.data().is_empty());
    assert_eq!(failures(&subject), set([]));
    let subject = subject.events(["tool:pre", "deploy:start"]);
    assert_eq!(
        failures(&subject),
        set(["survives_empty_data", "survives_null_data"])
    );
    assert!(
        failure_message("survives_empty_data", &subject).contains("sent `deploy:start` with {}")
    );
}
