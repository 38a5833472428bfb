//! One registration, as the list of a slot stores it.

use std::sync::Arc;

use crate::entry::{Entry, EntryMeta};

/// A stored registration.
pub(crate) struct Node<H: ?Sized> {
    pub(crate) hook: Arc<H>,
    pub(crate) meta: Arc<EntryMeta>,
}

impl<H: ?Sized> Node<H> {
    fn parts(&self) -> (Arc<H>, EntryMeta) {
        (Arc::clone(&self.hook), EntryMeta::clone(&self.meta))
    }

    /// Returns a copy of the entry, to register it elsewhere.
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
