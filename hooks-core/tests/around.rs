//! Around hooks of typed slots.

#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "table/kit.rs"]
mod kit;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_core::{
    AggregateInto, Around, Entry, Finalize, Next, ShortCircuit, hooks, impl_hook, impl_hooks,
};
use proptest::prelude::*;

/// Adds the outputs.
#[derive(Default)]
struct Sum;

impl AggregateInto<u32, String> for Sum {
    async fn call(&self, outputs: Vec<u32>) -> String {
        outputs.iter().sum::<u32>().to_string()
    }
}

#[derive(Default)]
struct Angles;

impl Finalize<String> for Angles {
    async fn call(&self, result: String) -> String {
        format!("<{result}>")
    }
}

/// Not `Clone`.
struct Ticket(u32);

#[hooks]
trait CallHooks {
    #[hook(always, around)]
    async fn say(text: &str, name: String) -> String {
        format!("{text} {name}")
    }

    #[hook(always, aggregate = Sum, output = String, around)]
    async fn count(start: u32) -> u32 {
        start
    }

    #[hook(fallback, chain = ShortCircuit<u8, String>, around)]
    async fn check(_code: u8) -> Result<u8, String> {
        Ok(0)
    }

    #[hook(fallback, finalize = Angles, around)]
    async fn quote(text: &str) -> String {
        text.to_owned()
    }

    #[hook(singleton, around)]
    async fn redeem(ticket: Ticket) -> u32 {
        ticket.0
    }

    #[hook(always, around)]
    async fn notify() {}

    #[hook(always, aggregate = Sum, output = String, concurrent, around)]
    async fn votes(start: u32) -> u32 {
        start
    }
}

/// Writes its name before and after the rest.
struct Tag(&'static str);

impl Around<dyn Say> for Tag {
    async fn call<'a>(
        &'a self,
        (text, name): (&'a str, String),
        next: Next<'a, dyn Say>,
    ) -> String {
        kit::yield_once().await;
        let name = format!("{name}{}", self.0);
        let inner = next.call((text, name)).await;
        kit::yield_once().await;
        format!("{}({inner})", self.0)
    }
}

#[impl_hook(Say)]
async fn loud(_text: &str, _name: String, last: Option<String>) -> String {
    last.unwrap_or_default().to_uppercase()
}

#[test]
fn around_hooks_enclose_the_default_and_the_hooks_in_their_order() {
    let hooks = CallHooksSet::new().with_say(Loud);
    assert_eq!(
        block_on(hooks.say("hi", "x".into())),
        "HI X",
        "without around hooks"
    );
    let hooks = hooks
        .with_say_around(Entry::new(Tag("c")).key("c").priority(1))
        .with_say_around(Entry::new(Tag("b")).key("b"))
        .with_say_around(Entry::new(Tag("a")).before("b"));
    assert_eq!(block_on(hooks.say("hi", "x".into())), "a(b(c(HI XABC)))");
}

#[test]
fn around_hooks_have_keys_switches_conditions_and_are_extended() {
    let mut hooks = CallHooksSet::new()
        .with_say_around(Entry::new(Tag("a")).key("a"))
        .with_say_around(Entry::new(Tag("b")).when(|text: &&str, _: &String| *text == "yes"));
    assert_eq!(block_on(hooks.say("yes", "".into())), "a(b(yes ab))");
    assert_eq!(block_on(hooks.say("no", "".into())), "a(no a)");
    assert!(hooks.say_around_mut().set_enabled("a", false));
    assert_eq!(block_on(hooks.say("no", "".into())), "no ");
    assert_eq!(hooks.say_around_mut().len(), 2);

    let mut all = CallHooksSet::new()
        .with_say_around(Tag("0"))
        .with_extended(hooks.clone());
    assert!(all.say_around_mut().set_enabled("a", true));
    assert_eq!(block_on(all.say("yes", "".into())), "0(a(b(yes 0ab)))");
    assert!(all.say_around_mut().remove("a"));
    assert_eq!(block_on(all.say("yes", "".into())), "0(b(yes 0b))");
    all.say_around_mut().clear();
    assert_eq!(block_on(all.say("yes", "".into())), "yes ");
    assert!(!hooks.say_around_mut().is_empty(), "a clone is independent");

    let text = hooks.describe().to_string();
    assert!(
        text.contains("around, disabled") && text.contains("around, conditional"),
        "{text}"
    );
}

#[test]
fn the_output_is_that_of_the_companions() {
    async fn counted(start: u32, next: Next<'_, dyn Count>) -> String {
        format!("{} of {start}", next.call((start + 1,)).await)
    }
    async fn bracketed(text: &str, next: Next<'_, dyn Quote>) -> String {
        format!("[{}]", next.call((text,)).await)
    }
    let hooks = CallHooksSet::new()
        .with_count(async |start: u32| start * 10)
        .with_count_around(counted)
        .with_quote_around(bracketed);
    assert_eq!(block_on(hooks.count(1)), "22 of 1");
    assert_eq!(block_on(hooks.quote("x")), "[<x>]");
}

/// Calls again after an error.
struct Retry {
    times: usize,
    calls: AtomicUsize,
}

impl Around<dyn Check> for Retry {
    async fn call<'a>(&'a self, (code,): (u8,), next: Next<'a, dyn Check>) -> Result<u8, String> {
        let mut result = next.call((code,)).await;
        for _ in 1..self.times {
            self.calls.fetch_add(1, Ordering::Relaxed);
            if result.is_ok() {
                break;
            }
            result = next.call((code,)).await;
        }
        result
    }
}

#[test]
fn an_around_hook_retries_and_replaces_errors() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let fails_twice = move |_: u8| {
        let attempt = counted.fetch_add(1, Ordering::Relaxed);
        std::future::ready(match attempt {
            0 | 1 => Err("not yet".to_owned()),
            _ => Ok(7),
        })
    };
    async fn replaced(code: u8, next: Next<'_, dyn Check>) -> Result<u8, String> {
        next.call((code,)).await.or(Ok(99))
    }
    let retry = |times| Retry {
        times,
        calls: AtomicUsize::new(0),
    };
    let hooks = CallHooksSet::new()
        .with_check(fails_twice)
        .with_check_around(retry(3));
    // `ShortCircuit` stops at an error; without one, the default runs last.
    assert_eq!(block_on(hooks.check(1)), Ok(0));
    assert_eq!(attempts.load(Ordering::Relaxed), 3);

    attempts.store(0, Ordering::Relaxed);
    let hooks = hooks.for_call(|set| {
        set.check_around_mut().clear();
        set.register_check_around(retry(2));
        set.register_check_around(Entry::new(Arc::new(retry(1))));
    });
    assert_eq!(
        block_on(hooks.check(1)),
        Err("not yet".to_owned()),
        "the error passes through"
    );
    attempts.store(0, Ordering::Relaxed);
    let hooks = hooks.with_check_around(Entry::new(replaced).priority(-1));
    assert_eq!(block_on(hooks.check(1)), Ok(99));
}

#[test]
fn a_hook_that_does_not_call_next_replaces_the_call() {
    let hooks = CallHooksSet::new()
        .with_count(async |_: u32| unreachable!("the hook is not run"))
        .with_count_around(async |start: u32, _next: Next<'_, dyn Count>| {
            format!("cached {start}")
        });
    assert_eq!(block_on(hooks.count(3)), "cached 3");
}

#[test]
fn arguments_that_are_not_clone_are_moved() {
    async fn doubled(ticket: Ticket, next: Next<'_, dyn Redeem>) -> u32 {
        next.call((Ticket(ticket.0 * 2),)).await
    }
    let hooks = CallHooksSet::new().with_redeem_around(doubled);
    assert_eq!(block_on(hooks.redeem(Ticket(4))), 8);
    let hooks = hooks.with_redeem(async |ticket: Ticket| ticket.0 + 1);
    assert_eq!(block_on(hooks.redeem(Ticket(4))), 9);
}

#[test]
fn next_takes_arguments_of_a_shorter_lifetime() {
    async fn upper(text: &str, name: String, next: Next<'_, dyn Say>) -> String {
        let text = text.to_uppercase();
        next.call((&text, name)).await
    }
    let hooks = CallHooksSet::new().with_say_around(upper);
    assert_eq!(block_on(hooks.say("hi", "x".into())), "HI x");
}

#[test]
fn slots_without_output_and_concurrent_slots_have_around_hooks() {
    let log = Arc::new(Mutex::new(Vec::new()));
    struct Log(Arc<Mutex<Vec<&'static str>>>);
    impl Around<dyn Notify> for Log {
        async fn call<'a>(&'a self, (): (), next: Next<'a, dyn Notify>) {
            self.0.lock().unwrap().push("before");
            next.call(()).await;
            self.0.lock().unwrap().push("after");
        }
    }
    let written = Arc::clone(&log);
    let hooks = CallHooksSet::new()
        .with_notify_around(Log(Arc::clone(&log)))
        .with_notify(move || {
            written.lock().unwrap().push("hook");
            std::future::ready(())
        })
        .with_votes(async |start: u32| start)
        .with_votes_around(async |start: u32, next: Next<'_, dyn Votes>| {
            next.call((start + 1,)).await + "!"
        });
    block_on(hooks.notify());
    assert_eq!(*log.lock().unwrap(), ["before", "hook", "after"]);
    assert_eq!(block_on(hooks.votes(1)), "4!");
}

#[test]
fn nothing_runs_before_the_first_poll_or_after_the_drop() {
    let log = Arc::new(Mutex::new(Vec::new()));
    struct Guard(Arc<Mutex<Vec<&'static str>>>, &'static str);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(self.1);
        }
    }
    struct Logs(Arc<Mutex<Vec<&'static str>>>);
    impl Around<dyn Say> for Logs {
        async fn call<'a>(
            &'a self,
            (text, name): (&'a str, String),
            next: Next<'a, dyn Say>,
        ) -> String {
            self.0.lock().unwrap().push("started");
            let _guard = Guard(Arc::clone(&self.0), "outer dropped");
            next.call((text, name)).await
        }
    }
    struct Pending(Arc<Mutex<Vec<&'static str>>>);
    impl Say for Pending {
        async fn call(&self, _: String, _: String, _: Option<String>) -> String {
            let _guard = Guard(Arc::clone(&self.0), "hook dropped");
            std::future::pending().await
        }
    }
    let hooks = CallHooksSet::new()
        .with_say(Pending(Arc::clone(&log)))
        .with_say_around(Logs(Arc::clone(&log)));
    drop(hooks.say("", String::new()));
    assert!(log.lock().unwrap().is_empty());
    {
        let mut call = pin!(hooks.say("", String::new()));
        assert!(kit::poll_once(call.as_mut()).is_pending());
        assert!(kit::poll_once(call.as_mut()).is_pending());
        assert_eq!(*log.lock().unwrap(), ["started"]);
    }
    assert_eq!(
        *log.lock().unwrap(),
        ["started", "hook dropped", "outer dropped"]
    );
}

#[test]
fn a_panic_passes_through_and_the_set_stays_usable() {
    let hooks = CallHooksSet::new().with_say_around(Tag("a")).with_say(
        async |text: String, _: String, last: Option<String>| match &*text {
            "panic" => panic!("a hook panicked"),
            _ => last.unwrap(),
        },
    );
    let call = || block_on(hooks.say("panic", String::new()));
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("it propagates");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"a hook panicked"));
    assert_eq!(block_on(hooks.say("hi", String::new())), "a(hi a)");
}

/// An around hook that dispatches the slot that it encloses.
struct Nested {
    depth: usize,
    hooks: Mutex<Option<CallHooksSet<'static>>>,
}

impl Around<dyn Check> for Nested {
    async fn call<'a>(&'a self, (code,): (u8,), next: Next<'a, dyn Check>) -> Result<u8, String> {
        let set = self.hooks.lock().unwrap().clone();
        match set {
            Some(set) if usize::from(code) < self.depth => {
                Box::pin(async move { set.check(code + 1).await }).await
            }
            _ => next.call((code,)).await,
        }
    }
}

#[test]
fn an_around_hook_dispatches_its_own_slot() {
    let nested = Arc::new(Nested {
        depth: 200,
        hooks: Mutex::new(None),
    });
    let hooks = CallHooksSet::new()
        .with_check(async |code: u8| Err(format!("reached {code}")))
        .with_check_around(Arc::clone(&nested));
    *nested.hooks.lock().unwrap() = Some(hooks.clone());
    assert_eq!(block_on(hooks.check(0)), Err("reached 200".to_owned()));
    // The hook holds the set that holds the hook.
    *nested.hooks.lock().unwrap() = None;
}

#[cfg(not(hooks_single_threaded))]
#[test]
fn calls_are_send_and_run_on_other_threads() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let hooks = CallHooksSet::new().with_say_around(Tag("a"));
    let text = String::from("hi");
    std::thread::scope(|scope| {
        let call = assert_send(hooks.say(&text, "x".into()));
        let said = scope.spawn(|| block_on(call)).join().unwrap();
        assert_eq!(said, "a(hi xa)");
    });
    let hooks = Arc::new(hooks);
    let call = assert_send(async move { hooks.say("a", "b".into()).await });
    assert_eq!(block_on(call), "a(a ba)");
}

/// `#[impl_hooks]` registers ordinary hooks of a slot with around hooks.
struct Group;

#[impl_hooks(CallHooksSet)]
impl CallHooks for Group {
    async fn say(&self, _text: &str, _name: String, last: Option<String>) -> String {
        last.unwrap_or_default() + "."
    }
}

#[test]
fn groups_register_in_slots_with_around_hooks() {
    let hooks = CallHooksSet::new()
        .with_hooks(Group)
        .with_say_around(Tag("a"));
    assert_eq!(block_on(hooks.say("hi", "x".into())), "a(hi xa.)");
}

#[test]
#[should_panic(expected = "has a timeout, and hooks of the typed slot `say` have none")]
fn a_timeout_is_refused() {
    let entry = Entry::new(Tag("a")).timeout(std::time::Duration::from_secs(1));
    _ = CallHooksSet::new().with_say_around(entry);
}

/// What an around hook does: a step of a random program.
#[derive(Debug, Clone, Copy)]
enum Act {
    Pass,
    Twice,
    Replace(u8),
    AddBefore(u8),
    AddAfter(u8),
}

struct Acting(Act);

impl Around<dyn Run> for Acting {
    async fn call<'a>(&'a self, (code,): (u8,), next: Next<'a, dyn Run>) -> Result<u8, String> {
        kit::yield_once().await;
        match self.0 {
            Act::Pass => next.call((code,)).await,
            Act::Twice => {
                let first = next.call((code,)).await?;
                Ok(first.wrapping_add(next.call((code,)).await?))
            }
            Act::Replace(with) => Ok(with),
            Act::AddBefore(more) => next.call((code.wrapping_add(more),)).await,
            Act::AddAfter(more) => Ok(next.call((code,)).await?.wrapping_add(more)),
        }
    }
}

/// The same as nested functions; counts the innermost calls.
fn model(acts: &[Act], code: u8, calls: &mut usize) -> Result<u8, String> {
    let Some((act, rest)) = acts.split_first() else {
        *calls += 1;
        return match code % 5 {
            0 => Err(format!("failed at {code}")),
            _ => Ok(code),
        };
    };
    match *act {
        Act::Pass => model(rest, code, calls),
        Act::Twice => {
            let first = model(rest, code, calls)?;
            Ok(first.wrapping_add(model(rest, code, calls)?))
        }
        Act::Replace(with) => Ok(with),
        Act::AddBefore(more) => model(rest, code.wrapping_add(more), calls),
        Act::AddAfter(more) => Ok(model(rest, code, calls)?.wrapping_add(more)),
    }
}

proptest! {
    /// A call with around hooks is the composition of functions.
    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn around_hooks_compose_as_functions(
        acts in prop::collection::vec(prop_oneof![
            Just(Act::Pass),
            Just(Act::Twice),
            any::<u8>().prop_map(Act::Replace),
            any::<u8>().prop_map(Act::AddBefore),
            any::<u8>().prop_map(Act::AddAfter),
        ], 0..6),
        code in any::<u8>(),
    ) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let mut hooks = FailingHooksSet::new().with_run(move |code: u8| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::ready(match code % 5 {
                0 => Err(format!("failed at {code}")),
                _ => Ok(code),
            })
        });
        for act in &acts {
            hooks.register_run_around(Acting(*act));
        }
        let mut expected_calls = 0;
        let expected = model(&acts, code, &mut expected_calls);
        prop_assert_eq!(block_on(hooks.run(code)), expected);
        prop_assert_eq!(calls.load(Ordering::Relaxed), expected_calls);
    }
}

#[hooks]
trait FailingHooks {
    #[hook(singleton, around)]
    async fn run(_code: u8) -> Result<u8, String> {
        Ok(0)
    }
}
