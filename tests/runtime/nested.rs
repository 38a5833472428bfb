//! Hooks that emit: the maximum depth of nested emissions.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use futures::executor::block_on;
use hooks_runtime::phases::PreHook;
use hooks_runtime::{
    HookError, HookRegistry, HookResponse, HookResult, Map, PhaseRegistry, ResponseAction,
};
use serde_json::json;

use crate::kit::{Dropped, plain, yield_once};

const LEVELS: u64 = 1_000;

/// Runs on a thread with the default stack of the standard library.
fn on_two_mebibytes(act: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(2 << 20);
    thread.spawn(act).unwrap().join().unwrap();
}

/// A registry whose hook emits its own event until `left` is 0. There it is pending once, and
/// denies.
fn registry(dropped: &Dropped) -> HookRegistry {
    let registry = HookRegistry::new();
    let (inner, dropped) = (registry.clone(), dropped.clone());
    let hook = move |_: Arc<str>, data: Arc<Map>| {
        let (registry, dropped) = (inner.clone(), dropped.clone());
        async move {
            let left = data["left"].as_u64().unwrap();
            if left == 0 {
                let _guard = dropped.guard();
                yield_once().await;
                return HookResult::deny("bottom");
            }
            let emission = registry.emit("level", json!({"left": left - 1})).await;
            emission.unwrap().result()
        }
    };
    registry.register("level", hook, plain());
    registry
}

#[test]
fn e_08_a_thousand_nested_emissions_fit_on_two_mebibytes() {
    on_two_mebibytes(|| {
        let registry = registry(&Dropped::default());
        let emission = block_on(registry.emit("level", json!({"left": LEVELS}))).unwrap();
        assert_eq!(emission.reason(), Some("bottom"));
    });
}

#[test]
fn e_42_a_thousand_nested_emissions_drop_on_two_mebibytes() {
    on_two_mebibytes(|| {
        let dropped = Dropped::default();
        let registry = registry(&dropped);
        {
            let mut emission = pin!(registry.emit("level", json!({"left": LEVELS})));
            let poll = emission
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(poll, Poll::Pending));
            assert!(!dropped.is_set());
        }
        assert!(dropped.is_set());
    });
}

/// A PRE hook that runs the PRE hooks until the request is 0, and then denies.
struct Level(PhaseRegistry<u64, ()>);

impl PreHook<u64> for Level {
    fn id(&self) -> &str {
        "level"
    }

    async fn execute(&self, left: &u64) -> Result<HookResponse, HookError> {
        if *left == 0 {
            yield_once().await;
            return Ok(HookResponse::new(ResponseAction::Deny));
        }
        self.0.execute_pre(&(left - 1)).await
    }
}

#[test]
fn r_20_a_thousand_nested_pre_phases_fit_on_two_mebibytes() {
    on_two_mebibytes(|| {
        let registry = PhaseRegistry::new();
        registry.register_pre(Level(registry.clone()), plain());
        let response = block_on(registry.execute_pre(&LEVELS)).unwrap();
        assert_eq!(response.action, ResponseAction::Deny);
    });
}
