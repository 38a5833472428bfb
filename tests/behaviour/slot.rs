//! The list of a slot, compared with a plain vector (E-03 to E-07, T-03, X-3).

use std::fmt::Debug;
use std::sync::Arc;

use futures::executor::block_on;
use hooks_core::{Entry, EntryId, EntryMeta, HookFuture, Never, Policy, Slot, Step};
use hooks_tests::yield_once;
use proptest::prelude::*;

/// A change of a slot.
#[derive(Clone, Debug)]
enum Change {
    Insert {
        priority: i32,
        key: Option<u8>,
    },
    /// So many entries of ascending or descending priority, which fill leaves from one end.
    Run {
        entries: u8,
        descends: bool,
    },
    Remove {
        key: u8,
    },
    /// Removes the entry at this place, if there are so many.
    RemoveEntry {
        at: usize,
    },
    /// Removes entries from the front.
    Shrink {
        entries: u8,
    },
    /// Continues with a clone, and keeps the original.
    Diverge,
    /// Inserts the entries of the slot kept last.
    Extend,
    ReplaceAll,
}

fn change() -> impl Strategy<Value = Change> {
    let key = 0_u8..60;
    prop_oneof![
        40 => (-3_i32..=3, proptest::option::of(key.clone()))
            .prop_map(|(priority, key)| Change::Insert { priority, key }),
        4 => (0_u8..150, any::<bool>())
            .prop_map(|(entries, descends)| Change::Run { entries, descends }),
        8 => key.prop_map(|key| Change::Remove { key }),
        8 => (0_usize..400).prop_map(|at| Change::RemoveEntry { at }),
        2 => (0_u8..150).prop_map(|entries| Change::Shrink { entries }),
        2 => Just(Change::Diverge),
        1 => Just(Change::Extend),
        1 => Just(Change::ReplaceAll),
    ]
}

/// An entry of the model.
#[derive(Clone, Debug)]
struct Line {
    priority: i32,
    sequence: u64,
    key: Option<String>,
    hook: u32,
    id: EntryId,
}

/// A slot and its expected contents.
#[derive(Clone, Default)]
struct Pair {
    slot: Slot<u32>,
    lines: Vec<Line>,
    next_sequence: u64,
}

impl Pair {
    fn insert(&mut self, hook: u32, priority: i32, key: Option<String>) {
        let mut entry = Entry::new(Arc::new(hook)).priority(priority);
        if let Some(key) = &key {
            entry = entry.key(key.clone());
        }
        let id = self.slot.insert(entry);
        let has_key = |line: &Line| key.is_some() && line.key == key;
        let sequence = match self.lines.iter().position(has_key) {
            Some(at) => self.lines.remove(at).sequence,
            None => {
                self.next_sequence += 1;
                self.next_sequence
            }
        };
        let is_before = |line: &&Line| (line.priority, line.sequence) < (priority, sequence);
        let at = self.lines.iter().filter(is_before).count();
        let line = Line {
            priority,
            sequence,
            key,
            hook,
            id,
        };
        self.lines.insert(at, line);
    }

    fn remove_entry(&mut self, at: usize) {
        if at < self.lines.len() {
            let line = self.lines.remove(at);
            assert!(self.slot.remove_entry(line.id));
            assert!(!self.slot.remove_entry(line.id), "it is gone");
        }
    }

    fn apply(&mut self, change: &Change, kept: &mut Vec<Pair>, next: &mut u32) {
        let mut hook = || {
            *next += 1;
            *next
        };
        match *change {
            Change::Insert { priority, key } => {
                self.insert(hook(), priority, key.map(|key| key.to_string()));
            }
            Change::Run { entries, descends } => {
                for at in 0..i32::from(entries) {
                    self.insert(hook(), if descends { -at } else { at }, None);
                }
            }
            Change::Remove { key } => {
                let key = key.to_string();
                let at = (self.lines.iter()).position(|line| line.key.as_ref() == Some(&key));
                assert_eq!(self.slot.remove(&key), at.is_some());
                at.map(|at| self.lines.remove(at));
            }
            Change::RemoveEntry { at } => self.remove_entry(at),
            Change::Shrink { entries } => (0..entries).for_each(|_| self.remove_entry(0)),
            Change::Diverge => kept.push(self.clone()),
            Change::Extend => {
                let other = kept.last().map(|kept| kept.lines.clone());
                for line in other.unwrap_or_default() {
                    self.insert(line.hook, line.priority, line.key);
                }
            }
            Change::ReplaceAll => {
                let was_occupied = self.slot.replace_all(Entry::new(Arc::new(hook())));
                assert_eq!(was_occupied, !self.lines.is_empty());
                let (_, meta) = self.slot.iter().next().expect("it has just been inserted");
                self.next_sequence += 1;
                self.lines = vec![Line {
                    priority: 0,
                    sequence: self.next_sequence,
                    key: None,
                    hook: *next,
                    id: meta.id(),
                }];
            }
        }
    }

    fn check(&self) {
        fn same<T: PartialEq + Debug>(
            slot: impl Iterator<Item = T>,
            model: impl Iterator<Item = T>,
        ) {
            assert_eq!(slot.collect::<Vec<_>>(), model.collect::<Vec<_>>());
        }
        let (slot, lines) = (&self.slot, &self.lines);
        assert_eq!(slot.len(), lines.len());
        assert_eq!(slot.is_empty(), lines.is_empty());
        same(
            slot.iter().map(|(hook, _)| *hook),
            lines.iter().map(|line| line.hook),
        );
        same(
            slot.iter().map(|(_, meta)| meta.id()),
            lines.iter().map(|line| line.id),
        );
        for line in lines {
            let found = line
                .key
                .as_ref()
                .map(|key| slot.get(key).map(|(hook, _)| *hook));
            assert_eq!(found.unwrap_or(Some(line.hook)), Some(line.hook));
        }
        assert!(slot.get("no key").is_none());
        let expected: Vec<_> = (1..)
            .zip(lines)
            .map(|(at, line)| (line.hook, at == lines.len()))
            .collect();
        assert_eq!(
            block_on(slot.dispatch(Calls::<false, false>::default())),
            expected
        );
        assert_eq!(
            block_on(slot.dispatch(Calls::<true, false>::default())),
            expected
        );
        assert_eq!(
            block_on(slot.dispatch(Calls::<true, true>::default())),
            expected
        );
        let (calls, report) = block_on(slot.dispatch_reported(Calls::<true, false>::default()));
        assert_eq!(calls, expected);
        same(
            report.entries.iter().map(|entry| entry.id),
            lines.iter().map(|line| line.id),
        );
    }
}

/// Records the called hooks, and whether each was the final one. A hook whose number is a multiple
/// of seven is pending once.
#[derive(Default)]
struct Calls<const CATCH: bool, const CONCURRENT: bool>(Vec<(u32, bool)>);

impl<const CATCH: bool, const CONCURRENT: bool> Policy<u32> for Calls<CATCH, CONCURRENT> {
    type HookOutput = ();
    type Output = Vec<(u32, bool)>;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = CATCH;
    const CONCURRENT: bool = CONCURRENT;

    fn slot_name(&self) -> &str {
        "calls"
    }

    fn invoke<'a>(&mut self, _: &'a EntryMeta, hook: &'a u32, is_final: bool) -> HookFuture<'a, ()>
    where
        Self: 'a,
    {
        self.0.push((*hook, is_final));
        if hook.is_multiple_of(7) {
            HookFuture::boxed(yield_once())
        } else {
            HookFuture::Ready(())
        }
    }

    fn on_output(&mut self, _: &EntryMeta, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) -> Vec<(u32, bool)> {
        self.0
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn e_03_e_07_t_03_a_slot_matches_the_reference_model(
        changes in proptest::collection::vec(change(), 0..150),
    ) {
        let (mut pair, mut kept, mut next) = (Pair::default(), Vec::new(), 0);
        for change in &changes {
            pair.apply(change, &mut kept, &mut next);
        }
        pair.check();
        // A registration in a clone does not affect the original.
        kept.iter().for_each(Pair::check);
    }
}

/// A hook whose destructor panics.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn x_3_a_panic_on_drop_of_a_hook_leaves_the_slot_consistent() {
    for others in [0, 10, 100] {
        let mut slot: Slot<dyn Send + Sync> = Slot::new();
        for _ in 0..others {
            slot.insert(Entry::new(Arc::new(())));
        }
        let caught = |act: &mut dyn FnMut()| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).expect_err("it panics");
        };
        slot.insert(Entry::new(Arc::new(PanicsOnDrop) as _).key("a"));
        caught(&mut || {
            slot.insert(Entry::new(Arc::new(()) as _).key("a"));
        });
        assert_eq!((slot.len(), slot.iter().count()), (others + 1, others + 1));
        assert!(slot.remove("a"), "the new one is there");
        slot.insert(Entry::new(Arc::new(PanicsOnDrop) as _).key("a"));
        caught(&mut || {
            assert!(slot.remove("a"));
        });
        assert_eq!((slot.len(), slot.iter().count()), (others, others));
        assert!(!slot.remove("a"));
    }
}
