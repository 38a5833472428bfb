//! The positions of a large slot's entries, by key and by id: a cache for writers.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::entry::{Constraint, EntryId, EntryMeta, Rank, Side};

/// Number of entries up to which a scan finds an entry: 32 comparisons take less time than the
/// allocations of an index.
pub(super) const MAX_SCANNED: usize = 32;

/// The ranks of all entries of a slot, and the keys that constraints name. Compiled once, not for
/// each type of hook.
#[derive(Default)]
pub(super) struct Index {
    by_key: HashSet<Keyed>,
    by_id: HashMap<EntryId, Rank>,
    named: HashMap<Box<str>, ConstraintCounts>,
}

/// The constraints that name one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ConstraintCounts {
    pub(super) before: usize,
    pub(super) after: usize,
}

impl ConstraintCounts {
    /// Adds the constraints of an entry that name this key.
    pub(super) fn add(&mut self, meta: &EntryMeta, key: &str) {
        for constraint in meta.constraints() {
            if constraint.key() == key {
                *self.count(constraint) += 1;
            }
        }
    }

    pub(super) fn is_none(self) -> bool {
        self == ConstraintCounts::default()
    }

    fn count(&mut self, constraint: &Constraint) -> &mut usize {
        match constraint.side {
            Side::Before => &mut self.before,
            Side::After => &mut self.after,
        }
    }
}

/// The options of a registration with a key, hashed by this key.
struct Keyed(Arc<EntryMeta>);

/// Criterion by which an entry is looked up.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lookup<'k> {
    Key(&'k str),
    Id(EntryId),
}

impl Index {
    pub(super) fn get(&self, wanted: Lookup<'_>) -> Option<Rank> {
        match wanted {
            Lookup::Key(key) => self.by_key.get(key).map(|entry| entry.0.rank()),
            Lookup::Id(id) => self.by_id.get(&id).copied(),
        }
    }

    /// Returns the number of the constraints that name this key.
    pub(super) fn named(&self, key: &str) -> ConstraintCounts {
        self.named.get(key).copied().unwrap_or_default()
    }

    pub(super) fn insert(&mut self, meta: &Arc<EntryMeta>) {
        if meta.key().is_some() {
            self.by_key.insert(Keyed(Arc::clone(meta)));
        }
        self.by_id.insert(meta.id(), meta.rank());
        for constraint in meta.constraints() {
            let named = self.named.entry(constraint.key().into());
            *named.or_default().count(constraint) += 1;
        }
    }

    pub(super) fn remove(&mut self, meta: &EntryMeta) {
        if let Some(key) = meta.key() {
            self.by_key.remove(key);
        }
        self.by_id.remove(&meta.id());
        for constraint in meta.constraints() {
            if let Some(named) = self.named.get_mut(constraint.key()) {
                *named.count(constraint) -= 1;
                if named.is_none() {
                    self.named.remove(constraint.key());
                }
            }
        }
    }
}

impl Lookup<'_> {
    pub(super) fn finds(self, meta: &EntryMeta) -> bool {
        match self {
            Lookup::Key(key) => meta.key() == Some(key),
            Lookup::Id(id) => meta.id() == id,
        }
    }
}

impl Borrow<str> for Keyed {
    fn borrow(&self) -> &str {
        self.0.key().unwrap_or_default()
    }
}

impl Hash for Keyed {
    fn hash<S: Hasher>(&self, state: &mut S) {
        Borrow::<str>::borrow(self).hash(state);
    }
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl Eq for Keyed {}
