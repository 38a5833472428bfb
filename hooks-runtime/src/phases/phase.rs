//! The phases of a call.

use std::fmt;

use hooks_core::FailurePolicy;
use serde::{Deserialize, Serialize};

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
    pub(crate) const fn name(self) -> &'static str {
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
