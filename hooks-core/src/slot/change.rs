//! Changes of a slot: which entry they mean, and what the new lists contain. Compiled once, not for
//! each type of hook, which means for each slot.

use std::ops::Range;
use std::sync::Arc;

use super::index::{Index, Lookup, MAX_SCANNED, Rank};
use super::order;
use crate::entry::{EntryId, EntryMeta};
use crate::timer::Timer;

/// Maximum number of entries of a leaf. A slot of at most this many hooks is one slice. A change
/// copies half as many reference counts: 128 would double that, 32 would double the list of leaves.
const MAX_ENTRIES: usize = 64;

/// Position of an entry: its leaf, and its place in the leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub(super) leaf: usize,
    pub(super) at: usize,
}

/// The entries of a list, without their hooks.
pub(super) trait Entries {
    fn leaf_count(&self) -> usize;
    fn leaf_len(&self, leaf: usize) -> usize;
    fn meta(&self, position: Position) -> &Arc<EntryMeta>;
}

/// The lists that a change makes, leaf by leaf.
pub(super) trait Build {
    /// Shares leaves of the old list.
    fn keep(&mut self, leaves: Range<usize>);
    /// Ends the last leaf, and begins one of this many entries. An empty leaf is left out.
    fn begin_leaf(&mut self, len: usize);
    /// Appends entries of an old leaf.
    fn copy(&mut self, leaf: usize, entries: Range<usize>);
    /// Appends one entry with these options.
    fn push(&mut self, hook: HookAt, meta: Arc<EntryMeta>);
    /// Ends the list of all entries. The list of the enabled entries follows.
    fn end_arranged(&mut self, has_conditions: bool);
}

/// Where the hook of a new entry is.
#[derive(Debug, Clone, Copy)]
pub(super) enum HookAt {
    Old(Position),
    /// Number of a hook that is to be registered.
    New(usize),
}

/// A change of a slot.
#[derive(Debug)]
pub(super) enum Change<'c> {
    /// Registers one hook, with the sequence of the entry that it replaces and that has been
    /// removed.
    Insert(Arc<EntryMeta>, Option<u64>),
    /// Registers hooks, and computes the order of all entries.
    Arrange(Vec<EntryMeta>),
    Enable(Lookup<'c>, bool),
    Remove(Lookup<'c>),
}

/// Outcome of a change.
#[derive(Debug)]
pub(super) enum Changed<'c> {
    /// The change is complete. It concerns this entry, if there is one.
    Entry(Option<EntryId>),
    /// The new lists are to be changed once more.
    Next(Change<'c>),
}

/// What a slot has beside its lists.
pub(super) struct State {
    pub(super) len: usize,
    next_sequence: u64,
    timer: Option<Arc<dyn Timer>>,
    /// Built by the first change of a large slot that looks up an entry; clones do not copy it.
    index: Option<Box<Index>>,
}

impl State {
    pub(super) const fn new(timer: Option<Arc<dyn Timer>>) -> Self {
        State {
            len: 0,
            next_sequence: 0,
            timer,
            index: None,
        }
    }

    /// Checks that the slot supports the options of an entry.
    #[track_caller]
    pub(super) fn admit(&self, meta: &mut EntryMeta) {
        meta.admit(self.timer.as_ref());
    }

    /// Forgets all entries, and returns `true` if there were any.
    pub(super) fn clear(&mut self) -> bool {
        self.index = None;
        std::mem::take(&mut self.len) > 0
    }

    /// Assigns an id and a position to a new entry: the position of the one that it replaces, or the
    /// next one.
    pub(super) fn register(&mut self, meta: &mut EntryMeta, replaced: Option<u64>) -> EntryId {
        self.len += 1;
        match replaced {
            Some(sequence) => meta.register(sequence),
            None => {
                self.next_sequence += 1;
                meta.register(self.next_sequence - 1)
            }
        }
    }

    /// Adds a registered entry to the index, if there is one.
    pub(super) fn add_to_index(&mut self, meta: &Arc<EntryMeta>) {
        if let Some(index) = &mut self.index {
            index.insert(meta);
        }
    }

    fn forget(&mut self, meta: &EntryMeta) {
        self.len -= 1;
        if let Some(index) = &mut self.index {
            index.remove(meta);
        }
    }

    pub(super) fn find(&self, entries: &dyn Entries, wanted: Lookup<'_>) -> Option<Position> {
        match &self.index {
            Some(index) => Some(position(entries, index.get(wanted)?)),
            None => positions(entries).find(|&at| wanted.finds(entries.meta(at))),
        }
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        State {
            timer: self.timer.clone(),
            index: None,
            ..*self
        }
    }
}

/// One change of a slot.
pub(super) struct Changer<'s> {
    pub(super) state: &'s mut State,
    /// All entries.
    pub(super) entries: &'s dyn Entries,
    /// Whether the slot has relative order, disabled entries or conditions.
    pub(super) is_arranged: bool,
    pub(super) new: &'s mut dyn Build,
}

/// An entry of a slot that computes the order of all.
struct Arranged {
    hook: HookAt,
    meta: Arc<EntryMeta>,
}

impl Changer<'_> {
    /// Builds the new lists; builds nothing if the change concerns no entry.
    ///
    /// # Panics
    /// As [`Slot::insert`](super::Slot::insert); nothing has changed then.
    #[track_caller]
    pub(super) fn apply<'c>(mut self, change: Change<'c>) -> Changed<'c> {
        Changed::Entry(match change {
            Change::Insert(meta, _) if self.is_arranged || meta.needs_arrangement() => {
                Some(self.insert_arranged(meta))
            }
            Change::Insert(meta, replaced) => return self.insert(meta, replaced),
            Change::Arrange(metas) => {
                self.insert_all(metas);
                None
            }
            Change::Enable(wanted, is_enabled) => self.enable(wanted, is_enabled),
            Change::Remove(wanted) => self.remove(wanted),
        })
    }

    /// Registers an entry. One that replaces an entry of another priority first removes it.
    fn insert<'c>(&mut self, mut meta: Arc<EntryMeta>, replaced: Option<u64>) -> Changed<'c> {
        let key = meta.key().map(Lookup::Key);
        let position = key.and_then(|key| self.find_indexed(key));
        let mut sequence = replaced;
        if let Some(position) = position {
            let old = self.entries.meta(position);
            sequence = Some(old.sequence());
            if old.priority() != meta.priority() {
                self.take(position);
                return Changed::Next(Change::Insert(meta, sequence));
            }
            self.state.forget(old);
        }
        let id = self.state.register(Arc::make_mut(&mut meta), sequence);
        self.state.add_to_index(&meta);
        match position {
            Some(position) => self.replace(position, meta),
            None => self.add(meta),
        }
        Changed::Entry(Some(id))
    }

    /// Builds the list with an entry in the place of another.
    fn replace(&mut self, Position { leaf, at }: Position, meta: Arc<EntryMeta>) {
        let len = self.entries.leaf_len(leaf);
        self.new.keep(0..leaf);
        self.new.begin_leaf(len);
        self.new.copy(leaf, 0..at);
        self.new.push(HookAt::New(0), meta);
        self.new.copy(leaf, at + 1..len);
        self.new.keep(leaf + 1..self.entries.leaf_count());
    }

    /// Builds the list with one more entry, whose rank no entry of the list has.
    fn add(&mut self, meta: Arc<EntryMeta>) {
        let leaves = self.entries.leaf_count();
        if leaves == 0 {
            self.new.begin_leaf(1);
            self.new.push(HookAt::New(0), meta);
            return;
        }
        let Position { leaf, at } = position(self.entries, meta.rank());
        let len = self.entries.leaf_len(leaf);
        // Number of entries of the leaf that is then split in two.
        let left = match len {
            MAX_ENTRIES => split(at),
            _ => len + 1,
        };
        self.new.keep(0..leaf);
        self.new.begin_leaf(left);
        if left > len {
            self.new.copy(leaf, 0..at);
            self.new.push(HookAt::New(0), meta);
            if at < len {
                self.new.copy(leaf, at..len);
            }
        } else if at < left {
            self.new.copy(leaf, 0..at);
            self.new.push(HookAt::New(0), meta);
            self.new.copy(leaf, at..left - 1);
            self.new.begin_leaf(len + 1 - left);
            self.new.copy(leaf, left - 1..len);
        } else {
            self.new.copy(leaf, 0..left);
            self.new.begin_leaf(len + 1 - left);
            self.new.copy(leaf, left..at);
            self.new.push(HookAt::New(0), meta);
            self.new.copy(leaf, at..len);
        }
        self.new.keep(leaf + 1..leaves);
    }

    /// Removes an entry, and returns its id.
    fn remove(&mut self, wanted: Lookup<'_>) -> Option<EntryId> {
        let position = self.find_indexed(wanted)?;
        let removed = self.entries.meta(position);
        if self.is_arranged {
            let mut all = self.all();
            all.retain(|entry| !Arc::ptr_eq(&entry.meta, removed));
            self.arrange(all);
        } else {
            self.take(position);
        }
        Some(removed.id())
    }

    /// Builds the list without an entry, and forgets it.
    fn take(&mut self, Position { leaf, at }: Position) {
        self.state.forget(self.entries.meta(Position { leaf, at }));
        let (entries, leaves) = (self.entries, self.entries.leaf_count());
        let left = entries.leaf_len(leaf) - 1;
        let fits = |next: usize| next < leaves && left + entries.leaf_len(next) <= MAX_ENTRIES / 2;
        let joined = if leaf > 0 && fits(leaf - 1) {
            leaf - 1..leaf + 1
        } else if fits(leaf + 1) {
            leaf..leaf + 2
        } else {
            leaf..leaf + 1
        };
        self.new.keep(0..joined.start);
        let len: usize = joined.clone().map(|leaf| entries.leaf_len(leaf)).sum();
        self.new.begin_leaf(len - 1);
        for number in joined.clone() {
            let len = entries.leaf_len(number);
            if number == leaf {
                self.new.copy(number, 0..at);
                self.new.copy(number, at + 1..len);
            } else {
                self.new.copy(number, 0..len);
            }
        }
        self.new.keep(joined.end..leaves);
    }

    /// Finds an entry, and builds the index of a large slot, which the next change needs, too.
    fn find_indexed(&mut self, wanted: Lookup<'_>) -> Option<Position> {
        if self.state.index.is_none() && self.state.len > MAX_SCANNED && !self.is_arranged {
            let mut index = Box::<Index>::default();
            positions(self.entries).for_each(|at| index.insert(self.entries.meta(at)));
            self.state.index = Some(index);
        }
        self.state.find(self.entries, wanted)
    }

    /// Enables or disables an entry, and returns its id.
    fn enable(&mut self, wanted: Lookup<'_>, is_enabled: bool) -> Option<EntryId> {
        let position = self.state.find(self.entries, wanted)?;
        let changed = self.entries.meta(position);
        if changed.is_enabled() != is_enabled {
            let mut all = self.all();
            for entry in &mut all {
                if Arc::ptr_eq(&entry.meta, changed) {
                    Arc::make_mut(&mut entry.meta).enable(is_enabled);
                }
            }
            self.arrange(all);
        }
        Some(changed.id())
    }

    /// Registers an entry, and computes the order. The keys that it names have to be registered.
    #[track_caller]
    fn insert_arranged(&mut self, meta: Arc<EntryMeta>) -> EntryId {
        let (mut all, mut next_sequence) = (self.all(), self.state.next_sequence);
        let at = add(&mut all, &mut next_sequence, HookAt::New(0), meta);
        let meta = Arc::clone(&all[at].meta);
        order::check_keys(&meta, &metas_of(&all));
        self.arrange(all);
        self.state.next_sequence = next_sequence;
        meta.id()
    }

    /// Registers entries, and computes the order.
    #[track_caller]
    fn insert_all(&mut self, metas: Vec<EntryMeta>) {
        let (mut all, mut next_sequence) = (self.all(), self.state.next_sequence);
        for (number, meta) in metas.into_iter().enumerate() {
            let hook = HookAt::New(number);
            add(&mut all, &mut next_sequence, hook, Arc::new(meta));
        }
        self.arrange(all);
        self.state.next_sequence = next_sequence;
    }

    fn all(&self) -> Vec<Arranged> {
        let entry = |position| Arranged {
            hook: HookAt::Old(position),
            meta: Arc::clone(self.entries.meta(position)),
        };
        positions(self.entries).map(entry).collect()
    }

    /// Builds the lists of these entries, in the order that their options define.
    ///
    /// # Panics
    /// If the order would be a cycle.
    #[track_caller]
    fn arrange(&mut self, mut all: Vec<Arranged>) {
        let (order, is_arranged) = order::execution_order(&metas_of(&all));
        for (place, &at) in order.iter().enumerate() {
            order::set_rank(&mut all[at].meta, is_arranged.then_some(place));
        }
        self.state.len = all.len();
        self.state.index = None;
        let mut leaf_len = MAX_ENTRIES;
        if is_arranged {
            self.new.begin_leaf(all.len());
            for &at in &order {
                self.new.push(all[at].hook, Arc::clone(&all[at].meta));
            }
            let running = |entry: &Arranged| entry.meta.is_enabled();
            let is_conditional = |entry: &Arranged| running(entry) && entry.meta.is_conditional();
            let has_conditions = all.iter().any(is_conditional);
            if has_conditions {
                leaf_len = all.len();
            }
            self.new.end_arranged(has_conditions);
        }
        let running: Vec<_> = order
            .iter()
            .map(|&at| &all[at])
            .filter(|entry| entry.meta.is_enabled())
            .collect();
        self.new.begin_leaf(0);
        for leaf in running.chunks(leaf_len) {
            self.new.begin_leaf(leaf.len());
            for entry in leaf {
                self.new.push(entry.hook, Arc::clone(&entry.meta));
            }
        }
    }
}

/// Adds an entry to those to be arranged, in the place of the entry with an equal key. Returns its
/// index.
fn add(
    all: &mut Vec<Arranged>,
    next_sequence: &mut u64,
    hook: HookAt,
    mut meta: Arc<EntryMeta>,
) -> usize {
    let replaced = meta.key().and_then(|key| {
        let has_key = |entry: &Arranged| entry.meta.key() == Some(key);
        all.iter().position(has_key)
    });
    let sequence = replaced.map(|at| all[at].meta.sequence());
    Arc::make_mut(&mut meta).register(sequence.unwrap_or(*next_sequence));
    let entry = Arranged { hook, meta };
    match replaced {
        Some(at) => {
            all[at] = entry;
            at
        }
        None => {
            *next_sequence += 1;
            all.push(entry);
            all.len() - 1
        }
    }
}

fn metas_of(all: &[Arranged]) -> Vec<&EntryMeta> {
    all.iter().map(|entry| &*entry.meta).collect()
}

/// Iterates over the positions of all entries.
fn positions(entries: &dyn Entries) -> impl Iterator<Item = Position> {
    let leaves = 0..entries.leaf_count();
    leaves.flat_map(|leaf| (0..entries.leaf_len(leaf)).map(move |at| Position { leaf, at }))
}

/// Returns the position of the entry of this rank, or the one that it would have: the leaf, and the
/// number of its entries of lower rank. There has to be an entry.
pub(super) fn position(entries: &dyn Entries, rank: Rank) -> Position {
    let rank_of = |leaf, at| entries.meta(Position { leaf, at }).rank();
    // Most entries are registered in order.
    let last = entries.leaf_count() - 1;
    let len = entries.leaf_len(last);
    if rank_of(last, len - 1) < rank {
        return Position {
            leaf: last,
            at: len,
        };
    }
    let behind = count(last + 1, |leaf| rank_of(leaf, 0) <= rank);
    let leaf = behind.saturating_sub(1);
    let at = count(entries.leaf_len(leaf), |at| rank_of(leaf, at) < rank);
    Position { leaf, at }
}

/// Returns the length of the left half of a full leaf that gets one more entry at `at`. An entry at
/// either end is split off, so that entries that arrive in order fill their leaves.
fn split(at: usize) -> usize {
    match at {
        0 => 1,
        MAX_ENTRIES => MAX_ENTRIES,
        _ => MAX_ENTRIES / 2,
    }
}

/// Returns the number of items at the beginning of `0..len` for which `is_before` is `true`.
fn count(len: usize, is_before: impl Fn(usize) -> bool) -> usize {
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
