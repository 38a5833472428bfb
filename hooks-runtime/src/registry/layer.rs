//! A registry that follows another one: it has the hooks of its parent as they are now, and its own.
//!
//! The cell of a follower contains the hooks of both, so that a dispatch is that of any registry. A
//! change of the parent marks the cell as stale; the next use of the follower copies the parent, whose
//! lists the copy shares, and inserts the follower's own entries again.
//!
//! Locks are taken from followers to parents, and none of them is held while the destructor of a hook
//! runs. A parent marks its followers without its own locks.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, Weak};

use hooks_core::__private::drop_catching_panic;
use hooks_core::{EntryId, RegistrationError};

use super::cell::{CowCell, Snapshot, Writer};
use super::failure_counts::Origin;
use super::options::Inserted;
use super::sync::{Mutex, lock};

/// The state of a registry, which contains its [`Layer`].
pub(crate) trait Node: Sized {
    type Writer: Layered;

    fn layer(&self) -> &Layer<Self>;

    /// The registry of which this one is a copy.
    fn origin(&self) -> &Origin<Self>;
}

/// Disables an entry in the registry that registered it, and in the one of which this registry is a copy.
/// `disable_in` returns the place if the entry is registered and was enabled. Returns `true` if it was enabled.
pub(crate) fn disable<N: Node>(
    node: &N,
    id: EntryId,
    disable_in: &impl Fn(&mut N::Writer) -> Option<<N::Writer as Layered>::Place>,
) -> bool {
    let layer = node.layer();
    let is_disabled = match layer.parent() {
        Some(parent) if !layer.is_own(id) => {
            // Enabled here only: the parent has disabled the hook before.
            let was_enabled = layer.update(|_, record| record.end_enabled(id));
            disable(&**parent, id, disable_in) || was_enabled
        }
        _ => layer.update(|writer, record| {
            let place = disable_in(writer);
            let is_disabled = place.is_some();
            if let Some(place) = place {
                record.switched(|| place, id, false);
            }
            is_disabled
        }),
    };
    let origin = node.origin().registry();
    origin.is_some_and(|origin| disable(&*origin, id, disable_in)) || is_disabled
}

/// The writers' copy of a registry that others can follow.
pub(crate) trait Layered: Writer + Clone {
    /// Where an entry is registered.
    type Place: Clone;
    /// An entry as a follower stores it.
    type Own;
    /// Settings besides entries, which a follower has instead of those of its parent.
    type Settings: Default;

    fn apply_settings(&mut self, settings: &Self::Settings);

    /// Returns `true` if an entry has the key of this entry of a follower, which would replace it.
    fn has_key(&self, place: &Self::Place, own: &Self::Own) -> bool;

    /// Inserts the entries of a follower under their ids. Returns the errors of entries that would make
    /// the order a cycle, and have lost their constraints.
    fn adopt_all<'o>(
        &mut self,
        own: impl Iterator<Item = (&'o Self::Place, &'o Self::Own)>,
    ) -> Vec<RegistrationError>
    where
        Self: 'o;

    /// Returns whether an entry is enabled; `None` if it does not exist.
    fn is_enabled_at(&mut self, place: &Self::Place, id: EntryId) -> Option<bool>;

    /// Enables or disables an entry, and returns `true` if it exists.
    fn set_enabled_at(&mut self, place: &Self::Place, id: EntryId, is_enabled: bool) -> bool;

    /// Removes an entry, and returns `true` if it existed.
    fn remove_at(&mut self, place: &Self::Place, id: EntryId) -> bool;
}

/// The hooks of a registry, and the registries that follow it.
pub(crate) struct Layer<N: Node> {
    cell: CowCell<N::Writer>,
    followers: Mutex<Vec<Weak<N>>>,
    parent: Option<Box<Parent<N>>>,
}

/// The registry that another one follows.
struct Parent<N: Node> {
    node: Arc<N>,
    own: Mutex<OwnChanges<N::Writer>>,
}

/// The changes of a follower.
pub(crate) struct OwnChanges<W: Layered> {
    /// By registration; an entry that replaces another has the position of that entry.
    entries: BTreeMap<EntryId, OwnEntry<W>>,
    /// The position of each entry.
    positions: HashMap<EntryId, EntryId>,
    /// Entries of the follower or of its parent that the follower has enabled or disabled. An entry of the
    /// parent that is enabled in both has no record, so that the parent can disable it.
    switched: HashMap<EntryId, (W::Place, bool)>,
    /// Entries of the parent that the follower has removed.
    removed: HashMap<EntryId, W::Place>,
    settings: W::Settings,
    /// Entries that the current change has removed. They are dropped without a lock.
    dropped: Vec<OwnEntry<W>>,
    /// `true` if the current change has ended a record of an entry of the parent.
    has_ended_record: bool,
    /// Reasons why keys or constraints have no effect. Each change may end them.
    errors: Vec<RegistrationError>,
}

struct OwnEntry<W: Layered> {
    place: W::Place,
    entry: W::Own,
}

/// Records the changes of a follower; ignores those of other registries.
pub(crate) struct Record<'o, W: Layered>(Option<&'o mut OwnChanges<W>>);

impl<N: Node> Layer<N> {
    pub(crate) fn new(writer: N::Writer) -> Self {
        Layer {
            cell: CowCell::new(writer),
            followers: Mutex::new(Vec::new()),
            parent: None,
        }
    }

    /// Creates the layer of a follower. [`follow`](Self::follow) has to complete it.
    pub(crate) fn following(parent: &Arc<N>) -> Self {
        let cell = CowCell::new(parent.layer().writer());
        cell.mark_stale();
        Layer {
            cell,
            followers: Mutex::new(Vec::new()),
            parent: Some(Box::new(Parent {
                node: Arc::clone(parent),
                own: Mutex::new(OwnChanges::default()),
            })),
        }
    }

    /// Marks the layer of this state as stale after each change of its parent from now on.
    pub(crate) fn follow(node: &Arc<N>) {
        let Some(parent) = &node.layer().parent else {
            return;
        };
        let mut followers = lock(&parent.node.layer().followers);
        if followers.len() == followers.capacity() {
            followers.retain(|follower| follower.strong_count() > 0);
        }
        followers.push(Arc::downgrade(node));
    }

    /// Returns the state of the parent, if there is one.
    pub(crate) fn parent(&self) -> Option<&Arc<N>> {
        self.parent.as_ref().map(|parent| &parent.node)
    }

    /// Returns the hooks of one dispatch. Give them back by `drop_catching_panic`.
    #[inline]
    pub(crate) fn load(&self) -> Snapshot<<N::Writer as Writer>::Snapshot> {
        if self.cell.is_stale() {
            self.refresh();
        }
        self.cell.load()
    }

    /// Returns `false` if no hook has one of these filter bits.
    #[inline]
    pub(crate) fn has_filter_bit(&self, bits: u64) -> bool {
        self.cell.has_filter_bit(bits)
    }

    /// Returns a clone of the writers' copy, for a registry that does not follow this one.
    pub(crate) fn writer(&self) -> N::Writer {
        if self.cell.is_stale() {
            self.refresh();
        }
        self.cell.writer()
    }

    /// Changes the hooks. `change` must not panic halfway, and records what it has changed.
    pub(crate) fn update<R>(
        &self,
        change: impl FnOnce(&mut N::Writer, &mut Record<'_, N::Writer>) -> R,
    ) -> R {
        let (output, replaced) = match &self.parent {
            None => self.cell.change(|writer| change(writer, &mut Record(None))),
            Some(parent) => {
                if self.cell.is_stale() {
                    self.refresh();
                }
                return self.update_follower(parent, change);
            }
        };
        self.mark_followers();
        drop_catching_panic(replaced);
        output
    }

    fn update_follower<R>(
        &self,
        parent: &Parent<N>,
        change: impl FnOnce(&mut N::Writer, &mut Record<'_, N::Writer>) -> R,
    ) -> R {
        let mut own = lock(&parent.own);
        let mut copied = None;
        let (output, replaced) = self.cell.change(|writer| {
            let output = change(writer, &mut Record(Some(&mut own)));
            // Before the hooks are published: an entry of the parent that is uncovered has to run.
            if own.has_to_copy(&parent.node.layer().cell) {
                let (next, kept, errors) = own.copy_of(parent.node.layer());
                copied = Some((mem::replace(writer, next), kept, errors));
            }
            output
        });
        let dropped = mem::take(&mut own.dropped);
        let errors = match &copied {
            Some((.., errors)) => own.new_errors(errors),
            None => Vec::new(),
        };
        drop(own);
        log_errors(&errors);
        self.mark_followers();
        drop_catching_panic(dropped);
        drop_catching_panic(copied);
        drop_catching_panic(replaced);
        output
    }

    /// Returns `true` if an entry is one of this registry, and not of its parent.
    pub(crate) fn is_own(&self, id: EntryId) -> bool {
        let parent = self.parent.as_ref();
        parent.is_none_or(|parent| lock(&parent.own).positions.contains_key(&id))
    }

    /// Returns the ids of the entries that a follower has beside those of its parent.
    pub(crate) fn take_own(&self) -> Vec<EntryId> {
        let Some(parent) = &self.parent else {
            return Vec::new();
        };
        let positions = mem::take(&mut lock(&parent.own).positions);
        positions.into_keys().collect()
    }

    /// Marks the followers and their followers as stale.
    fn mark_followers(&self) {
        // Without the lock: the destructor of a follower may run hooks' destructors.
        let followers: Vec<_> = {
            let followers = lock(&self.followers);
            if followers.is_empty() {
                return;
            }
            followers.iter().filter_map(Weak::upgrade).collect()
        };
        for follower in followers {
            follower.layer().cell.mark_stale();
            follower.layer().mark_followers();
            drop_catching_panic(follower);
        }
    }

    /// Computes the hooks of a follower from those of its parent.
    #[cold]
    #[inline(never)]
    fn refresh(&self) {
        let Some(parent) = &self.parent else {
            return;
        };
        while self.cell.is_stale() {
            let layer = parent.node.layer();
            if layer.cell.is_stale() {
                layer.refresh();
            }
            self.copy_parent(parent);
        }
    }

    fn copy_parent(&self, parent: &Parent<N>) {
        let mut own = lock(&parent.own);
        let Some(marks) = self.cell.stale_marks() else {
            return;
        };
        let layer = parent.node.layer();
        // Before the copy: a parent that becomes stale later marks this cell again.
        if layer.cell.is_stale() {
            self.cell.mark_stale();
        }
        let (writer, kept, errors) = own.copy_of(layer);
        let replaced = self.cell.refresh(writer, marks);
        let errors = own.new_errors(&errors);
        drop(own);
        log_errors(&errors);
        drop_catching_panic(kept);
        drop_catching_panic(replaced);
    }
}

/// Logs why keys or constraints of a follower have no effect.
fn log_errors(errors: &[RegistrationError]) {
    for error in errors {
        tracing::warn!(
            target: "hooks_runtime",
            "the keys, or `before` and `after`, of a registry and of one that follows it contradict each other, and have no effect in the follower: {error}"
        );
    }
}

/// A copy of a parent with the changes of a follower, a value that holds what the changes have removed, and
/// the errors of the changes.
type Copied<W> = (W, <W as Writer>::Snapshot, Vec<RegistrationError>);

impl<W: Layered> OwnChanges<W> {
    /// Returns `true` if the current change may have uncovered an entry of the parent, or ended an error.
    fn has_to_copy(&mut self, parent: &CowCell<W>) -> bool {
        let is_covering =
            |own: &OwnEntry<W>| parent.inspect(|parent| parent.has_key(&own.place, &own.entry));
        let has_ended_record = mem::take(&mut self.has_ended_record);
        has_ended_record || !self.errors.is_empty() || self.dropped.iter().any(is_covering)
    }

    /// Returns a copy of the parent with the changes.
    fn copy_of<N: Node<Writer = W>>(&mut self, parent: &Layer<N>) -> Copied<W> {
        let mut writer = parent.cell.writer();
        // The parent may remove a hook at the same time. The copy must not drop its last reference here.
        let kept = writer.snapshot();
        writer.apply_settings(&self.settings);
        // An entry that the root has removed never returns. A follower may cover an entry for a while.
        let is_root = parent.parent.is_none();
        self.removed
            .retain(|id, place| writer.remove_at(place, *id) || !is_root);
        // Entries of the parent first: an own entry may replace one that is back later.
        let positions = &self.positions;
        self.switched.retain(|id, (place, is_enabled)| {
            if positions.contains_key(id) {
                return true;
            }
            match writer.is_enabled_at(place, *id) {
                None => !is_root,
                Some(true) if *is_enabled => false,
                Some(_) => writer.set_enabled_at(place, *id, *is_enabled),
            }
        });
        let entries = self.entries.values();
        let errors = writer.adopt_all(entries.map(|own| (&own.place, &own.entry)));
        for id in self.positions.keys() {
            if let Some((place, is_enabled)) = self.switched.get(id) {
                writer.set_enabled_at(place, *id, *is_enabled);
            }
        }
        (writer, kept, errors)
    }

    /// Stores the errors of the last copy, and returns the new errors.
    fn new_errors(&mut self, errors: &[RegistrationError]) -> Vec<RegistrationError> {
        let before = mem::replace(&mut self.errors, errors.to_vec());
        let is_new = |error: &&RegistrationError| !before.contains(error);
        self.errors.iter().filter(is_new).cloned().collect()
    }

    /// Records a removal. Returns `true` if the entry was one of the follower.
    fn remove(&mut self, place: W::Place, id: EntryId) -> bool {
        self.switched.remove(&id);
        let position = self.positions.remove(&id);
        match position {
            Some(position) => self.dropped.extend(self.entries.remove(&position)),
            None => _ = self.removed.insert(id, place),
        }
        position.is_some()
    }
}

impl<W: Layered> Record<'_, W> {
    /// Records a registration.
    pub(crate) fn inserted(
        &mut self,
        place: impl FnOnce() -> W::Place,
        inserted: Inserted,
        entry: impl FnOnce() -> Option<W::Own>,
    ) {
        let Some(own) = &mut self.0 else {
            return;
        };
        let Inserted { id, replaced } = inserted;
        let replaced = replaced.and_then(|replaced| own.positions.remove(&replaced));
        let position = replaced.unwrap_or(id);
        let place = place();
        if let Some(entry) = entry() {
            own.positions.insert(id, position);
            let replaced = own.entries.insert(position, OwnEntry { place, entry });
            own.dropped.extend(replaced);
        }
    }

    /// Records a removal. Returns `true` if the entry was one of this registry, and not of its parent.
    pub(crate) fn removed(&mut self, place: impl FnOnce() -> W::Place, id: EntryId) -> bool {
        let own = self.0.as_mut();
        own.is_none_or(|own| own.remove(place(), id))
    }

    /// Records that an entry was enabled or disabled.
    pub(crate) fn switched(
        &mut self,
        place: impl FnOnce() -> W::Place,
        id: EntryId,
        is_enabled: bool,
    ) {
        if let Some(own) = &mut self.0 {
            own.switched.insert(id, (place(), is_enabled));
            own.has_ended_record |= is_enabled && !own.positions.contains_key(&id);
        }
    }

    /// Returns `true` if an entry is one of this registry, and not of its parent.
    pub(crate) fn owns(&self, id: EntryId) -> bool {
        let own = self.0.as_ref();
        own.is_none_or(|own| own.positions.contains_key(&id))
    }

    /// Ends the record that an entry of the parent is enabled. Returns `true` if there was one.
    pub(crate) fn end_enabled(&mut self, id: EntryId) -> bool {
        let Some(own) = &mut self.0 else {
            return false;
        };
        let is_enabled = matches!(own.switched.get(&id), Some((_, true)));
        if is_enabled {
            own.switched.remove(&id);
            own.has_ended_record = true;
        }
        is_enabled
    }

    /// Records a setting.
    pub(crate) fn set(&mut self, set: impl FnOnce(&mut W::Settings)) {
        if let Some(own) = &mut self.0 {
            set(&mut own.settings);
        }
    }
}

impl<W: Layered> Default for OwnChanges<W> {
    fn default() -> Self {
        OwnChanges {
            entries: BTreeMap::new(),
            positions: HashMap::new(),
            switched: HashMap::new(),
            removed: HashMap::new(),
            settings: W::Settings::default(),
            dropped: Vec::new(),
            has_ended_record: false,
            errors: Vec::new(),
        }
    }
}
