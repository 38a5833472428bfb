//! Slots whose hooks run concurrently.

#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "table/kit.rs"]
mod kit;

use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::executor::block_on;
use hooks_core::{Aggregate, AggregateInto, Chain, Entry, ShortCircuit, hooks};
use proptest::prelude::*;

/// Returns the outputs.
#[derive(Default)]
struct List;

impl AggregateInto<u32, Vec<u32>> for List {
    async fn call(&self, outputs: Vec<u32>) -> Vec<u32> {
        outputs
    }
}

/// Returns the first error, else the sum.
#[derive(Default)]
struct AllOrError;

impl Aggregate<Result<u32, String>> for AllOrError {
    async fn call(&self, outputs: Vec<Result<u32, String>>) -> Result<u32, String> {
        outputs.into_iter().sum()
    }
}

/// Stops after an output of at least 10; decides later.
#[derive(Default)]
struct StopsAtTen;

impl Chain<u32> for StopsAtTen {
    async fn call(&self, output: &u32) -> ControlFlow<()> {
        kit::yield_once().await;
        match *output >= 10 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

#[hooks]
trait PollHooks {
    #[hook(always, aggregate = List, output = Vec<u32>, concurrent)]
    async fn ask(start: u32) -> u32 {
        kit::yield_once().await;
        start
    }

    #[hook(fallback, aggregate = List, output = Vec<u32>, concurrent)]
    async fn collect(_text: &str) -> u32 {
        0
    }

    #[hook(fallback, concurrent, aggregate = AllOrError)]
    async fn verify(_text: String) -> Result<u32, String> {
        Err("no hook".into())
    }

    #[hook(fallback, concurrent, chain = ShortCircuit<u32, String>, aggregate = AllOrError)]
    async fn try_all(_text: String) -> Result<u32, String> {
        Err("no hook".into())
    }

    #[hook(always, concurrent, chain = StopsAtTen, aggregate = List, output = Vec<u32>)]
    async fn until_ten(start: u32) -> u32 {
        kit::yield_once().await;
        start
    }

    #[hook(always, concurrent)]
    async fn notify(_text: &str) {}
}

/// Is pending for some polls, and logs when it starts and completes.
struct Slow {
    id: u32,
    polls: usize,
    log: Arc<Mutex<Vec<String>>>,
}

impl Slow {
    async fn run(&self) -> u32 {
        self.log.lock().unwrap().push(format!("start {}", self.id));
        for _ in 0..self.polls {
            kit::yield_once().await;
        }
        self.log.lock().unwrap().push(format!("end {}", self.id));
        self.id
    }
}

impl Ask for Slow {
    async fn call(&self, start: u32) -> u32 {
        start + self.run().await
    }
}

impl Collect for Slow {
    async fn call(&self, _: String) -> u32 {
        self.run().await
    }
}

impl Notify for Slow {
    async fn call(&self, _: String) {
        self.run().await;
    }
}

type Log = Arc<Mutex<Vec<String>>>;

fn slow(log: &Log, id: u32, polls: usize) -> Slow {
    Slow {
        id,
        polls,
        log: Arc::clone(log),
    }
}

#[test]
fn hooks_overlap_and_outputs_keep_the_order_of_entries() {
    let log = Log::default();
    let hooks = PollHooksSet::new()
        .with_ask(slow(&log, 1, 3))
        .with_ask(slow(&log, 2, 1))
        .with_ask(Entry::new(slow(&log, 3, 2)).priority(-1));
    assert_eq!(block_on(hooks.ask(10)), [10, 13, 11, 12]);
    assert_eq!(
        *log.lock().unwrap(),
        ["start 3", "start 1", "start 2", "end 2", "end 3", "end 1"]
    );
}

#[test]
fn without_hooks_the_default_is_the_only_output() {
    let hooks = PollHooksSet::new();
    assert_eq!(block_on(hooks.ask(7)), [7]);
    assert_eq!(block_on(hooks.collect("")), [0]);
    assert_eq!(block_on(hooks.verify(String::new())), Err("no hook".into()));
    block_on(hooks.notify(""));
    let hooks = hooks
        .with_collect(Entry::new(async |_: String| 1).when(|text: &&str| *text == "one"))
        .with_collect(Entry::new(async |_: String| 2).enabled(false));
    assert_eq!(block_on(hooks.collect("one")), [1]);
    assert_eq!(block_on(hooks.collect("two")), [0], "as without hooks");
}

/// Completes after some polls, and logs its end.
async fn part(log: Log, polls: u32, output: u32) -> u32 {
    struct Part(Log, &'static str, u32);
    impl Drop for Part {
        fn drop(&mut self) {
            let line = format!("{} {}", self.1, self.2);
            self.0.lock().unwrap().push(line);
        }
    }
    let mut part = Part(log, "dropped", output);
    for _ in 0..polls {
        kit::yield_once().await;
    }
    part.1 = "end";
    output
}

#[test]
fn a_chain_ends_the_dispatch_at_the_first_failure() {
    let log = Log::default();
    let hook = |polls, output| {
        let log = Arc::clone(&log);
        move |text: String| {
            let part = part(Arc::clone(&log), polls, output);
            async move {
                match part.await {
                    2 if text.is_empty() => Err("empty".to_owned()),
                    output => Ok(output),
                }
            }
        }
    };
    let hooks = PollHooksSet::new()
        .with_try_all(hook(5, 1))
        .with_try_all(hook(1, 2))
        .with_try_all(hook(9, 3));
    assert_eq!(block_on(hooks.try_all("all".into())), Ok(6));
    assert_eq!(*log.lock().unwrap(), ["end 2", "end 1", "end 3"]);

    log.lock().unwrap().clear();
    assert_eq!(block_on(hooks.try_all(String::new())), Err("empty".into()));
    let mut logged = log.lock().unwrap().clone();
    logged.sort();
    assert_eq!(logged, ["dropped 1", "dropped 3", "end 2"]);
}

#[test]
fn a_chain_without_hooks_or_without_a_break_changes_nothing() {
    let hooks = PollHooksSet::new();
    assert_eq!(
        block_on(hooks.try_all(String::new())),
        Err("no hook".into())
    );
    assert_eq!(block_on(hooks.until_ten(10)), [10]);
    let hooks = hooks
        .with_until_ten(async |start: u32| start + 1)
        .with_until_ten(async |start: u32| {
            kit::yield_once().await;
            start + 2
        });
    assert_eq!(block_on(hooks.until_ten(7)), [7, 8, 9]);
}

#[test]
fn a_chain_that_is_pending_stops_the_dispatch_later() {
    let started = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&started);
    let hooks = PollHooksSet::new()
        .with_until_ten(async |start: u32| {
            kit::yield_once().await;
            kit::yield_once().await;
            start
        })
        .with_until_ten(async |start: u32| start + 4)
        .with_until_ten(move |start: u32| {
            counter.fetch_add(1, Ordering::SeqCst);
            async move { start }
        });
    // The default breaks the chain: no hook starts.
    assert_eq!(block_on(hooks.until_ten(10)), [10]);
    assert_eq!(started.load(Ordering::SeqCst), 0);
    // The second hook does: the first is dropped, and the third does not start.
    assert_eq!(block_on(hooks.until_ten(6)), [6, 10]);
    assert_eq!(started.load(Ordering::SeqCst), 0);
    assert_eq!(block_on(hooks.until_ten(1)), [1, 1, 5, 1]);
    assert_eq!(started.load(Ordering::SeqCst), 1);
}

#[test]
fn a_replaced_chain_decides_about_concurrent_outputs() {
    let mut hooks = PollHooksSet::new().with_try_all(async |_: String| Ok(2));
    hooks.register_try_all(async |_: String| Err("late".to_owned()));
    assert_eq!(block_on(hooks.try_all(String::new())), Err("late".into()));
    let hooks = hooks.with_try_all_chain(FirstOutput);
    assert_eq!(block_on(hooks.try_all(String::new())), Ok(2));
}

/// Stops after the first output.
struct FirstOutput;

impl<T: Sync> Chain<T> for FirstOutput {
    async fn call(&self, _: &T) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn the_aggregate_decides_about_errors() {
    let hooks = PollHooksSet::new()
        .with_verify(async |text: String| {
            kit::yield_once().await;
            text.parse().map_err(|_| "not a number".to_owned())
        })
        .with_verify(async |text: String| match &*text {
            "" => Err("empty".to_owned()),
            _ => Ok(1),
        });
    assert_eq!(block_on(hooks.verify("41".into())), Ok(42));
    assert_eq!(
        block_on(hooks.verify(String::new())),
        Err("not a number".into()),
        "the first error in the order of entries"
    );
}

#[test]
fn a_slot_without_output_waits_for_all_hooks() {
    let log = Log::default();
    let hooks = PollHooksSet::new()
        .with_notify(slow(&log, 1, 2))
        .with_notify(slow(&log, 2, 0));
    block_on(hooks.notify("x"));
    assert_eq!(
        *log.lock().unwrap(),
        ["start 1", "start 2", "end 2", "end 1"]
    );
}

#[test]
fn the_first_panic_ends_the_dispatch_and_drops_the_other_hooks() {
    let log = Log::default();
    let hooks = PollHooksSet::new()
        .with_collect(slow(&log, 1, 9))
        .with_collect(async |_: String| {
            kit::yield_once().await;
            panic!("a hook panicked")
        });
    let call = || block_on(hooks.collect(""));
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("it propagates");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"a hook panicked"));
    assert_eq!(*log.lock().unwrap(), ["start 1"], "not polled any more");
}

#[test]
fn a_dropped_dispatch_drops_the_pending_hooks() {
    struct Drops(Arc<AtomicUsize>);
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let pending = |dropped: Arc<AtomicUsize>| {
        move |_: String| {
            let guard = Drops(Arc::clone(&dropped));
            async move {
                let _guard = guard;
                std::future::pending().await
            }
        }
    };
    let hooks = PollHooksSet::new()
        .with_collect(pending(Arc::clone(&dropped)))
        .with_collect(pending(Arc::clone(&dropped)));
    {
        let mut call = pin!(hooks.collect(""));
        assert!(kit::poll_once(call.as_mut()).is_pending());
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}

#[test]
fn the_description_says_concurrent() {
    let text = PollHooksSet::new().describe().to_string();
    assert!(text.contains("always, concurrent  "), "{text}");
    assert!(text.contains("fallback, concurrent"), "{text}");
}

/// A hook of the model test: its priority, and the polls until it is ready.
#[derive(Debug, Clone)]
struct Plan {
    priority: i32,
    polls: usize,
}

proptest! {
    /// The outputs are those of the sequential slot, and the dispatch takes as many polls as its
    /// slowest hook.
    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn the_outputs_are_those_of_a_sequential_slot(
        plans in prop::collection::vec(
            (-2..2_i32, 0..5_usize).prop_map(|(priority, polls)| Plan { priority, polls }),
            0..80,
        ),
    ) {
        let log = Log::default();
        let mut hooks = PollHooksSet::new();
        let mut expected = Vec::new();
        for (id, plan) in (1..).zip(&plans) {
            hooks.register_collect(Entry::new(slow(&log, id, plan.polls)).priority(plan.priority));
            expected.push((plan.priority, id));
        }
        expected.sort_unstable();
        let mut expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
        if expected.is_empty() {
            expected.push(0);
        }
        let mut polls = 0;
        let outputs = block_on(async {
            let mut call = pin!(hooks.collect(""));
            poll_fn(|cx| {
                polls += 1;
                match call.as_mut().poll(cx) {
                    Poll::Ready(outputs) => Poll::Ready(outputs),
                    Poll::Pending => Poll::Pending,
                }
            }).await
        });
        prop_assert_eq!(outputs, expected);
        let slowest = plans.iter().map(|plan| plan.polls).max().unwrap_or(0);
        prop_assert_eq!(polls, slowest + 1);
    }
}
