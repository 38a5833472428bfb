//! What the clones of a registry share: its hooks, the names that it knows, and the counts of failures.

use std::sync::{Arc, Mutex};

use hooks_core::{EntryId, Timer};

use super::names::EventNames;
use super::table::TableWriter;
use crate::registry::cell::CowCell;
use crate::registry::failure_counts::{FailedHook, FailureCounts, Origin};

/// The state of a registry of events.
pub(super) struct HookRegistryInner {
    pub(super) table: CowCell<TableWriter>,
    pub(super) names: Mutex<EventNames>,
    pub(super) counts: FailureCounts,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) origin: Origin<HookRegistryInner>,
}

impl HookRegistryInner {
    /// Removes a hook, and returns `true` if it was registered.
    pub(super) fn unregister(
        &self,
        event: &Arc<str>,
        id: EntryId,
        name: &str,
        priority: i32,
    ) -> bool {
        let found = self.table.update(|table| table.remove(event, id));
        if found {
            self.counts.forget(id);
            tracing::debug!(
                target: "hooks_runtime",
                event = &**event, hook = name, priority, "event hook unregistered"
            );
        }
        found
    }

    /// Disables hooks that have reached their limit of failures.
    pub(super) fn disable(&self, event: &str, failed: Vec<FailedHook>) {
        let disable = |registry: &Self, id| registry.table.update(|table| table.disable(event, id));
        self.origin
            .disable(self, failed, event, &self.counts, disable);
    }
}
