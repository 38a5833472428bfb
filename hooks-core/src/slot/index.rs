//! The positions of a large slot's entries, by key and by id: a cache for writers.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::entry::{EntryId, EntryMeta};

/// Number of entries up to which a scan finds an entry: 32 comparisons take less time than the
/// allocations of an index.
pub(super) const MAX_SCANNED: usize = 32;

/// Priority, then sequence. No two entries of a slot have the same rank.
pub(super) type Rank = (i32, u64);

/// The ranks of all entries of a slot. Compiled once, not for each type of hook.
#[derive(Default)]
pub(super) struct Index {
    by_key: HashSet<Keyed>,
    by_id: HashMap<EntryId, Rank>,
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

    pub(super) fn insert(&mut self, meta: &Arc<EntryMeta>) {
        if meta.key().is_some() {
            self.by_key.insert(Keyed(Arc::clone(meta)));
        }
        self.by_id.insert(meta.id(), meta.rank());
    }

    pub(super) fn remove(&mut self, meta: &EntryMeta) {
        if let Some(key) = meta.key() {
            self.by_key.remove(key);
        }
        self.by_id.remove(&meta.id());
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
