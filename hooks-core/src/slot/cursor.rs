//! How far a dispatch has come in the list of a slot.

use super::Node;
use super::tree::{Ranked, Tree};

/// The entries that are left, in execution order.
pub(crate) struct Cursor<'a, H: ?Sized> {
    /// Those of the current leaf: empty only at the end of the list.
    leaf: &'a [Node<H>],
    /// Where the next leaf is, if the list has several.
    tree: Option<&'a Tree<Node<H>>>,
}

impl<'a, H: ?Sized> Cursor<'a, H> {
    pub(super) fn new(tree: Option<&'a Tree<Node<H>>>) -> Self {
        match tree {
            None => Cursor::end(),
            Some(Tree::Leaf(items)) => Cursor {
                leaf: items,
                tree: None,
            },
            Some(tree) => Cursor::at_branch(tree),
        }
    }

    #[cold]
    fn at_branch(tree: &'a Tree<Node<H>>) -> Self {
        Cursor {
            leaf: tree.first(),
            tree: Some(tree),
        }
    }

    /// Returns a cursor without entries.
    pub(crate) fn end() -> Self {
        Cursor {
            leaf: &[],
            tree: None,
        }
    }

    /// Returns whether no entries are left: then the entry before the cursor is the final one.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.leaf.is_empty()
    }

    /// Returns the next entry, and a cursor behind it.
    #[inline(always)]
    pub(crate) fn split_first(self) -> Option<(&'a Node<H>, Self)> {
        let (node, leaf) = self.leaf.split_first()?;
        let rest = Cursor { leaf, ..self };
        match self.tree {
            Some(tree) if leaf.is_empty() => Some((node, rest.next_leaf(tree, node))),
            _ => Some((node, rest)),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_leaf(self, tree: &'a Tree<Node<H>>, behind: &Node<H>) -> Self {
        Cursor {
            leaf: tree.after(behind.rank()),
            ..self
        }
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

    fn next(&mut self) -> Option<&'a Node<H>> {
        let (node, rest) = self.split_first()?;
        *self = rest;
        Some(node)
    }
}
