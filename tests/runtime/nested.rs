//! Hooks that emit: how deep emissions may be nested.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

use futures::executor::block_on;
use hooks_runtime::phases::PreHook;
use hooks_runtime::{
    HookError, HookRegistry, HookResponse, HookResult, Map, PhaseRegistry, ResponseAction,
};
use serde_json::json;

use crate::kit::plain;

/// The levels that a thread with the default stack of 2 MiB has to have room for.
const LEVELS: u64 = 1_000;

fn on_two_mebibytes(act: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(2 << 20);
    thread.spawn(act).unwrap().join().unwrap();
}

/// The address of a local, to see how much stack a level takes.
fn here() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(&local).addr()
}

#[test]
fn e_08_a_thousand_nested_emissions_fit_on_two_mebibytes() {
    let places = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let seen = Arc::clone(&places);
    let levels = std::env::var("LEVELS").map_or(LEVELS, |x| x.parse().unwrap());
    on_two_mebibytes(move || {
        let registry = HookRegistry::new();
        let inner = registry.clone();
        registry.register(
            "level",
            move |_: Arc<str>, data: Arc<Map>| {
                let (registry, seen) = (inner.clone(), Arc::clone(&seen));
                async move {
                    let left = data["left"].as_u64().unwrap();
                    if left == levels {
                        seen.0.store(here(), Ordering::Relaxed);
                    }
                    if left == 0 {
                        seen.1.store(here(), Ordering::Relaxed);
                        return HookResult::deny("bottom");
                    }
                    let emission = registry.emit("level", json!({"left": left - 1})).await;
                    emission.unwrap().result()
                }
            },
            plain(),
        );
        let emission = block_on(registry.emit("level", json!({"left": levels}))).unwrap();
        assert_eq!(emission.reason(), Some("bottom"));
    });
    let used = places.0.load(Ordering::Relaxed) - places.1.load(Ordering::Relaxed);
    println!("{} bytes a level", used / levels as usize);
}

struct Level {
    registry: PhaseRegistry<u64, ()>,
    seen: Arc<(AtomicUsize, AtomicUsize)>,
    levels: u64,
}

impl PreHook<u64> for Level {
    fn id(&self) -> &str {
        "level"
    }

    async fn execute(&self, left: &u64) -> Result<HookResponse, HookError> {
        let seen = &self.seen;
        if *left == self.levels {
            seen.0.store(here(), Ordering::Relaxed);
        }
        if *left == 0 {
            seen.1.store(here(), Ordering::Relaxed);
            return Ok(HookResponse::new(ResponseAction::Deny));
        }
        self.registry.execute_pre(&(left - 1)).await
    }
}

#[test]
fn r_20_a_thousand_nested_pre_phases_fit_on_two_mebibytes() {
    let places = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let seen = Arc::clone(&places);
    let levels = std::env::var("LEVELS").map_or(LEVELS, |x| x.parse().unwrap());
    on_two_mebibytes(move || {
        let registry: PhaseRegistry<u64, ()> = PhaseRegistry::new();
        let inner = registry.clone();
        registry.register_pre(Level { registry: inner, seen, levels }, plain());
        let response = block_on(registry.execute_pre(&levels)).unwrap();
        assert_eq!(response.action, ResponseAction::Deny);
    });
    let used = places.0.load(Ordering::Relaxed) - places.1.load(Ordering::Relaxed);
    println!("{} bytes a level", used / levels as usize);
}
