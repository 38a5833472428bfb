//! Descriptions of registered hooks.

use std::ops::Deref;

use hooks_core::{EntryDescription, EntryMeta, FailurePolicy};
use serde::Serialize;

use super::phase::Phase;

/// One hook of a [`PhaseRegistry`](super::PhaseRegistry).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookDescriptor {
    /// Id of the hook.
    pub id: String,
    /// Its phase.
    pub phase: Phase,
    /// Priority of a PRE hook; `None` for POST hooks and observers. Serialised as the priority of
    /// `entry`, which is 0 for these.
    #[serde(skip)]
    pub priority: Option<i32>,
    /// Failure policy.
    pub on_failure: FailurePolicy,
    /// Failures since the last success, if a number of them disables the hook; else 0.
    pub failures: u32,
    /// Description of the entry, whose key is the id.
    #[serde(flatten)]
    pub entry: EntryDescription,
}

impl HookDescriptor {
    pub(super) fn new(phase: Phase, entry: &EntryMeta, failures: u32) -> Self {
        HookDescriptor {
            id: entry.key().unwrap_or_default().to_owned(),
            phase,
            priority: (phase == Phase::Pre).then(|| entry.priority()),
            on_failure: phase.policy(entry.on_failure()),
            failures,
            entry: entry.into(),
        }
    }
}

impl Deref for HookDescriptor {
    type Target = EntryDescription;

    fn deref(&self) -> &EntryDescription {
        &self.entry
    }
}
