//! One registration, as the list of a slot stores it.

use std::sync::Arc;

use crate::entry::{Entry, EntryMeta};

/// A stored registration.
pub(crate) struct Node<H: ?Sized> {
    pub(crate) hook: Arc<H>,
    pub(crate) meta: Arc<EntryMeta>,
}

impl<H: ?Sized> Node<H> {
    /// Returns a copy of the entry, to register it elsewhere.
    pub(crate) fn entry(&self) -> Entry<Arc<H>> {
        Entry::from_parts(Arc::clone(&self.hook), Arc::clone(&self.meta))
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
