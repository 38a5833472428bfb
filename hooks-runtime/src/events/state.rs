//! What the clones of a registry share: its hooks, the names that it knows, and the counts of failures.

use std::sync::{Arc, Mutex};

use hooks_core::{EntryMeta, Timer};

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
            registry.table.update(|table| {
                let is_enabled = |entry: &EntryMeta| entry.id() == id && entry.is_enabled();
                !table.find(is_enabled).is_empty() && table.set_entry_enabled(event, id, false)
            })
        });
    }
}
