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
use std::slice;
use std::sync::Arc;

use crate::entry::{Entry, EntryId, EntryMeta};
use crate::failure::drop_catching_panic;
use crate::refusal::{Refused, RegistrationError};
use crate::timer::Timer;

mod change;
mod cursor;
mod index;
mod list;
mod node;
mod order;

use change::Which;
pub(crate) use change::{State, Store};
pub(crate) use cursor::Cursor;
use index::Lookup;
pub(crate) use list::Change;
use list::{List, Lists};
pub(crate) use node::Node;

/// An extension point: its entries, in execution order.
///
/// The list is copy-on-write. A clone of the slot takes constant time and shares the hook
/// objects; a later registration in either slot does not change the other. A dispatch works on
/// the list as it was when the dispatch began.
///
/// A change copies at most 64 entries, and a pointer for each 64 of the others: a registration, with
/// a condition or without, a removal, and a switch of an entry. If [`Entry::before`] or
/// [`Entry::after`] is in use, the same holds unless other entries move. A registration or a removal
/// that moves others, such as that of an entry that others name, computes the order of all entries.
/// The first change by key or by id of a clone with more than 32 entries takes time in proportion to
/// their number, as does the first one after such a computation.
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
        let position = self.state.find(self.lists.entries(), Lookup::Key(key))?;
        let node = self.lists.node(Which::All, position);
        Some((&node.hook, &node.meta))
    }

    /// Registers an entry after those of equal priority, and returns its id.
    ///
    /// If an entry with an equal key exists, the new one replaces it: it keeps the position among
    /// equal priorities, and a different priority moves it.
    ///
    /// # Panics
    /// If [`try_insert`](Self::try_insert) returns an error.
    #[track_caller]
    pub fn insert(&mut self, entry: Entry<Arc<H>>) -> EntryId {
        match self.try_insert(entry) {
            Ok(id) => id,
            Err(refused) => refused.panic(),
        }
    }

    /// Like [`insert`](Self::insert), and returns an entry that is refused. The slot is then
    /// unchanged.
    ///
    /// # Errors
    /// If the entry has a timeout and the slot has no [`Timer`]. If [`Entry::before`] or
    /// [`Entry::after`] names a key that is not registered, and that the replaced entry does not name
    /// either, or if the order would be a cycle. If [`Entry::if_absent`] finds another entry of the key.
    pub fn try_insert(&mut self, entry: Entry<Arc<H>>) -> Result<EntryId, Refused<Entry<Arc<H>>>> {
        let (hook, meta) = entry.into_parts();
        let added = self.add(&hook, meta, false);
        added.map_err(|refused| refused.map(|meta| Entry::from_parts(hook, meta)))
    }

    /// Registers a hook, which is not dropped if it is refused; with `is_alone`, removes all others.
    fn add(
        &mut self,
        hook: &Arc<H>,
        meta: Arc<EntryMeta>,
        is_alone: bool,
    ) -> Result<EntryId, Refused<Arc<EntryMeta>>> {
        let (state, mut lists) = self.change(slice::from_ref(hook));
        state.register(&mut lists, meta, is_alone)
    }

    /// Returns the state of the slot, and a change of its lists by which these hooks may be registered.
    pub(crate) fn change<'l>(&'l mut self, hooks: &'l [Arc<H>]) -> (&'l mut State, Change<'l, H>) {
        (&mut self.state, Change::new(&mut self.lists, hooks))
    }

    /// Registers several entries, which may name each other's keys. An unknown key is not an error
    /// here: the entry with the key may have been removed.
    ///
    /// # Panics
    /// If [`try_insert_all`](Self::try_insert_all) returns an error.
    #[track_caller]
    pub fn insert_all(&mut self, entries: impl IntoIterator<Item = Entry<Arc<H>>>) {
        if let Err(refused) = self.try_insert_all(entries) {
            let (error, entries) = refused.into_parts();
            entries.into_iter().for_each(drop_catching_panic);
            panic!("{error}");
        }
    }

    /// Like [`insert_all`](Self::insert_all), and returns the entries if one of them is refused. The
    /// slot is then unchanged.
    ///
    /// # Errors
    /// As [`try_insert`](Self::try_insert), except for unknown keys.
    pub fn try_insert_all(
        &mut self,
        entries: impl IntoIterator<Item = Entry<Arc<H>>>,
    ) -> Result<(), Refused<Vec<Entry<Arc<H>>>>> {
        let (mut hooks, mut metas) = (Vec::new(), Vec::new());
        let mut error = None;
        for entry in entries {
            if error.is_none() {
                error = self.state.check_timer(entry.meta()).err();
            }
            let (hook, meta) = entry.into_parts();
            hooks.push(hook);
            metas.push(meta);
        }
        match error {
            Some(error) => Err(Refused::new(error, entries_of(hooks, metas))),
            None => self.register_all(hooks, metas),
        }
    }

    /// Enables or disables the entry of this key, and returns `true` if it exists. A disabled entry
    /// keeps its place and is not part of a dispatch.
    #[must_use]
    pub fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        self.enable(Lookup::Key(key), is_enabled)
    }

    /// Enables or disables this entry, and returns `true` if it exists.
    #[must_use]
    pub fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.enable(Lookup::Id(id), is_enabled)
    }

    fn register_all(
        &mut self,
        hooks: Vec<Arc<H>>,
        metas: Vec<Arc<EntryMeta>>,
    ) -> Result<(), Refused<Vec<Entry<Arc<H>>>>> {
        if self.state.relates(&metas) {
            let (state, mut lists) = self.change(&hooks);
            let registered = state.register_all(&mut lists, metas);
            drop(lists);
            return registered.map_err(|refused| refused.map(|metas| entries_of(hooks, metas)));
        }
        for (hook, meta) in hooks.iter().zip(metas) {
            let (state, mut lists) = self.change(slice::from_ref(hook));
            let registered = state.register_checked(&mut lists, meta);
            registered.expect("a checked entry without `before` and `after` is not refused");
        }
        Ok(())
    }

    fn enable(&mut self, wanted: Lookup<'_>, is_enabled: bool) -> bool {
        let (state, mut lists) = self.change(&[]);
        state.enable(&mut lists, wanted, is_enabled)
    }

    fn take(&mut self, wanted: Lookup<'_>) -> bool {
        let (state, mut lists) = self.change(&[]);
        state.remove(&mut lists, wanted)
    }

    /// Registers an entry, and removes all others.
    ///
    /// Returns `true` if there were any.
    ///
    /// # Panics
    /// If [`try_replace_all`](Self::try_replace_all) returns an error.
    #[track_caller]
    pub fn replace_all(&mut self, entry: Entry<Arc<H>>) -> bool {
        match self.try_replace_all(entry) {
            Ok(had_entries) => had_entries,
            Err(refused) => refused.panic(),
        }
    }

    /// Like [`replace_all`](Self::replace_all), and returns an entry that is refused. The slot is
    /// then unchanged.
    ///
    /// # Errors
    /// As [`try_insert`](Self::try_insert).
    pub fn try_replace_all(
        &mut self,
        entry: Entry<Arc<H>>,
    ) -> Result<bool, Refused<Entry<Arc<H>>>> {
        let had_entries = !self.is_empty();
        let (hook, meta) = entry.into_parts();
        match self.add(&hook, meta, true) {
            Ok(_) => Ok(had_entries),
            Err(refused) => Err(refused.map(|meta| Entry::from_parts(hook, meta))),
        }
    }

    /// Removes the entry of this key, and returns `true` if it existed.
    #[must_use]
    pub fn remove(&mut self, key: &str) -> bool {
        self.take(Lookup::Key(key))
    }

    /// Removes this entry, and returns `true` if it existed.
    #[must_use]
    pub fn remove_entry(&mut self, id: EntryId) -> bool {
        self.take(Lookup::Id(id))
    }

    /// Removes all entries of an owner ([`Entry::owner`]). Returns their ids, in execution order.
    pub fn remove_owner(&mut self, owner: &str) -> Vec<EntryId> {
        let ids = self.of_owner(owner);
        if ids.len() > 1 && self.state.relates(&[]) {
            // The order is computed once, and not for each entry.
            let (state, mut lists) = self.change(&[]);
            state.remove_owner(&mut lists, owner);
            return ids;
        }
        for id in &ids {
            self.take(Lookup::Id(*id));
        }
        ids
    }

    /// Enables or disables all entries of an owner ([`Entry::owner`]). Returns their ids, in execution
    /// order.
    pub fn set_owner_enabled(&mut self, owner: &str, is_enabled: bool) -> Vec<EntryId> {
        let ids = self.of_owner(owner);
        for id in &ids {
            self.enable(Lookup::Id(*id), is_enabled);
        }
        ids
    }

    fn of_owner(&self, owner: &str) -> Vec<EntryId> {
        change::of_owner(self.lists.entries(), owner)
    }

    /// Returns an entry, which shares the hook, for [`adopt_all`](Self::adopt_all).
    pub fn entry(&mut self, id: EntryId) -> Option<Entry<Arc<H>>> {
        let entries = self.lists.entries();
        let position = self.state.find_indexed(entries, Lookup::Id(id))?;
        Some(self.lists.node(Which::All, position).entry())
    }

    /// Inserts entries that are registered in another slot, too, under their ids. They replace entries with
    /// equal keys, and may name keys that are not registered. For front ends whose slots share
    /// registrations: a removal or a switch by such an id concerns one of the slots. Timeouts of the entries
    /// need a [timer](Self::with_timer) of this slot, which is not checked.
    ///
    /// Returns the errors of entries that would make the order a cycle. Such an entry is inserted, too, and
    /// the constraints between it and others have no effect in this slot.
    pub fn adopt_all(
        &mut self,
        entries: impl IntoIterator<Item = Entry<Arc<H>>>,
    ) -> Vec<RegistrationError> {
        let entries = entries.into_iter().map(adopted);
        let (hooks, metas) = entries.map(Entry::into_parts).unzip();
        let Err(refused) = self.register_all(hooks, metas) else {
            return Vec::new();
        };
        let (_, entries) = refused.into_parts();
        let errors = entries.into_iter().map(|entry| self.adopt(entry).err());
        errors.flatten().collect()
    }

    fn adopt(&mut self, entry: Entry<Arc<H>>) -> Result<(), RegistrationError> {
        let (hook, meta) = adopted(entry).into_parts();
        let (state, mut lists) = self.change(slice::from_ref(&hook));
        let Err(refused) = state.register_checked(&mut lists, meta) else {
            return Ok(());
        };
        let (error, mut meta) = refused.into_parts();
        Arc::make_mut(&mut meta).adopt();
        state.register_unrelated(&mut lists, meta);
        Err(error)
    }

    /// Returns `true` if the order of the entries of both slots together may have to be computed, or if
    /// this slot may refuse entries of the other one.
    pub(crate) fn relates(&self, other: &Self) -> bool {
        self.state.relates(&[]) || other.state.may_be_refused()
    }

    /// Returns the options of all registrations, in execution order.
    pub(crate) fn metas(&self) -> Vec<&EntryMeta> {
        change::metas(self.lists.entries()).collect()
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
        Cursor::new(self.lists.all())
    }

    /// Returns `true` if an entry is enabled.
    pub(crate) fn has_enabled(&self) -> bool {
        self.lists.running.is_some()
    }

    /// Returns the number of entries that run if all conditions hold.
    pub(crate) fn enabled_len(&self) -> usize {
        self.state.len - self.state.disabled
    }

    /// Returns the entries that run and whose condition holds; `None` if no entry has a condition.
    pub(crate) fn select(&self, mut admits: impl FnMut(&Node<H>) -> bool) -> Option<Vec<&Node<H>>> {
        let Some(List::Conditional(leaves)) = &self.lists.running else {
            return None;
        };
        let mut admitted = |node: &&Node<H>| !node.meta.is_conditional() || admits(node);
        // Leaf by leaf: `event_filter/4` −85 instructions beside a flattened iterator.
        let mut nodes = Vec::with_capacity(self.enabled_len());
        for leaf in leaves.iter() {
            nodes.extend(leaf.iter().filter(&mut admitted));
        }
        Some(nodes)
    }
}

/// Returns the entry of another slot, to be inserted.
fn adopted<H>(entry: Entry<H>) -> Entry<H> {
    let (hook, mut meta) = entry.into_parts();
    Arc::make_mut(&mut meta).adopt();
    Entry::from_parts(hook, meta)
}

/// Returns entries of these hooks and options.
fn entries_of<H: ?Sized>(hooks: Vec<Arc<H>>, metas: Vec<Arc<EntryMeta>>) -> Vec<Entry<Arc<H>>> {
    let parts = hooks.into_iter().zip(metas);
    parts
        .map(|(hook, meta)| Entry::from_parts(hook, meta))
        .collect()
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
