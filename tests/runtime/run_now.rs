//! Registries from synchronous code: a run in which no hook waits needs no executor.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_runtime::phases::PreFn;
use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
use hooks_runtime::{
    Event, EventHook, FailurePolicy, HookError, HookRegistry, HookResponse, HookResult, Map,
    PhaseRegistry, PreHook, RegisterOptions, ResponseAction, run_now,
};

/// Waits without end.
struct Waiting;

impl EventHook for Waiting {
    async fn call(&self, _: Event<'_>) -> Result<HookResult, HookError> {
        pending().await
    }
}

#[test]
fn t_65_an_emission_returns_its_result() {
    let hooks = HookRegistry::new();
    hooks.register(
        "a",
        |_: Event<'_>| HookResult::deny("no"),
        RegisterOptions::new(),
    );
    hooks.register(
        "b",
        async |_: Arc<str>, _: Arc<Map>| HookResult::proceed(),
        RegisterOptions::new(),
    );
    assert!(run_now(hooks.emit("a", ())).unwrap().unwrap().is_denied());
    assert!(!run_now(hooks.emit("b", ())).unwrap().unwrap().is_denied());
    assert!(
        !run_now(hooks.emit("without hooks", ()))
            .unwrap()
            .unwrap()
            .is_denied()
    );
}

#[test]
fn t_65_a_hook_of_an_event_that_waits_is_named_also_with_failures_caught() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counting = || {
        let ran = Arc::clone(&ran);
        move |_: Event<'_>| {
            ran.fetch_add(1, Ordering::SeqCst);
            HookResult::proceed()
        }
    };
    for policy in [
        FailurePolicy::Isolate,
        FailurePolicy::Propagate,
        FailurePolicy::FailClosed,
    ] {
        let hooks = HookRegistry::new();
        hooks.register("tool:pre", counting(), RegisterOptions::new().priority(-1));
        hooks.register(
            "tool:pre",
            Waiting,
            RegisterOptions::new().name("network").on_failure(policy),
        );
        hooks.register("tool:pre", counting(), RegisterOptions::new().priority(1));
        let waits = run_now(hooks.emit("tool:pre", ())).unwrap_err();
        assert_eq!(
            (waits.slot(), waits.hook()),
            (Some("tool:pre"), Some("network"))
        );
        assert_eq!(ran.swap(0, Ordering::SeqCst), 1);
        let collected =
            run_now(hooks.emit_and_collect("tool:pre", (), Duration::from_secs(60))).unwrap_err();
        assert_eq!(collected.hook(), Some("network"));
        assert_eq!(ran.swap(0, Ordering::SeqCst), 2, "they run concurrently");
    }
}

#[test]
fn t_65_pre_hooks_and_transforms_run_at_once() {
    let phases: PhaseRegistry<String, String> = PhaseRegistry::new();
    let deny = |request: &String| match request.as_str() {
        "rm" => HookResponse::new(ResponseAction::Deny),
        _ => HookResponse::new(ResponseAction::Continue),
    };
    phases.register_pre(PreFn::new("gate", deny), RegisterOptions::new());
    let response = run_now(phases.execute_pre(&"rm".to_owned()))
        .unwrap()
        .unwrap();
    assert_eq!(response.action, ResponseAction::Deny);
    let response = run_now(phases.execute_pre(&"ls".to_owned()))
        .unwrap()
        .unwrap();
    assert_eq!(response.action, ResponseAction::Continue);

    let before_save: TransformRegistry<String> = TransformRegistry::new();
    let trim =
        |text: TransformInput<'_, String>| Transformed::changed(text.current().trim().to_owned());
    before_save.register(TransformFn::new("trim", trim), RegisterOptions::new());
    let saved = run_now(before_save.apply(" text ".to_owned()))
        .unwrap()
        .unwrap();
    assert_eq!(*saved.value, "text");

    phases.register_pre(Slow, RegisterOptions::new());
    let error = run_now(phases.execute_pre(&"ls".to_owned())).unwrap_err();
    assert_eq!(error.hook(), Some("slow"));
}

/// A PRE hook that is pending without end.
struct Slow;

impl PreHook<String> for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    async fn execute(&self, _: &String) -> Result<HookResponse, HookError> {
        pending().await
    }
}
