//! The table of registered event hooks: a snapshot for emissions, and the writers' copy.

use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hashbrown::{DefaultHashBuilder, HashMap};
use hooks_core::{
    EntryDescription, EntryId, EntryMeta, FailurePolicy, Refused, RegistrationError, Timer,
};
use jiff::Timestamp;
use rpds::HashTrieMapSync;
use serde::Serialize;

use super::emit::policy;
use super::event_slots::{
    AdoptedHooks, AroundEntry, EntryIds, EventPlace, EventSlots, EverySlots, HandlerEntry,
    LaterSlots, OwnHook, OwnHooks, own_hook,
};
use super::fields::complete;
use super::phase::EventPhase;
use super::schema::{DeclaredSchema, EventSchema};
use crate::Map;
use crate::registry::cell::Writer;
use crate::registry::layer::Layered;
use crate::registry::options::{Inserted, insert};
use crate::timestamp;

/// The registered hooks, as an emission sees them.
pub(super) struct EventTable {
    /// With the hooks for every event.
    events: Events,
    /// The hooks for every event, for events without own hooks. `None` if there are none.
    every: Option<Box<EventSlots>>,
    /// Ids of the hooks for every event.
    every_ids: EntryIds,
    /// Time in which the hooks of an emission have to complete.
    deadline: Option<Duration>,
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

/// Settings that a registry has instead of those of its parent.
#[derive(Default)]
pub(super) struct TableSettings {
    defaults: Option<Option<Arc<Map>>>,
    stamps: Option<bool>,
    schemas: Vec<EventSchema>,
}

impl TableSettings {
    pub(super) fn set_defaults(&mut self, defaults: Option<Arc<Map>>) {
        self.defaults = Some(defaults);
    }

    pub(super) fn set_stamps(&mut self, stamps: bool) {
        self.stamps = Some(stamps);
    }

    pub(super) fn declare(&mut self, schema: EventSchema) {
        self.schemas.retain(|before| before.name != schema.name);
        self.schemas.push(schema);
    }
}

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

    /// Inserts hooks under their ids. Returns the errors of [`Slot::adopt_all`].
    fn adopt(&mut self, timer: &Arc<dyn Timer>, own: &OwnHooks) -> Vec<RegistrationError> {
        if !own.has_later() {
            return own.insert_transforms(self.hooks);
        }
        self.has_changed_later = true;
        let later = self.writers.entry(Arc::clone(self.event));
        let later = later.or_insert_with(|| LaterSlots::new(timer));
        own.insert_into(self.hooks, later)
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
    every: EverySlots,
    timer: Arc<dyn Timer>,
    deadline: Option<Duration>,
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
    /// the event has a schema, hooks of another phase, around hooks, hooks whose failures are
    /// counted, or only hooks for every event, or emissions have a deadline.
    #[cold]
    pub(super) fn has_extras(&self, event: &str) -> bool {
        self.has_extras
            && (self.deadline.is_some()
                || self.schema(event).is_some()
                || match self.find_hooks(event) {
                    Some((_, hooks)) => hooks.has_extras(),
                    None => self.every.is_some(),
                })
    }

    /// Returns the hooks of an event without own hooks, if there are any.
    pub(super) fn every(&self) -> Option<&EventSlots> {
        self.every.as_deref()
    }

    /// Returns the hooks of an event, those for every event included, and its shared name: `own_name` if the
    /// event has no hooks of its own.
    pub(super) fn all_hooks<'t>(
        &'t self,
        event: &str,
        own_name: &'t OnceLock<Arc<str>>,
    ) -> Option<(&'t Arc<str>, &'t EventSlots)> {
        if let Some(found) = self.find_hooks(event) {
            return Some(found);
        }
        let every = self.every()?;
        Some((own_name.get_or_init(|| event.into()), every))
    }

    /// Returns the time in which the hooks of an emission have to complete, if it is limited.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline
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

    /// Returns the names of the hooks by event. The hooks for every event are listed with those of each
    /// event, and as those of the event `*`.
    pub(super) fn names(&self, event: Option<&str>) -> BTreeMap<String, Vec<String>> {
        let names = |hooks: &EventSlots| {
            let names = hooks
                .entries()
                .filter_map(|(_, entry)| entry.explicit_name());
            names.map(str::to_owned).collect()
        };
        match event {
            Some(event) => {
                let hooks = self.find_hooks(event).map(|(_, hooks)| hooks);
                let names = hooks.or(self.every()).map(names);
                [(event.to_owned(), names.unwrap_or_default())].into()
            }
            None => {
                let every = self.every().map(|hooks| (EventPlace::EveryEvent, hooks));
                let events = self.sorted().into_iter();
                let events =
                    events.map(|(event, hooks)| (EventPlace::Event(Arc::clone(event)), hooks));
                every
                    .into_iter()
                    .chain(events)
                    .map(|(place, hooks)| (place.name().to_string(), names(hooks)))
                    .collect()
            }
        }
    }

    /// Returns all registrations, by event and in execution order: first those for every event.
    pub(super) fn descriptors(&self) -> Vec<EventDescriptor> {
        let of = |place: &EventPlace, hooks: &EventSlots| {
            let entries = hooks.entries();
            let is_listed = |entry: &EntryMeta| {
                *place == EventPlace::EveryEvent || !self.every_ids.contains(&entry.id())
            };
            entries
                .filter(|(_, entry)| is_listed(entry))
                .map(|(phase, entry)| EventDescriptor::new(place, phase, entry))
                .collect::<Vec<_>>()
        };
        let every = self.every().map(|hooks| of(&EventPlace::EveryEvent, hooks));
        let events = self.sorted().into_iter();
        let events =
            events.flat_map(|(event, hooks)| of(&EventPlace::Event(Arc::clone(event)), hooks));
        every.into_iter().flatten().chain(events).collect()
    }

    /// Returns the hooks, sorted by the names of their events.
    fn sorted(&self) -> Vec<(&Arc<str>, &EventSlots)> {
        let mut events: Vec<_> = self.iter().collect();
        events.sort_unstable_by_key(|(event, _)| &***event);
        events
    }

    /// Returns the around hooks of an event, the outermost hook first; of every event if the event has
    /// no other hooks.
    pub(super) fn around(&self, event: &str) -> Vec<EntryMeta> {
        let hooks = self.find_hooks(event).map(|(_, hooks)| hooks);
        let later = hooks
            .or(self.every())
            .and_then(|hooks| hooks.later.as_deref());
        let around = later.into_iter().flat_map(|later| later.around.iter());
        around.map(|(_, entry)| entry.clone()).collect()
    }
}

impl TableWriter {
    pub(super) fn new(timer: Arc<dyn Timer>, deadline: Option<Duration>) -> Self {
        TableWriter {
            slots: HashMap::default(),
            later: HashMap::default(),
            filter: FilterBits {
                events: [0; u64::BITS as usize],
                bits: 0,
            },
            many: None,
            every: EverySlots::new(&timer),
            timer,
            deadline,
            defaults: None,
            stamps: false,
            with_extras: 0,
            schemas: None,
        }
    }

    /// Registers a hook.
    ///
    /// # Errors
    /// As [`Slot::try_insert`], and if a hook for every event has the key, or the other way round;
    /// nothing has changed then.
    pub(super) fn insert(
        &mut self,
        place: &EventPlace,
        hook: HandlerEntry,
        phase: EventPhase,
        counts_failures: bool,
    ) -> Result<Inserted, Refused<HandlerEntry>> {
        if let Err(error) = self.check_key(place, Some(phase), hook.meta()) {
            return Err(Refused::new(error, hook));
        }
        let EventPlace::Event(event) = place else {
            let backup = self.clone();
            let every = &mut self.every;
            let slot = match phase {
                EventPhase::Transform => &mut every.hooks.transform,
                EventPhase::Decide => &mut every.later.decide,
                EventPhase::Observe => &mut every.later.observe,
            };
            let inserted = insert(slot, hook.clone())?;
            every.hooks.counts_failures |= counts_failures;
            return self
                .spread(inserted)
                .map_err(|error| Refused::new(error, hook))
                .inspect_err(|_| *self = backup);
        };
        self.edit(event, |writer, timer| {
            let inserted = match phase {
                EventPhase::Transform => insert(&mut writer.hooks.transform, hook),
                EventPhase::Decide => insert(&mut writer.later(timer).decide, hook),
                EventPhase::Observe => insert(&mut writer.later(timer).observe, hook),
            }?;
            writer.hooks.counts_failures |= counts_failures;
            Ok(inserted)
        })
    }

    /// Registers an around hook.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub(super) fn insert_around(
        &mut self,
        place: &EventPlace,
        hook: AroundEntry,
    ) -> Result<Inserted, Refused<AroundEntry>> {
        if let Err(error) = self.check_key(place, None, hook.meta()) {
            return Err(Refused::new(error, hook));
        }
        let EventPlace::Event(event) = place else {
            let backup = self.clone();
            let inserted = insert(&mut self.every.later.around, hook.clone())?;
            return self
                .spread(inserted)
                .map_err(|error| Refused::new(error, hook))
                .inspect_err(|_| *self = backup);
        };
        self.edit(event, |writer, timer| {
            insert(&mut writer.later(timer).around, hook)
        })
    }

    /// Checks that a hook for every event and a hook of an event do not get the same key: one of them
    /// would replace the other one for this event only.
    fn check_key(
        &self,
        place: &EventPlace,
        phase: Option<EventPhase>,
        meta: &EntryMeta,
    ) -> Result<(), RegistrationError> {
        let is_taken = match place {
            EventPlace::Event(_) => self.every.has_key(phase, meta.key()),
            EventPlace::EveryEvent => {
                !self.every.has_key(phase, meta.key())
                    && meta.key().is_some_and(|key| self.has_own_key(phase, key))
            }
        };
        match (is_taken, meta.key()) {
            (true, Some(key)) => Err(RegistrationError::taken_key(meta.name(), key)),
            _ => Ok(()),
        }
    }

    /// Returns `true` if a hook of some event has this key.
    fn has_own_key(&self, phase: Option<EventPhase>, key: &str) -> bool {
        self.slots.values().any(|hooks| hooks.has_key(phase, key))
    }

    /// Inserts a hook for every event, which was just registered, into the slots of each event.
    ///
    /// # Errors
    /// If the order of the hooks of an event would be a cycle. The table then has lost constraints.
    fn spread(&mut self, inserted: Inserted) -> Result<Inserted, RegistrationError> {
        let own = self.every.own_hook(inserted.id);
        let mut hooks = OwnHooks::default();
        hooks.add(own.expect("the hook was just inserted"));
        self.every.ids.insert_mut(inserted.id);
        if let Some(replaced) = inserted.replaced {
            self.every.ids.remove_mut(&replaced);
        }
        let errors = self.adopt_in_each(&hooks);
        errors.into_iter().next().map_or(Ok(inserted), Err)
    }

    /// Inserts hooks for every event into the slots of each event. Returns the errors of
    /// [`Slot::adopt_all`].
    fn adopt_in_each(&mut self, own: &OwnHooks) -> Vec<RegistrationError> {
        let events = self.event_names();
        let errors = events.iter().map(|event| self.adopt_in(event, own));
        errors.flatten().collect()
    }

    /// Inserts hooks into the slots of an event, under their ids. Returns the errors of
    /// [`Slot::adopt_all`].
    fn adopt_in(&mut self, event: &Arc<str>, own: &OwnHooks) -> Vec<RegistrationError> {
        let adopt = |writer: &mut EventWriter<'_>, timer: &Arc<dyn Timer>| {
            Ok::<_, Infallible>(writer.adopt(timer, own))
        };
        match self.edit(event, adopt) {
            Ok(errors) => errors,
        }
    }

    fn event_names(&self) -> Vec<Arc<str>> {
        self.slots.keys().map(Arc::clone).collect()
    }

    /// Registers a hook of an event, whose slots are created if it has none. If `insert` returns an
    /// error, nothing has changed, unless `insert` has changed something.
    fn edit<R, E>(
        &mut self,
        event: &Arc<str>,
        insert: impl FnOnce(&mut EventWriter<'_>, &Arc<dyn Timer>) -> Result<R, E>,
    ) -> Result<R, E> {
        let timer = &self.timer;
        let mut created = None;
        let (hooks, is_new) = match self.slots.get_mut(event) {
            Some(hooks) => (hooks, false),
            None if self.every.len() > 0 => {
                if !self.every.later.is_empty() {
                    let later = self.every.later.clone();
                    self.later.insert(Arc::clone(event), later);
                }
                (created.insert(self.every.slots()), true)
            }
            None => (created.insert(EventSlots::new(timer)), true),
        };
        let had_extras = !is_new && hooks.has_extras();
        let mut writer = EventWriter::new(event, hooks, &mut self.later);
        let inserted = insert(&mut writer, timer);
        writer.publish();
        if is_new && inserted.is_err() {
            self.later.remove(event);
        }
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
        if self.slots[event].len() > self.every.len() {
            self.publish(event, had_extras);
            return true;
        }
        // The event has no hooks, or only those for every event.
        self.with_extras -= usize::from(had_extras);
        self.slots.remove(event);
        self.later.remove(event);
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
        let later = self.later.get(event).unwrap_or(&self.every.later);
        let (_, entry) = later.around.get(key)?;
        Some(entry.id())
    }

    /// Returns the place of a hook that an event runs.
    pub(super) fn place(&self, event: &str, id: EntryId) -> EventPlace {
        match self.every.ids.contains(&id) {
            true => EventPlace::EveryEvent,
            false => EventPlace::Event(event.into()),
        }
    }

    /// Returns the hook with this id.
    pub(super) fn own_hook(&mut self, place: &EventPlace, id: EntryId) -> Option<OwnHook> {
        match place {
            EventPlace::Event(event) => {
                own_hook(self.slots.get_mut(event)?, self.later.get_mut(event), id)
            }
            EventPlace::EveryEvent => self.every.own_hook(id),
        }
    }

    /// Enables or disables a hook, and returns whether it is registered.
    pub(super) fn set_entry_enabled(
        &mut self,
        place: &EventPlace,
        id: EntryId,
        is_enabled: bool,
    ) -> bool {
        match place {
            EventPlace::Event(event) => {
                self.change(event, |writer| writer.set_entry_enabled(id, is_enabled))
            }
            EventPlace::EveryEvent => {
                for event in self.event_names() {
                    self.change(&event, |writer| writer.set_entry_enabled(id, is_enabled));
                }
                self.every.set_entry_enabled(id, is_enabled)
            }
        }
    }

    /// Disables a hook. Returns `true` if it is registered and was enabled.
    pub(super) fn disable(&mut self, place: &EventPlace, id: EntryId) -> bool {
        let is_it = |(_, entry): (EventPhase, &EntryMeta)| entry.id() == id && entry.is_enabled();
        let is_enabled = match place {
            EventPlace::Event(event) => {
                let hooks = self.slots.get(event);
                hooks.is_some_and(|hooks| hooks.entries().any(is_it))
            }
            EventPlace::EveryEvent => self.every.slots().entries().any(is_it),
        };
        is_enabled && self.set_entry_enabled(place, id, false)
    }

    /// Returns the registrations for which the test returns `true`, with their places. Around hooks are
    /// left out, unless `has_around`.
    pub(super) fn find(
        &self,
        has_around: bool,
        test: impl Fn(&EntryMeta) -> bool,
    ) -> Vec<(EventPlace, EntryId)> {
        let every = self.every.slots();
        let events = self.slots.iter();
        let events = events.map(|(event, hooks)| (EventPlace::Event(Arc::clone(event)), hooks));
        let mut found = Vec::new();
        for (place, hooks) in [(EventPlace::EveryEvent, &every)].into_iter().chain(events) {
            let around = hooks.later.iter().filter(|_| has_around);
            let around = around.flat_map(|later| later.around.iter());
            let entries = hooks.entries().map(|(_, entry)| entry);
            let entries = entries.chain(around.map(|(_, entry)| entry));
            let of_place = entries.filter(|entry| {
                place == EventPlace::EveryEvent || !self.every.ids.contains(&entry.id())
            });
            let wanted = of_place.filter(|entry| test(entry));
            found.extend(wanted.map(|entry| (place.clone(), entry.id())));
        }
        found
    }

    /// Removes a hook, and returns whether it was registered.
    pub(super) fn remove(&mut self, place: &EventPlace, id: EntryId) -> bool {
        match place {
            EventPlace::Event(event) => self.change(event, |writer| writer.remove(id)),
            EventPlace::EveryEvent => {
                // First, so that the number of hooks of an event is compared with the new number.
                let found = self.every.remove(id);
                if found {
                    for event in self.event_names() {
                        self.change(&event, |writer| writer.remove(id));
                    }
                }
                found
            }
        }
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

impl Layered for TableWriter {
    type Place = EventPlace;
    type Own = OwnHook;
    type Settings = TableSettings;

    fn apply_settings(&mut self, settings: &TableSettings) {
        if let Some(defaults) = &settings.defaults {
            self.set_defaults(defaults.clone());
        }
        if let Some(stamps) = settings.stamps {
            self.set_stamps(stamps);
        }
        for schema in &settings.schemas {
            self.declare(schema.clone());
        }
    }

    fn adopt_all<'o>(
        &mut self,
        own: impl Iterator<Item = (&'o EventPlace, &'o OwnHook)>,
    ) -> Vec<RegistrationError> {
        let mut adopted = AdoptedHooks::default();
        let mut errors = Vec::new();
        for (place, own) in own {
            // The parent may have registered a hook with the key since, in the other kind of place. So may
            // the follower itself, while its first hook had no key.
            let (phase, meta) = (own.phase(), own.meta());
            let checked = self.check_key(place, phase, meta);
            let checked = checked.and_then(|()| adopted.check_key(place, phase, meta));
            let own = match &checked {
                Ok(()) => own.clone(),
                Err(_) => own.clone().without_key(),
            };
            errors.extend(checked.err());
            adopted.add(place, own);
        }
        // The events first: their slots get the hooks in the order of their registration.
        let mut events: HashSet<_> = adopted.events.keys().cloned().collect();
        if !adopted.every.is_empty() {
            events.extend(self.event_names());
        }
        for event in &events {
            let hooks = adopted.of_event(event);
            errors.extend(self.adopt_in(event, &hooks));
        }
        if !adopted.every.is_empty() {
            let mut every = OwnHooks::default();
            let hooks = adopted.every.into_iter();
            hooks.for_each(|(_, own)| every.add(own));
            errors.extend(self.every.adopt(&every));
        }
        errors
    }

    fn has_key(&self, place: &EventPlace, own: &OwnHook) -> bool {
        let (phase, Some(key)) = (own.phase(), own.meta().key()) else {
            return false;
        };
        // A hook of the other kind of place has lost its key, if it has the same.
        let is_at_event = match place {
            EventPlace::Event(event) => {
                let hooks = self.slots.get(event);
                hooks.is_some_and(|hooks| hooks.has_key(phase, key))
            }
            EventPlace::EveryEvent => self.has_own_key(phase, key),
        };
        is_at_event || self.every.has_key(phase, Some(key))
    }

    fn is_enabled_at(&mut self, place: &EventPlace, id: EntryId) -> Option<bool> {
        Some(self.own_hook(place, id)?.meta().is_enabled())
    }

    fn set_enabled_at(&mut self, place: &EventPlace, id: EntryId, is_enabled: bool) -> bool {
        self.set_entry_enabled(place, id, is_enabled)
    }

    fn remove_at(&mut self, place: &EventPlace, id: EntryId) -> bool {
        self.remove(place, id)
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
        let has_every = self.every.len() > 0;
        let has_extras =
            self.with_extras > 0 || self.schemas.is_some() || has_every || self.deadline.is_some();
        EventTable {
            every: has_every.then(|| Box::new(self.every.slots())),
            every_ids: self.every.ids.clone(),
            deadline: self.deadline,
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
    /// if hooks, defaults or time stamps apply to every event.
    fn filter_bits(&self) -> u64 {
        if self.stamps || self.defaults.is_some() || self.every.len() > 0 {
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
    /// The event; `*` for a hook of every event.
    pub event: Arc<str>,
    /// `true` for a hook of [every event](super::HookRegistry::register_any). Serialised if `true`.
    #[serde(skip_serializing_if = "is_false")]
    pub every_event: bool,
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
    fn new(place: &EventPlace, phase: EventPhase, entry: &EntryMeta) -> Self {
        EventDescriptor {
            id: entry.id(),
            event: Arc::clone(place.name()),
            every_event: *place == EventPlace::EveryEvent,
            phase,
            name: entry.explicit_name().map(str::to_owned),
            hook_type: entry.hook_type(),
            on_failure: policy(entry),
            failures: 0,
            entry: entry.into(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl Deref for EventDescriptor {
    type Target = EntryDescription;

    fn deref(&self) -> &EntryDescription {
        &self.entry
    }
}
