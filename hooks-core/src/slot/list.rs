//! The persistent lists of a slot. A change copies one leaf of entries and the list of the leaves;
//! all other leaves are shared with the clones of the list.
//!
//! This code is compiled for each type of hook, which means for each slot, and is kept small: the
//! module `change`, which decides what a list contains, is compiled once.

use std::mem;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use super::change::{Build, Entries, HookAt, Position, position};
use super::index::Rank;
use super::node::Node;
use crate::entry::EntryMeta;

/// Entries by ascending rank; never empty.
pub(crate) type Leaf<H> = Arc<[Node<H>]>;

/// Entries by ascending rank; never empty.
pub(super) enum List<H: ?Sized> {
    /// One leaf.
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
            List::One(leaf) | List::Conditional(leaf) => slice::from_ref(leaf),
            List::Many(leaves) => leaves,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.leaves().iter().map(|leaf| leaf.len()).sum()
    }

    /// Returns the leaf after the one that has the entry of this rank; empty after the last leaf.
    pub(super) fn leaf_after(&self, rank: Rank) -> &[Node<H>] {
        let leaves = self.leaves();
        let next = position(&leaves, rank).leaf + 1;
        leaves.get(next).map_or(&[], |leaf| leaf)
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

/// The lists of a slot.
pub(super) struct Lists<H: ?Sized> {
    /// The entries that run. `None` if there are none, so that an empty slot costs no allocation.
    pub(super) running: Option<List<H>>,
    /// All entries in execution order, if the slot has relative order, disabled entries or
    /// conditions. Each change builds this list anew. Otherwise `None`, and all entries run.
    pub(super) arranged: Option<Leaf<H>>,
}

impl<H: ?Sized> Lists<H> {
    pub(super) const fn new() -> Self {
        Lists {
            running: None,
            arranged: None,
        }
    }

    /// Returns the leaves of all entries.
    pub(super) fn leaves(&self) -> &[Leaf<H>] {
        match (&self.arranged, &self.running) {
            (Some(all), _) => slice::from_ref(all),
            (None, Some(running)) => running.leaves(),
            (None, None) => &[],
        }
    }
}

impl<H: ?Sized> Clone for Lists<H> {
    fn clone(&self) -> Self {
        Lists {
            running: self.running.clone(),
            arranged: self.arranged.clone(),
        }
    }
}

impl<H: ?Sized> Entries for &[Leaf<H>] {
    fn leaf_count(&self) -> usize {
        self.len()
    }

    fn leaf_len(&self, leaf: usize) -> usize {
        self[leaf].len()
    }

    fn meta(&self, Position { leaf, at }: Position) -> &Arc<EntryMeta> {
        &self[leaf][at].meta
    }
}

/// The lists that a change makes.
pub(super) struct Builder<'l, H: ?Sized> {
    old: &'l [Leaf<H>],
    /// The hooks to be registered.
    hooks: &'l [Arc<H>],
    is_changed: bool,
    arranged: Option<Leaf<H>>,
    has_conditions: bool,
    leaves: Vec<Leaf<H>>,
    /// The entries of the last leaf.
    nodes: Vec<Node<H>>,
}

impl<'l, H: ?Sized> Builder<'l, H> {
    pub(super) fn new(old: &'l [Leaf<H>], hooks: &'l [Arc<H>]) -> Self {
        Builder {
            old,
            hooks,
            is_changed: false,
            arranged: None,
            has_conditions: false,
            leaves: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Returns the new lists; `None` if nothing has changed.
    pub(super) fn finish(mut self) -> Option<Lists<H>> {
        if !self.is_changed {
            return None;
        }
        let running = if self.has_conditions {
            Some(List::Conditional(self.nodes.into()))
        } else if self.leaves.is_empty() && !self.nodes.is_empty() {
            Some(List::One(self.nodes.into()))
        } else {
            self.end_leaf();
            match self.leaves.len() {
                0 => None,
                1 => self.leaves.pop().map(List::One),
                _ => Some(List::Many(self.leaves.into())),
            }
        };
        Some(Lists {
            running,
            arranged: self.arranged,
        })
    }

    fn end_leaf(&mut self) {
        if !self.nodes.is_empty() {
            let nodes = mem::take(&mut self.nodes);
            self.leaves.push(nodes.into());
        }
    }
}

impl<H: ?Sized> Build for Builder<'_, H> {
    fn keep(&mut self, leaves: Range<usize>) {
        if leaves.is_empty() {
            return;
        }
        if self.leaves.is_empty() {
            self.leaves.reserve_exact(self.old.len() + 1);
        }
        self.end_leaf();
        for leaf in &self.old[leaves] {
            self.leaves.push(Arc::clone(leaf));
        }
    }

    fn begin_leaf(&mut self, len: usize) {
        self.is_changed = true;
        self.end_leaf();
        self.nodes = Vec::with_capacity(len);
    }

    fn copy(&mut self, leaf: usize, entries: Range<usize>) {
        for node in &self.old[leaf][entries] {
            self.nodes.push(node.clone());
        }
    }

    fn push(&mut self, hook: HookAt, meta: Arc<EntryMeta>) {
        let hook = match hook {
            HookAt::Old(Position { leaf, at }) => &self.old[leaf][at].hook,
            HookAt::New(number) => &self.hooks[number],
        };
        let hook = Arc::clone(hook);
        self.nodes.push(Node { hook, meta });
    }

    fn end_arranged(&mut self, has_conditions: bool) {
        self.arranged = Some(mem::take(&mut self.nodes).into());
        self.has_conditions = has_conditions;
    }
}
