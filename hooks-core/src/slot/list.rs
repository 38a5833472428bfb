//! The persistent list behind a slot. A change copies one leaf of entries and the list of the
//! leaves; all other leaves are shared with the clones of the list.
//!
//! Searches are compiled once. Code that is compiled for each type of hook, which means for each
//! slot, is kept small: `cargo build --release` of 36 slots with hooks takes 6.5 s of processor
//! time, and 12 s with a tree of several levels.

use std::ops::Range;
use std::slice;
use std::sync::Arc;

use super::node::Node;

/// Maximum number of entries of a leaf. A slot of at most this many hooks is one slice. A change
/// copies half as many reference counts: 128 would double that, 32 would double the list of leaves.
const MAX_ENTRIES: usize = 64;

/// Priority, then sequence. No two entries of a slot have the same rank.
pub(crate) type Rank = (i32, u64);

/// Entries by ascending rank; never empty.
pub(crate) type Leaf<H> = Arc<[Node<H>]>;

/// Entries by ascending rank; never empty.
pub(super) enum List<H: ?Sized> {
    /// At most [`MAX_ENTRIES`] entries.
    One(Leaf<H>),
    /// Two leaves or more.
    Many(Arc<[Leaf<H>]>),
    /// The entries of a slot in which some have a condition. Each change builds this list anew.
    Conditional(Leaf<H>),
}

impl<H: ?Sized> List<H> {
    pub(super) fn new(node: Node<H>) -> Self {
        List::One(Arc::new([node]))
    }

    pub(super) fn leaves(&self) -> &[Leaf<H>] {
        match self {
            List::One(leaf) => slice::from_ref(leaf),
            List::Many(leaves) => leaves,
            List::Conditional(leaf) => slice::from_ref(leaf),
        }
    }

    /// Returns a list of these entries, whose ranks ascend; `None` if there are none.
    pub(super) fn of_nodes(nodes: Vec<Node<H>>) -> Option<Self> {
        if nodes.iter().any(|node| node.meta.is_conditional()) {
            return Some(List::Conditional(nodes.into()));
        }
        let leaves: Vec<_> = nodes.chunks(MAX_ENTRIES).map(Leaf::from).collect();
        (!leaves.is_empty()).then(|| List::of(leaves))
    }

    pub(super) fn len(&self) -> usize {
        self.leaves().iter().map(|leaf| leaf.len()).sum()
    }

    /// Returns the entry of this rank.
    pub(super) fn get(&self, rank: Rank) -> Option<&Node<H>> {
        let (leaf, at) = self.position(rank);
        let node = self.leaves()[leaf].get(at)?;
        (node.meta.rank() == rank).then_some(node)
    }

    /// Returns the leaf after the one that has the entry of this rank; empty after the last leaf.
    pub(super) fn leaf_after(&self, rank: Rank) -> &[Node<H>] {
        let (leaf, _) = self.position(rank);
        self.leaves().get(leaf + 1).map_or(&[], |leaf| leaf)
    }

    /// Returns the list with one more entry, whose rank no entry of the list has.
    pub(super) fn with(&self, node: Node<H>) -> Self {
        let (leaf, at) = self.position(node.meta.rank());
        let old = &self.leaves()[leaf];
        let mut left = Vec::with_capacity(old.len() + 1);
        copy(&mut left, &old[..at]);
        left.push(node);
        copy(&mut left, &old[at..]);
        let right = (left.len() > MAX_ENTRIES).then(|| left.split_off(split(at, old.len())));
        List::of(self.replaced(leaf..leaf + 1, [left, right.unwrap_or_default()]))
    }

    /// Returns the list without the entry of this rank, which it has; `None` if it was the last.
    pub(super) fn without(&self, rank: Rank) -> Option<Self> {
        let (leaf, at) = self.position(rank);
        let leaves = self.leaves();
        let old = &leaves[leaf];
        let fits = |next: usize| {
            let next = leaves.get(next);
            next.is_some_and(|next| old.len() - 1 + next.len() <= MAX_ENTRIES / 2)
        };
        let joined = if leaf > 0 && fits(leaf - 1) {
            leaf - 1..leaf + 1
        } else if fits(leaf + 1) {
            leaf..leaf + 2
        } else {
            leaf..leaf + 1
        };
        let mut left = Vec::with_capacity(MAX_ENTRIES);
        for number in joined.clone() {
            if number == leaf {
                copy(&mut left, &old[..at]);
                copy(&mut left, &old[at + 1..]);
            } else {
                copy(&mut left, &leaves[number]);
            }
        }
        let leaves = self.replaced(joined, [left, Vec::new()]);
        (!leaves.is_empty()).then(|| List::of(leaves))
    }

    /// Returns the leaves with some of them replaced; empty ones are left out.
    fn replaced(&self, replaced: Range<usize>, new: [Vec<Node<H>>; 2]) -> Vec<Leaf<H>> {
        let old = self.leaves();
        let mut leaves = Vec::with_capacity(old.len() + 1);
        copy(&mut leaves, &old[..replaced.start]);
        for leaf in new {
            if !leaf.is_empty() {
                leaves.push(leaf.into());
            }
        }
        copy(&mut leaves, &old[replaced.end..]);
        leaves
    }

    fn of(mut leaves: Vec<Leaf<H>>) -> Self {
        match leaves.len() {
            1 => List::One(leaves.swap_remove(0)),
            _ => List::Many(leaves.into()),
        }
    }

    /// Returns the leaf that has the entry of this rank, or that would have it, and the number of
    /// its entries of lower rank.
    fn position(&self, rank: Rank) -> (usize, usize) {
        let leaves = self.leaves();
        let behind = count(leaves.len(), &|at| leaves[at][0].meta.rank() <= rank);
        let leaf = behind.saturating_sub(1);
        let at = count(leaves[leaf].len(), &|at| {
            leaves[leaf][at].meta.rank() < rank
        });
        (leaf, at)
    }
}

impl<H: ?Sized> Clone for List<H> {
    fn clone(&self) -> Self {
        match self {
            List::One(leaf) => List::One(Arc::clone(leaf)),
            List::Many(leaves) => List::Many(Arc::clone(leaves)),
            List::Conditional(leaf) => List::Conditional(Arc::clone(leaf)),
        }
    }
}

/// Appends a copy of the items. A plain loop: an iterator is more code for each type of hook.
fn copy<U: Clone>(to: &mut Vec<U>, items: &[U]) {
    for item in items {
        to.push(item.clone());
    }
}

/// Returns the length of the left half of a leaf of `old` entries that has become too long by an
/// entry at `at`. An entry at either end is split off, so that entries that arrive in order fill
/// their leaves.
fn split(at: usize, old: usize) -> usize {
    match at {
        0 => 1,
        _ if at == old => MAX_ENTRIES,
        _ => MAX_ENTRIES / 2,
    }
}

/// Returns the number of items at the beginning of `0..len` for which `is_before` is `true`.
fn count(len: usize, is_before: &dyn Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
