//! The ordered list of registrations of an extension point.
//!
//! | Module | Subject |
//! |---|---|
//! | `node` | one registration, as the list stores it |
//! | `list` | the list: entries by rank, in leaves of at most 64, shared with clones |
//! | `index` | the positions of the entries of a large slot, by key and by id; not shared with clones |
//! | `cursor` | the entries that a dispatch has not started |
//! | `order` | the order of entries with `before` and `after` |

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::entry::{Entry, EntryId, EntryMeta};
use crate::timer::Timer;

mod cursor;
mod index;
mod list;
mod node;
mod order;

pub(crate) use cursor::Cursor;
use index::{Index, Lookup, MAX_SCANNED};
use list::{Leaf, List, Rank};
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
    /// The entries that run. `None` if there are none, so that an empty slot costs no allocation.
    nodes: Option<List<H>>,
    /// All entries in execution order, if the slot has relative order, disabled entries or
    /// conditions. Each change builds this list anew. Otherwise `None`, and all entries run.
    arranged: Option<Leaf<H>>,
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
            arranged: None,
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
        self.len == 0
    }

    /// Iterates over the hooks and their options, in execution order. Includes disabled entries.
    pub fn iter(&self) -> impl Iterator<Item = (&H, &EntryMeta)> {
        self.registered().map(|node| (&*node.hook, &*node.meta))
    }

    /// Returns the hook registered under this key, with its options.
    pub fn get(&self, key: &str) -> Option<(&H, &EntryMeta)> {
        let rank = self.find(Lookup::Key(key))?;
        let node = match &self.arranged {
            Some(all) => all.iter().find(|node| node.meta.rank() == rank)?,
            None => self.nodes.as_ref()?.get(rank)?,
        };
        Some((&node.hook, &node.meta))
    }

    /// Registers an entry after those of equal priority, and returns its id.
    ///
    /// If an entry with an equal key exists, the new one replaces it: it keeps the position among
    /// equal priorities, and a different priority moves it.
    ///
    /// # Panics
    /// If the entry has a timeout and the slot has no [`Timer`]. If [`Entry::before`] or
    /// [`Entry::after`] names a key that is not registered, or the order would be a cycle; the slot
    /// is then unchanged.
    #[track_caller]
    pub fn insert(&mut self, entry: Entry<Arc<H>>) -> EntryId {
        let (hook, meta) = self.admitted(entry);
        self.put(hook, meta)
    }

    /// Registers several entries, which may name each other's keys. An unknown key is not an error
    /// here: the entry with the key may have been removed.
    ///
    /// # Panics
    /// As [`insert`](Self::insert), except for unknown keys.
    #[track_caller]
    pub fn insert_all(&mut self, entries: impl IntoIterator<Item = Entry<Arc<H>>>) {
        let mut admitted = Vec::new();
        for entry in entries {
            admitted.push(self.admitted(entry));
        }
        let needs_arrangement = |(_, meta): &(_, EntryMeta)| meta.needs_arrangement();
        if !self.is_arranged() && !admitted.iter().any(needs_arrangement) {
            for (hook, meta) in admitted {
                self.put(hook, meta);
            }
            return;
        }
        let (mut nodes, mut next_sequence) = (self.to_nodes(), self.next_sequence);
        for (hook, meta) in admitted {
            add(&mut nodes, &mut next_sequence, hook, meta);
        }
        let _old = self.set_nodes(nodes);
        self.next_sequence = next_sequence;
    }

    /// Enables or disables the entry of this key, and returns `true` if it exists. A disabled entry
    /// keeps its place and is not part of a dispatch.
    pub fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        let found = self.find(Lookup::Key(key));
        found.map(|rank| self.enable(rank, is_enabled)).is_some()
    }

    /// Enables or disables this entry, and returns `true` if it exists.
    pub fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        let found = self.find(Lookup::Id(id));
        found.map(|rank| self.enable(rank, is_enabled)).is_some()
    }

    fn enable(&mut self, rank: Rank, is_enabled: bool) {
        let mut nodes = self.to_nodes();
        let Some(node) = nodes.iter_mut().find(|node| node.meta.rank() == rank) else {
            return;
        };
        if node.meta.is_enabled() != is_enabled {
            Arc::make_mut(&mut node.meta).enable(is_enabled);
            self.set_nodes(nodes);
        }
    }

    fn is_arranged(&self) -> bool {
        self.arranged.is_some()
    }

    fn to_nodes(&self) -> Vec<Node<H>> {
        self.registered().cloned().collect()
    }

    /// Inserts an entry and computes the order. The keys that the entry names have to be registered.
    #[track_caller]
    fn put_arranged(&mut self, hook: Arc<H>, meta: EntryMeta) -> EntryId {
        let (mut nodes, mut next_sequence) = (self.to_nodes(), self.next_sequence);
        let at = add(&mut nodes, &mut next_sequence, hook, meta);
        let metas = metas(&nodes);
        order::check_keys(metas[at], &metas);
        let id = metas[at].id();
        let _old = self.set_nodes(nodes);
        self.next_sequence = next_sequence;
        id
    }

    /// Replaces the lists by lists of these entries, in the order that their options define. Returns
    /// the replaced lists, to be dropped last: the destructor of a hook may panic.
    ///
    /// # Panics
    /// If the order would be a cycle; the slot is then unchanged.
    #[track_caller]
    fn set_nodes(&mut self, mut nodes: Vec<Node<H>>) -> (Option<List<H>>, Option<Leaf<H>>) {
        let (order, is_arranged) = order::execution_order(&metas(&nodes));
        nodes = order.into_iter().map(|at| nodes[at].clone()).collect();
        for (place, node) in nodes.iter_mut().enumerate() {
            order::set_rank(&mut node.meta, is_arranged.then_some(place));
        }
        self.len = nodes.len();
        self.index = None;
        let arranged = is_arranged.then(|| nodes.as_slice().into());
        nodes.retain(|node| node.meta.is_enabled());
        let enabled = List::of_nodes(nodes);
        (
            mem::replace(&mut self.nodes, enabled),
            mem::replace(&mut self.arranged, arranged),
        )
    }

    #[track_caller]
    fn admitted(&self, entry: Entry<Arc<H>>) -> (Arc<H>, EntryMeta) {
        let (hook, mut meta) = entry.into_parts();
        meta.admit(self.timer.as_ref());
        (hook, meta)
    }

    #[track_caller]
    fn put(&mut self, hook: Arc<H>, mut meta: EntryMeta) -> EntryId {
        if meta.needs_arrangement() || self.is_arranged() {
            return self.put_arranged(hook, meta);
        }
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
        order::check_keys(&meta, &[]);
        // Dropped last: the destructor of a replaced hook may panic.
        let _old = (self.nodes.take(), self.arranged.take());
        let had_entries = mem::take(&mut self.len) > 0;
        self.index = None;
        self.put(hook, meta);
        had_entries
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
        if self.is_arranged() {
            let mut nodes = self.to_nodes();
            nodes.retain(|node| node.meta.rank() != rank);
            self.set_nodes(nodes);
            return;
        }
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
        if self.index.is_none() && self.len > MAX_SCANNED && !self.is_arranged() {
            let mut index = Box::<Index>::default();
            self.registered().for_each(|node| index.insert(&node.meta));
            self.index = Some(index);
        }
        self.find(wanted)
    }

    fn find(&self, wanted: Lookup<'_>) -> Option<Rank> {
        match &self.index {
            Some(index) => index.get(wanted),
            None => self
                .registered()
                .find(|node| wanted.finds(&node.meta))
                .map(|node| node.meta.rank()),
        }
    }

    /// Returns the options of all registrations, in execution order.
    pub(crate) fn metas(&self) -> Vec<&EntryMeta> {
        let mut metas = Vec::with_capacity(self.len());
        for node in self.registered() {
            metas.push(&*node.meta);
        }
        metas
    }

    /// Returns the entries that run, if they are one leaf and have no conditions.
    #[inline]
    pub(crate) fn leaf(&self) -> Option<&[Node<H>]> {
        match &self.nodes {
            None => Some(&[]),
            Some(List::One(leaf)) => Some(leaf),
            Some(List::Many(_) | List::Conditional(_)) => None,
        }
    }

    /// Returns a cursor over the entries that run, in execution order.
    pub(crate) fn cursor(&self) -> Cursor<'_, H> {
        Cursor::new(self.nodes.as_ref())
    }

    /// Returns a cursor over all entries, in execution order.
    pub(crate) fn registered(&self) -> Cursor<'_, H> {
        match &self.arranged {
            Some(all) => Cursor::of_leaf(all),
            None => self.cursor(),
        }
    }

    /// Returns `true` if an entry is enabled.
    pub(crate) fn has_enabled(&self) -> bool {
        self.nodes.is_some()
    }

    /// Returns the number of entries that run if all conditions hold.
    pub(crate) fn enabled_len(&self) -> usize {
        match &self.arranged {
            Some(_) => self.nodes.as_ref().map_or(0, List::len),
            None => self.len,
        }
    }

    /// Returns the entries that run and whose condition holds; `None` if no entry has a condition.
    pub(crate) fn select(&self, mut admits: impl FnMut(&Node<H>) -> bool) -> Option<Vec<&Node<H>>> {
        let Some(List::Conditional(leaf)) = &self.nodes else {
            return None;
        };
        let admitted = |node: &&Node<H>| !node.meta.is_conditional() || admits(node);
        Some(leaf.iter().filter(admitted).collect())
    }
}

/// Returns the options of these entries.
fn metas<H: ?Sized>(nodes: &[Node<H>]) -> Vec<&EntryMeta> {
    nodes.iter().map(|node| &*node.meta).collect()
}

/// Adds an entry to a list to be arranged, in the place of the entry with an equal key. Returns its
/// index.
fn add<H: ?Sized>(
    nodes: &mut Vec<Node<H>>,
    next_sequence: &mut u64,
    hook: Arc<H>,
    mut meta: EntryMeta,
) -> usize {
    let replaced = meta.key().and_then(|key| {
        let old = |node: &Node<H>| node.meta.key() == Some(key);
        nodes.iter().position(old)
    });
    let sequence = replaced.map(|at| nodes[at].meta.sequence());
    meta.register(sequence.unwrap_or(*next_sequence));
    let meta = Arc::new(meta);
    let node = Node { hook, meta };
    match replaced {
        Some(at) => {
            nodes[at] = node;
            at
        }
        None => {
            *next_sequence += 1;
            nodes.push(node);
            nodes.len() - 1
        }
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
            arranged: self.arranged.clone(),
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
