//! What is registered for events, as an emission sees it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;
use hooks_core::{Entry, EntryId, EntryMeta, FailurePolicy, Slot, Timer};
use jiff::Timestamp;
use serde::Serialize;

use super::emit::policy;
use super::handler::Handler;
use super::record::complete;
use crate::Map;
use crate::shared::Topics;
use crate::timestamp;

/// Everything that is registered: what an emission sees. A registration copies it, which is
/// a few words an event.
#[derive(Clone, Default)]
pub(super) struct Table {
    /// Only events with hooks.
    events: HashMap<Arc<str>, Slot<dyn Handler>>,
    /// Never empty.
    pub(super) defaults: Option<Arc<Map>>,
    pub(super) stamps: bool,
}

impl Table {
    /// The hooks of an event, and its name to be kept.
    #[inline]
    pub(super) fn hooks(&self, event: &str) -> Option<(&Arc<str>, &Slot<dyn Handler>)> {
        self.events.get_key_value(event)
    }

    /// The event's data with the time of now, where that is asked for.
    #[inline]
    pub(super) fn stamped(&self, mut map: Arc<Map>) -> Arc<Map> {
        let has_one = |map: &Map| map.contains_key(TIMESTAMP);
        let by_default = || self.defaults.as_deref().is_some_and(has_one);
        if self.stamps && !has_one(&map) && !by_default() {
            let now = timestamp::to_text(Timestamp::now());
            Arc::make_mut(&mut map).insert(TIMESTAMP.to_owned(), now.into());
        }
        map
    }

    /// The event's data with the defaults, where no hook asks for them.
    #[inline]
    pub(super) fn completed(&self, mut map: Arc<Map>) -> Arc<Map> {
        if let Some(defaults) = &self.defaults {
            complete(Arc::make_mut(&mut map), defaults);
        }
        map
    }

    /// Registers a hook.
    pub(super) fn insert(
        &mut self,
        event: &Arc<str>,
        hook: Entry<Arc<dyn Handler>>,
        timer: &Arc<dyn Timer>,
    ) -> EntryId {
        let slot = self.events.entry(Arc::clone(event));
        slot.or_insert_with(|| Slot::with_timer(Arc::clone(timer)))
            .insert(hook)
    }

    /// Removes a hook, and says whether it was there.
    pub(super) fn remove(&mut self, event: &str, id: EntryId) -> bool {
        let Some(slot) = self.events.get_mut(event) else {
            return false;
        };
        let found = slot.remove_entry(id);
        if slot.is_empty() {
            self.events.remove(event);
        }
        found
    }

    /// The names of the hooks by event.
    pub(super) fn names(&self, event: Option<&str>) -> BTreeMap<String, Vec<String>> {
        let names = |slot: &Slot<dyn Handler>| {
            let names = slot.iter().filter_map(|(_, entry)| entry.explicit_name());
            names.map(str::to_owned).collect()
        };
        match event {
            Some(event) => {
                let names = self.hooks(event).map(|(_, slot)| names(slot));
                [(event.to_owned(), names.unwrap_or_default())].into()
            }
            None => {
                let events = self.events.iter();
                events
                    .map(|(event, slot)| (event.to_string(), names(slot)))
                    .collect()
            }
        }
    }

    /// All registrations, by event and in execution order.
    pub(super) fn descriptors(&self) -> Vec<EventDescriptor> {
        let mut events: Vec<_> = self.events.iter().collect();
        events.sort_by_key(|(event, _)| Arc::clone(event));
        let of_event = |(event, slot): (&Arc<str>, &Slot<dyn Handler>)| {
            let entries = slot.iter().map(|(_, entry)| entry);
            entries
                .map(|entry| EventDescriptor::new(event, entry))
                .collect::<Vec<_>>()
        };
        events.into_iter().flat_map(of_event).collect()
    }
}

impl Topics for Table {
    /// The events that are listened to. What is to be in all data concerns every event.
    fn topics(&self) -> u64 {
        if self.stamps || self.defaults.is_some() {
            return u64::MAX;
        }
        self.events.keys().fold(0, |all, event| all | topic(event))
    }
}

/// The bit of an event: of its length, and of what it begins and ends with.
#[inline]
pub(super) fn topic(event: &str) -> u64 {
    let bytes = event.as_bytes();
    let half = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |half| u32::from_le_bytes(*half).into());
    let (front, back) = (half(bytes.first_chunk()), half(bytes.last_chunk()));
    let word: u64 = front | back << 32;
    let mixed = (word ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 << (mixed >> 58)
}

/// The field that says when the data were made.
pub(crate) const TIMESTAMP: &str = "timestamp";

/// One registration of a [`HookRegistry`](super::HookRegistry).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EventDescriptor {
    /// The registration.
    pub id: EntryId,
    /// The event.
    pub event: Arc<str>,
    /// The name of the hook, if it has one.
    pub name: Option<String>,
    /// The type of the hook, as the compiler spells it.
    pub hook_type: &'static str,
    /// Lower runs first.
    pub priority: i32,
    /// The time that one call may take.
    pub timeout: Option<Duration>,
    /// What a failure does.
    pub on_failure: FailurePolicy,
    /// Whether the host vouches for what the hook says.
    pub trusted: bool,
}

impl EventDescriptor {
    fn new(event: &Arc<str>, entry: &EntryMeta) -> Self {
        EventDescriptor {
            id: entry.id(),
            event: Arc::clone(event),
            name: entry.explicit_name().map(str::to_owned),
            hook_type: entry.hook_type(),
            priority: entry.priority(),
            timeout: entry.timeout(),
            on_failure: policy(entry),
            trusted: entry.is_trusted(),
        }
    }
}
