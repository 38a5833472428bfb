//! `Stateful<T>`: hooks with mutable state (T-42 … T-44).

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::executor::block_on;
use hooks_core::{HookReentrancyError, Stateful, hooks};

use crate::kit::{Log, Wakes, in_every_form, panics, poll_once, yield_once};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Ids {
                #[hook(fallback)]
                async fn next_id(seed: usize) -> usize {
                    $($pause)*
                    seed
                }

                #[hook(singleton)]
                async fn descend(depth: usize) -> Result<usize, String> {
                    $($pause)*
                    Ok(depth)
                }

                #[hook(always)]
                async fn observe(event: &str, log: &Log) {
                    $($pause)*
                    log.add(format!("default {event}"));
                }
            }

            struct Counter {
                next: usize,
            }

            impl StatefulNextId for Counter {
                async fn call_mut(&mut self, seed: usize, last: Option<usize>) -> usize {
                    let current = self.next.max(last.unwrap_or(seed));
                    $($pause)*
                    self.next = current + 1;
                    current
                }
            }

            impl StatefulObserve for Counter {
                async fn call_mut(&mut self, event: String, log: &Log) {
                    $($pause)*
                    self.next += 1;
                    log.add(format!("{event} {}", self.next));
                }
            }

            /// T-42
            #[test]
            fn state_is_kept_between_calls() {
                let set = IdsSet::new().with_next_id(Stateful::new(Counter { next: 0 }));
                assert_eq!(block_on(set.next_id(10)), 10);
                assert_eq!(block_on(set.next_id(10)), 11);
                assert_eq!(block_on(set.next_id(3)), 12);
                assert_eq!(block_on(set.next_id(30)), 30);
            }

            /// T-42, T-24, T-60: no `last` where the slot has none, `&str` as `String`
            #[test]
            fn call_mut_takes_the_same_arguments_as_call() {
                let set = IdsSet::new().with_observe(Stateful::new(Counter { next: 0 }));
                let log = Log::new();
                block_on(set.observe("a", &log));
                block_on(set.observe("b", &log));
                assert_eq!(log.lines(), ["default a", "a 1", "default b", "b 2"]);
            }

            /// T-42: clones of the set share the state
            #[test]
            fn clones_of_the_set_share_the_state() {
                let set = IdsSet::new().with_next_id(Stateful::new(Counter { next: 5 }));
                let clone = set.clone();
                assert_eq!(block_on(set.next_id(0)), 5);
                assert_eq!(block_on(clone.next_id(0)), 6);
                assert_eq!(block_on(set.next_id(0)), 7);
            }

            /// T-42: clones of the `Stateful` itself share the state
            #[test]
            fn clones_of_the_stateful_share_the_state() {
                let counter = Stateful::new(Counter { next: 5 });
                let first = IdsSet::new().with_next_id(counter.clone());
                let second = IdsSet::new().with_next_id(counter);
                assert_eq!(block_on(first.next_id(0)), 5);
                assert_eq!(block_on(second.next_id(0)), 6);
                assert_eq!(block_on(first.next_id(0)), 7);
            }

            /// T-42: two `Stateful`s of one type are two states, `last` passes between them
            #[test]
            fn two_stateful_hooks_have_separate_states() {
                let set = IdsSet::new()
                    .with_next_id(Stateful::new(Counter { next: 100 }))
                    .with_next_id(Stateful::new(Counter { next: 0 }));
                assert_eq!(block_on(set.next_id(1)), 100);
                assert_eq!(block_on(set.next_id(1)), 101);
            }

            /// T-42, T-50: the state may borrow
            #[test]
            fn the_state_can_borrow_data_that_outlives_the_set() {
                struct Appends<'a>(&'a mut Vec<String>);

                impl StatefulObserve for Appends<'_> {
                    async fn call_mut(&mut self, event: String, _log: &Log) {
                        $($pause)*
                        self.0.push(event);
                    }
                }

                let mut events = Vec::new();
                {
                    let set = IdsSet::new().with_observe(Stateful::new(Appends(&mut events)));
                    block_on(set.observe("a", &Log::new()));
                    block_on(set.observe("b", &Log::new()));
                }
                assert_eq!(events, ["a", "b"]);
            }

            type Shared = Arc<OnceLock<IdsSet<'static>>>;

            /// Calls its own slot until the depth is used up.
            struct Descends {
                set: Shared,
                calls: usize,
            }

            impl StatefulDescend for Descends {
                async fn call_mut(&mut self, depth: usize) -> Result<usize, String> {
                    self.calls += 1;
                    $($pause)*
                    if depth == 0 {
                        return Ok(self.calls);
                    }
                    let below = self.set.get().unwrap().descend(depth - 1).await;
                    $($pause)*
                    below
                }

                fn on_reentrancy(err: HookReentrancyError) -> Result<usize, String> {
                    Err(format!("{}|{}", err.slot, err.hook_type))
                }
            }

            fn descending() -> IdsSet<'static> {
                let shared = Shared::default();
                let hook = Descends { set: Arc::clone(&shared), calls: 0 };
                let set = IdsSet::new().with_descend(Stateful::new(hook));
                assert!(shared.set(set.clone()).is_ok());
                set
            }

            /// T-43: re-entry is detected, and an override provides the output of the inner call
            #[test]
            fn on_reentrancy_provides_the_output_of_a_reentrant_call() {
                let set = descending();
                let (slot, hook_type) = block_on(set.descend(1))
                    .expect_err("the inner call is a re-entry")
                    .split_once('|')
                    .map(|(slot, hook_type)| (slot.to_owned(), hook_type.to_owned()))
                    .unwrap();
                assert_eq!(slot, "descend");
                assert_eq!(hook_type, std::any::type_name::<Descends>());
            }

            /// T-43, T-44: after a re-entry the hook is usable and keeps its state
            #[test]
            fn after_reentrancy_the_hook_can_be_called_again() {
                let set = descending();
                assert_eq!(block_on(set.descend(0)), Ok(1));
                assert!(block_on(set.descend(3)).is_err());
                // The inner call never reached the state.
                assert_eq!(block_on(set.descend(0)), Ok(3));
            }

            /// T-43: a clone of the set shares the hook, so it is re-entry too
            #[test]
            fn reentrancy_through_a_clone_of_the_set_is_detected() {
                let set = descending();
                let clone = set.clone();
                drop(set);
                assert!(block_on(clone.descend(1)).is_err());
            }

            /// T-43, T-08: also before `call_mut` returns its future
            #[test]
            fn reentrancy_before_call_mut_returns_its_future_is_detected() {
                struct Hasty(Shared);

                impl StatefulDescend for Hasty {
                    fn call_mut(
                        &mut self,
                        depth: usize,
                    ) -> impl Future<Output = Result<usize, String>> + Send {
                        let below = self.0.get().unwrap().descend(depth).now_or_never();
                        async move {
                            $($pause)*
                            below.expect("the inner call does not wait for the outer one")
                        }
                    }

                    fn on_reentrancy(err: HookReentrancyError) -> Result<usize, String> {
                        Err(err.slot.to_owned())
                    }
                }

                let shared = Shared::default();
                let set = IdsSet::new().with_descend(Stateful::new(Hasty(Arc::clone(&shared))));
                assert!(shared.set(set.clone()).is_ok());
                assert_eq!(block_on(set.descend(1)), Err("descend".to_owned()));
            }

            /// T-43: also if the inner call passes through a stateless hook
            #[test]
            fn reentrancy_through_another_hook_is_detected() {
                struct Detour(Shared);

                impl NextId for Detour {
                    async fn call(&self, seed: usize, _last: Option<usize>) -> usize {
                        $($pause)*
                        match self.0.get().unwrap().descend(0).await {
                            Ok(_) => seed,
                            Err(_) => 999,
                        }
                    }
                }

                struct Outer(Shared);

                impl StatefulDescend for Outer {
                    async fn call_mut(&mut self, depth: usize) -> Result<usize, String> {
                        $($pause)*
                        Ok(self.0.get().unwrap().next_id(depth).await)
                    }

                    fn on_reentrancy(err: HookReentrancyError) -> Result<usize, String> {
                        Err(err.to_string())
                    }
                }

                let shared = Shared::default();
                let set = IdsSet::new()
                    .with_next_id(Detour(Arc::clone(&shared)))
                    .with_descend(Stateful::new(Outer(Arc::clone(&shared))));
                assert!(shared.set(set.clone()).is_ok());
                assert_eq!(block_on(set.descend(5)), Ok(999));
            }

            /// One state behind two slots; the first calls the second.
            struct TwoSlots(Shared);

            impl StatefulDescend for TwoSlots {
                async fn call_mut(&mut self, depth: usize) -> Result<usize, String> {
                    $($pause)*
                    Ok(self.0.get().unwrap().next_id(depth).await)
                }
            }

            impl StatefulNextId for TwoSlots {
                async fn call_mut(&mut self, seed: usize, _last: Option<usize>) -> usize {
                    $($pause)*
                    seed
                }

                fn on_reentrancy(err: HookReentrancyError) -> usize {
                    assert_eq!(err.slot, "next_id");
                    777
                }
            }

            /// T-43: a state registered in two slots is one hook; waiting for it would never end
            #[test]
            fn reentrancy_through_another_slot_with_the_same_state_is_detected() {
                let shared = Shared::default();
                let hook = Stateful::new(TwoSlots(Arc::clone(&shared)));
                let set = IdsSet::new().with_next_id(hook.clone()).with_descend(hook);
                assert!(shared.set(set.clone()).is_ok());
                let mut call = pin!(set.descend(3));
                let answer = (0..10).find_map(|_| match poll_once(call.as_mut()) {
                    Poll::Ready(answer) => Some(answer),
                    Poll::Pending => None,
                });
                assert_eq!(answer, Some(Ok(777)), "it waits for itself");
                assert_eq!(block_on(set.next_id(4)), 4);
            }

            /// Calls its own slot twice at once.
            struct Joins(Shared);

            impl StatefulDescend for Joins {
                async fn call_mut(&mut self, depth: usize) -> Result<usize, String> {
                    $($pause)*
                    if depth == 0 {
                        return Ok(0);
                    }
                    let set = self.0.get().unwrap();
                    let (first, second) = futures::join!(set.descend(0), async {
                        yield_once().await;
                        set.descend(0).await
                    });
                    $($pause)*
                    Err(format!("{} {}", first.unwrap_err(), second.unwrap_err()))
                }

                fn on_reentrancy(_err: HookReentrancyError) -> Result<usize, String> {
                    Err("re-entry".to_owned())
                }
            }

            /// T-43: every call made inside the running one is re-entry, also after it suspended
            #[test]
            fn reentrancy_is_detected_for_each_of_several_inner_calls() {
                let shared = Shared::default();
                let set = IdsSet::new().with_descend(Stateful::new(Joins(Arc::clone(&shared))));
                assert!(shared.set(set.clone()).is_ok());
                assert_eq!(block_on(set.descend(1)), Err("re-entry re-entry".to_owned()));
                assert_eq!(block_on(set.descend(0)), Ok(0));
            }

            /// T-43: while a re-entrant call still runs, other calls keep waiting
            #[test]
            fn a_reentrant_call_does_not_unlock_the_state_for_other_calls() {
                struct Both(Shared, Log);

                impl StatefulDescend for Both {
                    async fn call_mut(&mut self, depth: usize) -> Result<usize, String> {
                        self.1.add(format!("enter {depth}"));
                        if depth == 1 {
                            assert!(self.0.get().unwrap().descend(9).await.is_err());
                            yield_once().await;
                        }
                        $($pause)*
                        self.1.add(format!("leave {depth}"));
                        Ok(depth)
                    }

                    fn on_reentrancy(_err: HookReentrancyError) -> Result<usize, String> {
                        Err("re-entry".to_owned())
                    }
                }

                let (shared, log) = (Shared::default(), Log::new());
                let hook = Stateful::new(Both(Arc::clone(&shared), log.clone()));
                let set = IdsSet::new().with_descend(hook);
                assert!(shared.set(set.clone()).is_ok());
                let mut first = pin!(set.descend(1));
                assert!(poll_once(first.as_mut()).is_pending());
                let mut second = pin!(set.descend(2));
                assert!(poll_once(second.as_mut()).is_pending());
                assert_eq!(block_on(first), Ok(1));
                assert_eq!(block_on(second), Ok(2));
                assert_eq!(log.lines(), ["enter 1", "leave 1", "enter 2", "leave 2"]);
            }

            /// T-43: calling other hooks, stateful ones too, is not re-entry
            #[test]
            fn a_stateful_hook_can_call_other_stateful_hooks() {
                struct Asks(Shared);

                impl StatefulDescend for Asks {
                    async fn call_mut(&mut self, depth: usize) -> Result<usize, String> {
                        $($pause)*
                        Ok(self.0.get().unwrap().next_id(depth).await)
                    }
                }

                let shared = Shared::default();
                let set = IdsSet::new()
                    .with_next_id(Stateful::new(Counter { next: 40 }))
                    .with_descend(Stateful::new(Asks(Arc::clone(&shared))));
                assert!(shared.set(set.clone()).is_ok());
                assert_eq!(block_on(set.descend(7)), Ok(40));
                assert_eq!(block_on(set.descend(7)), Ok(41));
            }

            /// Descends without an override for re-entry.
            struct Careless(Shared);

            impl StatefulNextId for Careless {
                async fn call_mut(&mut self, seed: usize, _last: Option<usize>) -> usize {
                    $($pause)*
                    if seed == 0 { 7 } else { self.0.get().unwrap().next_id(seed - 1).await }
                }
            }

            /// T-43: the default panics, and names slot and hook type
            #[test]
            fn reentrancy_panics_by_default_and_names_slot_and_hook_type() {
                let shared = Shared::default();
                let set = IdsSet::new().with_next_id(Stateful::new(Careless(Arc::clone(&shared))));
                assert!(shared.set(set.clone()).is_ok());
                let message = panics(set.next_id(1));
                assert!(message.contains("next_id"), "{message}");
                assert!(message.contains(std::any::type_name::<Careless>()), "{message}");
                // T-44: nothing stays locked.
                assert_eq!(block_on(set.next_id(0)), 7);
            }

            /// T-44
            #[test]
            fn a_panic_in_a_stateful_call_does_not_leave_the_state_locked() {
                struct Fragile {
                    calls: usize,
                }

                impl StatefulNextId for Fragile {
                    async fn call_mut(&mut self, seed: usize, _last: Option<usize>) -> usize {
                        self.calls += 1;
                        $($pause)*
                        assert_ne!(seed, 13, "unlucky");
                        self.calls
                    }
                }

                let set = IdsSet::new().with_next_id(Stateful::new(Fragile { calls: 0 }));
                assert_eq!(block_on(set.next_id(1)), 1);
                assert!(panics(set.next_id(13)).contains("unlucky"));
                assert_eq!(block_on(set.next_id(1)), 3);
            }
        }
    };
}

in_every_form!(rules);

/// T-43: the fields of a caught error
#[test]
fn the_reentrancy_error_contains_slot_and_hook_type() {
    let error = HookReentrancyError {
        slot: "the_slot",
        hook_type: "the::Hook",
    };
    let text = error.to_string();
    assert!(
        text.contains("the_slot") && text.contains("the::Hook"),
        "{text}"
    );
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
    assert!(!format!("{error:?}").is_empty());
}

#[hooks]
trait Slow {
    #[hook(singleton)]
    async fn work(steps: usize, log: &Log) -> usize {
        let _ = log;
        steps
    }
}

/// Suspends `steps` times in a call, and notes when it is entered and left.
struct Worker {
    calls: usize,
}

impl StatefulWork for Worker {
    async fn call_mut(&mut self, steps: usize, log: &Log) -> usize {
        self.calls += 1;
        log.add(format!("enter {steps}"));
        for _ in 0..steps {
            yield_once().await;
        }
        log.add(format!("leave {steps}"));
        self.calls
    }
}

fn working() -> SlowSet<'static> {
    SlowSet::new().with_work(Stateful::new(Worker { calls: 0 }))
}

/// T-43: a call from another task, while the first is suspended, waits
#[test]
fn a_call_from_another_task_waits_for_the_running_call() {
    let (set, log) = (working(), Log::new());
    let mut first = pin!(set.work(2, &log));
    let mut second = pin!(set.work(0, &log));
    assert!(poll_once(first.as_mut()).is_pending());
    assert!(
        poll_once(second.as_mut()).is_pending(),
        "it must wait, not answer or panic"
    );
    assert!(poll_once(first.as_mut()).is_pending());
    assert!(poll_once(second.as_mut()).is_pending());
    assert_eq!(poll_once(first.as_mut()), Poll::Ready(1));
    assert_eq!(block_on(second), 2);
    assert_eq!(log.lines(), ["enter 2", "leave 2", "enter 0", "leave 0"]);
}

/// T-43: a waiting call is woken when the state is free, and not before
#[test]
fn a_waiting_call_is_woken_after_the_running_call_completes() {
    let (set, log) = (working(), Log::new());
    let mut first = pin!(set.work(1, &log));
    let mut second = pin!(set.work(0, &log));
    assert!(poll_once(first.as_mut()).is_pending());
    let wakes = Wakes::new();
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    assert!(second.as_mut().poll(&mut cx).is_pending());
    assert_eq!(wakes.count(), 0);
    assert_eq!(poll_once(first.as_mut()), Poll::Ready(1));
    assert!(
        wakes.count() > 0,
        "the second call would never be polled again"
    );
    assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(2));
}

/// T-43: also in one task: joined calls are not nested
#[test]
fn joined_calls_of_one_task_run_sequentially() {
    let (set, log) = (working(), Log::new());
    let all = async { futures::join!(set.work(3, &log), set.work(1, &log), set.work(2, &log)) };
    let (a, b, c) = block_on(all);
    let mut calls = [a, b, c];
    calls.sort();
    assert_eq!(calls, [1, 2, 3]);
    let lines = log.lines();
    for pair in lines.chunks(2) {
        assert_eq!(
            pair[0].replace("enter", "leave"),
            pair[1],
            "calls overlapped: {lines:?}"
        );
    }
}

/// T-44: a dropped call leaves nothing locked, and wakes the next call
#[test]
fn a_dropped_call_unlocks_the_state_and_wakes_the_next_call() {
    let (set, log) = (working(), Log::new());
    let mut second = pin!(set.work(0, &log));
    let wakes = Wakes::new();
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    {
        let mut first = Box::pin(set.work(5, &log));
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        drop(first);
    }
    assert!(
        wakes.count() > 0,
        "the second call would never be polled again"
    );
    assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(2));
    assert_eq!(log.lines(), ["enter 5", "enter 0", "leave 0"]);
    assert_eq!(block_on(set.work(0, &log)), 3);
}

/// T-44: a waiting call that is dropped leaves the queue
#[test]
fn a_dropped_waiting_call_leaves_the_queue() {
    let (set, log) = (working(), Log::new());
    let mut first = pin!(set.work(1, &log));
    assert!(poll_once(first.as_mut()).is_pending());
    {
        let mut second = Box::pin(set.work(7, &log));
        assert!(poll_once(second.as_mut()).is_pending());
    }
    let mut third = pin!(set.work(0, &log));
    assert!(poll_once(third.as_mut()).is_pending());
    assert_eq!(poll_once(first.as_mut()), Poll::Ready(1));
    assert_eq!(block_on(third), 2);
    assert_eq!(log.lines(), ["enter 1", "leave 1", "enter 0", "leave 0"]);
}

/// T-44: a panic of one caller wakes the next one
#[test]
fn a_panicking_call_wakes_the_next_waiting_call() {
    struct Breaks;

    impl StatefulWork for Breaks {
        async fn call_mut(&mut self, steps: usize, _log: &Log) -> usize {
            yield_once().await;
            assert_ne!(steps, 0, "broken on purpose");
            steps
        }
    }

    let (set, log) = (SlowSet::new().with_work(Stateful::new(Breaks)), Log::new());
    let mut first = Box::pin(set.work(0, &log));
    assert!(poll_once(first.as_mut()).is_pending());
    let mut second = pin!(set.work(4, &log));
    let wakes = Wakes::new();
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    assert!(second.as_mut().poll(&mut cx).is_pending());
    let panic = catch_unwind(AssertUnwindSafe(|| poll_once(first.as_mut())));
    assert!(panic.is_err());
    drop(first);
    assert!(wakes.count() > 0);
    assert_eq!(block_on(second), 4);
}

/// T-43: from another thread, while the first call is being polled at this very moment
#[cfg(not(hooks_single_threaded))]
#[test]
fn a_call_from_another_thread_during_a_poll_is_not_reentrancy() {
    use std::sync::mpsc;

    struct Meets {
        entered: mpsc::Sender<()>,
        go_on: mpsc::Receiver<()>,
    }

    // `Receiver` is not `Sync`, and need not be: the state is behind the mutex.
    impl StatefulWork for Meets {
        async fn call_mut(&mut self, steps: usize, _log: &Log) -> usize {
            if steps == 1 {
                self.entered.send(()).unwrap();
                self.go_on.recv().unwrap();
            }
            steps
        }

        fn on_reentrancy(_err: HookReentrancyError) -> usize {
            usize::MAX
        }
    }

    let (entered, is_in) = mpsc::channel();
    let (release, go_on) = mpsc::channel();
    let set = SlowSet::new().with_work(Stateful::new(Meets { entered, go_on }));
    let log = Log::new();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| block_on(set.work(1, &log)));
        is_in.recv().unwrap();
        let mut second = pin!(set.work(2, &log));
        let polled = poll_once(second.as_mut());
        release.send(()).unwrap();
        assert_eq!(
            polled,
            Poll::Pending,
            "another thread's call is no re-entry"
        );
        assert_eq!(first.join().unwrap(), 1);
        assert_eq!(block_on(second), 2);
    });
}

/// T-43: a call that moves to another thread is still the same call
#[cfg(not(hooks_single_threaded))]
#[test]
fn reentrancy_is_detected_after_a_call_moves_to_another_thread() {
    struct Descends(Arc<OnceLock<SlowSet<'static>>>);

    impl StatefulWork for Descends {
        async fn call_mut(&mut self, steps: usize, log: &Log) -> usize {
            yield_once().await;
            if steps == 0 {
                return 0;
            }
            self.0.get().unwrap().work(steps - 1, log).await
        }

        fn on_reentrancy(_err: HookReentrancyError) -> usize {
            usize::MAX
        }
    }

    let shared = Arc::new(OnceLock::new());
    let set = SlowSet::new().with_work(Stateful::new(Descends(Arc::clone(&shared))));
    assert!(shared.set(set.clone()).is_ok());
    let log = Log::new();
    let mut call = Box::pin(set.work(1, &log));
    assert!(poll_once(call.as_mut()).is_pending());
    let answer = std::thread::scope(|scope| scope.spawn(move || block_on(call)).join());
    assert_eq!(answer.unwrap(), usize::MAX);
    assert_eq!(block_on(set.work(0, &log)), 0);
}

/// T-43: many tasks on many threads: every call runs alone, none is refused
#[cfg(not(hooks_single_threaded))]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_from_many_tasks_run_sequentially() {
    let set = working();
    let tasks: Vec<_> = (0..32)
        .map(|task| {
            let set = set.clone();
            tokio::spawn(async move {
                let mut calls = Vec::new();
                for _ in 0..8 {
                    calls.push(set.work(task % 3, &Log::new()).await);
                }
                calls
            })
        })
        .collect();
    let mut calls = Vec::new();
    for task in tasks {
        calls.extend(task.await.unwrap());
    }
    calls.sort();
    assert_eq!(calls, (1..=32 * 8).collect::<Vec<_>>());
}
