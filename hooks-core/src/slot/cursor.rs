//! Position of a dispatch in the list of a slot.

use super::list::Leaf;
use super::node::Node;

/// The remaining entries, in execution order.
pub(crate) struct Cursor<'a, H: ?Sized> {
    /// The entries of the current leaf: empty only at the end of the list.
    pub(crate) leaf: &'a [Node<H>],
    /// The leaves after the current one.
    leaves: &'a [Leaf<H>],
}

impl<'a, H: ?Sized> Cursor<'a, H> {
    #[inline]
    pub(super) fn new(leaves: &'a [Leaf<H>]) -> Self {
        match leaves.split_first() {
            Some((leaf, leaves)) => Cursor { leaf, leaves },
            None => Cursor::of_leaf(&[]),
        }
    }

    /// Returns a cursor over these entries alone.
    #[inline]
    pub(crate) fn of_leaf(leaf: &'a [Node<H>]) -> Self {
        Cursor { leaf, leaves: &[] }
    }
}

impl<H: ?Sized> Copy for Cursor<'_, H> {}

impl<H: ?Sized> Clone for Cursor<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, H: ?Sized> Iterator for Cursor<'a, H> {
    type Item = &'a Node<H>;

    #[inline]
    fn next(&mut self) -> Option<&'a Node<H>> {
        let (node, rest) = self.leaf.split_first()?;
        self.leaf = rest;
        if rest.is_empty() {
            *self = Cursor::new(self.leaves);
        }
        Some(node)
    }
}
