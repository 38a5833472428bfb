//! Position of a dispatch in the list of a slot.

use super::list::List;
use super::node::Node;

/// The remaining entries, in execution order.
pub(crate) struct Cursor<'a, H: ?Sized> {
    /// The entries of the current leaf: empty only at the end of the list.
    pub(crate) leaf: &'a [Node<H>],
    /// The list, if it has several leaves. The next one is looked up: the rest of the leaves would be
    /// one word more to keep in registers, `event_modify/1` +1 % instructions.
    list: Option<&'a List<H>>,
}

impl<'a, H: ?Sized> Cursor<'a, H> {
    /// Returns a cursor over the entries that run.
    #[inline]
    pub(super) fn new(list: Option<&'a List<H>>) -> Self {
        match list {
            None => Cursor::of_leaf(&[]),
            Some(List::One(leaf)) => Cursor::of_leaf(leaf),
            Some(list) => Cursor {
                leaf: &list.leaves()[0],
                list: Some(list),
            },
        }
    }

    /// Returns a cursor over these entries alone.
    #[inline]
    pub(crate) fn of_leaf(leaf: &'a [Node<H>]) -> Self {
        Cursor { leaf, list: None }
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
        self.leaf = match self.list {
            Some(list) if rest.is_empty() => list.leaf_after(node.meta.rank()),
            _ => rest,
        };
        Some(node)
    }
}
