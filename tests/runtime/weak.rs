//! Weak handles: a hook that uses its own registry does not keep the registry alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    Event, EventHook, HookError, HookRegistry, HookResponse, HookResult, Phase, PhaseRegistry,
    WeakHookRegistry,
};
use serde_json::json;

use crate::kit::{emit, plain};

/// Sets a flag when it is dropped.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Emits `inner` for each `outer`, and adds its field to the data.
struct Nested {
    registry: WeakHookRegistry,
    _dropped: OnDrop,
}

impl EventHook for Nested {
    async fn call(&self, _: Event<'_>) -> Result<HookResult, HookError> {
        let Some(registry) = self.registry.upgrade() else {
            return Ok(HookResult::deny("the registry is gone"));
        };
        let inner = registry.emit("inner", ()).await?;
        Ok(HookResult::set("inner", inner.data["answer"].clone()))
    }
}

#[test]
fn a_hook_with_a_weak_registry_does_not_keep_the_registry_alive() {
    let dropped = Arc::new(AtomicBool::new(false));
    let registry = HookRegistry::new();
    let nested = Nested {
        registry: registry.downgrade(),
        _dropped: OnDrop(Arc::clone(&dropped)),
    };
    registry.register("outer", nested, plain());
    registry.register(
        "inner",
        |_: Event<'_>| HookResult::set("answer", 42),
        plain(),
    );
    let clone = registry.clone();
    drop(registry);
    let emission = block_on(emit(&clone, "outer", json!({})));
    assert_eq!(emission.data["inner"], 42);
    let weak = clone.downgrade();
    assert!(weak.upgrade().is_some());
    assert!(!dropped.load(Ordering::SeqCst));
    drop(clone);
    assert!(dropped.load(Ordering::SeqCst), "the hook is dropped");
    assert!(weak.clone().upgrade().is_none());
}

#[test]
fn a_hook_that_captures_its_registry_keeps_it_alive() {
    let dropped = Arc::new(AtomicBool::new(false));
    let registry = HookRegistry::new();
    let (captured, flag) = (registry.clone(), OnDrop(Arc::clone(&dropped)));
    let registration = registry.register(
        "e",
        move |_: Event<'_>| {
            let _ = (&captured, &flag);
            HookResult::proceed()
        },
        plain(),
    );
    let weak = registry.downgrade();
    drop(registry);
    assert!(
        weak.upgrade().is_some(),
        "this is the reference cycle that `downgrade` avoids"
    );
    assert!(registration.unregister());
    assert!(dropped.load(Ordering::SeqCst));
    assert!(weak.upgrade().is_none());
}

#[test]
fn a_phase_hook_with_a_weak_registry_does_not_keep_it_alive() {
    let dropped = Arc::new(AtomicBool::new(false));
    let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    let (weak, flag) = (registry.downgrade(), OnDrop(Arc::clone(&dropped)));
    registry.register_pre(
        PreFn::new("once", move |_: &str| {
            let _ = &flag;
            let registry = weak.upgrade().expect("the registry runs this hook");
            assert!(registry.deregister(Phase::Pre, "once"));
            HookResponse::default()
        }),
        plain(),
    );
    let (weak, flag) = (registry.downgrade(), OnDrop(Arc::default()));
    registry.register_post(
        PostFn::new("count", move |_: &bool, _: Option<&str>| {
            let _ = (&flag, weak.upgrade());
        }),
        plain(),
    );
    block_on(registry.execute_pre("x")).expect("the hook continues");
    assert!(dropped.load(Ordering::SeqCst), "it removed itself");
    let weak = registry.downgrade();
    drop(registry);
    assert!(weak.clone().upgrade().is_none());
}
