//! The phases of a call, and the log of their failures.

use std::fmt;

use hooks_core::{EntryMeta, Failure, FailurePolicy};
use serde::{Deserialize, Serialize};

use crate::error::text;

/// Point of a call at which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Phase {
    /// Before the call.
    Pre,
    /// After the call.
    Post,
    /// After the PRE hooks, whatever they responded.
    Observe,
}

impl Phase {
    /// Returns the name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Pre => "PRE",
            Phase::Post => "POST",
            Phase::Observe => "OBSERVE",
        }
    }

    /// Returns the failure policy of a hook with this registration.
    pub(crate) fn policy(self, chosen: Option<FailurePolicy>) -> FailurePolicy {
        chosen.unwrap_or(match self {
            Phase::Pre => FailurePolicy::Propagate,
            Phase::Post | Phase::Observe => FailurePolicy::Isolate,
        })
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Logs a failure of a hook of this phase.
pub(crate) fn log(phase: Phase, entry: &EntryMeta, failure: &Failure) {
    tracing::warn!(
        target: "hooks_runtime",
        %phase,
        hook = entry.key(),
        kind = failure.kind(),
        "{phase} hook {}",
        text(failure)
    );
}
