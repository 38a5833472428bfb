//! The table of registered event hooks: a snapshot for emissions, and the writers' copy.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap};
use hooks_core::around::DynAround;
use hooks_core::{
    Entry, EntryDescription, EntryId, EntryMeta, FailurePolicy, Refused, Slot, Timer,
};
use jiff::Timestamp;
use rpds::HashTrieMapSync;
use serde::Serialize;

use super::call::EventCall;
use super::emit::policy;
use super::fields::complete;
use super::handler::Handler;
use super::phase::EventPhase;
use super::schema::{DeclaredSchema, EventSchema};
use crate::Map;
use crate::around_registry::AroundHooks;
use crate::registry::cell::Writer;
use crate::registry::options::{Inserted, insert};
use crate::timestamp;

/// The registered hooks, as an emission sees them.
pub(super) struct EventTable {
    events: Events,
    /// Never empty.
    defaults: Option<Arc<Map>>,
    stamps: bool,
    /// `true` if an emission of some event needs more than the hooks of the first phase.
    has_extras: bool,
    /// `true` without time stamps and extras: one test for both in most emissions.
    is_plain: bool,
    /// `None` if no event has a schema.
    schemas: Option<Arc<Schemas>>,
}

type Schemas = HashMap<Arc<str>, Arc<DeclaredSchema>>;

/// The hooks of one event.
#[derive(Clone)]
pub(super) struct EventSlots {
    /// The phase [`Transform`](EventPhase::Transform).
    pub(super) transform: Slot<dyn Handler>,
    /// `None` if the phases have no hooks.
    pub(super) later: Option<Arc<LaterSlots>>,
    /// `true` if a hook is disabled after a number of failures.
    pub(super) counts_failures: bool,
}

/// The hooks of the phases after the first.
#[derive(Clone)]
pub(super) struct LaterSlots {
    pub(super) decide: Slot<dyn Handler>,
    pub(super) observe: Slot<dyn Handler>,
    /// Around hooks, which enclose the phases `Transform` and `Decide`.
    pub(super) around: AroundHooks<EventCall>,
}

impl EventSlots {
    fn new(timer: &Arc<dyn Timer>) -> Self {
        EventSlots {
            transform: Slot::with_timer(Arc::clone(timer)),
            later: None,
            counts_failures: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.transform.is_empty() && self.later.is_none()
    }

    /// Returns `true` if an emission needs more than the hooks of the first phase.
    fn has_extras(&self) -> bool {
        self.later.is_some() || self.counts_failures
    }

    /// Returns the hooks of a phase; `None` if the event has none after the first phase.
    fn phase(&self, phase: EventPhase) -> Option<&Slot<dyn Handler>> {
        let later = self.later.as_deref();
        match phase {
            EventPhase::Transform => Some(&self.transform),
            EventPhase::Decide => later.map(|later| &later.decide),
            EventPhase::Observe => later.map(|later| &later.observe),
        }
    }

    /// Returns the registrations in execution order, each with its phase.
    fn entries(&self) -> impl Iterator<Item = (EventPhase, &EntryMeta)> {
        let phases = [
            EventPhase::Transform,
            EventPhase::Decide,
            EventPhase::Observe,
        ];
        phases.into_iter().flat_map(move |phase| {
            let hooks = self.phase(phase).into_iter().flat_map(Slot::iter);
            hooks.map(move |(_, entry)| (phase, entry))
        })
    }
}

impl LaterSlots {
    fn new(timer: &Arc<dyn Timer>) -> Self {
        LaterSlots {
            decide: Slot::with_timer(Arc::clone(timer)),
            observe: Slot::with_timer(Arc::clone(timer)),
            around: Slot::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.decide.is_empty() && self.observe.is_empty() && self.around.is_empty()
    }

    fn remove(&mut self, id: EntryId) -> bool {
        self.decide.remove_entry(id)
            || self.observe.remove_entry(id)
            || self.around.remove_entry(id)
    }

    fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.decide.set_entry_enabled(id, is_enabled)
            || self.observe.set_entry_enabled(id, is_enabled)
            || self.around.set_entry_enabled(id, is_enabled)
    }
}

type HandlerEntry = Entry<Arc<dyn Handler>>;
type AroundEntry = Entry<Arc<dyn DynAround<EventCall>>>;

/// The later phases of the events that have them, with their indexes: the published slots of an
/// event are a copy.
type LaterWriters = HashMap<Arc<str>, LaterSlots>;

/// The hooks of one event in the writers' copy, during a change.
struct EventWriter<'w> {
    event: &'w Arc<str>,
    hooks: &'w mut EventSlots,
    writers: &'w mut LaterWriters,
    /// `true` if the published later phases may differ from the writers' copy.
    has_changed_later: bool,
}

impl<'w> EventWriter<'w> {
    fn new(event: &'w Arc<str>, hooks: &'w mut EventSlots, writers: &'w mut LaterWriters) -> Self {
        EventWriter {
            event,
            hooks,
            writers,
            has_changed_later: false,
        }
    }

    /// Returns the later phases, which are created if the event has none.
    fn later(&mut self, timer: &Arc<dyn Timer>) -> &mut LaterSlots {
        self.has_changed_later = true;
        let event = Arc::clone(self.event);
        let later = self.writers.entry(event);
        later.or_insert_with(|| LaterSlots::new(timer))
    }

    /// Changes the later phases, if the event has any.
    fn change_later(&mut self, change: impl FnOnce(&mut LaterSlots) -> bool) -> bool {
        let found = self.writers.get_mut(self.event).is_some_and(change);
        self.has_changed_later |= found;
        found
    }

    fn remove(&mut self, id: EntryId) -> bool {
        self.hooks.transform.remove_entry(id) || self.change_later(|later| later.remove(id))
    }

    fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.hooks.transform.set_entry_enabled(id, is_enabled)
            || self.change_later(|later| later.set_entry_enabled(id, is_enabled))
    }

    /// Copies the later phases for the snapshot.
    fn publish(self) {
        if !self.has_changed_later {
            return;
        }
        self.hooks.later = match self.writers.get(self.event) {
            Some(later) if !later.is_empty() => Some(Arc::new(later.clone())),
            _ => {
                self.writers.remove(self.event);
                None
            }
        };
    }
}

/// The slots of the events that have hooks.
enum Events {
    /// Copied for each snapshot. A lookup takes 10 instructions less than in a persistent map, 2 %
    /// of `event continue, 1 hook`.
    Few(Slots),
    /// Shared by snapshots, except for a few nodes.
    Many(PersistentSlots),
}

type Slots = HashMap<Arc<str>, EventSlots>;
type PersistentSlots = HashTrieMapSync<Arc<str>, EventSlots, DefaultHashBuilder>;

/// The number of events up to which a snapshot copies the map.
const MAX_COPIED: usize = 64;

/// The writers' copy: the slots with their indexes, which a published slot does not have.
#[derive(Clone)]
pub(super) struct TableWriter {
    slots: Slots,
    later: LaterWriters,
    /// The same slots, if there are many of them.
    many: Option<PersistentSlots>,
    filter: FilterBits,
    /// Never empty.
    defaults: Option<Arc<Map>>,
    stamps: bool,
    /// The number of events whose hooks have extras.
    with_extras: usize,
    schemas: Option<Arc<Schemas>>,
}

/// The number of events of each filter bit.
#[derive(Clone)]
struct FilterBits {
    events: [usize; u64::BITS as usize],
    bits: u64,
}

impl EventTable {
    /// Returns the hooks of an event, and its shared name.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/4
    pub(super) fn hooks(&self, event: &str) -> Option<(&Arc<str>, &EventSlots)> {
        match &self.events {
            Events::Few(slots) => slots.get_key_value(event),
            Events::Many(slots) => slots.get_key_value(event),
        }
    }

    /// Like [`hooks`](Self::hooks), but not inlined. If `hooks` had more callers, the compiler would
    /// not inline it into ordinary emissions.
    #[inline(never)] // event_continue/1
    pub(super) fn find_hooks(&self, event: &str) -> Option<(&Arc<str>, &EventSlots)> {
        self.hooks(event)
    }

    /// Returns `true` if an emission of this event needs more than the hooks of the first phase:
    /// the event has a schema, hooks of another phase, around hooks, or hooks whose failures are
    /// counted.
    #[cold]
    pub(super) fn has_extras(&self, event: &str) -> bool {
        let has_extras = |(_, hooks): (_, &EventSlots)| hooks.has_extras();
        self.has_extras
            && (self.schema(event).is_some() || self.find_hooks(event).is_some_and(has_extras))
    }

    /// Returns `true` if no event has extras, and emissions get no time stamps.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns the schema of an event.
    pub(super) fn schema(&self, event: &str) -> Option<&DeclaredSchema> {
        self.schemas.as_ref()?.get(event).map(|schema| &**schema)
    }

    /// Returns all schemas, sorted by the names of their events.
    pub(super) fn schemas(&self) -> Vec<Arc<EventSchema>> {
        let schemas = self.schemas.iter().flat_map(|schemas| schemas.values());
        let mut schemas: Vec<_> = schemas.map(|found| Arc::clone(&found.schema)).collect();
        schemas.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        schemas
    }

    /// Returns the names of the events that have hooks.
    pub(super) fn events(&self) -> impl Iterator<Item = &Arc<str>> {
        self.iter().map(|(event, _)| event)
    }

    fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &EventSlots)> {
        let (few, many) = match &self.events {
            Events::Few(slots) => (Some(slots.iter()), None),
            Events::Many(slots) => (None, Some(slots.iter())),
        };
        let few = few.into_iter().flatten();
        few.chain(many.into_iter().flatten())
    }

    /// Returns the default fields of all data.
    #[inline]
    pub(super) fn defaults(&self) -> Option<&Arc<Map>> {
        self.defaults.as_ref()
    }

    /// Returns the event's data with the current time, if time stamps are on.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/1
    pub(super) fn stamped(&self, mut map: Arc<Map>) -> Arc<Map> {
        if self.stamps {
            self.stamp(&mut map);
        }
        map
    }

    #[inline(never)]
    fn stamp(&self, map: &mut Arc<Map>) {
        let has_one = |map: &Map| map.contains_key(TIMESTAMP);
        let by_default = || self.defaults.as_deref().is_some_and(has_one);
        if !has_one(map) && !by_default() {
            let now = timestamp::to_text(Timestamp::now());
            Arc::make_mut(map).insert(TIMESTAMP.to_owned(), now.into());
        }
    }

    /// Returns the event's data with the defaults, for an event without hooks.
    #[inline]
    pub(super) fn completed(&self, mut map: Arc<Map>) -> Arc<Map> {
        if let Some(defaults) = &self.defaults {
            complete(Arc::make_mut(&mut map), defaults);
        }
        map
    }

    /// Returns the names of the hooks by event.
    pub(super) fn names(&self, event: Option<&str>) -> BTreeMap<String, Vec<String>> {
        let names = |hooks: &EventSlots| {
            let names = hooks
                .entries()
                .filter_map(|(_, entry)| entry.explicit_name());
            names.map(str::to_owned).collect()
        };
        match event {
            Some(event) => {
                let names = self.find_hooks(event).map(|(_, hooks)| names(hooks));
                [(event.to_owned(), names.unwrap_or_default())].into()
            }
            None => {
                let events = self.sorted().into_iter();
                events
                    .map(|(event, hooks)| (event.to_string(), names(hooks)))
                    .collect()
            }
        }
    }

    /// Returns all registrations, by event and in execution order.
    pub(super) fn descriptors(&self) -> Vec<EventDescriptor> {
        let of_event = |(event, hooks): (&Arc<str>, &EventSlots)| {
            let entries = hooks.entries();
            entries
                .map(|(phase, entry)| EventDescriptor::new(event, phase, entry))
                .collect::<Vec<_>>()
        };
        self.sorted().into_iter().flat_map(of_event).collect()
    }

    /// Returns the hooks, sorted by the names of their events.
    fn sorted(&self) -> Vec<(&Arc<str>, &EventSlots)> {
        let mut events: Vec<_> = self.iter().collect();
        events.sort_unstable_by_key(|(event, _)| &***event);
        events
    }
}

impl TableWriter {
    pub(super) fn new() -> Self {
        TableWriter {
            slots: HashMap::default(),
            later: HashMap::default(),
            filter: FilterBits {
                events: [0; u64::BITS as usize],
                bits: 0,
            },
            many: None,
            defaults: None,
            stamps: false,
            with_extras: 0,
            schemas: None,
        }
    }

    /// Registers a hook.
    ///
    /// # Errors
    /// As [`Slot::try_insert`]; nothing has changed then.
    pub(super) fn insert(
        &mut self,
        event: &Arc<str>,
        hook: HandlerEntry,
        phase: EventPhase,
        counts_failures: bool,
        timer: &Arc<dyn Timer>,
    ) -> Result<Inserted, Refused<HandlerEntry>> {
        self.edit(event, timer, |writer| {
            let inserted = match phase {
                EventPhase::Transform => insert(&mut writer.hooks.transform, hook),
                EventPhase::Decide => insert(&mut writer.later(timer).decide, hook),
                EventPhase::Observe => insert(&mut writer.later(timer).observe, hook),
            }?;
            writer.hooks.counts_failures |= counts_failures;
            Ok(inserted)
        })
    }

    /// Registers an around hook. Returns its id.
    ///
    /// # Errors
    /// As [`Slot::try_insert`]; nothing has changed then.
    pub(super) fn insert_around(
        &mut self,
        event: &Arc<str>,
        hook: AroundEntry,
        timer: &Arc<dyn Timer>,
    ) -> Result<EntryId, Refused<AroundEntry>> {
        self.edit(event, timer, |writer| {
            writer.later(timer).around.try_insert(hook)
        })
    }

    /// Registers a hook of an event, whose slots are created if it has none. If `insert` returns an
    /// error, nothing has changed.
    fn edit<R, E>(
        &mut self,
        event: &Arc<str>,
        timer: &Arc<dyn Timer>,
        insert: impl FnOnce(&mut EventWriter<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut created = None;
        let hooks = match self.slots.get_mut(event) {
            Some(hooks) => hooks,
            None => created.insert(EventSlots::new(timer)),
        };
        let had_extras = hooks.has_extras();
        let mut writer = EventWriter::new(event, hooks, &mut self.later);
        let inserted = insert(&mut writer);
        writer.publish();
        let inserted = inserted?;
        if let Some(created) = created {
            self.filter.add(event);
            self.slots.insert(Arc::clone(event), created);
        }
        self.publish(event, had_extras);
        Ok(inserted)
    }

    /// Completes a change of the slots of an event that has hooks.
    fn publish(&mut self, event: &Arc<str>, had_extras: bool) {
        let hooks = &self.slots[event];
        self.with_extras += usize::from(hooks.has_extras());
        self.with_extras -= usize::from(had_extras);
        if let Some(many) = &mut self.many {
            many.insert_mut(Arc::clone(event), hooks.clone());
        } else if self.slots.len() > MAX_COPIED {
            self.many = Some(persistent(&self.slots));
        }
    }

    /// Changes the slots of an event, and returns `true` if `change` does.
    fn change(
        &mut self,
        event: &Arc<str>,
        change: impl FnOnce(&mut EventWriter<'_>) -> bool,
    ) -> bool {
        let Some(hooks) = self.slots.get_mut(event) else {
            return false;
        };
        let had_extras = hooks.has_extras();
        let mut writer = EventWriter::new(event, hooks, &mut self.later);
        let found = change(&mut writer);
        writer.publish();
        if !found {
            return false;
        }
        if !self.slots[event].is_empty() {
            self.publish(event, had_extras);
            return true;
        }
        self.with_extras -= usize::from(had_extras);
        self.slots.remove(event);
        self.filter.remove(event);
        // Hysteresis: events that come and go at the limit do not convert the map each time.
        if self.slots.len() <= MAX_COPIED / 2 {
            self.many = None;
        }
        if let Some(many) = &mut self.many {
            many.remove_mut(event);
        }
        true
    }

    /// Returns the id of the around hook of an event with this key.
    pub(super) fn find_around(&self, event: &str, key: &str) -> Option<EntryId> {
        let (_, entry) = self.later.get(event)?.around.get(key)?;
        Some(entry.id())
    }

    /// Enables or disables a hook, and returns whether it is registered.
    pub(super) fn set_entry_enabled(&mut self, event: &str, id: EntryId, is_enabled: bool) -> bool {
        let Some((event, _)) = self.slots.get_key_value(event) else {
            return false;
        };
        let event = Arc::clone(event);
        self.change(&event, |writer| writer.set_entry_enabled(id, is_enabled))
    }

    /// Disables a hook. Returns `true` if it is registered and was enabled.
    pub(super) fn disable(&mut self, event: &str, id: EntryId) -> bool {
        let is_it = |(_, entry): (EventPhase, &EntryMeta)| entry.id() == id && entry.is_enabled();
        let hooks = self.slots.get(event);
        hooks.is_some_and(|hooks| hooks.entries().any(is_it))
            && self.set_entry_enabled(event, id, false)
    }

    /// Returns the registrations for which the test returns `true`, with their events.
    pub(super) fn find(&self, test: impl Fn(&EntryMeta) -> bool) -> Vec<(Arc<str>, EntryId)> {
        let mut found = Vec::new();
        for (event, hooks) in &self.slots {
            let entries = hooks.entries().filter(|(_, entry)| test(entry));
            found.extend(entries.map(|(_, entry)| (Arc::clone(event), entry.id())));
        }
        found
    }

    /// Removes a hook, and returns whether it was registered.
    pub(super) fn remove(&mut self, event: &Arc<str>, id: EntryId) -> bool {
        self.change(event, |writer| writer.remove(id))
    }

    pub(super) fn set_defaults(&mut self, defaults: Option<Arc<Map>>) {
        self.defaults = defaults;
    }

    /// Adds a schema; replaces one for the same event.
    pub(super) fn declare(&mut self, schema: EventSchema) {
        let schemas = Arc::make_mut(self.schemas.get_or_insert_default());
        let event = Arc::clone(&schema.name);
        schemas.insert(event, Arc::new(DeclaredSchema::new(schema)));
    }

    pub(super) fn set_stamps(&mut self, stamps: bool) {
        self.stamps = stamps;
    }
}

fn persistent(slots: &Slots) -> PersistentSlots {
    let mut many = HashTrieMapSync::new_with_hasher_and_ptr_kind(DefaultHashBuilder::default());
    for (event, hooks) in slots {
        many.insert_mut(Arc::clone(event), hooks.clone());
    }
    many
}

impl Writer for TableWriter {
    type Snapshot = EventTable;

    fn snapshot(&self) -> EventTable {
        let has_extras = self.with_extras > 0 || self.schemas.is_some();
        EventTable {
            events: match &self.many {
                None => Events::Few(self.slots.clone()),
                Some(many) => Events::Many(many.clone()),
            },
            defaults: self.defaults.clone(),
            stamps: self.stamps,
            has_extras,
            is_plain: !has_extras && !self.stamps,
            schemas: self.schemas.clone(),
        }
    }

    /// Returns the filter bits of the events that have hooks or a schema: all bits
    /// if defaults or time stamps apply to every event.
    fn filter_bits(&self) -> u64 {
        if self.stamps || self.defaults.is_some() {
            return u64::MAX;
        }
        let schemas = self.schemas.iter().flat_map(|schemas| schemas.keys());
        let schemas = schemas.fold(0, |bits, event| bits | filter_bit(event));
        self.filter.bits | schemas
    }
}

impl FilterBits {
    fn add(&mut self, event: &str) {
        let bit = filter_bit(event);
        self.events[bit.trailing_zeros() as usize] += 1;
        self.bits |= bit;
    }

    fn remove(&mut self, event: &str) {
        let bit = filter_bit(event);
        let events = &mut self.events[bit.trailing_zeros() as usize];
        *events -= 1;
        if *events == 0 {
            self.bits &= !bit;
        }
    }
}

/// Returns the filter bit of an event: a hash of its length, its first and its last four bytes.
#[inline]
pub(super) fn filter_bit(event: &str) -> u64 {
    let bytes = event.as_bytes();
    let half = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |half| u32::from_le_bytes(*half).into());
    let (front, back) = (half(bytes.first_chunk()), half(bytes.last_chunk()));
    let word: u64 = front | back << 32;
    let mixed = (word ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 << (mixed >> 58)
}

/// Field of the time stamp.
pub(crate) const TIMESTAMP: &str = "timestamp";

/// One registration of a [`HookRegistry`](super::HookRegistry).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EventDescriptor {
    /// The registration.
    pub id: EntryId,
    /// The event.
    pub event: Arc<str>,
    /// The phase in which the hook runs.
    pub phase: EventPhase,
    /// The name of the hook, if it has one. Serialised as the name of `entry`, which has a default.
    #[serde(skip)]
    pub name: Option<String>,
    /// The type of the hook, as the compiler spells it.
    pub hook_type: &'static str,
    /// Failure policy.
    pub on_failure: FailurePolicy,
    /// Failures since the last success, if a number of them disables the hook; else 0.
    pub failures: u32,
    /// Description of the entry.
    #[serde(flatten)]
    pub entry: EntryDescription,
}

impl EventDescriptor {
    fn new(event: &Arc<str>, phase: EventPhase, entry: &EntryMeta) -> Self {
        EventDescriptor {
            id: entry.id(),
            event: Arc::clone(event),
            phase,
            name: entry.explicit_name().map(str::to_owned),
            hook_type: entry.hook_type(),
            on_failure: policy(entry),
            failures: 0,
            entry: entry.into(),
        }
    }
}

impl Deref for EventDescriptor {
    type Target = EntryDescription;

    fn deref(&self) -> &EntryDescription {
        &self.entry
    }
}
