//! `describe()`: the contents of a set, for display and for serialisation.

use std::ops::ControlFlow;

use hooks_core::{Chain, Entry, Finalize, Stateful, hooks, impl_hook, impl_hooks};
use serde_json::{Value, json};

#[derive(Default)]
struct Declared;

impl Chain<u32> for Declared {
    async fn call(&self, _output: &u32) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Finalize<u32> for Declared {
    async fn call(&self, value: u32) -> u32 {
        value
    }
}

struct Replacement;

impl Chain<u32> for Replacement {
    async fn call(&self, _output: &u32) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[hooks]
trait InnerHooks {
    #[hook(singleton)]
    async fn owner() -> u32 {
        0
    }
}

#[hooks]
#[nested_hooks(inner = InnerHooksSet)]
trait AppHooks {
    #[hook(always)]
    async fn zeroth(text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }

    #[hook(fallback, chain = Declared, finalize = Declared)]
    async fn gated() -> u32 {
        0
    }

    #[hook(singleton)]
    async fn alone() -> u32 {
        0
    }
}

struct Value7;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Value7 {
    async fn zeroth(&self, _text: &str, _last: Option<u32>) -> u32 {
        7
    }
}

#[impl_hook(Gated)]
async fn gate_keeper() -> u32 {
    1
}

struct ByHand;

impl Zeroth for ByHand {
    async fn call(&self, _text: String, _last: Option<u32>) -> u32 {
        8
    }
}

impl StatefulAlone for ByHand {
    async fn call_mut(&mut self) -> u32 {
        9
    }
}

impl Owner for ByHand {
    async fn call(&self) -> u32 {
        10
    }
}

fn full() -> AppHooksSet<'static> {
    let mut set = AppHooksSet::new()
        .with_zeroth(Entry::new(ByHand).key("late").priority(9))
        .with_hooks(Value7)
        .with_zeroth(Entry::new(ByHand).name("the early one").priority(-9))
        .with_gated(GateKeeper)
        .with_alone(Stateful::new(ByHand));
    set.inner.register_owner(ByHand);
    set
}

/// Slots, in the order of their declaration, with their kinds
#[test]
fn every_slot_is_listed_with_its_kind_even_if_empty() {
    for set in [AppHooksSet::new(), full()] {
        let description = set.describe();
        assert_eq!(description.set, "AppHooksSet");
        let slots: Vec<_> = description
            .slots
            .iter()
            .map(|slot| (slot.slot, slot.kind))
            .collect();
        assert_eq!(
            slots,
            [
                ("zeroth", "always"),
                ("gated", "fallback"),
                ("alone", "singleton")
            ]
        );
    }
    assert!(
        AppHooksSet::new()
            .describe()
            .slots
            .iter()
            .all(|slot| slot.entries.is_empty())
    );
}

/// Companions
#[test]
fn companions_are_listed_with_their_current_type() {
    let companions = |set: &AppHooksSet<'_>| {
        let description = set.describe();
        let list = |at: usize| -> Vec<String> {
            let companions = description.slots[at].companions.iter();
            companions
                .map(|companion| format!("{}={}", companion.role, companion.name))
                .collect()
        };
        assert_eq!(list(0), [""; 0]);
        assert_eq!(list(2), [""; 0]);
        list(1)
    };
    assert_eq!(
        companions(&AppHooksSet::new()),
        ["chain=Declared", "finalize=Declared"]
    );
    let replaced = AppHooksSet::new().with_gated_chain(Replacement);
    assert_eq!(
        companions(&replaced),
        ["chain=Replacement", "finalize=Declared"]
    );
}

/// Entries, in execution order
#[test]
fn entries_are_listed_in_execution_order_with_name_key_and_priority() {
    let description = full().describe();
    let zeroth: Vec<_> = description.slots[0]
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.key.as_deref(), entry.priority))
        .collect();
    assert_eq!(zeroth.len(), 3);
    assert_eq!(zeroth[0], ("the early one", None, -9));
    assert!(
        zeroth[1].0.contains("Value7"),
        "a hook is called by its type: {zeroth:?}"
    );
    assert_eq!((zeroth[1].1, zeroth[1].2), (None, 0));
    assert!(zeroth[2].0.contains("ByHand"), "{zeroth:?}");
    assert_eq!((zeroth[2].1, zeroth[2].2), (Some("late"), 9));
    assert!(description.slots[1].entries[0].name.contains("GateKeeper"));
    assert!(description.slots[2].entries[0].name.contains("ByHand"));
}

/// Replaced and removed entries are not listed
#[test]
fn a_description_contains_every_change_of_the_set() {
    let mut set = full();
    let count = |set: &AppHooksSet<'_>| set.describe().slots[0].entries.len();
    assert_eq!(count(&set), 3);
    set.register_zeroth(Entry::new(ByHand).key("late").priority(2));
    assert_eq!(count(&set), 3);
    assert_eq!(set.describe().slots[0].entries[2].priority, 2);
    assert!(set.zeroth_mut().remove("late"));
    assert_eq!(count(&set), 2);
    set.extend(full());
    assert_eq!(count(&set), 5);
    set.register_alone(Stateful::new(ByHand));
    assert_eq!(set.describe().slots[2].entries.len(), 1);
}

/// T-41: nested sets are described with the outer one
#[test]
fn nested_sets_are_described_under_the_name_of_their_field() {
    let description = full().describe();
    assert_eq!(description.nested.len(), 1);
    assert_eq!(description.nested[0].field, "inner");
    let inner = &description.nested[0].set;
    assert_eq!((inner.set, inner.slots[0].slot), ("InnerHooksSet", "owner"));
    assert_eq!(inner.slots[0].entries.len(), 1);
}

/// Prints as a table: a line an entry, in order, also for empty slots and nested sets
#[test]
fn a_description_prints_as_a_table_in_execution_order() {
    let table = full().describe().to_string();
    let line_of = |words: &[&str]| {
        let line = table
            .lines()
            .position(|line| words.iter().all(|word| line.contains(word)));
        line.unwrap_or_else(|| panic!("no line with {words:?} in\n{table}"))
    };
    let early = line_of(&["the early one", "-9"]);
    let value = line_of(&["Value7"]);
    let late = line_of(&["ByHand", "late", "9"]);
    let gated = line_of(&["GateKeeper"]);
    assert!(early < value && value < late && late < gated, "\n{table}");
    for words in [
        ["zeroth", "always"],
        ["gated", "fallback"],
        ["alone", "singleton"],
    ] {
        line_of(&words);
    }
    line_of(&["gated", "Declared"]);
    line_of(&["owner", "singleton"]);

    let empty = AppHooksSet::new().describe().to_string();
    for slot in ["zeroth", "gated", "alone", "owner"] {
        assert!(
            empty.contains(slot),
            "an empty slot is listed too:\n{empty}"
        );
    }
}

/// The columns of the table are aligned
#[test]
fn the_columns_of_the_table_are_aligned() {
    let table = full().describe().to_string();
    let columns: Vec<usize> = ["always", "fallback", "singleton"]
        .iter()
        .filter_map(|kind| {
            table
                .lines()
                .find(|line| line.contains(kind))
                .and_then(|l| l.find(kind))
        })
        .collect();
    assert_eq!(columns.len(), 3, "\n{table}");
    assert!(
        columns.iter().all(|column| *column == columns[0]),
        "\n{table}"
    );
}

/// Feature `serde`
#[test]
fn a_serialized_description_contains_slots_and_entries() {
    let value = serde_json::to_value(full().describe()).unwrap();
    assert_eq!(value["set"], "AppHooksSet");
    assert_eq!(value["slots"][0]["slot"], "zeroth");
    assert_eq!(value["slots"][0]["kind"], "always");
    assert_eq!(value["slots"][0]["entries"][0]["name"], "the early one");
    assert_eq!(value["slots"][0]["entries"][0]["key"], Value::Null);
    let plain = json!({ "name": "the early one", "key": null, "priority": -9 });
    assert_eq!(value["slots"][0]["entries"][0], plain);
    assert_eq!(value["slots"][0]["entries"][2]["key"], "late");
    assert_eq!(value["slots"][0]["entries"][2]["priority"], 9);
    let companions = json!([
        { "role": "chain", "name": "Declared" },
        { "role": "finalize", "name": "Declared" },
    ]);
    assert_eq!(value["slots"][1]["companions"], companions);
    assert_eq!(value["nested"][0]["field"], "inner");
    assert_eq!(value["nested"][0]["set"]["slots"][0]["slot"], "owner");
}

#[test]
fn x_9_control_characters_of_keys_and_names_are_escaped_in_the_table() {
    let key = "one\ntwo\u{1b}[31m\u{202e}é 'x' \"y\" \\";
    let hooks = AppHooksSet::new().with_zeroth(Entry::new(ByHand).key(key).name("a\tb"));
    let printed = hooks.describe().to_string();
    let expected = r#"one\ntwo\u{1b}[31m\u{202e}é 'x' "y" \"#;
    let row = printed.lines().find(|line| line.contains(expected));
    assert!(row.is_some_and(|row| row.contains(r"a\tb")), "{printed}");
    assert_eq!(
        hooks.describe().slots[0].entries[0].key.as_deref(),
        Some(key)
    );
}
