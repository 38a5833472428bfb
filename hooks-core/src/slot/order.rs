//! The order of entries with `before` and `after`. Compiled once, not for each type of hook.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::{Constraint, EntryMeta};

/// Checks that the keys that an entry names are registered, by other entries.
#[track_caller]
pub(super) fn check_keys(entry: &EntryMeta, entries: &[&EntryMeta]) {
    for constraint in entry.constraints() {
        let (word, key) = (constraint.word(), constraint.key());
        let name = entry.name();
        assert!(
            entry.key() != Some(key),
            "`{name}` is to run {word} its own key `{key}`; leave `{word}` out"
        );
        assert!(
            entries.iter().any(|other| other.key() == Some(key)),
            "`{name}` is to run {word} `{key}`, and the slot has no entry with this key; register `{key}` first, or leave `{word}` out"
        );
    }
}

/// Returns the entries in execution order, as indices, and `true` if the options of some entry need
/// an arrangement. Sorts indices, because a sort of the entries is compiled for each type of hook:
/// a fifth of the code of a program of many slots.
///
/// # Panics
/// If the constraints form a cycle.
#[track_caller]
pub(super) fn execution_order(entries: &[&EntryMeta]) -> (Vec<usize>, bool) {
    let mut natural: Vec<_> = (0..entries.len()).collect();
    natural.sort_by_key(|&at| entries[at].natural_rank());
    if !entries.iter().any(|entry| entry.needs_arrangement()) {
        return (natural, false);
    }
    let sorted: Vec<_> = natural.iter().map(|&at| entries[at]).collect();
    let order = arrange(&sorted).into_iter().map(|at| natural[at]);
    (order.collect(), true)
}

/// Sets the rank of an entry to its place in an arrangement, or to its natural rank.
pub(super) fn set_rank(meta: &mut Arc<EntryMeta>, place: Option<usize>) {
    let rank = match place {
        Some(place) => (0, place as u64),
        None => meta.natural_rank(),
    };
    if meta.rank() != rank {
        Arc::make_mut(meta).set_rank(rank);
    }
}

/// Returns the entries, which are sorted by priority and registration, in execution order: as
/// indices. An entry with a constraint that its place violates moves directly before or after the
/// entry that the constraint names.
///
/// # Panics
/// If the constraints form a cycle.
#[track_caller]
fn arrange(entries: &[&EntryMeta]) -> Vec<usize> {
    let mut arrangement = Arrangement::new(entries);
    if let Some(cycle) = arrangement.cycle() {
        let names: Vec<_> = cycle.iter().map(|&at| display(entries[at])).collect();
        panic!(
            "the order of {} is a cycle; remove one of their `before` and `after` options",
            names.join(", ")
        );
    }
    for at in 0..entries.len() {
        if arrangement.is_ready(at) {
            arrangement.place(at);
        } else {
            arrangement.waiting.push(at);
        }
    }
    arrangement.order
}

/// Returns the name of an entry, with its key: several entries may have the same name.
fn display(entry: &EntryMeta) -> String {
    let name = entry.name();
    match entry.key() {
        Some(key) if key != name => format!("`{name}` (key `{key}`)"),
        _ => format!("`{name}`"),
    }
}

struct Arrangement {
    /// The entries that each entry runs after, in ascending order: its own `after` and the
    /// `before` of others.
    predecessors: Vec<Vec<usize>>,
    /// The entries that each entry names with `after`.
    anchors: Vec<Vec<usize>>,
    is_placed: Vec<bool>,
    /// Entries whose anchors run later, in ascending order.
    waiting: Vec<usize>,
    order: Vec<usize>,
}

impl Arrangement {
    fn new(entries: &[&EntryMeta]) -> Self {
        let keys: HashMap<_, _> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((entry.key()?, at)))
            .collect();
        let mut predecessors = vec![Vec::new(); entries.len()];
        let mut anchors = vec![Vec::new(); entries.len()];
        for (at, entry) in entries.iter().enumerate() {
            for constraint in entry.constraints() {
                // The entry with the key may have been removed.
                let Some(&named) = keys.get(constraint.key()) else {
                    continue;
                };
                match constraint {
                    Constraint::Before(_) => predecessors[named].push(at),
                    Constraint::After(_) => {
                        predecessors[at].push(named);
                        anchors[at].push(named);
                    }
                }
            }
        }
        predecessors
            .iter_mut()
            .for_each(|some| some.sort_unstable());
        Arrangement {
            predecessors,
            anchors,
            is_placed: vec![false; entries.len()],
            waiting: Vec::new(),
            order: Vec::with_capacity(entries.len()),
        }
    }

    /// Returns the entries of a cycle, if there is one.
    fn cycle(&self) -> Option<Vec<usize>> {
        // An entry is checked once all its predecessors are.
        let mut is_checked = vec![false; self.predecessors.len()];
        for start in 0..is_checked.len() {
            // A walk along predecessors that are not checked.
            let mut walk = vec![start];
            while let Some(&at) = walk.last() {
                let next = self.predecessors[at]
                    .iter()
                    .find(|&&next| !is_checked[next]);
                match next {
                    _ if is_checked[at] => _ = walk.pop(),
                    None => is_checked[at] = true,
                    Some(next) => match walk.iter().position(|at| at == next) {
                        Some(first) => return Some(walk.split_off(first)),
                        None => walk.push(*next),
                    },
                }
            }
        }
        None
    }

    /// Returns `true` if all entries that this entry names with `after` are placed.
    fn is_ready(&self, at: usize) -> bool {
        self.anchors[at]
            .iter()
            .all(|&anchor| self.is_placed[anchor])
    }

    /// Places an entry: first the entries that run before it, and afterwards the entries that wait
    /// for it. The call stack is explicit, because a chain of constraints may be long.
    fn place(&mut self, at: usize) {
        let mut stack = vec![at];
        while let Some(&at) = stack.last() {
            if self.is_placed[at] {
                stack.pop();
                continue;
            }
            let next = self.predecessors[at]
                .iter()
                .find(|&&next| !self.is_placed[next]);
            if let Some(&next) = next {
                stack.push(next);
                continue;
            }
            self.is_placed[at] = true;
            self.order.push(at);
            stack.pop();
            let (ready, waiting) = std::mem::take(&mut self.waiting)
                .into_iter()
                .filter(|&other| !self.is_placed[other])
                .partition(|&other| self.is_ready(other));
            self.waiting = waiting;
            // The first one is placed first.
            let ready: Vec<usize> = ready;
            stack.extend(ready.into_iter().rev());
        }
    }
}
