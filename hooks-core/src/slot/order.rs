//! The order of entries with `before` and `after`. Compiled once, not for each type of hook.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::{EntryMeta, MAX_MOVED, NOT_MOVED, Rank, Side, moved_rank};
use crate::refusal::RegistrationError;

/// Checks that the keys that an entry names are registered, by other entries. A key that the
/// replaced entry names, too, may have been removed.
pub(super) fn check_keys(
    entry: &EntryMeta,
    replaced: Option<&EntryMeta>,
    is_registered: &mut dyn FnMut(&str) -> bool,
) -> Result<(), RegistrationError> {
    let is_kept = |constraint| replaced.is_some_and(|old| old.constraints().contains(constraint));
    for constraint in entry.constraints() {
        let (option, key) = (constraint.word(), constraint.key());
        let name = entry.name();
        if entry.key() == Some(key) {
            return Err(RegistrationError::invalid_option(format!(
                "`{name}` is to run {option} its own key `{key}`; leave `{option}` out"
            )));
        }
        let is_needed = !constraint.is_optional() && !entry.is_adopted();
        if is_needed && !is_registered(key) && !is_kept(constraint) {
            return Err(RegistrationError::UnknownKey {
                hook: name.into_owned(),
                option,
                key: key.to_owned(),
            });
        }
    }
    Ok(())
}

/// Returns the entries in execution order, as indices, with their ranks. Sorts indices, because a
/// sort of the entries is compiled for each type of hook: a fifth of the code of a program of many
/// slots.
///
/// An entry with a constraint that its place violates moves directly before or after the entry that
/// the constraint names.
///
/// # Errors
/// If the constraints form a cycle.
pub(super) fn execution_order(
    entries: &[&EntryMeta],
) -> Result<Vec<(usize, Rank)>, RegistrationError> {
    let mut natural: Vec<_> = (0..entries.len()).collect();
    natural.sort_by_key(|&at| entries[at].natural_rank());
    if !entries.iter().any(|entry| entry.is_constrained()) {
        let ranked = natural.into_iter();
        return Ok(ranked.map(|at| (at, entries[at].natural_rank())).collect());
    }
    let sorted: Vec<_> = natural.iter().map(|&at| entries[at]).collect();
    let mut arrangement = Arrangement::new(&sorted);
    if let Some(cycle) = arrangement.cycle() {
        return Err(RegistrationError::Cycle {
            hooks: cycle.iter().map(|&at| display(sorted[at])).collect(),
        });
    }
    let mut ranked = Vec::with_capacity(sorted.len());
    for (at, entry) in sorted.iter().enumerate() {
        for (moved, place) in spread(&arrangement.place_in_turn(at), at) {
            ranked.push((natural[moved], moved_rank(entry.natural_rank(), place)));
        }
    }
    Ok(ranked)
}

/// Sets the rank of an entry.
pub(super) fn set_rank(meta: &mut Arc<EntryMeta>, rank: Rank) {
    if meta.rank() != rank {
        Arc::make_mut(meta).set_rank(rank);
    }
}

/// Assigns places to the entries that are moved to the entry `fixed`, which is among the entries.
/// The places have equal distances, so that later entries fit between.
///
/// # Panics
/// If more than eight million entries run directly before or after one entry.
fn spread(entries: &[usize], fixed: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
    let before = entries.iter().position(|&entry| entry == fixed);
    let before = before.unwrap_or_default() as u64;
    let after = (entries.len() as u64).saturating_sub(before + 1);
    let place = move |at: u64| match at.checked_sub(before) {
        None => NOT_MOVED / (before + 1) * (at + 1),
        Some(0) => NOT_MOVED,
        // The entries end at once: an entry that is registered later follows the last of them.
        Some(behind) => NOT_MOVED + behind * AFTER_DISTANCE.min((MAX_MOVED - NOT_MOVED) / after),
    };
    assert!(
        before.max(after) < NOT_MOVED,
        "too many entries name one entry with `before` or `after`"
    );
    (0..)
        .zip(entries)
        .map(move |(at, &entry)| (entry, place(at)))
}

/// Distance of entries that run directly after one entry.
const AFTER_DISTANCE: u64 = 16;

/// Returns the name of an entry, and its key if it has another.
fn display(entry: &EntryMeta) -> String {
    let name = entry.name();
    match entry.key() {
        Some(key) if *key != name => format!("`{name}` (key `{key}`)"),
        _ => format!("`{name}`"),
    }
}

/// Computes the order of entries, which are sorted by priority and registration.
struct Arrangement {
    /// The entries that each entry runs after, in ascending order: its own `after` and the
    /// `before` of others.
    predecessors: Vec<Vec<usize>>,
    /// The entries that name each entry with `after`, in ascending order, each as often as it names
    /// the entry.
    dependents: Vec<Vec<usize>>,
    /// Number of the `after` of each entry whose entries are not placed.
    missing: Vec<usize>,
    is_placed: Vec<bool>,
    /// `true` for entries that had their turn, and wait for an entry that runs later.
    is_waiting: Vec<bool>,
}

impl Arrangement {
    fn new(entries: &[&EntryMeta]) -> Self {
        let keys: HashMap<_, _> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((entry.key()?, at)))
            .collect();
        let mut arrangement = Arrangement {
            predecessors: vec![Vec::new(); entries.len()],
            dependents: vec![Vec::new(); entries.len()],
            missing: vec![0; entries.len()],
            is_placed: vec![false; entries.len()],
            is_waiting: vec![false; entries.len()],
        };
        for (at, entry) in entries.iter().enumerate() {
            for constraint in entry.constraints() {
                // The entry with the key may be absent.
                let Some(&named) = keys.get(constraint.key()) else {
                    continue;
                };
                match constraint.side {
                    Side::Before => arrangement.predecessors[named].push(at),
                    Side::After => {
                        arrangement.predecessors[at].push(named);
                        arrangement.dependents[named].push(at);
                        arrangement.missing[at] += 1;
                    }
                }
            }
        }
        let predecessors = arrangement.predecessors.iter_mut();
        predecessors.for_each(|some| some.sort_unstable());
        arrangement
    }

    /// Returns the entries of a cycle, if there is one.
    fn cycle(&self) -> Option<Vec<usize>> {
        let mut is_checked = vec![false; self.predecessors.len()];
        // The place of each entry of the walk, plus one.
        let mut place = vec![0; self.predecessors.len()];
        // Number of the predecessors of each entry that are checked.
        let mut checked = vec![0; self.predecessors.len()];
        for start in 0..is_checked.len() {
            if is_checked[start] {
                continue;
            }
            // A walk along predecessors that are not checked.
            let mut walk = vec![start];
            place[start] = 1;
            while let Some(&at) = walk.last() {
                let Some(&next) = self.predecessors[at].get(checked[at]) else {
                    is_checked[at] = true;
                    place[at] = 0;
                    walk.pop();
                    continue;
                };
                if is_checked[next] {
                    checked[at] += 1;
                } else if place[next] > 0 {
                    return Some(walk.split_off(place[next] - 1));
                } else {
                    walk.push(next);
                    place[next] = walk.len();
                }
            }
        }
        None
    }

    /// Places an entry whose turn it is, unless it waits for another: returns the entries that are
    /// placed, in execution order. They contain the entry, or are empty.
    fn place_in_turn(&mut self, at: usize) -> Vec<usize> {
        let mut placed = Vec::new();
        if self.missing[at] == 0 {
            self.place(at, &mut placed);
        } else {
            self.is_waiting[at] = true;
        }
        placed
    }

    /// Places an entry: first the entries that run before it, and afterwards the entries that wait
    /// for it. The call stack is explicit, because a chain of constraints may be long.
    fn place(&mut self, at: usize, order: &mut Vec<usize>) {
        // Each entry with the number of its predecessors that are placed.
        let mut stack = vec![(at, 0)];
        while let Some((at, checked)) = stack.last_mut() {
            let at = *at;
            if self.is_placed[at] {
                stack.pop();
                continue;
            }
            if let Some(&next) = self.predecessors[at].get(*checked) {
                *checked += 1;
                stack.push((next, 0));
                continue;
            }
            self.is_placed[at] = true;
            order.push(at);
            stack.pop();
            let mut ready = Vec::new();
            for &dependent in &self.dependents[at] {
                self.missing[dependent] -= 1;
                if self.missing[dependent] == 0
                    && self.is_waiting[dependent]
                    && !self.is_placed[dependent]
                {
                    ready.push((dependent, 0));
                }
            }
            // The first entry is placed first.
            stack.extend(ready.into_iter().rev());
        }
    }
}
