//! The persistent lists of a slot. A change copies one leaf of entries and the list of the leaves;
//! all other leaves are shared with the clones of the list.
//!
//! This code is compiled for each type of hook, which means for each slot, and is kept small: the
//! module `change`, which decides what a list contains, is compiled once.

use std::mem;
use std::slice;
use std::sync::Arc;

use super::change::{Entries, Form, HookAt, NoEntries, Position, Source, Store, Which, position};
use super::node::Node;
use crate::entry::{EntryMeta, Rank};

/// Entries by ascending rank; never empty.
pub(crate) type Leaf<H> = Arc<[Node<H>]>;

/// Entries by ascending rank; never empty.
pub(super) enum List<H: ?Sized> {
    /// One leaf.
    One(Leaf<H>),
    /// Two leaves or more.
    Many(Arc<Vec<Leaf<H>>>),
    /// One leaf or more, of entries of which some have a condition.
    Conditional(Arc<Vec<Leaf<H>>>),
}

impl<H: ?Sized> List<H> {
    pub(super) fn leaves(&self) -> &[Leaf<H>] {
        match self {
            List::One(leaf) => slice::from_ref(leaf),
            List::Many(leaves) | List::Conditional(leaves) => leaves,
        }
    }

    /// Returns the leaf after the one that has the entry of this rank; empty after the last leaf.
    pub(super) fn leaf_after(&self, rank: Rank) -> &[Node<H>] {
        let leaves = self.leaves();
        match leaves.get(position(self, rank).leaf + 1) {
            None => &[],
            Some(leaf) => leaf,
        }
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

    /// Returns a list.
    fn get(&self, list: Which) -> Option<&List<H>> {
        match (list, &self.all) {
            (Which::All, Some(all)) => Some(all),
            _ => self.running.as_ref(),
        }
    }

    /// Returns the list of all entries.
    pub(super) fn all(&self) -> Option<&List<H>> {
        self.get(Which::All)
    }

    /// Returns all entries, without their hooks.
    pub(super) fn entries(&self) -> &dyn Entries {
        entries(self.all())
    }

    /// Returns the entry at a position of a list.
    ///
    /// # Panics
    /// If there is no such entry.
    pub(super) fn node(&self, list: Which, Position { leaf, at }: Position) -> &Node<H> {
        let list = self.get(list).expect("a position belongs to an entry");
        &list.leaves()[leaf][at]
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

impl<H: ?Sized> Entries for List<H> {
    fn leaf_count(&self) -> usize {
        self.leaves().len()
    }

    fn leaf_len(&self, leaf: usize) -> usize {
        self.leaves()[leaf].len()
    }

    fn meta(&self, Position { leaf, at }: Position) -> &Arc<EntryMeta> {
        &self.leaves()[leaf][at].meta
    }
}

fn entries<H: ?Sized>(list: Option<&List<H>>) -> &dyn Entries {
    match list {
        None => &NoEntries,
        Some(list) => list,
    }
}

/// A change of the lists of a slot.
pub(crate) struct Change<'l, H: ?Sized> {
    /// The lists before the change, until they are replaced.
    lists: &'l mut Lists<H>,
    /// The new lists. Dropped last, with hooks that were removed: their destructors may panic.
    new: Lists<H>,
    /// The hooks to be registered.
    hooks: &'l [Arc<H>],
    /// The leaves of the list that has begun, but the last.
    leaves: Vec<Leaf<H>>,
    /// The last leaf. The only one of a list needs no `Vec`.
    last: Option<Leaf<H>>,
}

impl<'l, H: ?Sized> Change<'l, H> {
    pub(super) fn new(lists: &'l mut Lists<H>, hooks: &'l [Arc<H>]) -> Self {
        Change {
            lists,
            new: Lists::new(),
            hooks,
            leaves: Vec::new(),
            last: None,
        }
    }

    fn append(&mut self, leaf: Leaf<H>) {
        if let Some(before) = self.last.replace(leaf) {
            self.leaves.push(before);
        }
    }
}

impl<H: ?Sized> Store for Change<'_, H> {
    fn entries(&self, list: Which) -> &dyn Entries {
        entries(self.lists.get(list))
    }

    fn begin(&mut self, leaves: usize) {
        if leaves > 1 {
            self.leaves.reserve_exact(leaves);
        }
    }

    fn share(&mut self, from: Which, leaf: usize) {
        let list = self.lists.get(from).expect("the list has leaves");
        let leaf = Arc::clone(&list.leaves()[leaf]);
        self.append(leaf);
    }

    fn leaf(&mut self, from: Which, len: usize, next: &mut dyn FnMut() -> Source) {
        let (lists, hooks) = (&*self.lists, self.hooks);
        let node = |_| match next() {
            Source::Old(position) => lists.node(from, position).clone(),
            Source::New(hook, meta) => {
                let hook = match hook {
                    HookAt::Old(position) => &lists.node(Which::All, position).hook,
                    HookAt::New(number) => &hooks[number],
                };
                let hook = Arc::clone(hook);
                Node { hook, meta }
            }
        };
        let leaf = (0..len).map(node).collect();
        self.append(leaf);
    }

    fn finish(&mut self, list: Which, form: Form) {
        let last = self.last.take();
        let new = if let Form::One = form {
            last.map(List::One)
        } else {
            let mut leaves = mem::take(&mut self.leaves);
            if let Some(last) = last {
                leaves.push(last);
            }
            match form {
                Form::Empty => None,
                Form::Conditional => Some(List::Conditional(Arc::new(leaves))),
                _ => Some(List::Many(Arc::new(leaves))),
            }
        };
        match list {
            Which::Running => self.new.running = new,
            Which::All => self.new.all = new,
        }
    }

    fn commit(&mut self) {
        mem::swap(self.lists, &mut self.new);
    }
}
