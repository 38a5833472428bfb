//! What an event hook is given.

use std::fmt;
use std::sync::Arc;

use hooks_core::EntryMeta;
use serde_json::Value;

use super::record::{Printed, Record, Version};
use crate::Map;

/// An event as a hook sees it: its name, and its data as the hooks before left them. All of it
/// is borrowed from the emission; a copy of this is a few words.
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
    record: &'a Record<'a>,
    version: Version,
    hook: &'a EntryMeta,
}

impl<'a> Event<'a> {
    #[inline(always)]
    pub(crate) fn new(record: &'a Record<'a>, version: Version, hook: &'a EntryMeta) -> Self {
        Event {
            record,
            version,
            hook,
        }
    }

    /// The name under which the event was emitted (`E-12`).
    #[inline]
    pub fn name(&self) -> &'a str {
        self.record.name()
    }

    /// The same, to be kept.
    pub(crate) fn shared_name(&self) -> &'a Arc<str> {
        self.record.name()
    }

    /// A field of the data.
    #[inline]
    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.record.get(self.version, field)
    }

    /// A field of the data, if it is text.
    #[inline]
    pub fn str(&self, field: &str) -> Option<&'a str> {
        self.get(field)?.as_str()
    }

    /// All data as one map. Made of the fields that hooks before have changed one by one, or
    /// of the registry's defaults, it is a copy, which the emission keeps for all who ask.
    pub fn data(&self) -> &'a Arc<Map> {
        self.record.merged(self.version)
    }

    /// The registration that this call belongs to.
    pub fn hook(&self) -> &'a EntryMeta {
        self.hook
    }

    /// Prints something into the transcript of the emission, where the host finds it
    /// ([`Emission::output`](super::Emission::output)) unless the hook answers with
    /// `suppress_output` (`E-150`).
    pub fn print(&self, text: impl Into<String>) {
        self.record.print(Printed {
            id: self.hook.id(),
            hook: self.hook.shared_name(),
            text: text.into(),
        });
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("name", &self.name())
            .field("data", self.data())
            .finish_non_exhaustive()
    }
}
