//! The ordered list of registrations behind every extension point.

use std::fmt;
use std::sync::Arc;

use crate::dispatch::{Combine, Dispatch};
use crate::entry::{Entry, EntryMeta};

/// An extension point: the entries registered there, in execution order.
///
/// The list is copy-on-write. A clone of the slot shares the hook objects, and
/// what is registered in one of them later does not show in the other (`T-03`).
/// A dispatch works on the list as it was when the dispatch began.
pub struct Slot<H: ?Sized> {
    /// Nothing until the first registration, so that an empty slot costs no allocation.
    nodes: Option<Arc<[Node<H>]>>,
    next_sequence: u64,
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

    /// Registers an entry behind those of equal priority.
    ///
    /// Where an entry of the same key exists, it is replaced and returned: the new
    /// one keeps its place among equals, and a different priority moves it.
    pub fn insert(&mut self, entry: Entry<Arc<H>>) -> Option<(Arc<H>, EntryMeta)> {
        let (hook, mut meta) = entry.into_parts();
        let replaced = meta.key().and_then(|key| {
            self.nodes()
                .iter()
                .position(|node| node.meta.key() == Some(key))
        });
        meta.set_sequence(match replaced {
            Some(at) => self.nodes()[at].meta.sequence(),
            None => self.next_sequence,
        });
        self.next_sequence += u64::from(replaced.is_none());

        let mut nodes = self.nodes().to_vec();
        let old = replaced.map(|at| nodes.remove(at));
        let rank = meta.rank();
        let at = nodes.partition_point(|node| node.meta.rank() < rank);
        let meta = Arc::new(meta);
        nodes.insert(at, Node { hook, meta });
        self.store(nodes);
        old.map(Node::into_parts)
    }

    /// Registers an entry in the place of everything registered before.
    ///
    /// Returns whether there was anything.
    pub fn replace_all(&mut self, entry: Entry<Arc<H>>) -> bool {
        let occupied = !self.is_empty();
        self.nodes = None;
        self.insert(entry);
        occupied
    }

    /// Removes the entry of this key, and says whether there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        let kept: Vec<_> = self
            .nodes()
            .iter()
            .filter(|node| node.meta.key() != Some(key))
            .cloned()
            .collect();
        let found = kept.len() < self.len();
        if found {
            self.store(kept);
        }
        found
    }

    /// The entries in execution order, ready to be registered elsewhere.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = Entry<Arc<H>>> {
        let nodes = self.nodes().to_vec();
        nodes.into_iter().map(|node| {
            let (hook, meta) = node.into_parts();
            Entry::from_parts(hook, meta)
        })
    }

    /// Runs the hooks by this policy. Nothing runs before the first poll, and
    /// nothing more once the future is dropped.
    #[inline]
    pub fn dispatch<'a, C: Combine<H>>(&'a self, policy: C) -> Dispatch<'a, H, C> {
        Dispatch::new(self.nodes(), policy)
    }

    pub(crate) fn nodes(&self) -> &[Node<H>] {
        self.nodes.as_deref().unwrap_or_default()
    }

    fn store(&mut self, nodes: Vec<Node<H>>) {
        self.nodes = (!nodes.is_empty()).then(|| nodes.into());
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
        }
    }
}

impl<H: ?Sized> fmt::Debug for Slot<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(_, meta)| meta))
            .finish()
    }
}

impl<H: ?Sized> Node<H> {
    fn into_parts(self) -> (Arc<H>, EntryMeta) {
        (self.hook, Arc::unwrap_or_clone(self.meta))
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
