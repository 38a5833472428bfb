//! The persistent list behind a slot: a B+ tree. A change copies one leaf and the branches above
//! it; everything else is shared with the clones of the tree.

use std::ops::Range;
use std::sync::Arc;

/// Maximum number of items of a leaf, and of children of a branch. A slot of at most this many
/// hooks is one slice. A change copies half as many reference counts per level: 128 would double
/// that, 32 would add tree lookups to a dispatch of 64 hooks.
pub(super) const MAX_ITEMS: usize = 64;

/// Priority, then sequence. No two entries of a slot have the same rank.
pub(crate) type Rank = (i32, u64);

/// An item with a rank.
pub(super) trait Ranked {
    fn rank(&self) -> Rank;
}

/// Items by ascending rank; never empty. All children of a branch have the same height.
pub(super) enum Tree<T> {
    Leaf(Arc<[T]>),
    Branch(Arc<[Tree<T>]>),
}

impl<T: Ranked> Tree<T> {
    pub(super) fn new(item: T) -> Self {
        Tree::Leaf(Arc::new([item]))
    }

    /// Returns the items from the one of lowest rank to the end of its leaf.
    pub(super) fn first(&self) -> &[T] {
        let mut tree = self;
        loop {
            match tree {
                Tree::Leaf(items) => return items,
                Tree::Branch(children) => tree = &children[0],
            }
        }
    }

    /// Returns the items after this rank to the end of their leaf: none after the last item.
    pub(super) fn after(&self, rank: Rank) -> &[T] {
        match self {
            Tree::Leaf(items) => {
                let (_, behind) = items.split_at(items.partition_point(|item| item.rank() <= rank));
                behind
            }
            Tree::Branch(children) => {
                let next = children.partition_point(|child| child.rank() <= rank);
                let within = match next.checked_sub(1) {
                    Some(at) => children[at].after(rank),
                    None => &[],
                };
                match children.get(next) {
                    Some(child) if within.is_empty() => child.first(),
                    _ => within,
                }
            }
        }
    }

    /// Returns the item of this rank.
    pub(super) fn get(&self, rank: Rank) -> Option<&T> {
        match self {
            Tree::Leaf(items) => {
                let at = items.binary_search_by_key(&rank, T::rank).ok()?;
                Some(&items[at])
            }
            Tree::Branch(children) => children[child_of(children, rank)].get(rank),
        }
    }

    fn len(&self) -> usize {
        match self {
            Tree::Leaf(items) => items.len(),
            Tree::Branch(children) => children.len(),
        }
    }
}

impl<T: Ranked + Clone> Tree<T> {
    /// Returns the tree with one more item, whose rank no item of the tree has.
    pub(super) fn with(&self, item: T) -> Self {
        match self.insert(item) {
            (tree, None) => tree,
            (left, Some(right)) => Tree::Branch(Arc::new([left, right])),
        }
    }

    /// Returns the tree without the item of this rank, which it has; `None` if it was the last.
    pub(super) fn without(&self, rank: Rank) -> Option<Self> {
        let mut tree = self.remove(rank)?;
        while let Some(child) = tree.only_child() {
            tree = child;
        }
        Some(tree)
    }

    fn only_child(&self) -> Option<Self> {
        match self {
            Tree::Branch(children) if children.len() == 1 => Some(children[0].clone()),
            _ => None,
        }
    }

    fn insert(&self, item: T) -> (Self, Option<Self>) {
        match self {
            Tree::Leaf(items) => {
                let at = items.partition_point(|other| other.rank() < item.rank());
                let (left, right) = split(items, at..at, [Some(item), None]);
                (Tree::Leaf(left), right.map(Tree::Leaf))
            }
            Tree::Branch(children) => {
                let at = child_of(children, item.rank());
                let (left, right) = children[at].insert(item);
                let (left, right) = split(children, at..at + 1, [Some(left), right]);
                (Tree::Branch(left), right.map(Tree::Branch))
            }
        }
    }

    fn remove(&self, rank: Rank) -> Option<Self> {
        match self {
            Tree::Leaf(items) => {
                let at = items.partition_point(|item| item.rank() < rank);
                let left = splice(items, at..at + 1, [None, None]);
                (!left.is_empty()).then(|| Tree::Leaf(left.into()))
            }
            Tree::Branch(children) => {
                let at = child_of(children, rank);
                let child = children[at].remove(rank);
                let left = match (child, at.checked_sub(1)) {
                    (None, _) => splice(children, at..at + 1, [None, None]),
                    (Some(child), Some(before)) => match children[before].join(&child) {
                        Some(joined) => splice(children, before..at + 1, [Some(joined), None]),
                        None => splice(children, at..at + 1, [Some(child), None]),
                    },
                    (Some(child), None) => {
                        match children.get(1).and_then(|next| child.join(next)) {
                            Some(joined) => splice(children, 0..2, [Some(joined), None]),
                            None => splice(children, 0..1, [Some(child), None]),
                        }
                    }
                };
                (!left.is_empty()).then(|| Tree::Branch(left.into()))
            }
        }
    }

    /// Returns both trees as one if together they fill at most half of it.
    fn join(&self, next: &Self) -> Option<Self> {
        if self.len() + next.len() > MAX_ITEMS / 2 {
            return None;
        }
        match (self, next) {
            (Tree::Leaf(a), Tree::Leaf(b)) => Some(Tree::Leaf([&**a, b].concat().into())),
            (Tree::Branch(a), Tree::Branch(b)) => Some(Tree::Branch([&**a, b].concat().into())),
            // Neighbours have the same height.
            _ => None,
        }
    }
}

impl<T: Ranked> Ranked for Tree<T> {
    /// Returns the rank of the first item.
    fn rank(&self) -> Rank {
        self.first()[0].rank()
    }
}

impl<T> Clone for Tree<T> {
    fn clone(&self) -> Self {
        match self {
            Tree::Leaf(items) => Tree::Leaf(Arc::clone(items)),
            Tree::Branch(children) => Tree::Branch(Arc::clone(children)),
        }
    }
}

/// Returns the child that has the item of this rank, or that would have it.
fn child_of<T: Ranked>(children: &[T], rank: Rank) -> usize {
    let after = children.partition_point(|child| child.rank() <= rank);
    after.saturating_sub(1)
}

/// Returns a copy of the items with some of them replaced.
fn splice<U: Clone>(old: &[U], replaced: Range<usize>, new: [Option<U>; 2]) -> Vec<U> {
    let mut items = Vec::with_capacity(old.len() + new.len());
    items.extend_from_slice(&old[..replaced.start]);
    items.extend(new.into_iter().flatten());
    items.extend_from_slice(&old[replaced.end..]);
    items
}

/// Replaces items, and splits a list that has become too long: in half, or next to the new item at
/// either end, so that entries that arrive in order fill their leaves.
fn split<U: Clone>(
    old: &[U],
    replaced: Range<usize>,
    new: [Option<U>; 2],
) -> (Arc<[U]>, Option<Arc<[U]>>) {
    let Range { start, end } = replaced;
    let mut items = splice(old, replaced, new);
    if items.len() <= MAX_ITEMS {
        return (items.into(), None);
    }
    let right = items.split_off(if end == old.len() {
        MAX_ITEMS
    } else if start == 0 {
        1
    } else {
        MAX_ITEMS / 2
    });
    (items.into(), Some(right.into()))
}
