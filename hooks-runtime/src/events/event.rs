//! Input of event hooks.

use std::fmt;
use std::sync::Arc;

use hooks_core::EntryMeta;
use serde_json::Value;

use super::data::EmitError;
use super::emission::Emission;
use super::fields::{Fields, Printed, Transcript};
use crate::Map;

/// Input of an event hook: the event's name, and its data as earlier hooks left them. All of it is
/// borrowed; a copy takes a few words.
///
/// ```
/// use hooks_runtime::{Event, EventHook, HookError, HookResult, impl_hook};
///
/// #[impl_hook(EventHook)]
/// async fn no_env_files(event: Event<'_>) -> Result<HookResult, HookError> {
///     Ok(match event.str("file_path") {
///         Some(path) if path.ends_with(".env") => HookResult::deny("`.env` files hold secrets"),
///         _ => HookResult::proceed(),
///     })
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Event<'a> {
    pub(crate) name: &'a Arc<str>,
    pub(crate) fields: &'a Fields,
    pub(crate) hook: &'a EntryMeta,
    pub(crate) transcript: &'a Transcript,
}

/// Arguments of the call of one event hook.
#[doc(hidden)]
pub struct EventContext<'a> {
    pub(crate) name: &'a Arc<str>,
    pub(crate) fields: &'a mut Fields,
    pub(crate) transcript: &'a Transcript,
    /// `true` if later hooks see the changes of this hook.
    pub(crate) is_chained: bool,
}

impl fmt::Debug for EventContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventContext")
            .field("name", self.name)
            .finish_non_exhaustive()
    }
}

impl EventContext<'_> {
    #[inline]
    pub(crate) fn event<'s>(&'s self, hook: &'s EntryMeta) -> Event<'s> {
        Event {
            name: self.name,
            fields: self.fields,
            hook,
            transcript: self.transcript,
        }
    }

    /// Returns a copy of the event for a pending hook.
    pub(crate) fn to_owned_event<'h>(&self, hook: &'h EntryMeta) -> OwnedEvent<'h> {
        OwnedEvent {
            name: Arc::clone(self.name),
            fields: self.fields.clone(),
            hook,
            transcript: self.transcript.share(),
        }
    }

    /// Returns the shared name and all data as one shared map.
    #[inline]
    pub fn share(&mut self) -> (Arc<str>, Arc<Map>) {
        self.fields.merge();
        (Arc::clone(self.name), self.fields.to_map())
    }
}

/// An event that a pending hook owns.
pub(crate) struct OwnedEvent<'a> {
    name: Arc<str>,
    fields: Fields,
    hook: &'a EntryMeta,
    transcript: Transcript,
}

impl OwnedEvent<'_> {
    pub(crate) fn event(&self) -> Event<'_> {
        Event {
            name: &self.name,
            fields: &self.fields,
            hook: self.hook,
            transcript: &self.transcript,
        }
    }
}

impl<'a> Event<'a> {
    /// Returns the name under which the event was emitted.
    #[inline]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns a field of the data.
    #[inline]
    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field)
    }

    /// Returns a field of the data, if it is text.
    #[inline]
    pub fn str(&self, field: &str) -> Option<&'a str> {
        self.get(field)?.as_str()
    }

    /// Returns all data as one shared map. Each call copies the map if the caller or an earlier
    /// hook keeps the data, and earlier hooks have changed single fields, or the registry has
    /// defaults.
    pub fn data(&self) -> Arc<Map> {
        self.fields.to_map()
    }

    /// Returns the data before the changes by hooks, if the host keeps them with
    /// [`EmitOptions::keep_original`](super::EmitOptions::keep_original). Default fields and the
    /// `timestamp` are not among them.
    ///
    /// For an event like `tool:post`, these are the raw results of the tool.
    pub fn original(&self) -> Option<&'a Map> {
        self.transcript.background()?.original.as_deref()
    }

    /// Returns the result of the emission in the phase
    /// [`Observe`](super::EventPhase::Observe), and `None` in other phases.
    pub fn outcome(&self) -> Option<&'a Result<Emission, EmitError>> {
        self.transcript.background()?.outcome.as_deref()
    }

    /// Returns the registration of this hook.
    pub fn hook(&self) -> &'a EntryMeta {
        self.hook
    }

    /// Prints text into the transcript of the emission, which the host reads from
    /// [`Emission::output`](super::Emission::output) unless the hook's result has
    /// `suppress_output`.
    pub fn print(&self, text: impl Into<String>) {
        self.transcript.print(Printed {
            id: self.hook.id(),
            hook: self.hook.name_arc(),
            text: text.into(),
        });
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("name", &self.name())
            .field("data", &self.data())
            .finish_non_exhaustive()
    }
}
