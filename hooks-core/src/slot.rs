//! The ordered list of registrations behind every extension point.

use std::fmt;
use std::sync::Arc;

use crate::entry::{Entry, EntryId, EntryMeta};
use crate::timer::Timer;

/// An extension point: the entries registered there, in execution order.
///
/// The list is copy-on-write. A clone of the slot shares the hook objects, and
/// what is registered in one of them later does not show in the other (`T-03`).
/// A dispatch works on the list as it was when the dispatch began.
///
/// Slots that `#[hooks]` declares need no more than the trait; this is for front ends of one's
/// own, which dispatch with a [`Policy`](crate::Policy).
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
/// // The key is taken: the new one stands in the place of the old one.
/// slot.insert(Entry::new(Arc::from("last")).key("last"));
/// let order: Vec<_> = slot.iter().map(|(hook, _)| hook).collect();
/// assert_eq!(order, ["first", "second", "last"]);
/// ```
pub struct Slot<H: ?Sized> {
    /// Nothing until the first registration, so that an empty slot costs no allocation.
    nodes: Option<Arc<[Node<H>]>>,
    next_sequence: u64,
    timer: Option<Arc<dyn Timer>>,
}

/// A stored registration.
pub(crate) struct Node<H: ?Sized> {
    pub(crate) hook: Arc<H>,
    pub(crate) meta: Arc<EntryMeta>,
}

impl<H: ?Sized> Slot<H> {
    /// A slot without entries.
    pub const fn new() -> Self {
        Slot {
            nodes: None,
            next_sequence: 0,
            timer: None,
        }
    }

    /// A slot without entries whose hooks can be given a time limit.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        Slot {
            timer: Some(timer),
            ..Slot::new()
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.nodes().len()
    }

    /// Whether nothing is registered.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none()
    }

    /// The hooks and the conditions of their registration, in execution order.
    pub fn iter(&self) -> impl Iterator<Item = (&H, &EntryMeta)> {
        self.nodes().iter().map(|node| (&*node.hook, &*node.meta))
    }

    /// The hook registered under this key, and the conditions of its registration.
    pub fn get(&self, key: &str) -> Option<(&H, &EntryMeta)> {
        self.iter().find(|(_, meta)| meta.key() == Some(key))
    }

    /// Registers an entry behind those of equal priority, and identifies it.
    ///
    /// Where an entry of the same key exists, the new one replaces it: it keeps the place
    /// among equals, and a different priority moves it.
    ///
    /// # Panics
    /// If the entry has a timeout and the slot no [`Timer`].
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
        let place = Place::find(&self.metas(), &mut meta, self.next_sequence);
        self.next_sequence += u64::from(place.replaced.is_none());
        let id = meta.id();
        let meta = Arc::new(meta);
        self.rebuild(place.replaced, Some((place.at, Node { hook, meta })));
        id
    }

    /// Registers an entry in the place of everything registered before.
    ///
    /// Returns whether there was anything.
    ///
    /// # Panics
    /// As [`insert`](Self::insert); what was registered before is still there then.
    #[track_caller]
    pub fn replace_all(&mut self, entry: Entry<Arc<H>>) -> bool {
        let (hook, meta) = self.admitted(entry);
        let occupied = !self.is_empty();
        self.nodes = None;
        self.put(hook, meta);
        occupied
    }

    /// Removes the entry of this key, and says whether there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        let found = position(&self.metas(), Some(key));
        self.remove_at(found)
    }

    /// Removes this entry, and says whether it was there.
    pub fn remove_entry(&mut self, id: EntryId) -> bool {
        let found = self.metas().iter().position(|meta| meta.id() == id);
        self.remove_at(found)
    }

    fn remove_at(&mut self, found: Option<usize>) -> bool {
        if found.is_some() {
            self.rebuild(found, None);
        }
        found.is_some()
    }

    /// The conditions of all registrations, in execution order.
    pub(crate) fn metas(&self) -> Vec<&EntryMeta> {
        let mut metas = Vec::with_capacity(self.len());
        for node in self.nodes() {
            metas.push(&*node.meta);
        }
        metas
    }

    /// Stores the list without one node, and with one before what then is at its place.
    ///
    /// Every change of a list goes through here, because it is compiled for each type of
    /// hook, which means once a slot: iterators would say this shorter, and be compiled
    /// anew as often.
    fn rebuild(&mut self, removed: Option<usize>, mut added: Option<(usize, Node<H>)>) {
        let old = self.nodes();
        let mut nodes = Vec::with_capacity(old.len() + 1);
        for at in 0..=old.len() {
            if let Some((_, node)) = added.take_if(|(place, _)| *place == nodes.len()) {
                nodes.push(node);
            }
            if at < old.len() && removed != Some(at) {
                nodes.push(old[at].clone());
            }
        }
        self.nodes = if nodes.is_empty() {
            None
        } else {
            Some(nodes.into())
        };
    }

    #[inline]
    pub(crate) fn nodes(&self) -> &[Node<H>] {
        self.nodes.as_deref().unwrap_or_default()
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
            next_sequence: self.next_sequence,
            timer: self.timer.clone(),
        }
    }
}

impl<H: ?Sized> fmt::Debug for Slot<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metas().fmt(f)
    }
}

/// Where a registration goes.
struct Place {
    /// The entry of the same key.
    replaced: Option<usize>,
    /// The place in the list, once that entry is out of it.
    at: usize,
}

impl Place {
    /// Finds the place, and gives the registration its id and sequence.
    fn find(metas: &[&EntryMeta], meta: &mut EntryMeta, next_sequence: u64) -> Place {
        let replaced = position(metas, meta.key());
        meta.register(match replaced {
            Some(at) => metas[at].sequence(),
            None => next_sequence,
        });
        let before = |(at, other): &(usize, &&EntryMeta)| {
            replaced != Some(*at) && other.rank() < meta.rank()
        };
        let at = metas.iter().enumerate().filter(before).count();
        Place { replaced, at }
    }
}

/// Where the entry of this key is; entries without one are nobody's.
fn position(metas: &[&EntryMeta], key: Option<&str>) -> Option<usize> {
    let key = key?;
    metas.iter().position(|meta| meta.key() == Some(key))
}

impl<H: ?Sized> Node<H> {
    fn parts(&self) -> (Arc<H>, EntryMeta) {
        (Arc::clone(&self.hook), EntryMeta::clone(&self.meta))
    }

    /// The entry, ready to be registered elsewhere.
    pub(crate) fn entry(&self) -> Entry<Arc<H>> {
        let (hook, meta) = self.parts();
        Entry::from_parts(hook, meta)
    }
}

impl<H: ?Sized> Clone for Node<H> {
    fn clone(&self) -> Self {
        Node {
            hook: Arc::clone(&self.hook),
            meta: Arc::clone(&self.meta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registration_has_an_id_of_its_own() {
        let entry = Entry::new(Arc::new(1)).key("one");
        let mut slot = Slot::new();
        slot.insert(entry.clone());
        let first = slot.metas()[0].id();
        slot.insert(entry);
        assert_eq!(slot.len(), 1, "the key replaces");
        assert_ne!(slot.metas()[0].id(), first);
    }
}
