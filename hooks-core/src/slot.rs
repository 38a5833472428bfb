//! The ordered list of registrations of an extension point.
//!
//! | Module | Subject |
//! |---|---|
//! | `node` | one registration, as the list stores it |
//! | `list` | the list: entries by rank, in leaves of at most 64, shared with clones |
//! | `index` | the positions of the entries of a large slot, by key and by id; not shared with clones |
//! | `cursor` | the entries that a dispatch has not started |

use std::fmt;
use std::sync::Arc;

use crate::entry::{Entry, EntryId, EntryMeta};
use crate::timer::Timer;

mod cursor;
mod index;
mod list;
mod node;

pub(crate) use cursor::Cursor;
use index::{Index, Lookup, MAX_SCANNED};
use list::{List, Rank};
pub(crate) use node::Node;

/// An extension point: its entries, in execution order.
///
/// The list is copy-on-write. A clone of the slot takes constant time and shares the hook
/// objects; a later registration in either slot does not change the other. A dispatch works on
/// the list as it was when the dispatch began.
///
/// A registration or a removal copies at most 64 entries, and a pointer for each 64 of the others.
/// The first lookup by key or by id after a clone takes time in proportion to that number.
///
/// `#[hooks]` generates slots from a trait; use this type for custom front ends, which dispatch
/// with a [`Policy`](crate::Policy).
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_core::{Entry, Slot};
///
/// let mut slot: Slot<str> = Slot::new();
/// slot.insert(Entry::new(Arc::from("second")));
/// slot.insert(Entry::new(Arc::from("first")).priority(-1));
/// slot.insert(Entry::new(Arc::from("third")).key("last"));
///
/// // The key exists: the new entry replaces the old one, in its place.
/// slot.insert(Entry::new(Arc::from("last")).key("last"));
/// let order: Vec<_> = slot.iter().map(|(hook, _)| hook).collect();
/// assert_eq!(order, ["first", "second", "last"]);
/// ```
pub struct Slot<H: ?Sized> {
    /// `None` until the first registration, so that an empty slot costs no allocation.
    nodes: Option<List<H>>,
    len: usize,
    next_sequence: u64,
    timer: Option<Arc<dyn Timer>>,
    /// Built by the first change of a large slot that looks up an entry; clones do not copy it.
    index: Option<Box<Index>>,
}

impl<H: ?Sized> Slot<H> {
    /// Creates a slot without entries.
    pub const fn new() -> Self {
        Slot {
            nodes: None,
            len: 0,
            next_sequence: 0,
            timer: None,
            index: None,
        }
    }

    /// Creates a slot without entries whose hooks may have a timeout.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        Slot {
            timer: Some(timer),
            ..Slot::new()
        }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none()
    }

    /// Iterates over the hooks and their options, in execution order.
    pub fn iter(&self) -> impl Iterator<Item = (&H, &EntryMeta)> {
        self.cursor().map(|node| (&*node.hook, &*node.meta))
    }

    /// Returns the hook registered under this key, with its options.
    pub fn get(&self, key: &str) -> Option<(&H, &EntryMeta)> {
        let rank = self.find(Lookup::Key(key))?;
        let node = self.nodes.as_ref()?.get(rank)?;
        Some((&node.hook, &node.meta))
    }

    /// Registers an entry after those of equal priority, and returns its id.
    ///
    /// If an entry with an equal key exists, the new one replaces it: it keeps the position among
    /// equal priorities, and a different priority moves it.
    ///
    /// # Panics
    /// If the entry has a timeout and the slot has no [`Timer`].
    #[track_caller]
    pub fn insert(&mut self, entry: Entry<Arc<H>>) -> EntryId {
        let (hook, meta) = self.admitted(entry);
        self.put(hook, meta)
    }

    #[track_caller]
    fn admitted(&self, entry: Entry<Arc<H>>) -> (Arc<H>, EntryMeta) {
        let (hook, mut meta) = entry.into_parts();
        meta.admit(self.timer.as_ref());
        (hook, meta)
    }

    fn put(&mut self, hook: Arc<H>, mut meta: EntryMeta) -> EntryId {
        // Dropped last: the destructor of a replaced hook may panic.
        let _old = self.nodes.clone();
        let replaced = meta.key().and_then(|key| {
            let rank = self.find_indexed(Lookup::Key(key))?;
            self.take(rank);
            Some(rank)
        });
        meta.register(match replaced {
            Some((_, sequence)) => sequence,
            None => self.next_sequence,
        });
        self.next_sequence += u64::from(replaced.is_none());
        let id = meta.id();
        let meta = Arc::new(meta);
        if let Some(index) = &mut self.index {
            index.insert(&meta);
        }
        let node = Node { hook, meta };
        self.nodes = Some(match &self.nodes {
            None => List::new(node),
            Some(nodes) => nodes.with(node),
        });
        self.len += 1;
        id
    }

    /// Registers an entry, and removes all others.
    ///
    /// Returns `true` if there were any.
    ///
    /// # Panics
    /// As [`insert`](Self::insert); the slot is then unchanged.
    #[track_caller]
    pub fn replace_all(&mut self, entry: Entry<Arc<H>>) -> bool {
        let (hook, meta) = self.admitted(entry);
        // Dropped last: the destructor of a replaced hook may panic.
        let old = self.nodes.take();
        self.len = 0;
        self.index = None;
        self.put(hook, meta);
        old.is_some()
    }

    /// Removes the entry of this key, and returns `true` if it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        let found = self.find_indexed(Lookup::Key(key));
        found.map(|rank| self.take(rank)).is_some()
    }

    /// Removes this entry, and returns `true` if it existed.
    pub fn remove_entry(&mut self, id: EntryId) -> bool {
        let found = self.find_indexed(Lookup::Id(id));
        found.map(|rank| self.take(rank)).is_some()
    }

    /// Removes the entry of this rank.
    fn take(&mut self, rank: Rank) {
        let Some(nodes) = &self.nodes else { return };
        if let (Some(index), Some(node)) = (&mut self.index, nodes.get(rank)) {
            index.remove(&node.meta);
        }
        let left = nodes.without(rank);
        self.len -= 1;
        // Last: the destructor of the hook may panic.
        self.nodes = left;
    }

    /// Finds an entry, and builds the index of a large slot, which the next change needs, too.
    fn find_indexed(&mut self, wanted: Lookup<'_>) -> Option<Rank> {
        if self.index.is_none() && self.len > MAX_SCANNED {
            let mut index = Box::<Index>::default();
            self.cursor().for_each(|node| index.insert(&node.meta));
            self.index = Some(index);
        }
        self.find(wanted)
    }

    fn find(&self, wanted: Lookup<'_>) -> Option<Rank> {
        match &self.index {
            Some(index) => index.get(wanted),
            None => self
                .cursor()
                .find(|node| wanted.finds(&node.meta))
                .map(|node| node.meta.rank()),
        }
    }

    /// Returns the options of all registrations, in execution order.
    pub(crate) fn metas(&self) -> Vec<&EntryMeta> {
        let mut metas = Vec::with_capacity(self.len());
        for node in self.cursor() {
            metas.push(&*node.meta);
        }
        metas
    }

    /// Returns the entries of a slot that has at most one leaf; `None` if there are more.
    #[inline]
    pub(crate) fn leaf(&self) -> Option<&[Node<H>]> {
        match &self.nodes {
            None => Some(&[]),
            Some(List::One(leaf)) => Some(leaf),
            Some(List::Many(_)) => None,
        }
    }

    /// Returns a cursor over the entries in execution order.
    pub(crate) fn cursor(&self) -> Cursor<'_, H> {
        Cursor::new(self.nodes.as_ref())
    }
}

impl<H: ?Sized> Default for Slot<H> {
    fn default() -> Self {
        Slot::new()
    }
}

impl<H: ?Sized> Clone for Slot<H> {
    fn clone(&self) -> Self {
        Slot {
            nodes: self.nodes.clone(),
            len: self.len,
            next_sequence: self.next_sequence,
            timer: self.timer.clone(),
            index: None,
        }
    }
}

impl<H: ?Sized> fmt::Debug for Slot<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metas().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registration_has_a_unique_id() {
        let entry = Entry::new(Arc::new(1)).key("one");
        let mut slot = Slot::new();
        slot.insert(entry.clone());
        let first = slot.metas()[0].id();
        slot.insert(entry);
        assert_eq!(slot.len(), 1, "the key replaces");
        assert_ne!(slot.metas()[0].id(), first);
    }
}
