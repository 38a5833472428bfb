//! The rules of a single-threaded target (`T-51`): neither a hook nor its future
//! has to be `Send`. They hold on wasm, and under this cfg on any target:
//!
//! ```text
//! RUSTFLAGS="--cfg hooks_single_threaded" cargo test -p hooks-core
//! ```

#![cfg(hooks_single_threaded)]

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use hooks_core::{Aggregate, Chain, RequestExtensions, Stateful, hooks, impl_hook, impl_hooks};

#[hooks]
trait Hooks {
    #[hook(always)]
    async fn step(count: u32) -> u32 {
        count
    }

    #[hook(fallback)]
    async fn seen(log: &Log) -> usize {
        suspend_once().await;
        log.borrow().len()
    }

    #[hook(singleton)]
    async fn own(log: Log) -> usize {
        log.borrow().len()
    }

    #[hook(always, chain = CountingChain, aggregate = Shared)]
    async fn gather(count: u32) -> u32 {
        count
    }
}

type Log = Rc<RefCell<Vec<&'static str>>>;

/// A hook that cannot leave its thread.
struct Counter(Rc<Cell<u32>>);

#[impl_hooks(HooksSet)]
impl Hooks for Counter {
    async fn step(&self, count: u32, last: Option<u32>) -> u32 {
        self.0.set(self.0.get() + count);
        last.unwrap_or(count) + 1
    }

    async fn seen(&self, log: &Log, _last: Option<usize>) -> usize {
        // Held across the await: the future cannot leave the thread either.
        let held = Rc::clone(&self.0);
        let guard = log.borrow();
        suspend_once().await;
        held.set(held.get() + 100);
        guard.len()
    }

    async fn own(&self, log: Log) -> usize {
        suspend_once().await;
        log.borrow_mut().push("own");
        log.borrow().len()
    }

    async fn gather(&self, count: u32) -> u32 {
        let held = Rc::clone(&self.0);
        suspend_once().await;
        held.get() + count
    }
}

#[impl_hook(Step)]
async fn twice(count: u32, last: Option<u32>) -> u32 {
    let held = Rc::new(last.unwrap_or(count));
    suspend_once().await;
    *held * 2
}

struct Owned(Rc<Cell<u32>>);

impl Step for Owned {
    async fn call(&self, count: u32, _last: Option<u32>) -> u32 {
        let held = Rc::clone(&self.0);
        suspend_once().await;
        held.get() + count
    }
}

struct Last(Rc<Cell<u32>>);

impl StatefulStep for Last {
    async fn call_mut(&mut self, count: u32, last: Option<u32>) -> u32 {
        let held = Rc::clone(&self.0);
        suspend_once().await;
        held.replace(count) + last.unwrap_or_default()
    }
}

#[derive(Default)]
struct CountingChain(Rc<Cell<u32>>);

impl Chain<u32> for CountingChain {
    async fn call(&self, _output: &u32) -> ControlFlow<()> {
        let held = Rc::clone(&self.0);
        suspend_once().await;
        held.set(held.get() + 1);
        ControlFlow::Continue(())
    }
}

#[derive(Default)]
struct Shared(Rc<()>);

impl Aggregate<u32> for Shared {
    async fn call(&self, outputs: Vec<u32>) -> u32 {
        let held = Rc::clone(&self.0);
        suspend_once().await;
        drop(held);
        outputs.into_iter().sum()
    }
}

#[test]
fn hooks_of_every_form_may_hold_an_rc_across_an_await() {
    let count = Rc::new(Cell::new(0));
    let closure = Rc::clone(&count);
    let hooks = HooksSet::new()
        .with_hooks(Counter(Rc::clone(&count)))
        .with_step(Twice)
        .with_step(Owned(Rc::clone(&count)))
        .with_step(Stateful::new(Last(Rc::clone(&count))))
        .with_step(move |_count: u32, last: Option<u32>| {
            let held = Rc::clone(&closure);
            async move {
                suspend_once().await;
                last.unwrap_or_default() + held.get()
            }
        });
    // default 3, counter 4, twice 8, owned 3 + 3, stateful 3 + 6, closure 9 + 3
    assert_eq!(run(hooks.step(3)), 12);
    assert_eq!(count.get(), 3);
}

#[test]
fn arguments_need_not_be_send() {
    let log = Log::default();
    let count = Rc::new(Cell::new(0));
    let counter = Counter(Rc::clone(&count));
    let hooks = HooksSet::new().with_hooks(&counter);
    assert_eq!(run(hooks.seen(&log)), 0);
    assert_eq!(run(hooks.own(Rc::clone(&log))), 1);
    assert_eq!(run(hooks.seen(&log)), 1);
    assert_eq!(count.get(), 200);
    assert_eq!(run(HooksSet::new().own(log)), 1);
}

#[test]
fn declared_and_replaced_companions_need_not_be_send() {
    let seen = Rc::new(Cell::new(0));
    let hooks = HooksSet::new().with_hooks(Counter(Rc::new(Cell::new(10))));
    assert_eq!(run(hooks.gather(1)), 12);

    let hooks = hooks
        .with_gather_chain(CountingChain(Rc::clone(&seen)))
        .with_gather_aggregate(Shared::default());
    assert_eq!(run(hooks.gather(1)), 12);
    assert_eq!(seen.get(), 2);
}

#[test]
fn request_extensions_hold_values_that_are_not_send() {
    let extensions = RequestExtensions::new().ext(Rc::new(Cell::new(7)));
    assert_eq!(
        extensions.get::<Rc<Cell<i32>>>().map(|cell| cell.get()),
        Some(7)
    );
}

/// Suspends once.
async fn suspend_once() {
    let mut suspended = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut suspended, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Drives a future that always makes progress.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..1000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
    panic!("the dispatch did not end");
}

/// A synchronous call cannot wait on the only thread: it is handled as re-entrant.
mod modes {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use hooks_core::{HookReentrancyError, Stateful, hooks};

    #[hooks]
    trait Modes {
        #[hook(singleton)]
        async fn slow() -> u32 {
            0
        }

        #[hook(singleton, sync)]
        fn quick() -> u32 {
            0
        }
    }

    struct Counter(u32);

    impl StatefulSlow for Counter {
        async fn call_mut(&mut self) -> u32 {
            std::future::pending().await
        }
    }

    impl StatefulQuick for Counter {
        fn call_mut(&mut self) -> u32 {
            self.0 += 1;
            self.0
        }

        fn on_reentrancy(error: HookReentrancyError) -> u32 {
            assert_eq!(error.slot, "quick");
            100
        }
    }

    #[test]
    fn t_63_a_call_that_would_block_the_only_thread_is_re_entrant() {
        let counter = Stateful::new(Counter(0));
        let set = ModesSet::new()
            .with_slow(counter.clone())
            .with_quick(counter);
        assert_eq!(set.quick(), 1);
        {
            let mut slow = pin!(set.slow());
            let polled = slow.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            assert_eq!(set.quick(), 100);
        }
        assert_eq!(set.quick(), 2, "the dropped call released the state");
    }
}
