//! The hooks of one event, the hooks for every event, and the hooks that a follower has beside those of its
//! parent.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;
use hooks_core::__private::without_key;
use hooks_core::around::DynAround;
use hooks_core::{Entry, EntryId, EntryMeta, RegistrationError, Slot, Timer};
use rpds::HashTrieSetSync;

use super::call::EventCall;
use super::handler::Handler;
use super::phase::EventPhase;
use crate::around_registry::AroundHooks;

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
    pub(super) fn new(timer: &Arc<dyn Timer>) -> Self {
        EventSlots {
            transform: Slot::with_timer(Arc::clone(timer)),
            later: None,
            counts_failures: false,
        }
    }

    /// Returns the number of registrations, around hooks included.
    pub(super) fn len(&self) -> usize {
        self.transform.len() + self.later.as_deref().map_or(0, LaterSlots::len)
    }

    /// Returns `true` if an emission needs more than the hooks of the first phase.
    pub(super) fn has_extras(&self) -> bool {
        self.later.is_some() || self.counts_failures
    }

    /// Returns the hooks of a phase; `None` if the event has none after the first phase.
    pub(super) fn phase(&self, phase: EventPhase) -> Option<&Slot<dyn Handler>> {
        let later = self.later.as_deref();
        match phase {
            EventPhase::Transform => Some(&self.transform),
            EventPhase::Decide => later.map(|later| &later.decide),
            EventPhase::Observe => later.map(|later| &later.observe),
        }
    }

    /// Returns `true` if a hook of this phase, or an around hook without a phase, has this key.
    pub(super) fn has_key(&self, phase: Option<EventPhase>, key: &str) -> bool {
        match phase {
            Some(phase) => {
                let slot = self.phase(phase);
                slot.is_some_and(|slot| slot.get(key).is_some())
            }
            None => {
                let later = self.later.as_deref();
                later.is_some_and(|later| later.around.get(key).is_some())
            }
        }
    }

    /// Returns the registrations in execution order, each with its phase.
    pub(super) fn entries(&self) -> impl Iterator<Item = (EventPhase, &EntryMeta)> {
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
    pub(super) fn new(timer: &Arc<dyn Timer>) -> Self {
        LaterSlots {
            decide: Slot::with_timer(Arc::clone(timer)),
            observe: Slot::with_timer(Arc::clone(timer)),
            around: Slot::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.decide.len() + self.observe.len() + self.around.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn remove(&mut self, id: EntryId) -> bool {
        self.decide.remove_entry(id)
            || self.observe.remove_entry(id)
            || self.around.remove_entry(id)
    }

    pub(super) fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.decide.set_entry_enabled(id, is_enabled)
            || self.observe.set_entry_enabled(id, is_enabled)
            || self.around.set_entry_enabled(id, is_enabled)
    }
}

pub(super) type HandlerEntry = Entry<Arc<dyn Handler>>;
pub(super) type AroundEntry = Entry<Arc<dyn DynAround<EventCall>>>;

/// Where a hook is registered.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum EventPlace {
    Event(Arc<str>),
    EveryEvent,
}

impl EventPlace {
    /// Returns the name of the event, or `*`.
    pub(super) fn name(&self) -> &Arc<str> {
        static EVERY_EVENT: LazyLock<Arc<str>> = LazyLock::new(|| "*".into());
        match self {
            EventPlace::Event(event) => event,
            EventPlace::EveryEvent => &EVERY_EVENT,
        }
    }
}

/// A hook, as a registry that follows another one stores it.
#[derive(Clone)]
pub(super) enum OwnHook {
    Handler {
        phase: EventPhase,
        counts_failures: bool,
        entry: HandlerEntry,
    },
    Around(AroundEntry),
}

/// The hooks for every event, in the writers' copy. The slots of each event contain them, too.
#[derive(Clone)]
pub(super) struct EverySlots {
    pub(super) hooks: EventSlots,
    pub(super) later: LaterSlots,
    pub(super) ids: EntryIds,
}

/// A set that is copied in constant time.
pub(super) type EntryIds = HashTrieSetSync<EntryId>;

impl EverySlots {
    pub(super) fn new(timer: &Arc<dyn Timer>) -> Self {
        EverySlots {
            hooks: EventSlots::new(timer),
            later: LaterSlots::new(timer),
            ids: EntryIds::new_sync(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.hooks.transform.len() + self.later.len()
    }

    /// Returns the slots of an event without other hooks.
    pub(super) fn slots(&self) -> EventSlots {
        EventSlots {
            later: (!self.later.is_empty()).then(|| Arc::new(self.later.clone())),
            ..self.hooks.clone()
        }
    }

    /// Returns `true` if a hook of this phase has this key.
    pub(super) fn has_key(&self, phase: Option<EventPhase>, key: Option<&str>) -> bool {
        let Some(key) = key.filter(|_| self.len() > 0) else {
            return false;
        };
        match phase {
            Some(EventPhase::Transform) => self.hooks.transform.get(key).is_some(),
            Some(EventPhase::Decide) => self.later.decide.get(key).is_some(),
            Some(EventPhase::Observe) => self.later.observe.get(key).is_some(),
            None => self.later.around.get(key).is_some(),
        }
    }

    /// Returns the hook with this id.
    pub(super) fn own_hook(&mut self, id: EntryId) -> Option<OwnHook> {
        own_hook(&mut self.hooks, Some(&mut self.later), id)
    }

    /// Removes a hook from the list, and returns whether it was there.
    pub(super) fn remove(&mut self, id: EntryId) -> bool {
        self.ids.remove_mut(&id);
        self.hooks.transform.remove_entry(id) || self.later.remove(id)
    }

    pub(super) fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.hooks.transform.set_entry_enabled(id, is_enabled)
            || self.later.set_entry_enabled(id, is_enabled)
    }

    pub(super) fn adopt(&mut self, own: &OwnHooks) -> Vec<RegistrationError> {
        let errors = own.insert_into(&mut self.hooks, &mut self.later);
        self.set_ids();
        errors
    }

    pub(super) fn set_ids(&mut self) {
        let slots = self.slots();
        let around = self.later.around.iter();
        let entries = slots.entries().map(|(_, entry)| entry);
        let entries = entries.chain(around.map(|(_, entry)| entry));
        self.ids = entries.map(EntryMeta::id).collect();
    }
}

impl OwnHook {
    pub(super) fn meta(&self) -> &EntryMeta {
        match self {
            OwnHook::Handler { entry, .. } => entry.meta(),
            OwnHook::Around(entry) => entry.meta(),
        }
    }

    pub(super) fn without_key(self) -> Self {
        match self {
            OwnHook::Handler {
                phase,
                counts_failures,
                entry,
            } => OwnHook::Handler {
                phase,
                counts_failures,
                entry: without_key(entry),
            },
            OwnHook::Around(entry) => OwnHook::Around(without_key(entry)),
        }
    }

    /// Returns the phase; `None` for an around hook.
    pub(super) fn phase(&self) -> Option<EventPhase> {
        match self {
            OwnHook::Handler { phase, .. } => Some(*phase),
            OwnHook::Around(_) => None,
        }
    }
}

/// The hooks of a follower, by place and with their numbers.
#[derive(Default)]
pub(super) struct AdoptedHooks {
    len: usize,
    pub(super) every: Vec<(usize, OwnHook)>,
    pub(super) events: HashMap<Arc<str>, Vec<(usize, OwnHook)>>,
    /// The phases and keys of hooks for every event, and of hooks of single events.
    every_keys: HashSet<(Option<EventPhase>, String)>,
    event_keys: HashSet<(Option<EventPhase>, String)>,
}

impl AdoptedHooks {
    /// Checks that no hook of the other kind of place has the key.
    pub(super) fn check_key(
        &mut self,
        place: &EventPlace,
        phase: Option<EventPhase>,
        meta: &EntryMeta,
    ) -> Result<(), RegistrationError> {
        let Some(key) = meta.key() else {
            return Ok(());
        };
        let (keys, others) = match place {
            EventPlace::EveryEvent => (&mut self.every_keys, &self.event_keys),
            EventPlace::Event(_) => (&mut self.event_keys, &self.every_keys),
        };
        let key = (phase, key.to_owned());
        if others.contains(&key) {
            return Err(RegistrationError::taken_key(meta.name(), key.1));
        }
        keys.insert(key);
        Ok(())
    }

    pub(super) fn add(&mut self, place: &EventPlace, own: OwnHook) {
        let hooks = match place {
            EventPlace::EveryEvent => &mut self.every,
            EventPlace::Event(event) => self.events.entry(Arc::clone(event)).or_default(),
        };
        hooks.push((self.len, own));
        self.len += 1;
    }

    /// Returns the hooks of an event, those for every event included, in the order of their registration.
    pub(super) fn of_event(&self, event: &str) -> OwnHooks {
        let of_event = self.events.get(event).into_iter().flatten();
        let mut hooks: Vec<_> = self.every.iter().chain(of_event).collect();
        hooks.sort_unstable_by_key(|(number, _)| *number);
        let mut own = OwnHooks::default();
        for (_, hook) in hooks {
            own.add(hook.clone());
        }
        own
    }
}

/// Hooks that are inserted at once, so that they may name each other.
#[derive(Default)]
pub(super) struct OwnHooks {
    transform: Vec<HandlerEntry>,
    decide: Vec<HandlerEntry>,
    observe: Vec<HandlerEntry>,
    around: Vec<AroundEntry>,
    counts_failures: bool,
}

impl OwnHooks {
    pub(super) fn add(&mut self, own: OwnHook) {
        match own {
            OwnHook::Handler {
                phase,
                counts_failures,
                entry,
            } => {
                self.counts_failures |= counts_failures;
                match phase {
                    EventPhase::Transform => self.transform.push(entry),
                    EventPhase::Decide => self.decide.push(entry),
                    EventPhase::Observe => self.observe.push(entry),
                }
            }
            OwnHook::Around(entry) => self.around.push(entry),
        }
    }

    pub(super) fn has_later(&self) -> bool {
        !(self.decide.is_empty() && self.observe.is_empty() && self.around.is_empty())
    }

    /// Inserts the hooks under their ids. Returns the errors of [`Slot::adopt_all`].
    pub(super) fn insert_into(
        &self,
        hooks: &mut EventSlots,
        later: &mut LaterSlots,
    ) -> Vec<RegistrationError> {
        let mut errors = self.insert_transforms(hooks);
        errors.extend(later.decide.adopt_all(self.decide.iter().cloned()));
        errors.extend(later.observe.adopt_all(self.observe.iter().cloned()));
        errors.extend(later.around.adopt_all(self.around.iter().cloned()));
        errors
    }

    pub(super) fn insert_transforms(&self, hooks: &mut EventSlots) -> Vec<RegistrationError> {
        hooks.counts_failures |= self.counts_failures;
        hooks.transform.adopt_all(self.transform.iter().cloned())
    }
}

/// Returns the hook with this id.
pub(super) fn own_hook(
    hooks: &mut EventSlots,
    later: Option<&mut LaterSlots>,
    id: EntryId,
) -> Option<OwnHook> {
    let counts_failures = hooks.counts_failures;
    let handler = |phase, entry| OwnHook::Handler {
        phase,
        counts_failures,
        entry,
    };
    if let Some(entry) = hooks.transform.entry(id) {
        return Some(handler(EventPhase::Transform, entry));
    }
    let later = later?;
    if let Some(entry) = later.decide.entry(id) {
        return Some(handler(EventPhase::Decide, entry));
    }
    if let Some(entry) = later.observe.entry(id) {
        return Some(handler(EventPhase::Observe, entry));
    }
    later.around.entry(id).map(OwnHook::Around)
}
