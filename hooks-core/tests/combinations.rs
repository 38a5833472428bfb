//! Around hooks, relative order, conditions, switches, concurrent slots and copies for one call, in
//! combination, and when a call is dropped, panics or dispatches again.

#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "table/kit.rs"]
mod kit;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::task::Poll;

use futures::executor::block_on;
use futures::future::FutureExt;
use hooks_core::{AggregateInto, Around, Entry, Next, Stateful, hooks};
use proptest::prelude::*;

/// Returns the outputs.
#[derive(Default)]
struct List;

impl AggregateInto<u32, Vec<u32>> for List {
    async fn call(&self, outputs: Vec<u32>) -> Vec<u32> {
        outputs
    }
}

#[hooks]
trait InnerHooks {
    #[hook(fallback, around)]
    async fn visit(path: &str) -> Vec<String> {
        vec![format!("default of {path}")]
    }
}

#[hooks]
#[nested_hooks(inner = InnerHooksSet)]
trait OuterHooks {
    /// The names of the hooks that ran.
    #[hook(fallback, around)]
    async fn trail(_text: &str) -> Vec<String> {
        vec!["default".to_owned()]
    }

    #[hook(always, aggregate = List, output = Vec<u32>, concurrent, around)]
    async fn gather(start: u32) -> u32 {
        start
    }

    #[hook(singleton, around)]
    async fn pick(text: &str) -> String {
        format!("default {text}")
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Adds its name, after a suspension if it is slow.
struct Named {
    name: &'static str,
    slow: bool,
}

fn named(name: &'static str) -> Named {
    Named { name, slow: false }
}

impl Trail for Named {
    async fn call(&self, _text: String, last: Option<Vec<String>>) -> Vec<String> {
        if self.slow {
            kit::yield_once().await;
        }
        let mut names = last.unwrap_or_default();
        names.push(self.name.to_owned());
        names
    }
}

impl Visit for Named {
    async fn call(&self, _path: String, last: Option<Vec<String>>) -> Vec<String> {
        let mut names = last.unwrap_or_default();
        names.push(self.name.to_owned());
        names
    }
}

/// Adds a line when it is dropped.
struct OnDrop(Lines, &'static str);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.add(format!("drop {}", self.1));
    }
}

/// Logs before and after the rest of the call, with a local value.
struct Bracket {
    lines: Lines,
    name: &'static str,
}

fn bracket(lines: &Lines, name: &'static str) -> Bracket {
    Bracket {
        lines: lines.clone(),
        name,
    }
}

impl Around<dyn Trail> for Bracket {
    async fn call<'a>(&'a self, (text,): (&'a str,), next: Next<'a, dyn Trail>) -> Vec<String> {
        let local = OnDrop(self.lines.clone(), self.name);
        let before = format!("before {} {text}", self.name);
        self.lines.add(before.clone());
        let names = next.call((text,)).await;
        self.lines.add(before.replace("before", "after"));
        drop(local);
        names
    }
}

/// Is pending forever.
struct Stuck(Lines);

impl Trail for Stuck {
    async fn call(&self, _text: String, _last: Option<Vec<String>>) -> Vec<String> {
        let _local = OnDrop(self.0.clone(), "hook");
        std::future::pending().await
    }
}

fn message_of(act: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("it panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a text")).to_owned(),
    }
}

fn trail(set: &OuterHooksSet<'_>) -> Vec<String> {
    block_on(set.trail("a"))
}

// Around hooks

#[test]
fn around_hooks_nest_by_priority_and_then_by_registration() {
    let lines = Lines::default();
    let set = OuterHooksSet::new()
        .with_trail(named("hook"))
        .with_trail_around(bracket(&lines, "third"))
        .with_trail_around(Entry::new(bracket(&lines, "second")).priority(-1).key("2"))
        .with_trail_around(Entry::new(bracket(&lines, "first")).priority(9).before("2"));
    assert_eq!(trail(&set), ["hook"]);
    assert_eq!(
        lines.take(),
        [
            "before first a",
            "before second a",
            "before third a",
            "after third a",
            "drop third",
            "after second a",
            "drop second",
            "after first a",
            "drop first",
        ]
    );
}

#[test]
fn a_dropped_call_drops_the_pending_hook_and_then_the_around_hooks() {
    let lines = Lines::default();
    let set = OuterHooksSet::new()
        .with_trail(Stuck(lines.clone()))
        .with_trail(named("never"))
        .with_trail_around(bracket(&lines, "outer"))
        .with_trail_around(bracket(&lines, "inner"));
    {
        let mut call = Box::pin(set.trail("a"));
        assert!(
            lines.take().is_empty(),
            "nothing runs before the first poll"
        );
        assert!(kit::poll_once(call.as_mut()).is_pending());
        assert_eq!(lines.take(), ["before outer a", "before inner a"]);
    }
    assert_eq!(lines.take(), ["drop hook", "drop inner", "drop outer"]);
}

#[test]
fn an_around_hook_may_drop_the_rest_of_the_call_and_call_it_again() {
    struct Impatient(AtomicUsize);

    impl Around<dyn Trail> for Impatient {
        async fn call<'a>(&'a self, (text,): (&'a str,), next: Next<'a, dyn Trail>) -> Vec<String> {
            {
                let mut rest = pin!(next.call((text,)));
                assert!(kit::poll_once(rest.as_mut()).is_pending());
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            next.call((text,)).await
        }
    }

    let slow = Named {
        name: "slow",
        slow: true,
    };
    let set = OuterHooksSet::new()
        .with_trail(slow)
        .with_trail_around(Impatient(AtomicUsize::new(0)));
    assert_eq!(trail(&set), ["slow"]);
}

#[test]
fn a_panic_anywhere_in_a_call_propagates_and_the_set_works_afterwards() {
    async fn before_next(_text: &str, _next: Next<'_, dyn Trail>) -> Vec<String> {
        panic!("before next")
    }
    async fn after_next(text: &str, next: Next<'_, dyn Trail>) -> Vec<String> {
        next.call((text,)).await;
        panic!("after next")
    }
    async fn in_hook(_text: String, _last: Option<Vec<String>>) -> Vec<String> {
        panic!("in the hook")
    }

    let lines = Lines::default();
    let mut set = OuterHooksSet::new()
        .with_trail(named("hook"))
        .with_trail_around(bracket(&lines, "outer"));
    for (key, message) in [
        ("1", "before next"),
        ("2", "after next"),
        ("3", "in the hook"),
    ] {
        match key {
            "1" => _ = set.register_trail_around(Entry::new(before_next).key("1")),
            "2" => _ = set.register_trail_around(Entry::new(after_next).key("2")),
            _ => _ = set.register_trail(Entry::new(in_hook).key("3")),
        }
        assert_eq!(message_of(|| _ = trail(&set)), message);
        assert_eq!(lines.take(), ["before outer a", "drop outer"], "{message}");
        let removed = set.trail_around_mut().remove(key) || set.trail_mut().remove(key);
        assert!(removed);
        assert_eq!(trail(&set), ["hook"]);
        lines.take();
    }

    // A condition, of a hook and of an around hook.
    set.register_trail(
        Entry::new(named("conditional"))
            .key("4")
            .when(|_: &&str| panic!("in the condition")),
    );
    assert_eq!(message_of(|| _ = trail(&set)), "in the condition");
    assert!(set.trail_mut().remove("4"));
    lines.take();
    set.register_trail_around(
        Entry::new(bracket(&lines, "conditional"))
            .priority(-1)
            .when(|_: &&str| panic!("in the condition of the around hook")),
    );
    assert_eq!(
        message_of(|| _ = trail(&set)),
        "in the condition of the around hook"
    );
    assert!(lines.take().is_empty(), "no hook starts");
}

#[test]
fn an_around_hook_may_catch_the_panic_of_a_hook() {
    async fn catching(text: &str, next: Next<'_, dyn Trail>) -> Vec<String> {
        let rest = AssertUnwindSafe(next.call((text,))).catch_unwind();
        rest.await.unwrap_or_else(|_| vec!["caught".to_owned()])
    }
    async fn panics(_text: String, _last: Option<Vec<String>>) -> Vec<String> {
        panic!("in the hook")
    }

    let set = OuterHooksSet::new()
        .with_trail(panics)
        .with_trail_around(catching);
    assert_eq!(trail(&set), ["caught"]);
}

#[test]
fn around_hooks_enclose_a_concurrent_slot_and_run_it_again() {
    /// Is pending as many times as its output says, and logs its start.
    struct Slow(Lines, u32);

    impl Gather for Slow {
        async fn call(&self, _start: u32) -> u32 {
            self.0.add(format!("start {}", self.1));
            for _ in 0..self.1 {
                kit::yield_once().await;
            }
            self.0.add(format!("end {}", self.1));
            self.1
        }
    }

    async fn twice(start: u32, next: Next<'_, dyn Gather>) -> Vec<u32> {
        let mut all = next.call((start,)).await;
        all.extend(next.call((start + 1,)).await);
        all
    }

    let lines = Lines::default();
    let set = OuterHooksSet::new()
        .with_gather(Slow(lines.clone(), 3))
        .with_gather(Slow(lines.clone(), 1))
        .with_gather(
            Entry::new(Slow(lines.clone(), 2))
                .key("2")
                .when(|start: &u32| *start > 0),
        )
        .with_gather_around(twice);
    let outputs = block_on(set.gather(0));
    assert_eq!(
        outputs,
        [0, 3, 1, 1, 3, 1, 2],
        "conditions are evaluated for each call of `next`"
    );
    assert_eq!(
        lines.take(),
        [
            "start 3", "start 1", "end 1", "end 3", "start 3", "start 1", "start 2", "end 1",
            "end 2", "end 3",
        ]
    );
}

#[test]
fn hooks_of_a_concurrent_slot_are_ordered_switched_and_dropped_together() {
    struct Output(Lines, &'static str, u32, bool);

    impl Gather for Output {
        async fn call(&self, _start: u32) -> u32 {
            let _local = OnDrop(self.0.clone(), self.1);
            if self.3 {
                std::future::pending::<()>().await;
            }
            self.2
        }
    }

    let lines = Lines::default();
    let output = |name, number| Output(lines.clone(), name, number, false);
    let mut set = OuterHooksSet::new()
        .with_gather(Entry::new(output("b", 2)).key("b"))
        .with_gather(Entry::new(output("a", 1)).key("a").before("b"))
        .with_gather(Entry::new(output("c", 3)).key("c").priority(-9).after("b"));
    assert_eq!(block_on(set.gather(0)), [0, 1, 2, 3]);
    assert!(set.gather_mut().set_enabled("b", false));
    assert_eq!(block_on(set.gather(0)), [0, 1, 3]);
    assert!(set.gather_mut().set_enabled("b", true));
    assert_eq!(block_on(set.gather(0)), [0, 1, 2, 3]);
    lines.take();

    set.register_gather(Output(lines.clone(), "stuck", 0, true));
    set.register_gather(Output(lines.clone(), "also stuck", 0, true));
    {
        let mut call = Box::pin(set.gather(0));
        assert!(kit::poll_once(call.as_mut()).is_pending());
        assert_eq!(lines.take(), ["drop a", "drop b", "drop c"]);
    }
    let mut dropped = lines.take();
    dropped.sort();
    assert_eq!(dropped, ["drop also stuck", "drop stuck"]);

    // The first panic drops the others.
    async fn panics(_start: u32) -> u32 {
        kit::yield_once().await;
        panic!("in a concurrent hook")
    }
    set.register_gather(Entry::new(panics).priority(99));
    assert_eq!(
        message_of(|| _ = block_on(set.gather(0))),
        "in a concurrent hook"
    );
    assert_eq!(lines.take().len(), 5, "every started hook is dropped");
}

#[test]
fn hooks_dispatch_their_own_slot_again() {
    /// The set that contains the hook; empty at the end, because the two own each other.
    #[derive(Clone, Default)]
    struct Deeper(Arc<Mutex<Option<OuterHooksSet<'static>>>>);

    impl Deeper {
        fn set(&self) -> OuterHooksSet<'static> {
            self.0.lock().unwrap().clone().unwrap()
        }
    }

    impl Around<dyn Trail> for Deeper {
        async fn call<'a>(&'a self, (text,): (&'a str,), next: Next<'a, dyn Trail>) -> Vec<String> {
            let mut names = match text.strip_prefix('>') {
                Some(rest) => self.set().trail(rest).await,
                None => vec![],
            };
            names.extend(next.call((text,)).await);
            names
        }
    }

    impl Gather for Deeper {
        async fn call(&self, start: u32) -> u32 {
            match start {
                0 => 0,
                _ => {
                    kit::yield_once().await;
                    let inner = self.set().gather(start - 1).await;
                    1 + inner.into_iter().sum::<u32>()
                }
            }
        }
    }

    let deeper = Deeper::default();
    let set = OuterHooksSet::new()
        .with_trail(named("hook"))
        .with_trail_around(deeper.clone())
        .with_gather(deeper.clone())
        .with_gather(Entry::new(deeper.clone()).when(|start: &u32| *start == 2));
    *deeper.0.lock().unwrap() = Some(set.clone());
    assert_eq!(block_on(set.trail(">>a")), ["hook", "hook", "hook"]);
    // gather(1) = [1, 1 + 0]; gather(2) = [2, 1 + 2, 1 + 2].
    assert_eq!(block_on(set.gather(2)), [2, 3, 3]);
    deeper.0.lock().unwrap().take();
}

// Relative order

#[test]
fn constraints_survive_removal_replacement_and_switches_of_the_named_entry() {
    let mut set = OuterHooksSet::new()
        .with_trail(Entry::new(named("x")).key("x"))
        .with_trail(Entry::new(named("sign")).key("sign").priority(5))
        .with_trail(Entry::new(named("send")).key("send").after("sign"))
        .with_trail(
            Entry::new(named("check"))
                .key("check")
                .priority(9)
                .before("sign"),
        );
    assert_eq!(trail(&set), ["x", "check", "sign", "send"]);

    assert!(set.trail_mut().set_enabled("sign", false));
    assert_eq!(
        trail(&set),
        ["x", "check", "send"],
        "a disabled entry keeps its place"
    );
    assert!(set.trail_mut().set_enabled("sign", true));
    assert_eq!(trail(&set), ["x", "check", "sign", "send"]);

    assert!(set.trail_mut().remove("sign"));
    assert_eq!(
        trail(&set),
        ["x", "send", "check"],
        "by priority, without the key"
    );
    set.register_trail(Entry::new(named("sign again")).key("sign").priority(7));
    assert_eq!(trail(&set), ["x", "check", "sign again", "send"]);

    // A replacement in place keeps the order of the entries that name the key.
    set.register_trail(Entry::new(named("replaced")).key("sign").priority(7));
    assert_eq!(trail(&set), ["x", "check", "replaced", "send"]);
    set.register_trail(Entry::new(named("moved")).key("sign").priority(-7));
    assert_eq!(trail(&set), ["check", "moved", "x", "send"]);

    // The constraints of the replaced entry are replaced, too.
    set.register_trail(Entry::new(named("free check")).key("check").priority(9));
    assert_eq!(trail(&set), ["moved", "x", "send", "free check"]);
}

#[test]
fn unknown_keys_and_cycles_name_both_entries_and_change_nothing() {
    let mut set = OuterHooksSet::new()
        .with_trail(Entry::new(named("a")).key("first"))
        .with_trail(Entry::new(named("b")).key("second").after("first"))
        .with_trail(Entry::new(named("c")).key("third").after("second"));
    let described = set.describe().to_string();

    let unknown = message_of(|| {
        set.register_trail(Entry::new(named("d")).name("the new one").before("thrid"));
    });
    assert!(
        unknown.contains("the new one") && unknown.contains("thrid"),
        "{unknown}"
    );

    let cycle = message_of(|| {
        set.register_trail(Entry::new(named("a2")).key("first").after("third"));
    });
    assert!(
        cycle.contains("first") && cycle.contains("third"),
        "{cycle}"
    );

    let both = message_of(|| {
        set.register_trail(
            Entry::new(named("d"))
                .key("fourth")
                .before("first")
                .after("third"),
        );
    });
    assert!(both.contains("fourth"), "{both}");
    assert!(both.contains("first") || both.contains("third"), "{both}");

    let itself = message_of(|| {
        set.register_trail(Entry::new(named("d")).key("fourth").before("fourth"));
    });
    assert!(itself.contains("fourth"), "{itself}");

    let around = message_of(|| {
        set.register_trail_around(
            Entry::new(bracket(&Lines::default(), "x"))
                .name("mine")
                .after("first"),
        );
    });
    assert!(
        around.contains("mine") && around.contains("first"),
        "keys of hooks are separate: {around}"
    );

    let singleton = message_of(|| {
        set.register_pick(Entry::new(async |text: String| text).before("first"));
    });
    assert!(singleton.contains("pick"), "{singleton}");

    assert_eq!(set.describe().to_string(), described);
    assert_eq!(trail(&set), ["a", "b", "c"]);
}

#[test]
fn the_description_shows_the_order_and_its_reasons() {
    let mut set = OuterHooksSet::new()
        .with_trail(Entry::new(named("a")).key("first"))
        .with_trail(
            Entry::new(named("b"))
                .name("mover")
                .priority(9)
                .before("first"),
        )
        .with_trail(
            Entry::new(named("c"))
                .key("off")
                .enabled(false)
                .after("first"),
        )
        .with_trail(
            Entry::new(named("d"))
                .name("sometimes")
                .when(|_: &&str| true),
        )
        .with_trail_around(Entry::new(bracket(&Lines::default(), "x")).key("outside"));
    set.inner.register_visit(Entry::new(named("v")).key("v"));
    set.inner
        .register_visit(Entry::new(named("w")).name("nested").before("v"));
    let described = set.describe();
    let slot = &described.slots[0];
    let names: Vec<_> = slot.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names[0], "mover");
    assert_eq!(slot.entries[0].before, ["first"]);
    let off = slot
        .entries
        .iter()
        .find(|entry| entry.key.as_deref() == Some("off"))
        .unwrap();
    assert!(!off.enabled);
    assert_eq!(off.after, ["first"]);
    assert!(
        slot.entries
            .iter()
            .any(|entry| entry.name == "sometimes" && entry.conditional)
    );
    assert_eq!(slot.around[0].key.as_deref(), Some("outside"));
    assert_eq!(described.nested[0].set.slots[0].entries[0].before, ["v"]);

    let text = described.to_string();
    let line = |word: &str| {
        text.lines()
            .find(|line| line.contains(word))
            .unwrap_or_default()
    };
    assert!(
        line("mover").contains("before") && line("mover").contains("first"),
        "{text}"
    );
    assert!(
        line(" off ").contains("disabled") && line(" off ").contains("after"),
        "{text}"
    );
    assert!(line("outside").contains("around"), "{text}");
    assert!(line("nested").contains("before"), "{text}");
}

// Conditions and switches

#[test]
fn a_condition_may_let_a_hook_run_once() {
    let used = AtomicBool::new(false);
    let set = OuterHooksSet::new().with_trail(named("always")).with_trail(
        Entry::new(named("once")).when(move |_: &&str| !used.swap(true, Ordering::Relaxed)),
    );
    assert_eq!(trail(&set), ["always", "once"]);
    assert_eq!(trail(&set), ["always"]);
    assert_eq!(
        trail(&set.clone()),
        ["always"],
        "a clone shares the condition"
    );
}

#[test]
fn conditions_are_not_evaluated_for_disabled_hooks_and_before_all_hooks() {
    let lines = Lines::default();
    let seen = lines.clone();
    let mut set = OuterHooksSet::new()
        .with_trail({
            let lines = lines.clone();
            Entry::new(move |_: String, _: Option<Vec<String>>| {
                lines.add("hook");
                std::future::ready(vec!["first".to_owned()])
            })
        })
        .with_trail(Entry::new(named("x")).key("x").when(move |text: &&str| {
            seen.add(format!("condition {text}"));
            text.len() > 1
        }));
    assert_eq!(block_on(set.trail("ab")), ["first", "x"]);
    assert_eq!(lines.take(), ["condition ab", "hook"]);
    assert_eq!(block_on(set.trail("a")), ["first"]);
    assert_eq!(lines.take(), ["condition a", "hook"]);
    assert!(set.trail_mut().set_enabled("x", false));
    assert_eq!(block_on(set.trail("ab")), ["first"]);
    assert_eq!(lines.take(), ["hook"]);
    // The condition belongs to the entry, so it is replaced with the entry.
    set.register_trail(Entry::new(named("y")).key("x"));
    assert_eq!(block_on(set.trail("a")), ["first", "y"]);
    assert_eq!(lines.take(), ["hook"]);
}

#[test]
fn a_singleton_without_an_admitted_hook_runs_its_default() {
    let upper = async |text: String| text.to_uppercase();
    let mut set = OuterHooksSet::new().with_pick(
        Entry::new(upper)
            .key("upper")
            .when(|text: &&str| text.len() > 1),
    );
    assert_eq!(block_on(set.pick("ab")), "AB");
    assert_eq!(block_on(set.pick("a")), "default a");
    assert!(set.pick_mut().set_enabled("upper", false));
    assert_eq!(block_on(set.pick("ab")), "default ab");
    assert!(set.pick_mut().set_enabled("upper", true));
    assert_eq!(block_on(set.pick("ab")), "AB");
    let twice = async |text: &str, next: Next<'_, dyn Pick>| {
        format!("{} {}", next.call((text,)).await, next.call(("a",)).await)
    };
    set.register_pick_around(twice);
    assert_eq!(block_on(set.pick("ab")), "AB default a");
}

#[test]
fn a_stateful_hook_has_conditions_switches_and_a_place() {
    struct Counter(u32);

    impl StatefulTrail for Counter {
        async fn call_mut(&mut self, _text: String, last: Option<Vec<String>>) -> Vec<String> {
            self.0 += 1;
            let mut names = last.unwrap_or_default();
            names.push(self.0.to_string());
            names
        }
    }

    let counter = Stateful::new(Counter(0));
    let mut set = OuterHooksSet::new().with_trail(Entry::new(named("a")).key("a"));
    set.register_trail(
        Entry::new(counter)
            .key("count")
            .before("a")
            .when(|text: &&str| *text == "count"),
    );
    assert_eq!(block_on(set.trail("count")), ["1", "a"]);
    assert_eq!(block_on(set.trail("no")), ["a"]);
    assert_eq!(block_on(set.trail("count")), ["2", "a"]);
    assert!(set.trail_mut().set_enabled("count", false));
    assert_eq!(block_on(set.trail("count")), ["a"]);
}

// For one call

#[test]
fn a_copy_for_one_call_changes_hooks_around_hooks_and_nested_sets() {
    let lines = Lines::default();
    let set = OuterHooksSet::new()
        .with_trail(Entry::new(named("a")).key("a"))
        .with_trail_around(Entry::new(bracket(&lines, "outer")).key("outer"));
    let note = String::from("borrowed");
    struct Borrowing<'n>(&'n str);

    impl Trail for Borrowing<'_> {
        async fn call(&self, _text: String, last: Option<Vec<String>>) -> Vec<String> {
            let mut names = last.unwrap_or_default();
            names.push(self.0.to_owned());
            names
        }
    }

    let call = set.for_call(|set| {
        set.register_trail(Entry::new(Borrowing(&note)).before("a"));
        assert!(set.trail_around_mut().set_enabled("outer", false));
        set.inner.register_visit(named("nested"));
    });
    assert_eq!(block_on(call.trail("a")), ["borrowed", "a"]);
    assert_eq!(block_on(call.inner.visit("/")), ["nested"]);
    assert!(lines.take().is_empty());

    assert_eq!(trail(&set), ["a"]);
    assert_eq!(lines.take().len(), 3);
    assert_eq!(block_on(set.inner.visit("/")), ["default of /"]);

    let without = set.for_call(|set| {
        assert!(set.trail_mut().remove("a"));
        assert!(set.trail_around_mut().remove("outer"));
    });
    assert_eq!(trail(&without), ["default"]);
    assert_eq!(trail(&set), ["a"]);
}

// Extending

#[test]
fn extend_takes_over_every_option() {
    let lines = Lines::default();
    let mut other = OuterHooksSet::new()
        .with_trail(Entry::new(named("second")).key("second"))
        .with_trail(Entry::new(named("first")).key("first").before("second"))
        .with_trail(
            Entry::new(named("off"))
                .key("off")
                .enabled(false)
                .after("first"),
        )
        .with_trail(Entry::new(named("long")).when(|text: &&str| text.len() > 1))
        .with_trail_around(Entry::new(bracket(&lines, "inside")).key("inside"))
        .with_trail_around(
            Entry::new(bracket(&lines, "outside"))
                .before("inside")
                .when(|text: &&str| text.len() > 1),
        );
    other.inner.register_visit(Entry::new(named("v")).key("v"));
    other
        .inner
        .register_visit(Entry::new(named("w")).before("v"));
    other
        .inner
        .register_visit_around(async |_: &str, next: Next<'_, dyn Visit>| {
            next.call(("inner",)).await
        });

    let mut set = OuterHooksSet::new()
        .with_trail(Entry::new(named("own")).key("own"))
        .with_trail(Entry::new(named("old")).key("second").priority(0));
    set.extend(other);
    assert_eq!(block_on(set.trail("a")), ["own", "first", "second"]);
    assert_eq!(
        lines.take(),
        ["before inside a", "after inside a", "drop inside"]
    );
    assert_eq!(
        block_on(set.trail("ab")),
        ["own", "first", "second", "long"]
    );
    assert_eq!(lines.take()[0], "before outside ab");
    assert!(set.trail_mut().set_enabled("off", true));
    assert_eq!(block_on(set.trail("a")), ["own", "first", "second", "off"]);
    assert_eq!(block_on(set.inner.visit("/")), ["w", "v"]);
}

#[test]
fn extend_reports_a_cycle_and_leaves_the_slot_unchanged() {
    let mut set = OuterHooksSet::new()
        .with_trail(Entry::new(named("a")).key("a"))
        .with_trail(Entry::new(named("b")).key("b").after("a"));
    let other = OuterHooksSet::new()
        .with_trail(Entry::new(named("b")).key("b"))
        .with_trail(Entry::new(named("a")).key("a").after("b"));
    // `b` of `other` replaces `b`, and has no constraint: no cycle.
    set.extend(other);
    assert_eq!(trail(&set), ["b", "a"]);

    let other = OuterHooksSet::new()
        .with_trail(Entry::new(named("a")).key("a"))
        .with_trail(Entry::new(named("c")).key("c").after("a"))
        .with_trail(Entry::new(named("b2")).key("b").after("c"));
    set.extend(other.clone());
    assert_eq!(trail(&set), ["a", "c", "b2"]);
    let circle = OuterHooksSet::new()
        .with_trail(Entry::new(named("b3")).key("b"))
        .with_trail(Entry::new(named("a3")).key("a").after("b"));
    let message = message_of(|| {
        _ = set.extend(circle.for_call(|set| {
            // The constraint of `c` stays, as `c` is no part of the other set.
            set.register_trail(Entry::new(named("b3")).key("b").after("a"));
            assert!(set.trail_mut().remove("a"));
            set.register_trail(Entry::new(named("d")).key("d").after("b"));
            set.register_trail(Entry::new(named("a3")).key("a").after("d"));
            assert!(set.trail_mut().remove("b"));
        }))
    });
    assert!(message.contains('a'), "{message}");
    assert_eq!(trail(&set), ["a", "c", "b2"]);
}

// Threads

#[test]
fn registrations_and_dispatches_on_several_threads_use_whole_lists() {
    let shared = RwLock::new(
        OuterHooksSet::new()
            .with_trail(Entry::new(named("sign")).key("sign"))
            .with_trail(Entry::new(named("check")).key("check").before("sign")),
    );
    let rounds = if cfg!(miri) { 5 } else { 300 };
    let run = |set: &RwLock<OuterHooksSet<'static>>| {
        let snapshot = set.read().unwrap().clone();
        let names = trail(&snapshot);
        let place = |name: &str| names.iter().position(|other| other == name);
        if let (Some(check), Some(sign)) = (place("check"), place("sign")) {
            assert!(check < sign, "{names:?}");
        }
        assert!(!names.is_empty());
    };
    #[cfg(hooks_single_threaded)]
    for _ in 0..rounds {
        run(&shared);
    }
    #[cfg(not(hooks_single_threaded))]
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..rounds).for_each(|_| run(&shared)));
        }
        scope.spawn(|| {
            for round in 0..rounds {
                let mut set = shared.write().unwrap();
                match round % 4 {
                    0 => _ = set.trail_mut().remove("sign"),
                    1 => _ = set.register_trail(Entry::new(named("sign")).key("sign").priority(-9)),
                    2 => _ = set.trail_mut().set_enabled("check", false),
                    _ => _ = set.trail_mut().set_enabled("check", true),
                }
            }
        });
    });
}

#[cfg(not(hooks_single_threaded))]
#[test]
fn the_futures_of_all_these_dispatches_are_send() {
    fn is_send<F: std::future::Future + Send>(future: F) -> F {
        future
    }

    let set = OuterHooksSet::new()
        .with_trail(Entry::new(named("x")).when(|_: &&str| true))
        .with_trail_around(bracket(&Lines::default(), "outer"))
        .with_gather(async |start: u32| start);
    block_on(is_send(set.trail("a")));
    block_on(is_send(set.gather(1)));
    block_on(is_send(set.pick("a")));
}

// Any sequence of registrations

#[derive(Clone, Debug)]
enum Change {
    Register {
        key: u8,
        priority: i32,
        before: Vec<u8>,
        after: Vec<u8>,
    },
    Remove(u8),
    Enable(u8, bool),
}

fn change() -> impl Strategy<Value = Change> {
    let keys = || prop::collection::vec(0..6_u8, 0..2);
    prop_oneof![
        4 => (0..6_u8, -1..2_i32, keys(), keys()).prop_map(|(key, priority, before, after)| {
            Change::Register { key, priority, before, after }
        }),
        1 => (0..6_u8).prop_map(Change::Remove),
        1 => (0..6_u8, any::<bool>()).prop_map(|(key, on)| Change::Enable(key, on)),
    ]
}

struct Key(u8);

impl Gather for Key {
    async fn call(&self, _start: u32) -> u32 {
        self.0.into()
    }
}

proptest! {
    /// Every constraint holds, a slot without violated constraints is in order of priority, the
    /// dispatch has the order of the description, and a refused registration changes nothing.
    #[test]
    #[cfg_attr(miri, ignore = "proptest reads the clock and the file system")]
    fn constraints_hold_after_any_changes(changes in prop::collection::vec(change(), 1..24)) {
        let mut set = OuterHooksSet::new();
        for change in changes {
            let earlier = set.describe().to_string();
            match change {
                Change::Register { key, priority, before, after } => {
                    let mut entry = Entry::new(Key(key)).key(key.to_string()).priority(priority);
                    for key in &before { entry = entry.before(key.to_string()); }
                    for key in &after { entry = entry.after(key.to_string()); }
                    let described = set.describe();
                    let registered = |key: u8| described.slots[1].entries.iter()
                        .find(|entry| entry.key.as_deref() == Some(&*key.to_string()));
                    // A key that the replaced entry names, too, may have been removed.
                    let is_kept = |other: &u8, is_before| registered(key).is_some_and(|old| {
                        let named = if is_before { &old.before } else { &old.after };
                        named.contains(&other.to_string())
                    });
                    let is_known = |other: &u8, is_before| {
                        *other == key || registered(*other).is_some() || is_kept(other, is_before)
                    };
                    let all_known = before.iter().all(|other| is_known(other, true))
                        && after.iter().all(|other| is_known(other, false));
                    let to_itself = before.iter().chain(&after).any(|other| *other == key);
                    let register = AssertUnwindSafe(|| _ = set.register_gather(entry));
                    let is_refused = catch_unwind(register).is_err();
                    if !all_known || to_itself { prop_assert!(is_refused); }
                    let is_simple = before.is_empty() && after.is_empty() && !earlier.contains("after") && !earlier.contains("before");
                    prop_assert!(!(is_simple && is_refused));
                    if is_refused { prop_assert_eq!(set.describe().to_string(), earlier); }
                }
                Change::Remove(key) => _ = set.gather_mut().remove(&key.to_string()),
                Change::Enable(key, on) => _ = set.gather_mut().set_enabled(&key.to_string(), on),
            }
            let described = set.describe();
            let entries = &described.slots[1].entries;
            let place = |key: &str| entries.iter().position(|entry| entry.key.as_deref() == Some(key));
            for (index, entry) in entries.iter().enumerate() {
                for key in &entry.before {
                    if let Some(other) = place(key) { prop_assert!(index < other, "{}", described); }
                }
                for key in &entry.after {
                    if let Some(other) = place(key) { prop_assert!(index > other, "{}", described); }
                }
            }
            if entries.iter().all(|entry| entry.before.is_empty() && entry.after.is_empty()) {
                prop_assert!(entries.is_sorted_by_key(|entry| entry.priority));
            }
            let expected: Vec<u32> = std::iter::once(100).chain(entries.iter()
                .filter(|entry| entry.enabled)
                .map(|entry| entry.key.as_deref().unwrap().parse().unwrap())).collect();
            prop_assert_eq!(block_on(set.gather(100)), expected);
        }
    }
}

#[test]
fn a_call_that_suspends_in_every_part_completes() {
    struct Suspends(&'static str);

    impl Around<dyn Trail> for Suspends {
        async fn call<'a>(&'a self, (text,): (&'a str,), next: Next<'a, dyn Trail>) -> Vec<String> {
            kit::yield_once().await;
            let mut names = next.call((text,)).await;
            kit::yield_once().await;
            names.push(self.0.to_owned());
            names
        }
    }

    let slow = |name| Named { name, slow: true };
    let set = OuterHooksSet::new()
        .with_trail(Entry::new(slow("a")).when(|_: &&str| true))
        .with_trail(slow("b"))
        .with_trail_around(Suspends("outer"))
        .with_trail_around(Suspends("inner"));
    let mut call = pin!(set.trail("a"));
    let mut polls = 0;
    let names = loop {
        polls += 1;
        if let Poll::Ready(names) = kit::poll_once(call.as_mut()) {
            break names;
        }
    };
    assert_eq!(names, ["a", "b", "inner", "outer"]);
    assert_eq!(polls, 7, "one poll for each suspension, and the last");
}
