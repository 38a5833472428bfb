//! Position of a dispatch in the list of a slot.

use super::node::Node;
use super::tree::{Ranked, Tree};

/// The remaining entries, in execution order.
pub(crate) struct Cursor<'a, H: ?Sized> {
    /// The entries of the current leaf: empty only at the end of the list.
    pub(crate) leaf: &'a [Node<H>],
    /// The tree that contains the next leaf, if the list has several.
    tree: Option<&'a Tree<Node<H>>>,
}

impl<'a, H: ?Sized> Cursor<'a, H> {
    #[inline]
    pub(super) fn new(tree: Option<&'a Tree<Node<H>>>) -> Self {
        match tree {
            None => Cursor::of_leaf(&[]),
            Some(Tree::Leaf(leaf)) => Cursor::of_leaf(leaf),
            Some(tree) => Cursor {
                leaf: tree.first(),
                tree: Some(tree),
            },
        }
    }

    /// Returns a cursor over these entries alone.
    #[inline]
    pub(crate) fn of_leaf(leaf: &'a [Node<H>]) -> Self {
        Cursor { leaf, tree: None }
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
        self.leaf = match self.tree {
            Some(tree) if rest.is_empty() => tree.after(node.rank()),
            _ => rest,
        };
        Some(node)
    }
}
