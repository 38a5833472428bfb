//! What the clones of a registry share: its hooks, the names that it knows, and the counts of failures.

use std::sync::{Arc, Mutex};

use hooks_core::Timer;

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
    /// Disables hooks that have reached their limit of failures.
    pub(super) fn disable(&self, event: &str, failed: Vec<FailedHook>) {
        self.origin.disable(self, failed, event, |registry, id| {
            registry.table.update(|table| table.disable(event, id))
        });
    }
}
