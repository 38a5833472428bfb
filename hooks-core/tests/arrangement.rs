//! Relative order, switches, conditions, and copies of a set for one call.

#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "table/kit.rs"]
mod kit;

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{
    Entry, EntryMeta, FirstSuccess, HookFuture, HookStatus, Never, Policy, RegistrationError, Slot,
    Step, hooks, impl_hook,
};
use proptest::prelude::*;

type Names = Slot<str>;

fn names(slot: &Names) -> Vec<&str> {
    slot.iter().map(|(hook, _)| hook).collect()
}

fn entry(name: &'static str) -> Entry<Arc<str>> {
    Entry::new(Arc::from(name)).key(name).name(name)
}

/// Returns the message of a panic.
fn panic_of(act: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("it panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a text")).to_owned(),
    }
}

#[test]
fn a_constraint_takes_precedence_over_priorities() {
    let mut slot = Names::new();
    slot.insert(entry("late").priority(10));
    slot.insert(entry("early").priority(-10));
    slot.insert(entry("middle"));
    slot.insert(entry("before early").before("early"));
    slot.insert(entry("after late").after("late").priority(-20));
    assert_eq!(
        names(&slot),
        ["before early", "early", "middle", "late", "after late"]
    );

    // An entry that is already in place does not move.
    slot.insert(entry("in place").before("late").after("early"));
    assert_eq!(
        names(&slot),
        [
            "before early",
            "early",
            "middle",
            "in place",
            "late",
            "after late"
        ]
    );
}

#[test]
fn a_constraint_without_its_key_has_no_effect_until_the_key_returns() {
    let mut slot = Names::new();
    slot.insert(entry("a"));
    slot.insert(entry("b"));
    slot.insert(entry("c").before("a"));
    assert_eq!(names(&slot), ["c", "a", "b"]);
    assert!(slot.remove("a"));
    assert_eq!(names(&slot), ["b", "c"]);
    slot.insert(entry("a").priority(-1));
    assert_eq!(names(&slot), ["c", "a", "b"]);
    // Without constraints, the list is a plain one again.
    assert!(slot.remove("c"));
    slot.insert(entry("d").priority(-2));
    assert_eq!(names(&slot), ["d", "a", "b"]);
}

#[test]
fn unknown_keys_and_cycles_are_refused_and_the_slot_stays() {
    let mut slot = Names::new();
    slot.insert(entry("a"));
    slot.insert(entry("b").after("a"));
    let before: Vec<_> = slot.iter().map(|(_, meta)| meta.id()).collect();

    let unknown = panic_of(|| _ = slot.insert(entry("c").before("x")));
    assert_eq!(
        unknown,
        "`c` is to run before `x`, and the slot has no entry with this key; register `x` first, use `before_if_present`, or leave `before` out"
    );
    let own = panic_of(|| _ = slot.insert(entry("c").after("c")));
    assert!(own.contains("`c` is to run after its own key `c`"), "{own}");
    // Replaces `a`, and closes a cycle.
    let cycle = panic_of(|| _ = slot.insert(entry("a").after("b")));
    assert!(cycle.contains("the order of `"), "{cycle}");
    assert!(cycle.contains("`a`") && cycle.contains("`b`"), "{cycle}");

    let after: Vec<_> = slot.iter().map(|(_, meta)| meta.id()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_key_that_is_not_present_takes_effect_when_it_comes_and_loses_it_when_it_goes() {
    let mut slot = Names::new();
    slot.insert(entry("audit").before_if_present("format"));
    slot.insert(entry("late").after_if_present("none").priority(-1));
    assert_eq!(names(&slot), ["late", "audit"]);
    slot.insert(entry("format").priority(-5));
    assert_eq!(names(&slot), ["audit", "format", "late"]);
    assert!(slot.remove("format"));
    assert_eq!(names(&slot), ["late", "audit"]);

    // The registration that closes a cycle is refused, and that is the one of the named entry.
    let cycle = slot.try_insert(entry("format").before_if_present("audit"));
    assert!(matches!(
        cycle.map_err(|refused| refused.into_parts().0),
        Err(RegistrationError::Cycle { .. })
    ));
    assert_eq!(names(&slot), ["late", "audit"]);
    // Its own key is a mistake, also if it is not present.
    assert!(slot.try_insert(entry("x").after_if_present("x")).is_err());
    let audit = slot.get("audit").unwrap().1;
    assert_eq!(audit.before_if_present().collect::<Vec<_>>(), ["format"]);
    assert_eq!(audit.before().count(), 0);
}

#[test]
fn a_clone_is_independent() {
    let mut slot = Names::new();
    slot.insert(entry("a"));
    slot.insert(entry("b").before("a"));
    let mut clone = slot.clone();
    assert!(clone.set_enabled("b", false));
    clone.insert(entry("c").before("b"));
    assert_eq!(names(&slot), ["b", "a"]);
    assert!(slot.get("b").expect("registered").1.is_enabled());
    assert_eq!(names(&clone), ["c", "b", "a"]);
    assert!(!clone.get("b").expect("registered").1.is_enabled());
}

/// A random operation on a slot.
#[derive(Debug, Clone)]
enum Op {
    Insert {
        key: usize,
        priority: i32,
        before: Vec<Named>,
        after: Vec<Named>,
        is_enabled: bool,
        is_if_absent: bool,
    },
    /// Registers an entry without a key.
    InsertUnnamed {
        priority: i32,
        before: Vec<Named>,
        after: Vec<Named>,
    },
    Remove(usize),
    Enable(usize, bool),
    /// Continues with a clone.
    Clone,
}

/// A key that an entry names, and `true` if it need not be registered.
type Named = (usize, bool);

const KEYS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let key = 0..KEYS.len();
    let some = || prop::collection::vec((0..KEYS.len(), any::<bool>()), 0..2);
    let rarely = prop::bool::weighted(0.2);
    let insert = (
        key.clone(),
        -1..2_i32,
        some(),
        some(),
        any::<bool>(),
        rarely,
    );
    let insert =
        insert.prop_map(
            |(key, priority, before, after, is_enabled, is_if_absent)| Op::Insert {
                key,
                priority,
                before,
                after,
                is_enabled,
                is_if_absent,
            },
        );
    let unnamed = (-1..2_i32, some(), some());
    let unnamed = unnamed.prop_map(|(priority, before, after)| Op::InsertUnnamed {
        priority,
        before,
        after,
    });
    let op = prop_oneof![
        4 => insert,
        2 => unnamed,
        1 => Just(Op::Clone),
        1 => key.clone().prop_map(Op::Remove),
        1 => (key, any::<bool>()).prop_map(|(key, is_enabled)| Op::Enable(key, is_enabled)),
    ];
    prop::collection::vec(op, 1..40)
}

/// Returns the entry of a row. Entries without a key have the name of their number.
fn entry_of(row: &Row) -> Entry<Arc<str>> {
    let entry = match KEYS.get(row.key) {
        Some(key) => entry(key),
        None => Entry::new(Arc::from(row.key.to_string())),
    };
    let entry = entry.priority(row.priority).enabled(row.is_enabled);
    let entry = match row.is_if_absent {
        true => entry.if_absent(),
        false => entry,
    };
    let before = row.before.iter();
    let entry = before.fold(entry, |entry, &(other, is_optional)| match is_optional {
        true => entry.before_if_present(KEYS[other]),
        false => entry.before(KEYS[other]),
    });
    let after = row.after.iter();
    after.fold(entry, |entry, &(other, is_optional)| match is_optional {
        true => entry.after_if_present(KEYS[other]),
        false => entry.after(KEYS[other]),
    })
}

fn name_of(key: usize) -> String {
    KEYS.get(key)
        .map_or_else(|| key.to_string(), ToString::to_string)
}

/// A registration, as the model stores it; the list is in order of registration.
#[derive(Debug, Clone)]
struct Row {
    key: usize,
    priority: i32,
    before: Vec<Named>,
    after: Vec<Named>,
    is_enabled: bool,
    is_if_absent: bool,
}

impl Row {
    /// The keys that the row names, with `true` for `before`.
    fn named(&self) -> impl Iterator<Item = (bool, Named)> {
        let before = self.before.clone().into_iter().map(|key| (true, key));
        before.chain(self.after.clone().into_iter().map(|key| (false, key)))
    }

    /// The pairs of keys whose first runs first.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let before = self.before.iter().map(|&(other, _)| (self.key, other));
        before.chain(self.after.iter().map(|&(other, _)| (other, self.key)))
    }
}

/// The pairs of registered keys whose first runs first.
fn pairs(rows: &[Row]) -> Vec<(usize, usize)> {
    let keys: BTreeSet<_> = rows.iter().map(|row| row.key).collect();
    let all = rows.iter().flat_map(Row::pairs);
    all.filter(|(first, second)| keys.contains(first) && keys.contains(second))
        .collect()
}

fn has_cycle(rows: &[Row]) -> bool {
    let mut left: BTreeSet<_> = rows.iter().map(|row| row.key).collect();
    let pairs = pairs(rows);
    loop {
        let free = left.iter().copied().find(|key| {
            let waits = |(first, second): &(usize, usize)| second == key && left.contains(first);
            !pairs.iter().any(waits)
        });
        match free {
            Some(key) => _ = left.remove(&key),
            None => return !left.is_empty(),
        }
    }
}

proptest! {
    /// The slot accepts and refuses what the model does, its order satisfies every constraint, and
    /// it differs from the order of priorities only as far as constraints require. It is the order
    /// of a slot that computes it at once, from all entries.
    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn the_order_follows_a_model(plain in prop_oneof![Just(0), Just(29), Just(140)], ops in ops()) {
        let mut slot = Names::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut unnamed = KEYS.len()..;
        let plain = (0..plain).map(|number| Op::InsertUnnamed {
            priority: number % 3 - 1,
            before: Vec::new(),
            after: Vec::new(),
        });
        for op in plain.chain(ops) {
            let is_fill = rows.len() < 140 && matches!(&op, Op::InsertUnnamed { before, after, .. } if before.len() + after.len() == 0);
            match op {
                Op::Insert { key, priority, before, after, is_enabled, is_if_absent } => {
                    insert(&mut slot, &mut rows, Row { key, priority, before, after, is_enabled, is_if_absent })?;
                }
                Op::InsertUnnamed { priority, before, after } => {
                    let key = unnamed.next().expect("unbounded");
                    insert(&mut slot, &mut rows, Row { key, priority, before, after, is_enabled: true, is_if_absent: false })?;
                }
                Op::Remove(key) => {
                    let is_there = rows.iter().any(|row| row.key == key);
                    prop_assert_eq!(slot.remove(KEYS[key]), is_there);
                    rows.retain(|row| row.key != key);
                }
                Op::Enable(key, is_enabled) => {
                    let row = rows.iter_mut().find(|row| row.key == key);
                    prop_assert_eq!(slot.set_enabled(KEYS[key], is_enabled), row.is_some());
                    if let Some(row) = row {
                        row.is_enabled = is_enabled;
                    }
                }
                Op::Clone => slot = slot.clone(),
            }
            if !is_fill {
                check(&slot, &rows)?;
            }
        }
    }
}

/// Registers an entry in the slot and in the model.
fn insert(slot: &mut Names, rows: &mut Vec<Row>, row: Row) -> Result<(), TestCaseError> {
    let mut next = rows.clone();
    let mut kept = Vec::new();
    match next.iter_mut().find(|old| old.key == row.key) {
        Some(old) => kept = mem::replace(old, row.clone()).named().collect(),
        None => next.push(row.clone()),
    }
    let known = |named: &(bool, Named)| {
        let (_, (other, is_optional)) = *named;
        let is_registered = next.iter().any(|row| row.key == other);
        other != row.key && (is_optional || is_registered || kept.contains(named))
    };
    let is_free = !row.is_if_absent || rows.iter().all(|other| other.key != row.key);
    let is_valid = is_free && row.named().all(|named| known(&named)) && !has_cycle(&next);
    let before: Vec<_> = slot.iter().map(|(_, meta)| meta.id()).collect();
    let inserted = slot.try_insert(entry_of(&row));
    prop_assert_eq!(inserted.is_ok(), is_valid);
    match inserted {
        Ok(id) => {
            let registered = slot.iter().any(|(_, meta)| meta.id() == id);
            prop_assert!(registered);
            *rows = next;
        }
        Err(refused) => {
            let after: Vec<_> = slot.iter().map(|(_, meta)| meta.id()).collect();
            prop_assert_eq!(before, after);
            // The entry comes back as it was.
            let (_, entry) = refused.into_parts();
            prop_assert_eq!(&**entry.hook(), name_of(row.key));
            prop_assert_eq!(entry.meta().priority(), row.priority);
            let optional = row.before.iter().filter(|(_, is_optional)| *is_optional);
            let optional = optional.count();
            prop_assert_eq!(entry.meta().before_if_present().count(), optional);
            prop_assert_eq!(entry.meta().before().count(), row.before.len() - optional);
        }
    }
    Ok(())
}

/// Compares a slot with the model.
fn check(slot: &Names, rows: &[Row]) -> Result<(), TestCaseError> {
    let order = names(slot);
    prop_assert_eq!(order.len(), rows.len());
    prop_assert_eq!(slot.len(), rows.len());
    let places: HashMap<_, _> = order
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let place = |key: usize| places.get(&*name_of(key)).copied();
    for row in rows {
        prop_assert!(place(row.key).is_some());
        if let Some(key) = KEYS.get(row.key) {
            prop_assert_eq!(slot.get(key).unwrap().1.is_enabled(), row.is_enabled);
        }
    }
    let pairs = pairs(rows);
    for &(first, second) in &pairs {
        prop_assert!(
            place(first) < place(second),
            "{} {} {:?}",
            first,
            second,
            order
        );
    }
    // Entries without constraints of any kind keep the order of priorities.
    let mut natural = rows.to_vec();
    natural.sort_by_key(|row| row.priority);
    let is_free = |row: &&Row| !pairs.iter().any(|&(a, b)| a == row.key || b == row.key);
    let free: Vec<_> = natural
        .iter()
        .filter(is_free)
        .map(|row| place(row.key))
        .collect();
    prop_assert!(free.is_sorted(), "{:?}", order);
    // If the order of priorities satisfies the constraints, it is the order.
    let rank = |key: usize| natural.iter().position(|row| row.key == key);
    if pairs
        .iter()
        .all(|&(first, second)| rank(first) < rank(second))
    {
        let expected: Vec<_> = natural.iter().map(|row| name_of(row.key)).collect();
        prop_assert_eq!(&order, &expected);
    }
    // Registered at once, the entries have the same order.
    let mut at_once = Names::new();
    at_once.insert_all(rows.iter().map(entry_of));
    prop_assert_eq!(&order, &names(&at_once));
    // A second time, all or none of them are registered.
    let is_free = |row: &Row| !row.is_if_absent || row.key >= KEYS.len();
    let again = at_once.try_insert_all(rows.iter().map(entry_of));
    prop_assert_eq!(again.is_ok(), rows.iter().all(is_free));
    if again.is_err() {
        prop_assert_eq!(&order, &names(&at_once));
    }
    let ranks: Vec<_> = slot.iter().map(|(_, meta)| meta.rank()).collect();
    prop_assert!(ranks.is_sorted_by(|a, b| a < b));
    // A dispatch runs the enabled entries in this order.
    let ran = block_on(slot.dispatch(Collect::default()));
    let enabled = slot.iter().filter(|(_, meta)| meta.is_enabled());
    let expected: Vec<_> = enabled.map(|(hook, _)| hook.to_owned()).collect();
    prop_assert_eq!(ran, expected);
    Ok(())
}

/// Collects the names of the hooks that run; admits no conditional entry.
#[derive(Default)]
struct Collect {
    ran: Vec<String>,
    hooks: usize,
}

impl Policy<str> for Collect {
    type HookOutput = String;
    type Output = Vec<String>;
    type Future = Never<()>;

    fn slot_name(&self) -> &str {
        "names"
    }

    fn admits(&mut self, _: &EntryMeta, _: &str) -> bool {
        false
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Never<()>> {
        self.hooks = hooks;
        Step::Next
    }

    fn invoke<'a>(
        &mut self,
        _: &'a EntryMeta,
        hook: &'a str,
        is_final: bool,
    ) -> HookFuture<'a, String>
    where
        Self: 'a,
    {
        assert_eq!(is_final, self.ran.len() + 1 == self.hooks);
        HookFuture::Ready(hook.to_owned())
    }

    fn on_output(&mut self, _: &EntryMeta, output: String) -> Step<Self, Never<()>> {
        self.ran.push(output);
        Step::Next
    }

    fn finish(self) -> Vec<String> {
        self.ran
    }
}

#[test]
fn a_report_names_the_hooks_that_took_no_part() {
    let mut slot = Names::new();
    slot.insert(entry("a").enabled(false));
    slot.insert(entry("b"));
    slot.insert(entry("c").conditional(true));
    slot.insert(entry("d"));
    let (ran, report) = block_on(slot.dispatch_reported(Collect::default()));
    assert_eq!(ran, ["b", "d"]);
    let statuses: Vec<_> = report.entries.iter().map(|entry| &entry.status).collect();
    assert!(
        matches!(
            statuses[..],
            [
                HookStatus::Excluded,
                HookStatus::Completed,
                HookStatus::Excluded,
                HookStatus::Completed,
            ]
        ),
        "{statuses:?}"
    );
}

/// Not `Clone`.
struct Letter(String);

#[hooks]
trait TextHooks {
    #[hook(fallback)]
    async fn change(text: &str, count: usize) -> String {
        format!("default {text} {count}")
    }

    #[hook(always)]
    async fn check(text: String) -> Vec<String> {
        vec![text]
    }

    #[hook(singleton)]
    async fn send(letter: Letter) -> String {
        format!("default {}", letter.0)
    }

    #[hook(fallback, chain = FirstSuccess<u8>)]
    async fn price(_text: &str) -> Option<u8> {
        None
    }
}

struct Add(&'static str);

impl Change for Add {
    async fn call(&self, _: String, _: usize, last: Option<String>) -> String {
        format!("{}{}", last.unwrap_or_default(), self.0)
    }
}

impl Check for Add {
    async fn call(&self, text: String, last: Option<Vec<String>>) -> Vec<String> {
        kit::yield_once().await;
        let mut all = last.unwrap_or_default();
        all.push(format!("{text}{}", self.0));
        all
    }
}

#[impl_hook(Send)]
async fn shout(letter: Letter) -> String {
    letter.0.to_uppercase()
}

#[test]
fn a_condition_selects_the_calls_of_a_hook() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let hooks = TextHooksSet::new()
        .with_change(Entry::new(Add("a")).when(|text: &&str, _: &usize| text.contains('a')))
        .with_change(Entry::new(Add("n")).when(move |_: &&str, count: &usize| {
            counted.fetch_add(1, Ordering::Relaxed);
            *count > 1
        }));
    let change = |text, count| block_on(hooks.change(text, count));
    assert_eq!(change("a", 2), "an");
    assert_eq!(change("a", 1), "a");
    assert_eq!(change("b", 2), "n");
    assert_eq!(change("b", 1), "default b 1", "as without hooks");
    assert_eq!(calls.load(Ordering::Relaxed), 4, "once for each dispatch");
}

#[test]
fn conditions_hold_for_owned_arguments_and_pending_hooks() {
    let is_long = |text: &String| text.len() > 3;
    let hooks = TextHooksSet::new()
        .with_check(Entry::new(Add("1")).when(is_long))
        .with_check(Add("2"))
        .with_check(Entry::new(Add("3")).when(is_long));
    assert_eq!(
        block_on(hooks.check("long".into())),
        ["long", "long1", "long2", "long3"]
    );
    assert_eq!(block_on(hooks.check("no".into())), ["no", "no2"]);

    // The argument of a singleton is neither cloned nor lost.
    let hooks = hooks.with_send(Entry::new(Shout).when(|letter: &Letter| letter.0.len() > 3));
    assert_eq!(block_on(hooks.send(Letter("long".into()))), "LONG");
    assert_eq!(block_on(hooks.send(Letter("no".into()))), "default no");
}

#[test]
fn a_switch_and_a_condition_apply_together() {
    let one = async |_: String, _: usize, _: Option<String>| "one".to_owned();
    let mut hooks = TextHooksSet::new().with_change(
        Entry::new(one)
            .key("one")
            .when(|_: &&str, n: &usize| *n == 1),
    );
    assert_eq!(block_on(hooks.change("", 1)), "one");
    assert!(hooks.change_mut().set_enabled("one", false));
    assert_eq!(block_on(hooks.change("", 1)), "default  1");
    assert!(hooks.change_mut().set_enabled("one", true));
    assert_eq!(block_on(hooks.change("", 1)), "one");
    assert_eq!(block_on(hooks.change("", 2)), "default  2");
    assert!(!hooks.change_mut().set_enabled("two", true));
}

#[test]
fn a_condition_holds_behind_an_arc() {
    let long = Entry::new(Add("a")).when(|text: &&str, _: &usize| text.len() > 3);
    let hooks = TextHooksSet::new().with_change(long.map(Arc::new));
    assert_eq!(block_on(hooks.change("long", 1)), "a");
    assert_eq!(block_on(hooks.change("no", 1)), "default no 1");
}

#[test]
fn a_panic_of_a_condition_propagates() {
    let hooks = TextHooksSet::new()
        .with_change(Entry::new(Add("a")).when(|_: &&str, n: &usize| 10 / *n == 1));
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(hooks.change("", 0)))).is_err());
    assert_eq!(block_on(hooks.change("", 9)), "a");
}

#[test]
fn a_singleton_has_no_order() {
    let message = panic_of(|| {
        let hooks = TextHooksSet::new().with_send(Entry::new(Shout).key("a"));
        _ = hooks.with_send(Entry::new(Shout).name("b").before("a"));
    });
    assert_eq!(
        message,
        "`b` is to run before `a`, and the slot `send` runs one hook; leave `before` out"
    );
}

#[test]
fn descriptions_show_the_order_and_its_reasons() {
    let mut hooks = TextHooksSet::new()
        .with_change(Entry::new(Add("a")).key("a").priority(3))
        .with_change(Entry::new(Add("b")).key("b").after("a"))
        .with_change(
            Entry::new(Add("c"))
                .before("a")
                .when(|_: &&str, _: &usize| true),
        );
    assert!(hooks.change_mut().set_enabled("b", false));
    let text = hooks.describe().to_string();
    let lines: Vec<_> = text.lines().take(5).collect();
    assert_eq!(
        lines,
        [
            "TextHooksSet",
            "slot    kind       companions                hook       key  priority  options",
            "change  fallback                             Add             0         before a, conditional",
            "                                             Add        a    3",
            "                                             Add        b    0         after a, disabled",
        ]
    );
    assert_eq!(block_on(hooks.change("", 0)), "ca");
}

#[test]
fn extend_keeps_order_switches_and_conditions() {
    let other = TextHooksSet::new()
        .with_change(Entry::new(Add("b")).key("b"))
        .with_change(Entry::new(Add("a")).before("b"))
        .with_change(Entry::new(Add("x")).enabled(false))
        .with_change(Entry::new(Add("c")).when(|_: &&str, n: &usize| *n > 0));
    let hooks = TextHooksSet::new()
        .with_change(Add("0"))
        .with_extended(other);
    assert_eq!(block_on(hooks.change("", 1)), "0abc");
    assert_eq!(block_on(hooks.change("", 0)), "0ab");
}

#[test]
fn one_call_runs_with_changes() {
    let hooks = TextHooksSet::new().with_change(Entry::new(Add("a")).key("a"));
    let local = String::from("borrowed");
    {
        struct Borrows<'l>(&'l str);
        impl Change for Borrows<'_> {
            async fn call(&self, _: String, _: usize, last: Option<String>) -> String {
                format!("{}{}", last.unwrap_or_default(), self.0)
            }
        }
        let changed = hooks.for_call(|set| {
            set.register_change(Entry::new(Borrows(&local)).before("a"));
        });
        assert_eq!(block_on(changed.change("", 0)), "borroweda");
    }
    let without = hooks.for_call(|set| _ = set.change_mut().remove("a"));
    assert_eq!(block_on(without.change("", 0)), "default  0");
    assert_eq!(block_on(hooks.change("", 0)), "a");
    // In one expression.
    let result = block_on(
        hooks
            .for_call(|set| _ = set.register_change(Add("b")))
            .change("", 0),
    );
    assert_eq!(result, "ab");
}

#[test]
fn a_chain_of_selected_hooks_falls_back() {
    let one = async |_: String| Some(1);
    let hooks = TextHooksSet::new()
        .with_price(Entry::new(async |_: String| None))
        .with_price(Entry::new(one).when(|text: &&str| *text == "one"));
    assert_eq!(block_on(hooks.price("one")), Some(1));
    assert_eq!(block_on(hooks.price("two")), None);
}

/// Large slots have several leaves.
#[test]
fn large_slots_are_arranged_and_become_plain_again() {
    let mut slot = Names::new();
    for _ in 0..200 {
        slot.insert(Entry::new(Arc::from("plain")));
    }
    slot.insert(entry("last"));
    slot.insert(entry("first").before("last").priority(-1));
    slot.insert(entry("moved").before("first"));
    assert_eq!(names(&slot)[..2], ["moved", "first"]);
    assert_eq!(names(&slot)[202], "last");
    assert_eq!(block_on(slot.dispatch(Collect::default())).len(), 203);
    assert!(slot.remove("moved") && slot.remove("first"));
    slot.insert(entry("again").priority(-5));
    assert_eq!(slot.len(), 202);
    assert_eq!(names(&slot)[0], "again");
    assert_eq!(names(&slot)[201], "last");
    assert!(slot.remove("last"));
}
