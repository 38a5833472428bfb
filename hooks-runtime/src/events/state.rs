//! What the clones of a registry share: its hooks, the names that it knows, and the counts of failures.

use std::sync::{Arc, Mutex};

use hooks_core::{EntryId, Timer};

use super::event_slots::EventPlace;
use super::names::EventNames;
use super::table::TableWriter;
use crate::registry::failure_counts::{FailedHook, FailureCounts, Origin, disable_failed};
use crate::registry::layer::{Layer, Node, disable};
use crate::registry::options::Defaults;

/// The state of a registry of events.
pub(super) struct HookRegistryInner {
    pub(super) table: Layer<HookRegistryInner>,
    pub(super) names: Mutex<EventNames>,
    pub(super) counts: Arc<FailureCounts>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) origin: Origin<HookRegistryInner>,
    pub(super) defaults: Defaults,
}

impl Node for HookRegistryInner {
    type Writer = TableWriter;

    fn layer(&self) -> &Layer<Self> {
        &self.table
    }

    fn origin(&self) -> &Origin<Self> {
        &self.origin
    }
}

impl Drop for HookRegistryInner {
    fn drop(&mut self) {
        // The counts may be those of the parent.
        for id in self.table.take_own() {
            self.counts.forget(id);
        }
    }
}

impl HookRegistryInner {
    /// Removes a hook, and returns `true` if it was registered.
    pub(super) fn unregister(
        &self,
        place: &EventPlace,
        id: EntryId,
        name: &str,
        priority: i32,
    ) -> bool {
        let found = self.table.update(|table, record| {
            let found = table.remove(place, id);
            if found {
                record.removed(|| place.clone(), id);
            }
            found
        });
        if found {
            // Only registrations of this registry are removed by their handle.
            self.counts.forget(id);
            tracing::debug!(
                target: "hooks_runtime",
                event = &**place.name(), hook = name, priority, "event hook unregistered"
            );
        }
        found
    }

    /// Disables hooks that have reached their limit of failures.
    pub(super) fn disable(&self, event: &str, failed: Vec<FailedHook>) {
        disable_failed(failed, event, &self.counts, |id| {
            disable(self, id, &|table| {
                let place = table.place(event, id);
                table.disable(&place, id).then_some(place)
            })
        });
    }
}
