//! What is asked and decided: requests for consents, and decisions about them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::manifest::{ContextKey, Manifest};
use crate::scope::Scope;

/// A request that a version of a hook may use a capability, for a user and within a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentRequest {
    pub(super) hook: String,
    pub(super) code_hash: String,
    pub(super) context: String,
    pub(super) capability: String,
    pub(super) scope: Scope,
}

/// Reason why no consent applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Missing {
    /// Consent was never requested.
    Never,
    /// The source of the hook, or the context that its manifest requests, changed after the
    /// decision.
    Changed,
    /// The consent was revoked.
    Revoked,
}

/// A decision about a consent request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Approves this version of the hook.
    Approve,
    /// Denies this version of the hook.
    Deny,
    /// Revokes every earlier approval, for all versions of the hook.
    Revoke,
}

/// An entry of the store's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConsentChange {
    /// Sequence number; increases with every change.
    pub id: u64,
    /// Time of the decision.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub time: Timestamp,
    /// Person who decided, as named by the host.
    pub by: String,
    /// The decision.
    pub decision: Decision,
    /// The `source` of the hook's manifest.
    pub hook: String,
    /// SHA-256 of the hook's source. `None` for a revocation, which applies to all versions.
    pub code_hash: Option<String>,
    /// Context keys that this version requests in its manifest, separated by commas. `None` for a
    /// revocation.
    pub context: Option<String>,
    /// Capability, such as `http`.
    pub capability: String,
    /// User and place that the decision applies to.
    pub scope: Scope,
}

impl ConsentRequest {
    /// Creates a request from its parts: the `source` of the hook's manifest, the SHA-256 of its
    /// code, the capability, such as `http`, and the scope. It is for a hook whose manifest
    /// requests no context data.
    pub fn new(
        hook: impl Into<String>,
        code_hash: impl Into<String>,
        capability: impl Into<String>,
        scope: Scope,
    ) -> Self {
        ConsentRequest {
            hook: hook.into(),
            code_hash: code_hash.into(),
            context: String::new(),
            capability: capability.into(),
            scope,
        }
    }

    /// Creates the request of a version of a hook.
    pub(crate) fn of_version(
        manifest: &Manifest,
        code_hash: &str,
        capability: impl Into<String>,
        scope: Scope,
    ) -> Self {
        let keys: Vec<_> = manifest.context().map(ContextKey::as_str).collect();
        ConsentRequest {
            context: keys.join(","),
            ..ConsentRequest::new(manifest.source(), code_hash, capability, scope)
        }
    }

    /// Returns the requested capability.
    pub fn capability(&self) -> &str {
        &self.capability
    }

    /// Returns the user and place of the request.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

impl Decision {
    /// Returns the word that stores use for the decision.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::Deny => "deny",
            Decision::Revoke => "revoke",
        }
    }
}
