//! Descriptions of registered hooks.

use std::time::Duration;

use hooks_core::{EntryMeta, FailurePolicy};
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
    /// Its priority; POST hooks and observers have none.
    pub priority: Option<i32>,
    /// The ids of the hooks before which this hook runs.
    pub before: Vec<String>,
    /// The ids of the hooks after which this hook runs.
    pub after: Vec<String>,
    /// Timeout of a call.
    pub timeout: Option<Duration>,
    /// Failure policy.
    pub on_failure: FailurePolicy,
    /// `false` if the hook is disabled.
    pub enabled: bool,
    /// `true` if the hook runs for some requests or results only.
    pub conditional: bool,
    /// Failures since the last success, if a number of them disables the hook; else 0.
    pub failures: u32,
}

impl HookDescriptor {
    pub(super) fn new(phase: Phase, entry: &EntryMeta, failures: u32) -> Self {
        HookDescriptor {
            id: entry.key().unwrap_or_default().to_owned(),
            phase,
            priority: (phase == Phase::Pre).then(|| entry.priority()),
            before: entry.before().map(str::to_owned).collect(),
            after: entry.after().map(str::to_owned).collect(),
            timeout: entry.timeout(),
            on_failure: phase.policy(entry.on_failure()),
            enabled: entry.is_enabled(),
            conditional: entry.is_conditional(),
            failures,
        }
    }
}
