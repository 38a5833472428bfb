//! Policies with caught failures, timeouts and concurrent hooks, each written by hand on the
//! engine.

use std::cell::RefCell;
use std::future::{Future, Ready, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hooks_core::{
    BoxFuture, Entry, EntryMeta, Failure, HookFuture, HookStatus, Never, Policy, Slot, Step, Timer,
};

/// A scripted hook.
trait Hook: Send + Sync {
    fn start(&self) -> HookFuture<'_, u32>;
}

impl<F: Fn() -> HookFuture<'static, u32> + Send + Sync> Hook for F {
    fn start(&self) -> HookFuture<'_, u32> {
        self()
    }
}

/// Records outputs, and stops at a given number.
#[derive(Default)]
struct Log<const CONCURRENT: bool> {
    lines: Vec<String>,
    stop_at: Option<u32>,
    is_closed: bool,
}

impl<const CONCURRENT: bool> Policy<dyn Hook> for Log<CONCURRENT> {
    type HookOutput = u32;
    type Output = Vec<String>;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;
    const CONCURRENT: bool = CONCURRENT;

    fn slot_name(&self) -> &str {
        "log"
    }

    fn invoke<'a>(&mut self, _: &'a EntryMeta, hook: &'a dyn Hook, _: bool) -> HookFuture<'a, u32>
    where
        Self: 'a,
    {
        hook.start()
    }

    /// Rejects numbers above 100.
    fn validate_output(&mut self, output: u32) -> Result<u32, Failure> {
        match output {
            0..=100 => Ok(output),
            _ => Err(Failure::invalid("too large")),
        }
    }

    fn on_output(&mut self, entry: &EntryMeta, output: u32) -> Step<Self, Never<()>> {
        self.lines.push(format!("{} {output}", entry.name()));
        if self.stop_at == Some(output) {
            Step::Stop
        } else {
            Step::Next
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.lines.push(format!("{} {failure}", entry.name()));
        Step::Next
    }

    fn after_hooks(&mut self) -> Step<Self, Never<()>> {
        assert!(!self.is_closed, "`after_hooks` is called once");
        self.is_closed = true;
        Step::Stop
    }

    fn finish(self) -> Vec<String> {
        self.lines
    }
}

/// Records outputs and failures, and panics on the output three.
struct PanickingPolicy<const CATCH_FAILURES: bool>(Rc<RefCell<Vec<String>>>);

impl<const CATCH_FAILURES: bool> Policy<dyn Hook> for PanickingPolicy<CATCH_FAILURES> {
    type HookOutput = u32;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = CATCH_FAILURES;

    fn slot_name(&self) -> &str {
        "panicking"
    }

    fn invoke<'a>(&mut self, _: &'a EntryMeta, hook: &'a dyn Hook, _: bool) -> HookFuture<'a, u32>
    where
        Self: 'a,
    {
        hook.start()
    }

    fn on_output(&mut self, _: &EntryMeta, output: u32) -> Step<Self, Never<()>> {
        assert!(output < 3, "of the policy");
        self.0.borrow_mut().push(output.to_string());
        Step::Next
    }

    fn on_failure(&mut self, _: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.0.borrow_mut().push(failure.to_string());
        Step::Next
    }

    fn finish(self) {}
}

/// A clock that the test advances.
#[derive(Clone, Default)]
struct Clock(Arc<Mutex<Duration>>);

impl Clock {
    fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        let until = *clock.0.lock().unwrap() + duration;
        Box::pin(poll_fn(move |_| match *clock.0.lock().unwrap() >= until {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }))
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn ready(output: u32) -> impl Fn() -> HookFuture<'static, u32> {
    move || HookFuture::Ready(output)
}

/// Returns a hook that completes after this many polls.
fn after(polls: usize, output: u32) -> impl Fn() -> HookFuture<'static, u32> {
    move || {
        let mut left = polls;
        HookFuture::boxed(poll_fn(move |_| {
            if left == 0 {
                return Poll::Ready(output);
            }
            left -= 1;
            Poll::Pending
        }))
    }
}

fn never() -> HookFuture<'static, u32> {
    HookFuture::boxed(std::future::pending())
}

fn slot(clock: &Clock) -> Slot<dyn Hook> {
    Slot::with_timer(Arc::new(clock.clone()))
}

fn add(slot: &mut Slot<dyn Hook>, name: &'static str, hook: impl Hook + 'static) {
    insert(slot, Entry::new(hook).name(name));
}

fn insert(slot: &mut Slot<dyn Hook>, entry: Entry<impl Hook + 'static>) {
    slot.insert(entry.map(|hook| Arc::new(hook) as Arc<dyn Hook>));
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return output;
        }
    }
}

fn run<const CONCURRENT: bool>(slot: &Slot<dyn Hook>) -> Vec<String> {
    block_on(slot.dispatch(Log::<CONCURRENT>::default()))
}

#[test]
fn e_36_a_panic_on_start_or_on_any_poll_is_a_failure() {
    let mut slot = slot(&Clock::default());
    add(&mut slot, "on start", || -> HookFuture<'static, u32> {
        panic!("one")
    });
    add(&mut slot, "first poll", || {
        HookFuture::boxed(async { panic!("{}", "two") })
    });
    add(&mut slot, "later poll", || {
        let mut polls = 0;
        HookFuture::boxed(poll_fn(move |_| {
            polls += 1;
            assert!(polls < 3, "three");
            Poll::Pending
        }))
    });
    add(&mut slot, "not text", || {
        HookFuture::boxed(async { std::panic::panic_any(4) })
    });
    add(&mut slot, "completes", ready(5));
    let expected = [
        "on start panicked: one",
        "first poll panicked: two",
        "later poll panicked: three",
        "not text panicked: not a text",
        "completes 5",
    ];
    assert_eq!(run::<false>(&slot), expected);
    let mut concurrent = run::<true>(&slot);
    concurrent.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(concurrent, expected);
}

#[test]
fn an_output_that_fails_validation_is_a_failure() {
    let mut slot = slot(&Clock::default());
    add(&mut slot, "on start", ready(101));
    add(&mut slot, "later", after(2, 102));
    let expected = [
        "on start returned an invalid output: too large",
        "later returned an invalid output: too large",
    ];
    assert_eq!(run::<false>(&slot), expected);
}

#[test]
fn a_timeout_is_a_failure_and_the_next_hook_runs() {
    let clock = Clock::default();
    let mut slot = slot(&clock);
    insert(&mut slot, Entry::new(never).name("slow").timeout(SECOND));
    add(&mut slot, "next", ready(1));
    let mut dispatch = pin!(slot.dispatch(Log::<false>::default()));
    assert!(poll(dispatch.as_mut()).is_pending());
    clock.advance(SECOND / 2);
    assert!(poll(dispatch.as_mut()).is_pending());
    clock.advance(SECOND / 2);
    let lines = ["slow timed out after 1s", "next 1"];
    assert_eq!(
        poll(dispatch),
        Poll::Ready(lines.map(str::to_owned).to_vec())
    );
}

#[test]
fn e_58_with_a_zero_timeout_only_hooks_ready_on_first_poll_succeed() {
    let clock = Clock::default();
    let mut slot = slot(&clock);
    let no_time = |entry: Entry<_>| entry.timeout(Duration::ZERO);
    insert(&mut slot, no_time(Entry::new(after(1, 1)).name("waits")));
    insert(&mut slot, no_time(Entry::new(after(0, 2)).name("does not")));
    let expected = ["waits timed out after 0ns", "does not 2"];
    assert_eq!(run::<false>(&slot), expected);
    assert_eq!(run::<true>(&slot), expected);
}

#[test]
fn e_50_all_concurrent_hooks_start_on_the_first_poll() {
    let mut slot = slot(&Clock::default());
    let started = Arc::new(AtomicUsize::new(0));
    for (name, polls) in [("a", 3), ("b", 1), ("c", 0)] {
        let started = Arc::clone(&started);
        add(&mut slot, name, move || {
            started.fetch_add(1, Ordering::Relaxed);
            after(polls, polls as u32)()
        });
    }
    let mut dispatch = pin!(slot.dispatch(Log::<true>::default()));
    assert!(poll(dispatch.as_mut()).is_pending());
    assert_eq!(started.load(Ordering::Relaxed), 3);
    assert_eq!(block_on(dispatch), ["c 0", "b 1", "a 3"]);
}

#[test]
fn a_stop_drops_pending_concurrent_hooks() {
    let mut slot = slot(&Clock::default());
    let dropped = Arc::new(AtomicUsize::new(0));
    struct OnDrop(Arc<AtomicUsize>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let counter = Arc::clone(&dropped);
    add(&mut slot, "never", move || {
        let guard = OnDrop(Arc::clone(&counter));
        HookFuture::boxed(async move {
            let _guard = guard;
            std::future::pending().await
        })
    });
    add(&mut slot, "stops", after(1, 7));
    let policy = Log::<true> {
        stop_at: Some(7),
        ..Log::default()
    };
    assert_eq!(block_on(slot.dispatch(policy)), ["stops 7"]);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn each_concurrent_hook_has_a_separate_timeout() {
    let clock = Clock::default();
    let mut slot = slot(&clock);
    insert(&mut slot, Entry::new(never).name("one").timeout(SECOND));
    insert(&mut slot, Entry::new(never).name("two").timeout(2 * SECOND));
    let mut dispatch = pin!(slot.dispatch(Log::<true>::default()));
    assert!(poll(dispatch.as_mut()).is_pending());
    clock.advance(SECOND);
    assert!(poll(dispatch.as_mut()).is_pending());
    clock.advance(SECOND);
    let lines = ["one timed out after 1s", "two timed out after 2s"];
    assert_eq!(
        poll(dispatch),
        Poll::Ready(lines.map(str::to_owned).to_vec())
    );
}

#[test]
fn finish_early_returns_the_outputs_so_far() {
    let mut slot = slot(&Clock::default());
    add(&mut slot, "first", ready(1));
    add(&mut slot, "slow", never);
    add(&mut slot, "not reached", ready(3));
    let mut dispatch = pin!(slot.dispatch_reported(Log::<false>::default()));
    assert!(poll(dispatch.as_mut()).is_pending());
    let (lines, report) = dispatch.finish_early();
    assert_eq!(lines, ["first 1"]);
    let runs: Vec<_> = report
        .entries
        .iter()
        .map(|entry| entry.status.to_string())
        .collect();
    assert_eq!(runs, ["completed", "cancelled", "skipped"]);
}

#[test]
fn a_report_contains_the_status_of_each_hook() {
    let mut slot = slot(&Clock::default());
    add(&mut slot, "completes", after(1, 1));
    add(&mut slot, "fails", ready(200));
    add(&mut slot, "stops", ready(9));
    add(&mut slot, "late", ready(4));
    let policy = Log::<false> {
        stop_at: Some(9),
        ..Log::default()
    };
    let (_, report) = block_on(slot.dispatch_reported(policy));
    assert_eq!(report.stopped_by().map(|entry| &*entry.name), Some("stops"));
    let [completes, fails, stops, late] = &*report.entries else {
        panic!("a line for each hook, not {report}");
    };
    assert!(matches!(completes.status, HookStatus::Completed) && completes.elapsed.is_some());
    assert!(matches!(
        fails.status,
        HookStatus::Failed { stopped: false, .. }
    ));
    assert!(matches!(stops.status, HookStatus::Stopped));
    assert!(matches!(late.status, HookStatus::Skipped) && late.elapsed.is_none());
    assert!(report.to_string().contains("late: skipped\n"), "{report}");
    let empty = Slot::<dyn Hook>::new();
    let (_, report) = block_on(empty.dispatch_reported(Log::<false>::default()));
    assert_eq!(report.to_string(), "no hooks\n");
}

/// Awaits after every output, and stops at a number.
struct SuspendingPolicy {
    stop_at: u32,
    last_output: u32,
}

impl Policy<dyn Hook> for SuspendingPolicy {
    type HookOutput = u32;
    type Output = ();
    type Future = Ready<u32>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        "suspending"
    }

    fn invoke<'a>(&mut self, _: &'a EntryMeta, hook: &'a dyn Hook, _: bool) -> HookFuture<'a, u32>
    where
        Self: 'a,
    {
        hook.start()
    }

    fn on_output(&mut self, _: &EntryMeta, output: u32) -> Step<Self, Ready<u32>> {
        self.last_output = output;
        Step::Wait(|me| std::future::ready(me.last_output))
    }

    /// Counts a failure as zero.
    fn on_failure(&mut self, _: &EntryMeta, _: Failure) -> Step<Self, Ready<u32>> {
        self.last_output = 0;
        Step::Wait(|me| std::future::ready(me.last_output))
    }

    /// Awaits once more.
    fn after_hooks(&mut self) -> Step<Self, Ready<u32>> {
        self.last_output = self.stop_at;
        Step::Wait(|me| std::future::ready(me.last_output))
    }

    fn on_future_ready(&mut self, output: u32) -> Step<Self, Ready<u32>> {
        match output == self.stop_at {
            true => Step::Stop,
            false => Step::Next,
        }
    }

    fn finish(self) {}
}

#[test]
fn x_2_a_report_names_the_hook_after_which_the_policy_stopped() {
    let fails = || -> HookFuture<'static, u32> { panic!("fails") };
    let mut slot = slot(&Clock::default());
    add(&mut slot, "first", ready(1));
    add(&mut slot, "fails", fails);
    add(&mut slot, "second", after(1, 2));
    add(&mut slot, "third", ready(3));
    let stopped_at = |stop_at| {
        let (_, report) = block_on(slot.dispatch_reported(SuspendingPolicy {
            stop_at,
            last_output: 0,
        }));
        let name = report.stopped_by().map(|entry| entry.name.to_string());
        (name.unwrap_or_default(), report.to_string())
    };
    for (number, name) in [
        (1, "first"),
        (2, "second"),
        (3, "third"),
        (0, "fails"),
        (9, ""),
    ] {
        let (stopped, report) = stopped_at(number);
        assert_eq!(stopped, name, "{report}");
        assert_eq!(
            report.contains("third: skipped"),
            ["first", "second", "fails"].contains(&name)
        );
    }
}

#[test]
fn a_rejected_replacement_keeps_the_existing_entries() {
    let mut slot: Slot<dyn Hook> = Slot::new();
    add(&mut slot, "there", ready(1));
    let entry = Entry::new(never).name("slow").timeout(SECOND);
    let entry = entry.map(|hook| Arc::new(hook) as Arc<dyn Hook>);
    let replaced = catch_unwind(AssertUnwindSafe(|| slot.replace_all(entry)));
    assert!(replaced.is_err(), "a timeout without a timer");
    let names: Vec<_> = slot.iter().map(|(_, entry)| entry.name()).collect();
    assert_eq!(names, ["there"]);
}

#[test]
#[should_panic(expected = "`slow` has a timeout, and its slot no timer")]
fn a_timeout_without_a_timer_panics_at_registration() {
    let mut slot: Slot<dyn Hook> = Slot::new();
    insert(&mut slot, Entry::new(never).name("slow").timeout(SECOND));
}

#[test]
fn remove_entry_removes_only_the_entry_with_the_id() {
    let mut slot = slot(&Clock::default());
    let entry = || {
        Entry::new(ready(1))
            .name("same")
            .map(|hook| Arc::new(hook) as Arc<dyn Hook>)
    };
    let first = slot.insert(entry());
    let second = slot.insert(entry());
    assert_ne!(first, second);
    assert!(slot.remove_entry(first));
    assert!(!slot.remove_entry(first));
    let left: Vec<_> = slot.iter().map(|(_, entry)| entry.id()).collect();
    assert_eq!(left, [second]);
}

/// Hooks that complete on start share one `catch_unwind`: each is reported separately, and the next
/// one runs after any of these, unless the policy has stopped.
#[test]
fn e_36_each_hook_of_every_mixture_is_reported_separately() {
    // Pairs, because miri is slow.
    const HOOKS: usize = if cfg!(miri) { 2 } else { 4 };
    type Kind = (fn(u32) -> HookFuture<'static, u32>, fn(u32) -> String);
    let kinds: [Kind; 6] = [
        (|n| HookFuture::Ready(n), |n| n.to_string()),
        (|n| after(0, n)(), |n| n.to_string()),
        (|n| after(2, n)(), |n| n.to_string()),
        (
            |n| HookFuture::Ready(n + 100),
            |_| "returned an invalid output: too large".to_owned(),
        ),
        (|n| panic!("{n}"), |n| format!("panicked: {n}")),
        (
            |n| HookFuture::boxed(async move { panic!("{n}") }),
            |n| format!("panicked: {n}"),
        ),
    ];
    let names = ["1", "2", "3", "4"];
    for mixture in 0..kinds.len().pow(HOOKS as u32) {
        let mut slot = slot(&Clock::default());
        let mut expected = Vec::new();
        for (at, name) in names.into_iter().take(HOOKS).enumerate() {
            let (hook, line) = kinds[mixture / kinds.len().pow(at as u32) % kinds.len()];
            let number = at as u32 + 1;
            add(&mut slot, name, move || hook(number));
            expected.push(format!("{name} {}", line(number)));
        }
        assert_eq!(run::<false>(&slot), expected, "mixture {mixture}");
        let stopped = Log::<false> {
            stop_at: Some(2),
            ..Log::default()
        };
        if expected[1] == "2 2" {
            expected.truncate(2);
        }
        assert_eq!(block_on(slot.dispatch(stopped)), expected, "{mixture}");
    }
}

/// No hook is reported for it, and no output is invented.
#[test]
fn x_2_a_panic_in_the_policy_propagates_to_the_caller() {
    let mut slot = Slot::new();
    add(&mut slot, "completes", ready(1));
    add(&mut slot, "fails", || -> HookFuture<'static, u32> {
        panic!("of the hook")
    });
    add(&mut slot, "fatal", ready(3));
    add(&mut slot, "not started", ready(2));
    let lines = Rc::default();
    let policy = PanickingPolicy::<true>(Rc::clone(&lines));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        block_on(slot.dispatch(policy));
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"of the policy"));
    assert_eq!(*lines.borrow(), ["1", "panicked: of the hook"]);
}

#[test]
fn a_hook_panic_propagates_if_failures_are_not_caught() {
    let mut slot = Slot::new();
    add(&mut slot, "completes", ready(1));
    add(&mut slot, "fails", || -> HookFuture<'static, u32> {
        panic!("of the hook")
    });
    let lines = Rc::default();
    let policy = PanickingPolicy::<false>(Rc::clone(&lines));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        block_on(slot.dispatch(policy));
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"of the hook"));
    assert_eq!(*lines.borrow(), ["1"]);
}
