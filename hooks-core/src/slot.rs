//! The ordered list of registrations of an extension point.
//!
//! | Module | Subject |
//! |---|---|
//! | `node` | one registration, as the list stores it |
//! | `list` | the lists: entries by rank, in leaves of at most 64, shared with clones |
//! | `change` | what a change does to the lists |
//! | `index` | the positions of the entries of a large slot, by key and by id; not shared with clones |
//! | `cursor` | the entries that a dispatch has not started |
//! | `order` | the order of entries with `before` and `after` |

use std::fmt;
use std::mem;
use std::slice;
use std::sync::Arc;

use crate::entry::{Entry, EntryId, EntryMeta};
use crate::timer::Timer;

mod change;
mod cursor;
mod index;
mod list;
mod node;
mod order;

use change::{Change, Changed, Changer, Position, State};
pub(crate) use cursor::Cursor;
use index::Lookup;
use list::{Builder, List, Lists};
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
    lists: Lists<H>,
    state: State,
}

impl<H: ?Sized> Slot<H> {
    /// Creates a slot without entries.
    pub const fn new() -> Self {
        Slot {
            lists: Lists::new(),
            state: State::new(None),
        }
    }

    /// Creates a slot without entries whose hooks may have a timeout.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        Slot {
            lists: Lists::new(),
            state: State::new(Some(timer)),
        }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.state.len
    }

    /// Returns `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the hooks and their options, in execution order. Includes disabled entries.
    pub fn iter(&self) -> impl Iterator<Item = (&H, &EntryMeta)> {
        self.registered().map(|node| (&*node.hook, &*node.meta))
    }

    /// Returns the hook registered under this key, with its options.
    pub fn get(&self, key: &str) -> Option<(&H, &EntryMeta)> {
        let leaves = self.lists.leaves();
        let Position { leaf, at } = self.state.find(&leaves, Lookup::Key(key))?;
        let node = &leaves[leaf][at];
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
        self.register(hook, meta)
    }

    /// Registers several entries, which may name each other's keys. An unknown key is not an error
    /// here: the entry with the key may have been removed.
    ///
    /// # Panics
    /// As [`insert`](Self::insert), except for unknown keys.
    #[track_caller]
    pub fn insert_all(&mut self, entries: impl IntoIterator<Item = Entry<Arc<H>>>) {
        let (mut hooks, mut metas) = (Vec::new(), Vec::new());
        for entry in entries {
            let (hook, meta) = self.admitted(entry);
            hooks.push(hook);
            metas.push(meta);
        }
        self.register_all(hooks, metas);
    }

    /// Enables or disables the entry of this key, and returns `true` if it exists. A disabled entry
    /// keeps its place and is not part of a dispatch.
    pub fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        self.change(&[], Change::Enable(Lookup::Key(key), is_enabled))
            .is_some()
    }

    /// Enables or disables this entry, and returns `true` if it exists.
    pub fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.change(&[], Change::Enable(Lookup::Id(id), is_enabled))
            .is_some()
    }

    #[track_caller]
    fn admitted(&self, entry: Entry<Arc<H>>) -> (Arc<H>, EntryMeta) {
        let (hook, mut meta) = entry.into_parts();
        self.state.admit(&mut meta);
        (hook, meta)
    }

    #[track_caller]
    fn register(&mut self, hook: Arc<H>, mut meta: EntryMeta) -> EntryId {
        // Without a list to change, 300 instructions less.
        if self.is_empty() && !meta.needs_arrangement() {
            let id = self.state.register(&mut meta, None);
            let meta = Arc::new(meta);
            self.state.add_to_index(&meta);
            self.lists.running = Some(List::new(Node { hook, meta }));
            return id;
        }
        self.change(slice::from_ref(&hook), Change::Insert(Arc::new(meta), None))
            .expect("a registered entry has an id")
    }

    #[track_caller]
    fn register_all(&mut self, hooks: Vec<Arc<H>>, metas: Vec<EntryMeta>) {
        if self.is_arranged() || metas.iter().any(EntryMeta::needs_arrangement) {
            self.change(&hooks, Change::Arrange(metas));
            return;
        }
        for (hook, meta) in hooks.into_iter().zip(metas) {
            self.register(hook, meta);
        }
    }

    /// Returns the id of the entry that the change concerns, if there is one.
    ///
    /// # Panics
    /// As [`insert`](Self::insert); the slot is then unchanged.
    #[track_caller]
    fn change(&mut self, hooks: &[Arc<H>], mut change: Change<'_>) -> Option<EntryId> {
        // Dropped last: the destructor of a removed hook may panic.
        let mut old = None;
        loop {
            let leaves = self.lists.leaves();
            let mut new = Builder::new(leaves, hooks);
            let changer = Changer {
                state: &mut self.state,
                entries: &leaves,
                is_arranged: self.lists.arranged.is_some(),
                new: &mut new,
            };
            let changed = changer.apply(change);
            if let Some(lists) = new.finish() {
                let replaced = mem::replace(&mut self.lists, lists);
                if old.is_none() {
                    old = Some(replaced);
                }
            }
            match changed {
                Changed::Entry(id) => return id,
                Changed::Next(next) => change = next,
            }
        }
    }

    fn is_arranged(&self) -> bool {
        self.lists.arranged.is_some()
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
        let _old = mem::replace(&mut self.lists, Lists::new());
        let had_entries = self.state.clear();
        self.register(hook, meta);
        had_entries
    }

    /// Removes the entry of this key, and returns `true` if it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        self.change(&[], Change::Remove(Lookup::Key(key))).is_some()
    }

    /// Removes this entry, and returns `true` if it existed.
    pub fn remove_entry(&mut self, id: EntryId) -> bool {
        self.change(&[], Change::Remove(Lookup::Id(id))).is_some()
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
        match &self.lists.running {
            None => Some(&[]),
            Some(List::One(leaf)) => Some(leaf),
            Some(List::Many(_) | List::Conditional(_)) => None,
        }
    }

    /// Returns a cursor over the entries that run, in execution order.
    pub(crate) fn cursor(&self) -> Cursor<'_, H> {
        Cursor::new(self.lists.running.as_ref())
    }

    /// Returns a cursor over all entries, in execution order.
    pub(crate) fn registered(&self) -> Cursor<'_, H> {
        match &self.lists.arranged {
            Some(all) => Cursor::of_leaf(all),
            None => self.cursor(),
        }
    }

    /// Returns `true` if an entry is enabled.
    pub(crate) fn has_enabled(&self) -> bool {
        self.lists.running.is_some()
    }

    /// Returns the number of entries that run if all conditions hold.
    pub(crate) fn enabled_len(&self) -> usize {
        match &self.lists.running {
            Some(running) if self.is_arranged() => running.len(),
            Some(_) => self.len(),
            None => 0,
        }
    }

    /// Returns the entries that run and whose condition holds; `None` if no entry has a condition.
    pub(crate) fn select(&self, mut admits: impl FnMut(&Node<H>) -> bool) -> Option<Vec<&Node<H>>> {
        let Some(List::Conditional(leaf)) = &self.lists.running else {
            return None;
        };
        let admitted = |node: &&Node<H>| !node.meta.is_conditional() || admits(node);
        Some(leaf.iter().filter(admitted).collect())
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
            lists: self.lists.clone(),
            state: self.state.clone(),
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
