//! The persistent lists of a slot. A change copies one leaf of entries and the list of the leaves;
//! all other leaves are shared with the clones of the list.
//!
//! This code is compiled for each type of hook, which means for each slot, and is kept small: the
//! module `change`, which decides what a list contains, is compiled once.

use std::mem;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use super::change::{self, Arranged, Build, Edit, Edited, Entries, HookAt, Position, position};
use super::node::Node;
use crate::entry::{EntryMeta, Rank};

/// Entries by ascending rank; never empty.
pub(crate) type Leaf<H> = Arc<[Node<H>]>;

/// Entries by ascending rank; never empty.
pub(super) enum List<H: ?Sized> {
    /// One leaf.
    One(Leaf<H>),
    /// Two leaves or more.
    Many(Arc<[Leaf<H>]>),
    /// One leaf or more, of entries of which some have a condition.
    Conditional(Arc<[Leaf<H>]>),
}

impl<H: ?Sized> List<H> {
    pub(super) fn new(node: Node<H>) -> Self {
        List::One(Arc::new([node]))
    }

    pub(super) fn leaves(&self) -> &[Leaf<H>] {
        match self {
            List::One(leaf) => slice::from_ref(leaf),
            List::Many(leaves) | List::Conditional(leaves) => leaves,
        }
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
            List::Conditional(leaves) => List::Conditional(Arc::clone(leaves)),
        }
    }
}

/// The lists of a slot.
pub(super) struct Lists<H: ?Sized> {
    /// The entries that run. `None` if there are none, so that an empty slot costs no allocation.
    pub(super) running: Option<List<H>>,
    /// All entries, if some are disabled. Otherwise `None`, and all entries run.
    pub(super) all: Option<List<H>>,
}

impl<H: ?Sized> Lists<H> {
    pub(super) const fn new() -> Self {
        Lists {
            running: None,
            all: None,
        }
    }

    /// Returns the list of all entries.
    pub(super) fn all(&self) -> Option<&List<H>> {
        self.all.as_ref().or(self.running.as_ref())
    }

    /// Returns the leaves of all entries.
    pub(super) fn leaves(&self) -> &[Leaf<H>] {
        self.all().map_or(&[], List::leaves)
    }

    /// Returns the lists after an edit. `has_disabled` and `has_conditions` describe the entries
    /// after the edit: some are disabled; some that run have a condition.
    pub(super) fn edited(
        &self,
        hooks: &[Arc<H>],
        edit: Edit,
        has_disabled: bool,
        has_conditions: bool,
    ) -> Self {
        if !has_disabled && self.all.is_none() {
            return Lists {
                running: edited(self.running.as_ref(), hooks, edit, has_conditions),
                all: None,
            };
        }
        // Before the first entry is disabled, all entries run.
        let all = has_disabled.then(|| edited(self.all(), hooks, edit.clone(), false));
        let running = self.running.as_ref();
        Lists {
            running: edited(running, hooks, edit.of_enabled(), has_conditions),
            all: all.flatten(),
        }
    }

    /// Returns the lists of these entries.
    pub(super) fn filled(
        &self,
        hooks: &[Arc<H>],
        entries: &[Arranged],
        has_disabled: bool,
        has_conditions: bool,
    ) -> Self {
        let filled = |has_disabled, has_conditions| {
            let mut new = Builder::new(self.leaves(), hooks);
            change::fill(&mut new, entries, has_disabled);
            new.finish(has_conditions)
        };
        Lists {
            running: filled(false, has_conditions),
            all: has_disabled.then(|| filled(true, false)).flatten(),
        }
    }
}

/// Returns the list after an edit.
fn edited<H: ?Sized>(
    list: Option<&List<H>>,
    hooks: &[Arc<H>],
    edit: Edit,
    has_conditions: bool,
) -> Option<List<H>> {
    let leaves = list.map_or(&[][..], List::leaves);
    let mut new = Builder::new(leaves, hooks);
    match change::edit(&leaves, &mut new, edit) {
        Edited::Unchanged => list.cloned(),
        Edited::Complete => new.finish(has_conditions),
        Edited::Next(rest) => {
            let shorter = new.finish(has_conditions);
            edited(shorter.as_ref(), hooks, rest, has_conditions)
        }
    }
}

impl<H: ?Sized> Clone for Lists<H> {
    fn clone(&self) -> Self {
        Lists {
            running: self.running.clone(),
            all: self.all.clone(),
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

/// The list that an edit makes.
struct Builder<'l, H: ?Sized> {
    old: &'l [Leaf<H>],
    /// The hooks to be registered.
    hooks: &'l [Arc<H>],
    leaves: Vec<Leaf<H>>,
    /// The entries of the last leaf.
    nodes: Vec<Node<H>>,
}

impl<'l, H: ?Sized> Builder<'l, H> {
    fn new(old: &'l [Leaf<H>], hooks: &'l [Arc<H>]) -> Self {
        Builder {
            old,
            hooks,
            leaves: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Returns the new list; `None` if it is empty.
    fn finish(mut self, has_conditions: bool) -> Option<List<H>> {
        if self.leaves.is_empty() && !self.nodes.is_empty() && !has_conditions {
            return Some(List::One(self.nodes.into()));
        }
        self.end_leaf();
        match self.leaves.len() {
            0 => None,
            _ if has_conditions => Some(List::Conditional(self.leaves.into())),
            1 => self.leaves.pop().map(List::One),
            _ => Some(List::Many(self.leaves.into())),
        }
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
}
