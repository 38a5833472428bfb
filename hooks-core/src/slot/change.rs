//! Changes of a slot: which entry they concern, and what the new lists contain. Compiled once, not
//! for each type of hook, which means for each slot.
//!
//! Most changes concern one entry, and edit the lists at its rank: see [`Edit`]. If other entries
//! move, because they name the entry with `before` or `after` or are named by it, the order of all
//! entries is computed: see [`Arranged`].

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::index::{ConstraintCounts, Index, Lookup, MAX_SCANNED};
use super::order;
use crate::cold_option::ColdOption;
use crate::entry::{
    EntryId, EntryMeta, MAX_MOVED, Rank, Side, moved_place, moved_rank, natural_rank,
};
use crate::refusal::{Refused, RegistrationError};
use crate::timer::Timer;

/// Maximum number of entries of a leaf. A slot of at most this many hooks is one slice. A change
/// copies half as many reference counts: 128 would double that, 32 would double the list of leaves.
const MAX_ENTRIES: usize = 64;

/// Position of an entry: its leaf, and its place in the leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(super) leaf: usize,
    pub(super) at: usize,
}

/// The entries of a list, without their hooks.
pub(crate) trait Entries {
    fn leaf_count(&self) -> usize;
    fn leaf_len(&self, leaf: usize) -> usize;
    fn meta(&self, position: Position) -> &Arc<EntryMeta>;
}

/// The entries of an empty list.
pub(super) struct NoEntries;

impl Entries for NoEntries {
    fn leaf_count(&self) -> usize {
        0
    }

    fn leaf_len(&self, _: usize) -> usize {
        0
    }

    fn meta(&self, _: Position) -> &Arc<EntryMeta> {
        unreachable!("an empty list has no position")
    }
}

/// A change of the lists of a slot, of hooks of any type. An implementation is compiled for each slot,
/// and is kept small.
pub(crate) trait Store {
    /// Returns the entries of a list before the change.
    fn entries(&self, list: Which) -> &dyn Entries;
    /// Begins a new list of this many leaves.
    fn begin(&mut self, leaves: usize);
    /// Appends a leaf of a list before the change.
    fn share(&mut self, from: Which, leaf: usize);
    /// Appends a leaf of this many entries, some of them from a list before the change.
    fn leaf(&mut self, from: Which, len: usize, next: &mut dyn FnMut() -> Source);
    /// Ends a new list.
    fn finish(&mut self, list: Which, form: Form);
    /// Puts the new lists in the place of the old ones, which are dropped with the change.
    fn commit(&mut self);
}

/// One of the two lists of a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    /// The entries that run.
    Running,
    /// All entries.
    All,
}

/// Where an entry of a new leaf comes from.
pub(crate) enum Source {
    /// The other list.
    Old(Position),
    /// A hook, with these options.
    New(HookAt, Arc<EntryMeta>),
}

/// The form of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Empty,
    /// One leaf.
    One,
    Many,
    Conditional,
}

/// The leaves of a list, made from those of another.
#[derive(Debug, Default)]
struct Recipe {
    /// The first pieces, which need no allocation.
    first: [Option<Piece>; TYPICAL_PIECES],
    more: Vec<Option<Piece>>,
    pieces: usize,
    /// Number of the pieces that were taken out.
    taken: usize,
    leaves: usize,
}

/// A piece of a recipe.
#[derive(Debug)]
enum Piece {
    /// Shares leaves of the other list.
    Keep(Range<usize>),
    /// Begins a leaf of this many entries.
    Leaf(usize),
    /// Appends entries of a leaf of the other list.
    Copy(usize, Range<usize>),
    /// Appends one entry.
    Push(Arranged),
}

/// Leaves, a leaf with one more entry (its beginning, the entries before the new one, the new one, those
/// after it), and leaves.
const TYPICAL_PIECES: usize = 6;

impl Recipe {
    fn add(&mut self, piece: Piece) {
        match self.first.get_mut(self.pieces) {
            Some(place) => *place = Some(piece),
            None => self.more.push(Some(piece)),
        }
        self.pieces += 1;
    }

    /// Takes the next piece out.
    fn next(&mut self) -> Option<Piece> {
        let at = self.taken;
        self.taken += 1;
        match self.first.get_mut(at) {
            Some(place) => place.take(),
            None => self.more.get_mut(at - TYPICAL_PIECES)?.take(),
        }
    }

    /// Shares leaves of the old list.
    fn keep(&mut self, leaves: Range<usize>) {
        if !leaves.is_empty() {
            self.leaves += leaves.len();
            self.add(Piece::Keep(leaves));
        }
    }

    /// Begins a leaf of this many entries, which are appended next. An empty leaf is left out.
    fn begin_leaf(&mut self, len: usize) {
        if len > 0 {
            self.leaves += 1;
            self.add(Piece::Leaf(len));
        }
    }

    /// Appends entries of an old leaf.
    fn copy(&mut self, leaf: usize, entries: Range<usize>) {
        if !entries.is_empty() {
            self.add(Piece::Copy(leaf, entries));
        }
    }

    /// Appends entries of old leaves.
    fn copy_each(&mut self, entries: &[Position]) {
        for &Position { leaf, at } in entries {
            self.copy(leaf, at..at + 1);
        }
    }

    /// Appends one entry.
    fn push(&mut self, entry: Arranged) {
        self.add(Piece::Push(entry));
    }

    fn form(&self, has_conditions: bool) -> Form {
        match self.leaves {
            0 => Form::Empty,
            _ if has_conditions => Form::Conditional,
            1 => Form::One,
            _ => Form::Many,
        }
    }
}

/// Where the hook of a new entry is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HookAt {
    /// Position in the list of all entries before the change.
    Old(Position),
    /// Number of a hook that is to be registered.
    New(usize),
}

/// An edit of the lists: one entry leaves, and one comes.
#[derive(Debug, Clone, Default)]
pub(super) struct Edit {
    pub(super) removed: Option<Arc<EntryMeta>>,
    pub(super) added: Option<Arranged>,
}

impl Edit {
    /// Returns the edit of the list of the enabled entries.
    pub(super) fn of_enabled(self) -> Self {
        Edit {
            removed: self.removed.filter(|meta| meta.is_enabled()),
            added: self.added.filter(|entry| entry.meta.is_enabled()),
        }
    }
}

/// A new entry, or one whose options or whose place change.
#[derive(Debug, Clone)]
pub(super) struct Arranged {
    hook: HookAt,
    meta: Arc<EntryMeta>,
}

/// A change of the lists.
#[derive(Debug)]
pub(super) enum Plan {
    Edit(Edit),
    /// These entries, in execution order.
    Fill(Vec<Arranged>),
}

/// What a slot has beside its lists.
pub(crate) struct State {
    pub(crate) len: usize,
    /// Number of disabled entries.
    pub(super) disabled: usize,
    /// Number of enabled entries with a condition.
    pub(super) conditional: usize,
    /// Number of entries with `before` or `after`.
    constrained: usize,
    /// Number of entries that replace no other.
    unreplacing: usize,
    next_sequence: u64,
    timer: Option<Arc<dyn Timer>>,
    /// Built by the first change of a large slot that looks up an entry; clones do not copy it.
    index: ColdOption<Box<Index>>,
}

impl State {
    pub(super) const fn new(timer: Option<Arc<dyn Timer>>) -> Self {
        State {
            len: 0,
            disabled: 0,
            conditional: 0,
            constrained: 0,
            unreplacing: 0,
            next_sequence: 0,
            timer,
            index: ColdOption::none(),
        }
    }

    /// Checks that the slot supports the options of an entry.
    pub(super) fn check_timer(&self, meta: &EntryMeta) -> Result<(), RegistrationError> {
        meta.check_timer(self.timer.as_ref())
    }

    /// Forgets all entries.
    pub(super) fn clear(&mut self) {
        self.index.set(None);
        self.len = 0;
        self.disabled = 0;
        self.conditional = 0;
        self.constrained = 0;
        self.unreplacing = 0;
    }

    /// Registers a hook, and returns its id; with `is_alone`, removes all others.
    ///
    /// # Errors
    /// As [`Slot::try_insert`](super::Slot::try_insert); nothing has changed then.
    pub(crate) fn register(
        &mut self,
        lists: &mut dyn Store,
        meta: Arc<EntryMeta>,
        is_alone: bool,
    ) -> Result<EntryId, Refused<Arc<EntryMeta>>> {
        let entries = lists.entries(Which::All);
        let checked = match is_alone {
            true => self.check_alone(entries, &meta),
            false => self.check_timer(&meta),
        };
        let (id, plan) = match checked {
            Err(error) => return Err(Refused::new(error, meta)),
            Ok(()) if is_alone => self.plan_alone(meta),
            Ok(()) => self.plan_insert(entries, meta)?,
        };
        self.carry_out(lists, plan);
        Ok(id)
    }

    /// Registers a hook whose options are checked.
    ///
    /// # Errors
    /// If the order would be a cycle; nothing has changed then.
    pub(super) fn register_checked(
        &mut self,
        lists: &mut dyn Store,
        meta: Arc<EntryMeta>,
    ) -> Result<(), Refused<Arc<EntryMeta>>> {
        let (_, plan) = self.plan_insert(lists.entries(Which::All), meta)?;
        self.carry_out(lists, plan);
        Ok(())
    }

    /// Registers an entry whose order would be a cycle: without the constraints between the entry and
    /// others.
    pub(super) fn register_unrelated(&mut self, lists: &mut dyn Store, meta: Arc<EntryMeta>) {
        let plan = self.plan_unrelated(lists.entries(Which::All), meta);
        self.carry_out(lists, plan);
    }

    /// Registers several hooks. They may name keys that are not registered.
    ///
    /// # Errors
    /// If the order would be a cycle; nothing has changed then.
    pub(super) fn register_all(
        &mut self,
        lists: &mut dyn Store,
        metas: Vec<Arc<EntryMeta>>,
    ) -> Result<(), Refused<Vec<Arc<EntryMeta>>>> {
        let plan = self.plan_insert_all(lists.entries(Which::All), metas)?;
        self.carry_out(lists, plan);
        Ok(())
    }

    /// Removes an entry. Returns `false` if there is none.
    pub(super) fn remove(&mut self, lists: &mut dyn Store, wanted: Lookup<'_>) -> bool {
        let plan = self.plan_remove(lists.entries(Which::All), wanted);
        let is_found = plan.is_some();
        if let Some(plan) = plan {
            self.carry_out(lists, plan);
        }
        is_found
    }

    /// Removes the entries of an owner, and computes the order of the others.
    pub(super) fn remove_owner(&mut self, lists: &mut dyn Store, owner: &str) {
        let mut all = all(lists.entries(Which::All));
        all.retain(|entry| entry.meta.owner() != Some(owner));
        let plan = self.arrange(all);
        let plan = plan.expect("the other entries had an order");
        self.carry_out(lists, plan);
    }

    /// Enables or disables an entry. Returns `false` if there is none.
    pub(super) fn enable(
        &mut self,
        lists: &mut dyn Store,
        wanted: Lookup<'_>,
        is_enabled: bool,
    ) -> bool {
        let edit = self.plan_enable(lists.entries(Which::All), wanted, is_enabled);
        let is_found = edit.is_some();
        if let Some(Some(edit)) = edit {
            self.carry_out(lists, Plan::Edit(edit));
        }
        is_found
    }

    /// Makes the lists after a change, which the state has already.
    fn carry_out(&self, lists: &mut dyn Store, plan: Plan) {
        let (has_disabled, has_conditions) = (self.disabled > 0, self.conditional > 0);
        match plan {
            Plan::Edit(edit) => {
                if has_disabled {
                    edit_list(lists, Which::All, edit.clone(), false);
                }
                edit_list(lists, Which::Running, edit.of_enabled(), has_conditions);
            }
            Plan::Fill(entries) => {
                if has_disabled {
                    let mut recipe = fill(&entries, true);
                    build(lists, Which::All, Which::All, &mut recipe, false);
                }
                let mut recipe = fill(&entries, false);
                build(
                    lists,
                    Which::Running,
                    Which::All,
                    &mut recipe,
                    has_conditions,
                );
            }
        }
        lists.commit();
    }

    /// Returns an error if the slot refuses an entry that is to replace all others.
    fn check_alone(
        &self,
        entries: &dyn Entries,
        meta: &EntryMeta,
    ) -> Result<(), RegistrationError> {
        self.check_timer(meta)?;
        order::check_keys(meta, None, &mut |_| false)?;
        meta.check_absent(metas(entries).next())
    }

    fn plan_alone(&mut self, mut meta: Arc<EntryMeta>) -> (EntryId, Plan) {
        self.clear();
        let sequence = self.take_sequence();
        let id = Arc::make_mut(&mut meta).register(self.timer.as_ref(), sequence);
        self.remember(&meta);
        let hook = HookAt::New(0);
        (id, Plan::Fill(vec![Arranged { hook, meta }]))
    }

    fn take_sequence(&mut self) -> u64 {
        self.next_sequence += 1;
        self.next_sequence - 1
    }

    fn remember(&mut self, meta: &Arc<EntryMeta>) {
        self.count(meta, true);
        if let Some(index) = self.index.as_mut() {
            index.insert(meta);
        }
    }

    fn forget(&mut self, meta: &EntryMeta) {
        self.count(meta, false);
        if let Some(index) = self.index.as_mut() {
            index.remove(meta);
        }
    }

    fn count(&mut self, meta: &EntryMeta, is_new: bool) {
        let change = |count: &mut usize, holds: bool| match is_new {
            true => *count += usize::from(holds),
            false => *count -= usize::from(holds),
        };
        change(&mut self.len, true);
        change(&mut self.disabled, !meta.is_enabled());
        change(
            &mut self.conditional,
            meta.is_enabled() && meta.is_conditional(),
        );
        change(&mut self.constrained, meta.is_constrained());
        change(&mut self.unreplacing, meta.is_if_absent());
    }

    pub(super) fn find(&self, entries: &dyn Entries, wanted: Lookup<'_>) -> Option<Position> {
        match self.index.as_ref() {
            Some(index) => Some(position(entries, index.get(wanted)?)),
            None => positions(entries).find(|&at| wanted.finds(entries.meta(at))),
        }
    }

    /// Finds an entry, and builds the index of a large slot, which the next change needs, too.
    pub(super) fn find_indexed(
        &mut self,
        entries: &dyn Entries,
        wanted: Lookup<'_>,
    ) -> Option<Position> {
        if self.len > MAX_SCANNED && self.index.as_ref().is_none() {
            let mut index = Box::<Index>::default();
            positions(entries).for_each(|at| index.insert(entries.meta(at)));
            self.index.set(Some(index));
        }
        self.find(entries, wanted)
    }

    /// Plans the registration of one hook, and returns its id.
    ///
    /// # Errors
    /// As [`Slot::try_insert`](super::Slot::try_insert); nothing has changed then.
    fn plan_insert(
        &mut self,
        entries: &dyn Entries,
        mut meta: Arc<EntryMeta>,
    ) -> Result<(EntryId, Plan), Refused<Arc<EntryMeta>>> {
        let key = meta.key().map(Lookup::Key);
        let old = key.and_then(|key| self.find_indexed(entries, key));
        let old = old.map(|old| Arc::clone(entries.meta(old)));
        if let Err(error) = meta.check_absent(old.as_deref()) {
            return Err(Refused::new(error, meta));
        }
        let mut rank = None;
        if self.constrained > 0 || meta.is_constrained() {
            rank = match self.related_rank(entries, &meta, old.as_deref()) {
                Ok(rank) => rank,
                Err(error) => return Err(Refused::new(error, meta)),
            };
            if rank.is_none() {
                return self.plan_arranged(entries, meta);
            }
        }
        let sequence = match &old {
            Some(old) => {
                self.forget(old);
                old.sequence()
            }
            None => self.take_sequence(),
        };
        let new = Arc::make_mut(&mut meta);
        let id = new.register(self.timer.as_ref(), sequence);
        if let Some(rank) = rank {
            new.set_rank(rank);
        }
        self.remember(&meta);
        let hook = HookAt::New(0);
        let edit = Edit {
            removed: old,
            added: Some(Arranged { hook, meta }),
        };
        Ok((id, Plan::Edit(edit)))
    }

    /// Plans a registration that computes the order of all entries.
    fn plan_arranged(
        &mut self,
        entries: &dyn Entries,
        meta: Arc<EntryMeta>,
    ) -> Result<(EntryId, Plan), Refused<Arc<EntryMeta>>> {
        let mut next_sequence = self.next_sequence;
        let mut all = all(entries);
        let has_key = |entry: &Arranged| meta.key().is_some() && entry.meta.key() == meta.key();
        let replaced = all.iter().position(has_key);
        let at = self.add(&mut all, &mut next_sequence, HookAt::New(0), meta, replaced);
        let meta = Arc::clone(&all[at].meta);
        match self.arrange(all) {
            Ok(plan) => {
                self.next_sequence = next_sequence;
                Ok((meta.id(), plan))
            }
            Err(error) => Err(Refused::new(error, meta)),
        }
    }

    /// Plans the registration of an entry whose order would be a cycle: without the constraints between
    /// the entry and others.
    fn plan_unrelated(&mut self, entries: &dyn Entries, mut meta: Arc<EntryMeta>) -> Plan {
        Arc::make_mut(&mut meta).retain_constraints(|_| false);
        let mut all = all(entries);
        let replaced = meta.key().and_then(|key| {
            for entry in &mut all {
                if entry
                    .meta
                    .constraints()
                    .iter()
                    .any(|other| other.key() == key)
                {
                    Arc::make_mut(&mut entry.meta).retain_constraints(|other| other.key() != key);
                }
            }
            all.iter().position(|entry| entry.meta.key() == Some(key))
        });
        let mut next_sequence = self.next_sequence;
        self.add(&mut all, &mut next_sequence, HookAt::New(0), meta, replaced);
        self.next_sequence = next_sequence;
        let plan = self.arrange(all);
        plan.expect("the other entries had an order, and none names the entry")
    }

    /// Plans the registration of several hooks. They may name keys that are not registered.
    ///
    /// # Errors
    /// If the order would be a cycle; nothing has changed then.
    fn plan_insert_all(
        &mut self,
        entries: &dyn Entries,
        metas: Vec<Arc<EntryMeta>>,
    ) -> Result<Plan, Refused<Vec<Arc<EntryMeta>>>> {
        let mut next_sequence = self.next_sequence;
        let mut all = all(entries);
        let key = |entry: &Arranged| entry.meta.key().map(str::to_owned);
        let numbered = all.iter().enumerate();
        let mut by_key: HashMap<_, _> = numbered
            .filter_map(|(at, entry)| Some((key(entry)?, at)))
            .collect();
        for (number, meta) in metas.iter().enumerate() {
            let (hook, meta) = (HookAt::New(number), Arc::clone(meta));
            let replaced = meta.key().and_then(|key| by_key.get(key).copied());
            if let Err(error) = meta.check_absent(replaced.map(|at| &*all[at].meta)) {
                return Err(Refused::new(error, metas));
            }
            let at = self.add(&mut all, &mut next_sequence, hook, meta, replaced);
            by_key.extend(key(&all[at]).map(|key| (key, at)));
        }
        match self.arrange(all) {
            Ok(plan) => {
                self.next_sequence = next_sequence;
                Ok(plan)
            }
            Err(error) => Err(Refused::new(error, metas)),
        }
    }

    /// Adds an entry to those to be arranged, in the place of the one that it replaces. Returns its
    /// index.
    fn add(
        &self,
        all: &mut Vec<Arranged>,
        next_sequence: &mut u64,
        hook: HookAt,
        mut meta: Arc<EntryMeta>,
        replaced: Option<usize>,
    ) -> usize {
        let sequence = replaced.map(|at| all[at].meta.sequence());
        Arc::make_mut(&mut meta).register(self.timer.as_ref(), sequence.unwrap_or(*next_sequence));
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

    /// Returns `true` if another slot may refuse the entries of this one.
    pub(super) fn may_be_refused(&self) -> bool {
        self.constrained > 0 || self.unreplacing > 0
    }

    /// Returns `true` if a registration of these entries may compute the order of all, or be refused.
    pub(super) fn relates(&self, metas: &[Arc<EntryMeta>]) -> bool {
        let is_related = |meta: &Arc<EntryMeta>| meta.is_constrained() || meta.is_if_absent();
        self.constrained > 0 || metas.iter().any(is_related)
    }

    /// Plans the removal of an entry, if it exists.
    fn plan_remove(&mut self, entries: &dyn Entries, wanted: Lookup<'_>) -> Option<Plan> {
        let position = self.find_indexed(entries, wanted)?;
        let removed = Arc::clone(entries.meta(position));
        if self.constrained > 0 && self.moves_others(entries, &removed) {
            let mut all = all(entries);
            all.retain(|entry| !Arc::ptr_eq(&entry.meta, &removed));
            let plan = self.arrange(all);
            return Some(plan.expect("the other entries had an order"));
        }
        self.forget(&removed);
        let edit = Edit {
            removed: Some(removed),
            added: None,
        };
        Some(Plan::Edit(edit))
    }

    /// Plans that an entry is enabled or disabled, if it exists. Returns the edit; `None` within if the
    /// entry is so already.
    fn plan_enable(
        &mut self,
        entries: &dyn Entries,
        wanted: Lookup<'_>,
        is_enabled: bool,
    ) -> Option<Option<Edit>> {
        let position = self.find_indexed(entries, wanted)?;
        let removed = Arc::clone(entries.meta(position));
        if removed.is_enabled() == is_enabled {
            return Some(None);
        }
        let mut meta = Arc::clone(&removed);
        Arc::make_mut(&mut meta).enable(is_enabled);
        self.forget(&removed);
        self.remember(&meta);
        let hook = HookAt::Old(position);
        Some(Some(Edit {
            removed: Some(removed),
            added: Some(Arranged { hook, meta }),
        }))
    }

    /// Returns the rank of a new entry in a slot with constraints, if no other entry moves.
    ///
    /// # Errors
    /// If the entry names an unknown key.
    fn related_rank(
        &mut self,
        entries: &dyn Entries,
        meta: &EntryMeta,
        old: Option<&EntryMeta>,
    ) -> Result<Option<Rank>, RegistrationError> {
        order::check_keys(meta, old, &mut |key| {
            self.find_indexed(entries, Lookup::Key(key)).is_some()
        })?;
        let sequence = old.map_or(self.next_sequence, EntryMeta::sequence);
        let natural = natural_rank(meta.priority(), sequence);
        let is_named = meta
            .key()
            .is_some_and(|key| !self.named(entries, key).is_none());
        Ok(match old {
            Some(old) if old.is_arranged_like(meta) => Some(old.rank()),
            Some(old) if is_named || old.is_constrained() || meta.is_constrained() => None,
            Some(_) => Some(natural),
            None if is_named => None,
            None => self.free_rank(entries, meta, natural),
        })
    }

    /// Returns the rank of a new entry that no entry names, if no other entry moves.
    ///
    /// The entry stays in its natural place if the constraints allow it. Otherwise it moves directly
    /// before the first entry that it names with `before`, or directly after the last entry that it
    /// names with `after`. The result is that of [`order::execution_order`], which is computed if
    /// this function returns `None`.
    fn free_rank(&self, entries: &dyn Entries, meta: &EntryMeta, natural: Rank) -> Option<Rank> {
        let (mut first, mut last): (Option<&EntryMeta>, Option<&EntryMeta>) = (None, None);
        for constraint in meta.constraints() {
            // Without an entry of the key, the constraint has no effect.
            let Some(named) = self.find(entries, Lookup::Key(constraint.key())) else {
                continue;
            };
            let named = entries.meta(named);
            match constraint.side {
                Side::Before if first.is_none_or(|first| named.rank() < first.rank()) => {
                    first = Some(named);
                }
                Side::After if last.is_none_or(|last| last.rank() < named.rank()) => {
                    last = Some(named);
                }
                _ => {}
            }
        }
        if let (Some(first), Some(last)) = (first, last) {
            if first.rank() <= last.rank() {
                return None;
            }
        }
        match (first, last) {
            (Some(first), _) if first.rank() < natural => {
                self.rank_directly_before(entries, first, natural)
            }
            (_, Some(last)) if natural < last.rank() => {
                let rank = rank_directly_after(entries, last, natural)?;
                first
                    .is_none_or(|first| rank < first.rank())
                    .then_some(rank)
            }
            _ => Some(natural),
        }
    }

    /// Returns the rank of a new entry directly before another, if no entry moves.
    fn rank_directly_before(
        &self,
        entries: &dyn Entries,
        next: &EntryMeta,
        natural: Rank,
    ) -> Option<Rank> {
        /// Distance of the first entry before another, for entries that follow it.
        const DISTANCE: u64 = 16;
        let key = next.key()?;
        let previous = entry_before(entries, next.rank());
        // Entries that run before `next` moved with it in the order of their priorities.
        let is_last_moved = |previous: &EntryMeta| {
            previous.natural_rank() < natural
                && (previous.named(Side::Before).any(|named| named == key)
                    || previous
                        .key()
                        .is_some_and(|key| next.named(Side::After).any(|named| named == key)))
        };
        let place = moved_place(next.rank());
        let is_beside = |previous: &&EntryMeta| moved_rank(previous.rank(), place) == next.rank();
        let beside = previous.filter(is_beside);
        let is_first =
            beside.is_none() && next.rank() == next.natural_rank() || self.is_free(entries, next);
        if !is_first && !previous.is_some_and(is_last_moved) {
            return None;
        }
        let place = match beside {
            Some(previous) => moved_place(previous.rank()) + 1,
            None => place - DISTANCE.min(place / 2),
        };
        let rank = moved_rank(next.rank(), place);
        (place > 0 && rank < next.rank()).then_some(rank)
    }

    /// Returns `true` if no constraint makes an entry run before this entry.
    fn is_free(&self, entries: &dyn Entries, entry: &EntryMeta) -> bool {
        let named = entry.key().map(|key| self.named(entries, key));
        named.is_none_or(|named| named.before == 0) && entry.named(Side::After).next().is_none()
    }

    /// Returns `true` if the removal of an entry may move other entries: entries that name it, and
    /// entries that run earlier because it runs before another entry and after them.
    fn moves_others(&self, entries: &dyn Entries, removed: &EntryMeta) -> bool {
        if let Some(key) = removed.key() {
            if !self.named(entries, key).is_none() {
                return true;
            }
        }
        let is_moved = |key| {
            self.find(entries, Lookup::Key(key)).is_some_and(|named| {
                let named = entries.meta(named);
                named.rank() != named.natural_rank()
            })
        };
        removed.named(Side::Before).next().is_some() && removed.named(Side::After).any(is_moved)
    }

    /// Returns the number of the constraints that name a key.
    fn named(&self, entries: &dyn Entries, key: &str) -> ConstraintCounts {
        match self.index.as_ref() {
            Some(index) => index.named(key),
            None => {
                let mut named = ConstraintCounts::default();
                positions(entries).for_each(|at| named.add(entries.meta(at), key));
                named
            }
        }
    }

    /// Plans lists of these entries, in the order that their options define.
    ///
    /// # Errors
    /// If the order would be a cycle; nothing has changed then.
    fn arrange(&mut self, mut all: Vec<Arranged>) -> Result<Plan, RegistrationError> {
        let metas: Vec<_> = all.iter().map(|entry| &*entry.meta).collect();
        let ranked = order::execution_order(&metas)?;
        self.clear();
        for &(at, rank) in &ranked {
            let meta = &mut all[at].meta;
            order::set_rank(meta, rank);
            self.count(meta, true);
        }
        all.sort_unstable_by_key(|entry| entry.meta.rank());
        Ok(Plan::Fill(all))
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        State {
            timer: self.timer.clone(),
            index: ColdOption::none(),
            ..*self
        }
    }
}

/// Returns the rank of a new entry that waits for another and runs directly after it, if no entry
/// moves.
fn rank_directly_after(entries: &dyn Entries, previous: &EntryMeta, natural: Rank) -> Option<Rank> {
    let end = moved_rank(previous.rank(), MAX_MOVED);
    // The last of the entries that are moved to the same entry.
    let last = entry_before(entries, end)?;
    if last.id() != previous.id() {
        // The entries after `previous` wait for it in the order of their priorities.
        let key = previous.key()?;
        let waits = last.named(Side::After).any(|named| named == key)
            && last.named(Side::After).count() == 1
            && last.named(Side::Before).next().is_none();
        let is_in_order = last.natural_rank() < natural;
        let is_moved = previous.rank() != previous.natural_rank();
        if is_moved || !waits || !is_in_order {
            return None;
        }
    }
    let rank = moved_rank(previous.rank(), moved_place(last.rank()) + 1);
    (rank < end).then_some(rank)
}

/// Edits one list.
fn edit_list(lists: &mut dyn Store, list: Which, edit: Edit, has_conditions: bool) {
    let mut recipe = Recipe::default();
    prepare(lists.entries(list), edit, &mut recipe);
    build(lists, list, list, &mut recipe, has_conditions);
}

/// Makes a new list from one before the change.
fn build(
    lists: &mut dyn Store,
    list: Which,
    from: Which,
    recipe: &mut Recipe,
    has_conditions: bool,
) {
    let form = recipe.form(has_conditions);
    lists.begin(recipe.leaves);
    while let Some(piece) = recipe.next() {
        match piece {
            Piece::Keep(kept) => kept.for_each(|leaf| lists.share(from, leaf)),
            Piece::Leaf(len) => {
                let (mut leaf, mut copies) = (0, 0..0);
                lists.leaf(from, len, &mut || {
                    loop {
                        if let Some(at) = copies.next() {
                            return Source::Old(Position { leaf, at });
                        }
                        match recipe.next() {
                            Some(Piece::Copy(other, entries)) => (leaf, copies) = (other, entries),
                            Some(Piece::Push(new)) => return Source::New(new.hook, new.meta),
                            _ => unreachable!("a leaf has the stated number of entries"),
                        }
                    }
                });
            }
            Piece::Copy(..) | Piece::Push(_) => unreachable!("an entry belongs to a leaf"),
        }
    }
    lists.finish(list, form);
}

/// Writes the recipe of the list after an edit.
fn prepare(entries: &dyn Entries, edit: Edit, new: &mut Recipe) {
    match (edit.removed, edit.added) {
        (None, None) => new.keep(0..entries.leaf_count()),
        (None, Some(added)) => add_to(entries, new, added),
        (Some(removed), Some(added)) if removed.rank() == added.meta.rank() => {
            replace(entries, new, added);
        }
        (Some(removed), None) => take(entries, new, &removed),
        (Some(removed), Some(added)) => {
            let mut rest = Recipe::default();
            take(entries, &mut rest, &removed);
            let rest = Outline::new(entries, &mut rest);
            let mut last = Recipe::default();
            add_to(&rest, &mut last, added);
            rest.follow(&mut last, new);
        }
    }
}

/// A list after a recipe of kept leaves and copied entries, which is not built.
struct Outline<'e> {
    entries: &'e dyn Entries,
    leaves: Vec<OutlineLeaf>,
}

enum OutlineLeaf {
    /// A leaf of the list before.
    Kept(usize),
    /// Entries of the list before, by position.
    Copied(Vec<Position>),
}

impl<'e> Outline<'e> {
    fn new(entries: &'e dyn Entries, recipe: &mut Recipe) -> Self {
        let mut leaves = Vec::with_capacity(recipe.leaves);
        while let Some(piece) = recipe.next() {
            match (piece, leaves.last_mut()) {
                (Piece::Keep(kept), _) => leaves.extend(kept.map(OutlineLeaf::Kept)),
                (Piece::Leaf(len), _) => leaves.push(OutlineLeaf::Copied(Vec::with_capacity(len))),
                (Piece::Copy(leaf, copies), Some(OutlineLeaf::Copied(copied))) => {
                    copied.extend(copies.map(|at| Position { leaf, at }));
                }
                (Piece::Copy(..) | Piece::Push(_), _) => unreachable!("an entry of a new leaf"),
            }
        }
        Outline { entries, leaves }
    }

    /// Writes the recipe with the effect of this list's recipe and of another after it.
    fn follow(&self, recipe: &mut Recipe, new: &mut Recipe) {
        while let Some(piece) = recipe.next() {
            match piece {
                Piece::Keep(kept) => {
                    for leaf in kept {
                        match &self.leaves[leaf] {
                            OutlineLeaf::Kept(leaf) => new.keep(*leaf..leaf + 1),
                            OutlineLeaf::Copied(copied) => {
                                new.begin_leaf(copied.len());
                                new.copy_each(copied);
                            }
                        }
                    }
                }
                Piece::Leaf(len) => new.begin_leaf(len),
                Piece::Copy(leaf, copies) => match &self.leaves[leaf] {
                    OutlineLeaf::Kept(leaf) => new.copy(*leaf, copies),
                    OutlineLeaf::Copied(copied) => new.copy_each(&copied[copies]),
                },
                Piece::Push(entry) => new.push(entry),
            }
        }
    }
}

impl Entries for Outline<'_> {
    fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    fn leaf_len(&self, leaf: usize) -> usize {
        match &self.leaves[leaf] {
            OutlineLeaf::Kept(leaf) => self.entries.leaf_len(*leaf),
            OutlineLeaf::Copied(copied) => copied.len(),
        }
    }

    fn meta(&self, Position { leaf, at }: Position) -> &Arc<EntryMeta> {
        self.entries.meta(match &self.leaves[leaf] {
            OutlineLeaf::Kept(leaf) => Position { leaf: *leaf, at },
            OutlineLeaf::Copied(copied) => copied[at],
        })
    }
}

/// Returns the recipe of a list of the given entries: of the enabled ones, unless `has_disabled`.
fn fill(entries: &[Arranged], has_disabled: bool) -> Recipe {
    let mut new = Recipe::default();
    let is_in_list = |entry: &&Arranged| has_disabled || entry.meta.is_enabled();
    let entries: Vec<_> = entries.iter().filter(is_in_list).collect();
    for leaf in entries.chunks(MAX_ENTRIES) {
        new.begin_leaf(leaf.len());
        for entry in leaf {
            new.push((*entry).clone());
        }
    }
    new
}

/// Builds the list with an entry in the place of the entry of the same rank.
fn replace(entries: &dyn Entries, new: &mut Recipe, added: Arranged) {
    let Position { leaf, at } = position(entries, added.meta.rank());
    let len = entries.leaf_len(leaf);
    new.keep(0..leaf);
    new.begin_leaf(len);
    new.copy(leaf, 0..at);
    new.push(added);
    new.copy(leaf, at + 1..len);
    new.keep(leaf + 1..entries.leaf_count());
}

/// Builds the list with one more entry, whose rank no entry of the list has.
fn add_to(entries: &dyn Entries, new: &mut Recipe, added: Arranged) {
    let leaves = entries.leaf_count();
    if leaves == 0 {
        new.begin_leaf(1);
        new.push(added);
        return;
    }
    let Position { leaf, at } = position(entries, added.meta.rank());
    let len = entries.leaf_len(leaf);
    // Number of entries of the leaf that is then split in two.
    let left = match len {
        MAX_ENTRIES => split(at),
        _ => len + 1,
    };
    new.keep(0..leaf);
    new.begin_leaf(left);
    if left > len {
        new.copy(leaf, 0..at);
        new.push(added);
        if at < len {
            new.copy(leaf, at..len);
        }
    } else if at < left {
        new.copy(leaf, 0..at);
        new.push(added);
        new.copy(leaf, at..left - 1);
        new.begin_leaf(len + 1 - left);
        new.copy(leaf, left - 1..len);
    } else {
        new.copy(leaf, 0..left);
        new.begin_leaf(len + 1 - left);
        new.copy(leaf, left..at);
        new.push(added);
        new.copy(leaf, at..len);
    }
    new.keep(leaf + 1..leaves);
}

/// Builds the list without an entry.
fn take(entries: &dyn Entries, new: &mut Recipe, removed: &EntryMeta) {
    let (Position { leaf, at }, leaves) = (position(entries, removed.rank()), entries.leaf_count());
    let left = entries.leaf_len(leaf) - 1;
    let fits = |next: usize| next < leaves && left + entries.leaf_len(next) <= MAX_ENTRIES / 2;
    let joined = if leaf > 0 && fits(leaf - 1) {
        leaf - 1..leaf + 1
    } else if fits(leaf + 1) {
        leaf..leaf + 2
    } else {
        leaf..leaf + 1
    };
    new.keep(0..joined.start);
    let len: usize = joined.clone().map(|leaf| entries.leaf_len(leaf)).sum();
    new.begin_leaf(len - 1);
    for number in joined.clone() {
        let len = entries.leaf_len(number);
        if number == leaf {
            new.copy(number, 0..at);
            new.copy(number, at + 1..len);
        } else {
            new.copy(number, 0..len);
        }
    }
    new.keep(joined.end..leaves);
}

/// Returns all entries of a list.
fn all(entries: &dyn Entries) -> Vec<Arranged> {
    let entry = |position| Arranged {
        hook: HookAt::Old(position),
        meta: Arc::clone(entries.meta(position)),
    };
    positions(entries).map(entry).collect()
}

/// Iterates over the options of all entries.
pub(super) fn metas(entries: &dyn Entries) -> impl Iterator<Item = &EntryMeta> {
    positions(entries).map(|at| &**entries.meta(at))
}

/// Returns the ids of the entries of an owner.
pub(super) fn of_owner(entries: &dyn Entries, owner: &str) -> Vec<EntryId> {
    let owned = metas(entries).filter(|meta| meta.owner() == Some(owner));
    owned.map(EntryMeta::id).collect()
}

/// Iterates over the positions of all entries.
fn positions(entries: &dyn Entries) -> impl Iterator<Item = Position> {
    let leaves = 0..entries.leaf_count();
    leaves.flat_map(|leaf| (0..entries.leaf_len(leaf)).map(move |at| Position { leaf, at }))
}

/// Returns the last entry of a lower rank.
fn entry_before(entries: &dyn Entries, rank: Rank) -> Option<&EntryMeta> {
    let Position { leaf, at } = position(entries, rank);
    let (leaf, at) = match at.checked_sub(1) {
        Some(at) => (leaf, at),
        None => (leaf.checked_sub(1)?, entries.leaf_len(leaf - 1) - 1),
    };
    Some(entries.meta(Position { leaf, at }))
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
