//! The state after a dispatch is dropped, after a panic in a hook, and after a change of the set
//! during a dispatch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::executor::block_on;
use hooks_core::{hooks, impl_hooks};

use crate::kit::{Log, in_every_form, panic_message, panics, poll_once, yield_once};

#[hooks]
trait Slow {
    #[hook(always)]
    async fn step(log: &Log) -> u32 {
        let _leaves = OnDrop(log, "default gone");
        log.add("default");
        yield_once().await;
        log.add("default done");
        0
    }
}

struct OnDrop<'a>(&'a Log, &'static str);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.add(self.1);
    }
}

struct Pauses(&'static str);

#[impl_hooks(SlowSet)]
impl Slow for Pauses {
    async fn step(&self, log: &Log, last: Option<u32>) -> u32 {
        let _leaves = OnDrop(log, "hook gone");
        log.add(self.0);
        yield_once().await;
        log.add("hook done");
        last.unwrap() + 1
    }
}

/// A dispatch is lazy: without a poll nothing runs
#[test]
fn a_dispatch_runs_nothing_before_its_first_poll() {
    let set = SlowSet::new().with_hooks(Pauses("a"));
    let log = Log::new();
    drop(set.step(&log));
    assert_eq!(log.lines(), [""; 0]);
}

/// A dropped dispatch future runs nothing more
#[test]
fn a_dropped_dispatch_drops_the_running_body_and_runs_no_further_hook() {
    let set = SlowSet::new()
        .with_hooks(Pauses("a"))
        .with_hooks(Pauses("b"));
    let stages: [&[&str]; 3] = [
        &["default", "default gone"],
        &["default", "default done", "default gone", "a", "hook gone"],
        &[
            "default",
            "default done",
            "default gone",
            "a",
            "hook done",
            "hook gone",
            "b",
            "hook gone",
        ],
    ];
    for (polls, expected) in (1..).zip(stages) {
        let log = Log::new();
        {
            let mut dispatch = Box::pin(set.step(&log));
            for _ in 0..polls {
                assert!(poll_once(dispatch.as_mut()).is_pending());
            }
            drop(dispatch);
        }
        assert_eq!(log.lines(), expected);
        // No lock is held: the set dispatches from the start.
        assert_eq!(block_on(set.step(&Log::new())), 2);
    }
}

/// A suspended dispatch does not block others, even while it is still alive
#[test]
fn a_suspended_dispatch_does_not_block_others() {
    let set = SlowSet::new().with_hooks(Pauses("a"));
    let (log, other) = (Log::new(), Log::new());
    let mut suspended = pin!(set.step(&log));
    assert!(poll_once(suspended.as_mut()).is_pending());
    assert_eq!(block_on(set.step(&other)), 1);
    assert_eq!(
        block_on(set.clone().with_hooks(Pauses("b")).step(&other)),
        2
    );
    assert_eq!(block_on(suspended), 1);
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Risky {
                #[hook(always)]
                async fn step(log: &Log, who: &str) {
                    $($pause)*
                    log.add("default");
                    if who == "default" {
                        panic!("the default gave up");
                    }
                }

                #[hook(singleton)]
                async fn only(log: &Log, who: &str) {
                    $($pause)*
                    log.add("default");
                    if who == "default" {
                        panic!("the default gave up");
                    }
                }

                #[hook(fallback, chain = Gives)]
                async fn chained(log: &Log) -> Option<u8> {
                    $($pause)*
                    log.add("default");
                    None
                }
            }

            #[derive(Default)]
            struct Gives;

            impl hooks_core::Chain<Option<u8>> for Gives {
                async fn call(&self, output: &Option<u8>) -> std::ops::ControlFlow<()> {
                    $($pause)*
                    assert_ne!(*output, Some(13), "the chain gave up");
                    std::ops::ControlFlow::Continue(())
                }
            }

            struct Named(&'static str);

            #[impl_hooks(RiskySet)]
            impl Risky for Named {
                async fn step(&self, log: &Log, who: &str) {
                    log.add(self.0);
                    $($pause)*
                    if who == self.0 {
                        panic!("{} gave up", self.0);
                    }
                }

                async fn only(&self, log: &Log, who: &str) {
                    log.add(self.0);
                    $($pause)*
                    if who == self.0 {
                        panic!("{} gave up", self.0);
                    }
                }

                async fn chained(&self, log: &Log) -> Option<u8> {
                    log.add(self.0);
                    $($pause)*
                    (self.0 == "thirteen").then_some(13)
                }
            }

            /// A typed slot raises a panic again, and runs nothing after it
            #[test]
            fn a_panic_in_a_hook_propagates_to_the_caller_and_ends_the_dispatch() {
                let set = RiskySet::new()
                    .with_hooks(Named("a"))
                    .with_hooks(Named("b"))
                    .with_hooks(Named("c"));
                let log = Log::new();
                assert_eq!(panics(set.step(&log, "b")), "b gave up");
                assert_eq!(log.lines(), ["default", "a", "b"]);
            }

            /// A panic leaves nothing locked
            #[test]
            fn a_set_is_usable_after_a_panic() {
                let set = RiskySet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                for who in ["a", "default", "b"] {
                    assert_eq!(panics(set.step(&Log::new(), who)), match who {
                        "default" => "the default gave up".to_owned(),
                        other => format!("{other} gave up"),
                    });
                    let log = Log::new();
                    block_on(set.step(&log, "none"));
                    assert_eq!(log.lines(), ["default", "a", "b"]);
                }
            }

            /// Also on a singleton, from the hook and from the default
            #[test]
            fn a_panic_in_a_singleton_or_its_default_propagates_to_the_caller() {
                let set = RiskySet::new();
                assert_eq!(panics(set.only(&Log::new(), "default")), "the default gave up");
                let set = set.with_hooks(Named("a"));
                assert_eq!(panics(set.only(&Log::new(), "a")), "a gave up");
                let log = Log::new();
                block_on(set.only(&log, "default"));
                assert_eq!(log.lines(), ["a"]);
            }

            /// Also from a companion
            #[test]
            fn a_panic_in_a_companion_propagates_to_the_caller() {
                let set = RiskySet::new().with_hooks(Named("a")).with_hooks(Named("thirteen"));
                let log = Log::new();
                assert!(panics(set.chained(&log)).contains("the chain gave up"));
                assert_eq!(log.lines(), ["a", "thirteen"]);
            }

            /// A panic's payload is propagated unchanged
            #[test]
            fn a_propagated_panic_keeps_its_payload() {
                #[derive(Debug, PartialEq)]
                struct Payload(u32);

                struct Throws;

                impl Only for Throws {
                    async fn call(&self, _log: &Log, _who: String) {
                        $($pause)*
                        std::panic::panic_any(Payload(7));
                    }
                }

                let set = RiskySet::new().with_only(Throws);
                let log = Log::new();
                let run = std::panic::AssertUnwindSafe(|| block_on(set.only(&log, "x")));
                let payload = std::panic::catch_unwind(run).unwrap_err();
                assert_eq!(payload.downcast_ref::<Payload>(), Some(&Payload(7)));
            }

            /// Registers another hook into the set it came from while it runs.
            struct Spawns {
                shared: Arc<Mutex<RiskySet<'static>>>,
            }

            impl Step for Spawns {
                async fn call(&self, log: &Log, _who: String) {
                    $($pause)*
                    log.add("spawns");
                    self.shared.lock().unwrap().register_hooks(Named("late"));
                    $($pause)*
                }
            }

            fn lines(shared: &Mutex<RiskySet<'static>>) -> Vec<String> {
                let snapshot = shared.lock().unwrap().clone();
                let log = Log::new();
                block_on(snapshot.step(&log, "none"));
                log.lines()
            }

            /// A dispatch uses a snapshot: a hook that a hook registers runs from the next dispatch
            /// on
            #[test]
            fn a_hook_registered_by_a_hook_runs_in_later_dispatches_only() {
                let shared = Arc::new(Mutex::new(RiskySet::new()));
                let spawns = Spawns { shared: Arc::clone(&shared) };
                shared.lock().unwrap().register_step(spawns).register_hooks(Named("b"));
                assert_eq!(lines(&shared), ["default", "spawns", "b"]);
                assert_eq!(lines(&shared), ["default", "spawns", "b", "late"]);
                assert_eq!(lines(&shared), ["default", "spawns", "b", "late", "late"]);
            }

            /// Removes a hook that has not run yet.
            struct Removes {
                shared: Arc<Mutex<RiskySet<'static>>>,
            }

            impl Step for Removes {
                async fn call(&self, log: &Log, _who: String) {
                    $($pause)*
                    log.add("removes");
                    let _ = self.shared.lock().unwrap().step_mut().remove("victim");
                }
            }

            /// A dispatch uses a snapshot: a hook that a hook removes still runs this once
            #[test]
            fn a_hook_removed_by_a_hook_still_runs_in_the_current_dispatch() {
                struct Victim;

                impl Step for Victim {
                    async fn call(&self, log: &Log, _who: String) {
                        $($pause)*
                        log.add("victim");
                    }
                }

                let shared = Arc::new(Mutex::new(RiskySet::new()));
                let removes = Removes { shared: Arc::clone(&shared) };
                let victim = hooks_core::Entry::new(Victim).key("victim");
                shared.lock().unwrap().register_step(removes).register_step(victim);
                assert_eq!(lines(&shared), ["default", "removes", "victim"]);
                assert_eq!(lines(&shared), ["default", "removes"]);
            }

            /// A hook may dispatch the set it is in
            #[test]
            fn a_hook_can_dispatch_its_own_slot_recursively() {
                struct Recurses(Arc<std::sync::OnceLock<RiskySet<'static>>>);

                impl Step for Recurses {
                    async fn call(&self, log: &Log, who: String) {
                        $($pause)*
                        log.add(format!("enter {who}"));
                        if !who.is_empty() {
                            self.0.get().unwrap().step(log, &who[1..]).await;
                        }
                        log.add(format!("leave {who}"));
                    }
                }

                let shared = Arc::default();
                let set = RiskySet::new().with_step(Recurses(Arc::clone(&shared)));
                assert!(shared.set(set.clone()).is_ok());
                let log = Log::new();
                block_on(set.step(&log, "xy"));
                let expected = [
                    "default", "enter xy", "default", "enter y", "default", "enter ", "leave ",
                    "leave y", "leave xy",
                ];
                assert_eq!(log.lines(), expected);
            }
        }
    };
}

in_every_form!(rules);

/// A hook that awaits once, panics, and would complete if it were polled again.
struct PanicsLater;

#[hooks]
trait LateHooks {
    #[hook(fallback)]
    async fn late() -> u8 {
        0
    }
}

impl Late for PanicsLater {
    fn call(&self, _last: Option<u8>) -> impl Future<Output = u8> + Send {
        let mut polls = 0;
        std::future::poll_fn(move |cx| {
            polls += 1;
            match polls {
                1 => cx.waker().wake_by_ref(),
                2 => panic!("late"),
                _ => return Poll::Ready(1),
            }
            Poll::Pending
        })
    }
}

/// docs/lifetimes.md: after a panic later hooks have not run, and a dispatch that is polled again
/// panics with a message
#[test]
fn polling_a_dispatch_after_a_panic_panics_and_runs_no_further_hook() {
    let log = Log::new();
    let behind = {
        let log = log.clone();
        move |last: Option<u8>| {
            log.add("behind");
            std::future::ready(last.unwrap_or(9))
        }
    };
    let set = LateHooksSet::new().with_late(PanicsLater).with_late(behind);
    let mut dispatch = Box::pin(set.late());
    assert!(poll_once(dispatch.as_mut()).is_pending());
    let mut poll = || catch_unwind(AssertUnwindSafe(|| poll_once(dispatch.as_mut())));
    assert_eq!(panic_message(poll().unwrap_err()), "late");
    let again = panic_message(poll().unwrap_err());
    assert!(again.contains("polled after its completion"), "{again}");
    assert!(log.lines().is_empty());
}
