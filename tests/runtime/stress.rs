//! Many threads that register, unregister and emit at once; hooks that change the registry
//! they run in (E-07, E-08, E-43, X-8).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::around::Next;
use hooks_runtime::events::EventCall;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
use hooks_runtime::{
    Event, HookRegistry, HookResponse, HookResult, Map, Phase, PhaseRegistry, Registration,
};
use serde_json::json;

use crate::kit::{at, emit, map, named, plain, returning};

const THREADS: usize = 8;
const ROUNDS: usize = 150;

/// Runs `act` on many threads that start together.
fn on_many_threads(act: impl Fn(usize) + Send + Sync) {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, act) = (&start, &act);
            scope.spawn(move || {
                start.wait();
                act(number);
            });
        }
    });
}

/// Runs `act` on a separate thread, and fails if it is not done after a long time.
fn without_deadlock(act: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let run = thread::spawn(move || {
        act();
        let _ = done.send(());
    });
    let is_stuck =
        is_done.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!is_stuck, "deadlock");
    run.join().unwrap();
}

/// Returns a handler that counts the emissions with this thread's number.
fn counting(
    number: usize,
    count: &Arc<AtomicUsize>,
) -> impl Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync + 'static {
    let count = Arc::clone(count);
    move |_: Arc<str>, data: Arc<Map>| {
        if data["thread"] == number {
            count.fetch_add(1, Ordering::SeqCst);
        }
        HookResult::proceed()
    }
}

#[test]
fn e_07_e_43_each_threads_hook_runs_once_until_unregistered() {
    let registry = HookRegistry::new();
    on_many_threads(|number| {
        for _ in 0..ROUNDS {
            let count = Arc::new(AtomicUsize::new(0));
            let registration = registry.register("e", counting(number, &count), plain());
            block_on(emit(&registry, "e", json!({"thread": number})));
            assert_eq!(count.load(Ordering::SeqCst), 1);
            assert!(registration.unregister());
            block_on(emit(&registry, "e", json!({"thread": number})));
            assert_eq!(count.load(Ordering::SeqCst), 1);
            assert!(!registration.unregister());
        }
    });
    assert!(registry.descriptors().is_empty());
    assert!(registry.list_handlers(None).is_empty());
}

#[test]
fn e_07_no_concurrent_registration_is_lost_or_duplicated() {
    let registry = HookRegistry::new();
    let calls = Arc::new(AtomicUsize::new(0));
    on_many_threads(|number| {
        for round in 0..ROUNDS {
            let calls = Arc::clone(&calls);
            let counts = move |_: Arc<str>, _: Arc<Map>| {
                calls.fetch_add(1, Ordering::SeqCst);
                HookResult::proceed()
            };
            let event = ["even", "odd"][round % 2];
            registry.register(event, counts, named(format!("{number}-{round}")));
        }
    });
    let mut names: Vec<_> = registry
        .list_handlers(None)
        .into_values()
        .flatten()
        .collect();
    assert_eq!(names.len(), THREADS * ROUNDS);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), THREADS * ROUNDS);
    block_on(emit(&registry, "even", ()));
    block_on(emit(&registry, "odd", ()));
    assert_eq!(calls.load(Ordering::SeqCst), THREADS * ROUNDS);
}

#[test]
fn e_04_concurrent_registrations_keep_the_order_of_each_thread() {
    let registry = HookRegistry::new();
    on_many_threads(|number| {
        for round in 0..ROUNDS {
            registry.register(
                "e",
                returning(HookResult::proceed()),
                named(format!("{number} {round}")),
            );
        }
    });
    let names = registry.list_handlers(Some("e")).remove("e").unwrap();
    for number in 0..THREADS {
        let own: Vec<_> = names
            .iter()
            .filter_map(|name| name.strip_prefix(&format!("{number} ")))
            .collect();
        let expected: Vec<_> = (0..ROUNDS).map(|round| round.to_string()).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn e_07_only_one_of_many_concurrent_unregister_calls_returns_true() {
    for _ in 0..50 {
        let registry = HookRegistry::new();
        let registration = registry.register("e", returning(HookResult::proceed()), plain());
        let removed = AtomicUsize::new(0);
        on_many_threads(|_| {
            if registration.unregister() {
                removed.fetch_add(1, Ordering::SeqCst);
            }
        });
        assert_eq!(removed.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn e_65_an_emission_never_sees_partially_replaced_defaults() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"a": 0, "b": 0})));
    let torn = |_: Arc<str>, data: Arc<Map>| HookResult::set("torn", data["a"] != data["b"]);
    registry.register("e", torn, plain());
    on_many_threads(|number| {
        for round in 0..ROUNDS {
            if number % 2 == 0 {
                let value = number * ROUNDS + round;
                registry.set_default_fields(map(json!({"a": value, "b": value})));
            } else {
                assert_eq!(block_on(emit(&registry, "e", ())).data["torn"], false);
            }
        }
    });
}

#[test]
fn r_04_an_id_registered_by_many_threads_is_listed_once() {
    let registry = PhaseRegistry::<usize, ()>::new();
    let calls = Arc::new(AtomicUsize::new(0));
    on_many_threads(|number| {
        for _ in 0..ROUNDS {
            let counting = Arc::clone(&calls);
            let shared = PreFn::new("shared", move |_: &usize| {
                counting.fetch_add(1, Ordering::SeqCst);
                HookResponse::default()
            });
            registry.register_pre(shared, at(number as i32));
            let own = format!("own-{number}");
            registry.register_pre(
                PreFn::new(&own, |_: &usize| HookResponse::default()),
                plain(),
            );
            block_on(registry.execute_pre(&number)).unwrap();
            assert!(registry.deregister(Phase::Pre, &own));
        }
    });
    let ids: Vec<_> = registry
        .registered_hooks(Phase::Pre)
        .into_iter()
        .map(|hook| hook.id)
        .collect();
    assert_eq!(ids, ["shared"]);
    assert_eq!(calls.load(Ordering::SeqCst), THREADS * ROUNDS);
}

#[test]
fn r_14_post_hooks_run_once_per_call_of_many_threads() {
    let registry = PhaseRegistry::<usize, usize>::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&calls);
    let hook = move |_: &usize, _: Option<&str>| {
        counting.fetch_add(1, Ordering::SeqCst);
    };
    registry.register_post(PostFn::new("counts", hook), plain());
    on_many_threads(|number| {
        for round in 0..ROUNDS {
            let id = format!("{number}-{round}");
            let other = PostFn::new(&id, |_: &usize, _: Option<&str>| ());
            let registration = registry.register_post(other, plain());
            block_on(registry.execute_post(&number, None));
            assert!(registration.unregister());
        }
    });
    assert_eq!(calls.load(Ordering::SeqCst), THREADS * ROUNDS);
    assert_eq!(registry.registered_hooks(Phase::Post).len(), 1);
}

#[test]
fn e_08_a_hook_that_unregisters_itself_runs_once() {
    for _ in 0..100 {
        let registry = HookRegistry::new();
        let calls = Arc::new(AtomicUsize::new(0));
        let own = Arc::new(std::sync::Mutex::new(None::<Registration>));
        let (counting, itself) = (Arc::clone(&calls), Arc::clone(&own));
        let once = move |_: Arc<str>, _: Arc<Map>| {
            counting.fetch_add(1, Ordering::SeqCst);
            if let Some(registration) = itself.lock().unwrap().take() {
                registration.unregister();
            }
            HookResult::proceed()
        };
        *own.lock().unwrap() = Some(registry.register("e", once, plain()));
        block_on(emit(&registry, "e", ()));
        block_on(emit(&registry, "e", ()));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e_43_tasks_emit_register_and_recurse_concurrently() {
    let registry = HookRegistry::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let (inner, counting) = (registry.clone(), Arc::clone(&calls));
    let recursive = move |_: Arc<str>, data: Arc<Map>| {
        let (registry, calls) = (inner.clone(), Arc::clone(&counting));
        async move {
            calls.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            if let Some(depth) = data["depth"].as_u64().filter(|depth| *depth > 0) {
                let again = registry.emit_detached("e", json!({"depth": depth - 1}));
                again.await.unwrap().unwrap();
            }
            HookResult::proceed()
        }
    };
    registry.register("e", recursive, plain());
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move {
                let registration =
                    registry.register("other", returning(HookResult::proceed()), plain());
                emit(&registry, "e", json!({"depth": 3})).await;
                assert!(registration.unregister());
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 50 * 4);
    assert!(!registry.list_handlers(None).contains_key("other"));
}

/// Uses the registry when it is dropped.
struct OnDrop<F: Fn() + Send + Sync>(F, Arc<AtomicBool>);

impl<F: Fn() + Send + Sync> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
        self.1.store(true, Ordering::SeqCst);
    }
}

#[test]
fn e_07_unregistering_a_hook_whose_drop_uses_the_registry_does_not_deadlock() {
    without_deadlock(|| {
        let registry = HookRegistry::new();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let other = registry.register("e", returning(HookResult::proceed()), named("other"));
        let inner = registry.clone();
        let held = OnDrop(
            move || {
                inner.register(
                    "e",
                    returning(HookResult::proceed()),
                    named("by the destructor"),
                );
                assert!(other.unregister());
                inner.set_default_fields(map(json!({"d": 1})));
                assert!(inner.list_handlers(None).contains_key("e"));
                block_on(emit(&inner, "e", ()));
            },
            Arc::clone(&is_dropped),
        );
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let _ = &held;
            HookResult::proceed()
        };
        let registration = registry.register("e", handler, named("holds"));
        assert!(registration.unregister());
        // A reader may keep the previous snapshot for a moment.
        registry.register("e", returning(HookResult::proceed()), named("last"));
        block_on(emit(&registry, "e", ()));
        assert!(
            is_dropped.load(Ordering::SeqCst),
            "the hook is gone with its registration"
        );
        assert_eq!(
            registry.list_handlers(Some("e"))["e"],
            ["by the destructor", "last"]
        );
    });
}

#[test]
fn e_07_a_hook_whose_drop_uses_the_registry_can_unregister_itself() {
    without_deadlock(|| {
        let registry = HookRegistry::new();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let inner = registry.clone();
        let held = OnDrop(
            move || {
                inner.register(
                    "e",
                    returning(HookResult::proceed()),
                    named("by the destructor"),
                );
            },
            Arc::clone(&is_dropped),
        );
        let own = Arc::new(std::sync::Mutex::new(None::<Registration>));
        let itself = Arc::clone(&own);
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let _ = &held;
            itself.lock().unwrap().take().unwrap().unregister();
            HookResult::proceed()
        };
        *own.lock().unwrap() = Some(registry.register("e", handler, named("holds")));
        block_on(emit(&registry, "e", ()));
        assert!(is_dropped.load(Ordering::SeqCst));
        assert_eq!(
            registry.list_handlers(Some("e"))["e"],
            ["by the destructor"]
        );
    });
}

#[test]
fn r_04_replacing_a_hook_whose_drop_uses_the_registry_does_not_deadlock() {
    without_deadlock(|| {
        let registry = PhaseRegistry::<str, str>::new();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let inner = registry.clone();
        let held = OnDrop(
            move || {
                let late = PreFn::new("by the destructor", |_: &str| HookResponse::default());
                inner.register_pre(late, plain());
                inner.deregister(Phase::Pre, "unknown");
                assert_eq!(inner.registered_hooks(Phase::Pre).len(), 2);
            },
            Arc::clone(&is_dropped),
        );
        let holds = move |_: &str| {
            let _ = &held;
            HookResponse::default()
        };
        registry.register_pre(PreFn::new("x", holds), plain());
        registry.register_pre(PreFn::new("x", |_: &str| HookResponse::default()), plain());
        assert!(is_dropped.load(Ordering::SeqCst));
        assert_eq!(registry.registered_hooks(Phase::Pre).len(), 2);
    });
}

#[test]
fn e_67_a_registry_with_hooks_that_unregister_on_drop_can_be_dropped() {
    without_deadlock(|| {
        let registry = HookRegistry::new();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let other = registry.register("e", returning(HookResult::proceed()), plain());
        let held = OnDrop(
            move || {
                other.unregister();
            },
            Arc::clone(&is_dropped),
        );
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let _ = &held;
            HookResult::proceed()
        };
        registry.register("e", handler, plain());
        drop(registry);
        assert!(is_dropped.load(Ordering::SeqCst));
    });
}

#[test]
fn e_21_e_50_thousands_of_hooks_do_not_overflow_the_stack() {
    let registry = HookRegistry::new();
    for number in 0..3_000 {
        if number % 2 == 0 {
            registry.register("e", returning(HookResult::set("n", number)), plain());
        } else {
            let later = move |_: Arc<str>, _: Arc<Map>| async move {
                crate::kit::yield_once().await;
                HookResult::set("n", number)
            };
            registry.register("e", later, plain());
        }
    }
    assert_eq!(block_on(emit(&registry, "e", ())).data["n"], 2_999);
    let answers = block_on(registry.emit_and_collect("e", (), Duration::from_secs(60)));
    assert_eq!(answers.len(), 3_000);
    assert_eq!(answers[1234]["n"], 1234);
}

#[test]
fn e_43_registries_are_send_and_sync_and_their_futures_are_send() {
    fn is_shared<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    fn is_sent<T: Send>(value: T) -> T {
        value
    }
    let events = is_shared(HookRegistry::new());
    is_shared(block_on(is_sent(events.emit("e", ()))).unwrap());
    block_on(is_sent(events.emit_and_collect("e", (), Duration::ZERO)));
    is_shared(events.register("e", returning(HookResult::proceed()), plain()));
    let phases = is_shared(PhaseRegistry::<str, str>::new());
    assert!(is_shared(block_on(is_sent(phases.execute_pre("r")))).is_ok());
    block_on(is_sent(phases.execute_post("r", Some("id"))));
}

#[test]
fn e_07_a_hook_that_owns_its_own_guard_can_be_unregistered() {
    without_deadlock(|| {
        let registry = HookRegistry::new();
        let own = Arc::new(std::sync::Mutex::new(None));
        let held = Arc::clone(&own);
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            // Ends its own registration by dropping the guard.
            drop(held.lock().unwrap().take());
            HookResult::proceed()
        };
        let guard = registry
            .register("e", handler, plain())
            .unregister_on_drop();
        *own.lock().unwrap() = Some(guard);
        block_on(emit(&registry, "e", ()));
        assert!(registry.descriptors().is_empty());
    });
}

/// Many registrations, so that a list has several leaves and a table many events.
const MANY: usize = 400;

#[test]
fn e_08_e_43_emissions_see_sorted_hooks_during_concurrent_registrations() {
    let registry = HookRegistry::new();
    let is_done = AtomicBool::new(false);
    let scattered = |number: usize| (number * 7919 % MANY) as i32;
    thread::scope(|scope| {
        let readers = [0, 1].map(|_| {
            scope.spawn(|| {
                let mut most = 0;
                while !is_done.load(Ordering::SeqCst) {
                    let data = block_on(emit(&registry, "e", json!({"ran": []}))).data;
                    let ran: Vec<_> = data["ran"].as_array().unwrap().iter().collect();
                    assert!(ran.is_sorted_by_key(|priority| priority.as_u64()));
                    most = ran.len().max(most);
                }
                most
            })
        });
        for number in 0..MANY {
            let priority = scattered(number);
            let hook = move |_: Arc<str>, data: Arc<Map>| {
                let mut data = Map::clone(&data);
                data["ran"].as_array_mut().unwrap().push(priority.into());
                HookResult::modify(data)
            };
            let registration = registry.register("e", hook, at(priority));
            registry.register(
                format!("event:{number}"),
                returning(HookResult::proceed()),
                plain(),
            );
            if number % 5 == 0 {
                assert!(registration.unregister());
            }
        }
        is_done.store(true, Ordering::SeqCst);
        let left = MANY - MANY / 5;
        for reader in readers {
            assert!(reader.join().unwrap() <= left);
        }
        let data = block_on(emit(&registry, "e", json!({"ran": []}))).data;
        assert_eq!(data["ran"].as_array().unwrap().len(), left);
    });
    assert_eq!(registry.list_handlers(None).len(), MANY + 1);
}

#[test]
fn e_73_events_run_hooks_exactly_while_hooks_are_registered() {
    let registry = HookRegistry::new();
    let runs_hook = |number: usize| {
        let emission = block_on(emit(&registry, &format!("event:{number}"), ()));
        emission.data.contains_key("ran")
    };
    for _ in 0..2 {
        let registrations: Vec<_> = (0..MANY)
            .map(|number| {
                let hook = returning(HookResult::set("ran", true));
                registry.register(format!("event:{number}"), hook, plain())
            })
            .collect();
        assert!((0..MANY).all(runs_hook));
        for (number, registration) in registrations.iter().enumerate() {
            assert!(registration.unregister());
            assert!(!runs_hook(number));
            assert!((number + 1..MANY).step_by(17).all(runs_hook));
        }
        assert!(registry.list_handlers(None).is_empty());
    }
}

#[test]
fn e_07_a_hook_that_panics_on_drop_does_not_corrupt_the_registry() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let registry = HookRegistry::new();
    let registrations: Vec<_> = (0..MANY)
        .map(|number| {
            let held = PanicsOnDrop;
            let hook = move |_: Arc<str>, _: Arc<Map>| {
                let _ = &held;
                HookResult::proceed()
            };
            registry.register("e", hook, named(number.to_string()))
        })
        .collect();
    for (number, registration) in registrations.iter().enumerate() {
        assert!(registration.unregister());
        let left = registry.list_handlers(Some("e")).remove("e").unwrap();
        assert_eq!(left.len(), MANY - number - 1);
    }
}

/// The examples of hooks that act once: in the documentation of `PhaseRegistry::downgrade`, and in
/// the page on events.
#[test]
fn e_08_a_hook_that_acts_once_does_so_once_in_concurrent_runs() {
    for _ in 0..ROUNDS {
        let acted = Arc::new(AtomicUsize::new(0));
        let called = Arc::new(AtomicUsize::new(0));
        let phases: Arc<PhaseRegistry<str, bool>> = Arc::new(PhaseRegistry::new());
        let weak = phases.downgrade();
        // All threads are in the hook before one of them removes it.
        let together = Barrier::new(THREADS);
        let (acts, calls) = (Arc::clone(&acted), Arc::clone(&called));
        phases.register_pre(
            PreFn::new("first", move |_: &str| {
                calls.fetch_add(1, Ordering::Relaxed);
                together.wait();
                let registry = weak.upgrade();
                if registry.is_some_and(|registry| registry.deregister(Phase::Pre, "first")) {
                    acts.fetch_add(1, Ordering::Relaxed);
                }
                HookResponse::default()
            }),
            plain(),
        );
        let hooks = HookRegistry::new();
        let (has_acted, acts) = (AtomicBool::new(false), Arc::clone(&acted));
        let once = move |_: Event<'_>| {
            if !has_acted.swap(true, Ordering::Relaxed) {
                acts.fetch_add(1, Ordering::Relaxed);
            }
            HookResult::proceed()
        };
        hooks.register("e", once, plain());
        on_many_threads(|_| {
            block_on(phases.execute_pre("r")).unwrap();
            block_on(emit(&hooks, "e", ()));
        });
        assert_eq!(called.load(Ordering::Relaxed), THREADS);
        assert_eq!(acted.load(Ordering::Relaxed), 2);
        assert!(phases.registered_hooks(Phase::Pre).is_empty());
    }
}

#[test]
fn a_removal_is_reported_to_one_of_many_threads_by_every_registry() {
    for _ in 0..ROUNDS {
        let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
        let (hooks, values) = (HookRegistry::new(), TransformRegistry::<str>::new());
        let proceed = |_: Event<'_>| HookResult::proceed();
        let around = async |call: EventCall, next: Next<'_, EventCall>| next.call((call,)).await;
        let transform = |_: TransformInput<'_, str>| Transformed::<str>::Unchanged;
        let handles = [
            phases.register_pre(PreFn::new("a", |_: &str| HookResponse::default()), plain()),
            phases.register_post(PostFn::new("a", |_: &str, _: Option<&str>| {}), plain()),
            hooks.register("e", proceed, plain()),
            hooks.around("e", around),
            values.register(TransformFn::new("a", transform), plain()),
        ];
        let removed = handles.each_ref().map(|_| AtomicUsize::new(0));
        on_many_threads(|thread| {
            for (at, handle) in handles.iter().enumerate() {
                // By its id or by its handle.
                let is_removed = match (at, thread % 2) {
                    (0, 0) => phases.deregister(Phase::Pre, "a"),
                    (1, 0) => phases.deregister(Phase::Post, "a"),
                    (4, 0) => values.deregister("a"),
                    _ => handle.unregister(),
                };
                removed[at].fetch_add(usize::from(is_removed), Ordering::Relaxed);
            }
        });
        assert_eq!(removed.map(AtomicUsize::into_inner), [1; 5]);
    }
}
