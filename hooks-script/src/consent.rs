//! Consents of users to the capabilities of hooks. Decisions go in; a check returns whether a
//! consent currently applies.
//!
//! The store is an append-only list of decisions. Every check evaluates the list again, so a
//! revocation takes effect without notifying other processes.

mod memory;
mod request;
mod rule;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

pub use self::request::{ConsentChange, ConsentRequest, Decision, Missing};
use self::rule::ConsentState;
use crate::scope::Scope;
use crate::store::StoreError;

/// Result of a consent check. Only [`Granted`](Consent::Granted) permits the capability.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Consent {
    /// The capability is approved while the permit is valid.
    Granted(Permit),
    /// The capability was denied for this version of the hook.
    Denied,
    /// No decision applies; ask the user.
    Missing(Missing),
}

/// Error returned when a consent cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsentError {
    /// The store failed: no consent was recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An approval must name a user or a place.
    #[error("the approval names no scope; name a user, a guild or a channel")]
    Everything,
}

/// Error returned when a permit is no longer valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PermitVoid {
    /// The consent was withdrawn, denied or granted anew after the permit was issued.
    #[error("the consent to `{capability}` is no longer valid; request it again")]
    Withdrawn {
        /// Capability of the permit.
        capability: String,
    },
    /// The store failed, which is treated as a denial.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Stores the consents of users. Hooks cannot access the store. Clones share it.
///
/// An approval is for one version of a hook. If the source of the hook or the context that its
/// manifest requests changes, the hook needs a new approval. An approval covers its scope, and only
/// the user that it names: an approval for a guild is not an approval for a member of the guild. A
/// denial covers everyone within its scope and overrides every approval of that version, until a
/// later decision for that scope replaces it. A revocation voids every earlier approval that
/// overlaps its scope: of its own scope, of narrower and of wider ones; a wider approval remains
/// valid elsewhere.
///
/// ```
/// use hooks_script::{Consent, ConsentRequest, ConsentStore, Scope};
///
/// # futures_executor::block_on(async {
/// let store = ConsentStore::in_memory();
/// let request = ConsentRequest::new("https://example.org/hook.js", "9f86d0…", "http", Scope::user("u-1"));
/// assert!(matches!(store.check(&request).await?, Consent::Missing(_)));
///
/// store.approve(&request, "u-1").await?;
/// let permit = store.permit(&request).await.expect("it was approved");
/// permit.check().await?;
///
/// store.revoke(&request, "u-1").await?;
/// assert!(permit.check().await.is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ConsentStore {
    backend: ConsentBackend,
}

#[derive(Clone)]
enum ConsentBackend {
    Memory(Arc<memory::ConsentTable>),
    #[cfg(feature = "sqlite")]
    Sqlite(crate::store::Database),
}

/// A granted consent. Check it again immediately before using it.
#[derive(Debug, Clone)]
#[must_use = "a permit has no effect unless it is checked"]
pub struct Permit {
    store: ConsentStore,
    request: ConsentRequest,
    approval: u64,
}

impl ConsentStore {
    /// Creates a store in memory, which is lost when the process ends.
    pub fn in_memory() -> Self {
        ConsentStore {
            backend: ConsentBackend::Memory(Arc::default()),
        }
    }

    /// Creates a store in a database. Confirmed changes survive if the process is killed.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(database: &crate::store::Database) -> Self {
        ConsentStore {
            backend: ConsentBackend::Sqlite(database.clone()),
        }
    }

    /// Records an approval of this version of the hook.
    ///
    /// # Errors
    ///
    /// Returns [`ConsentError::Everything`] if the scope names neither a user nor a place, or the
    /// error of the store. After an error of the store, only a check shows if the approval was
    /// recorded.
    pub async fn approve(
        &self,
        request: &ConsentRequest,
        by: &str,
    ) -> Result<ConsentChange, ConsentError> {
        if request.scope == Scope::everything() {
            return Err(ConsentError::Everything);
        }
        self.append(request, Decision::Approve, by).await
    }

    /// Records a denial of this version of the hook.
    ///
    /// # Errors
    ///
    /// Returns the error of the store. An earlier approval may still apply.
    pub async fn deny(
        &self,
        request: &ConsentRequest,
        by: &str,
    ) -> Result<ConsentChange, ConsentError> {
        self.append(request, Decision::Deny, by).await
    }

    /// Revokes earlier approvals of every version of the hook. After this returns, no check in the
    /// scope of the request returns an earlier approval, and no permit from one is valid there, in
    /// any process that uses this database.
    ///
    /// # Errors
    ///
    /// Returns the error of the store. An earlier approval may still apply: retry.
    pub async fn revoke(
        &self,
        request: &ConsentRequest,
        by: &str,
    ) -> Result<ConsentChange, ConsentError> {
        self.append(request, Decision::Revoke, by).await
    }

    async fn append(
        &self,
        request: &ConsentRequest,
        decision: Decision,
        by: &str,
    ) -> Result<ConsentChange, ConsentError> {
        let change = ConsentChange {
            id: 0,
            time: Timestamp::now(),
            by: by.to_owned(),
            decision,
            hook: request.hook.clone(),
            code_hash: (decision != Decision::Revoke).then(|| request.code_hash.clone()),
            context: (decision != Decision::Revoke).then(|| request.context.clone()),
            capability: request.capability.clone(),
            scope: request.scope.clone(),
        };
        Ok(match &self.backend {
            ConsentBackend::Memory(memory) => memory.append(change),
            #[cfg(feature = "sqlite")]
            ConsentBackend::Sqlite(database) => sqlite::append(database, change).await?,
        })
    }

    /// Returns the consent that currently applies to the request.
    ///
    /// # Errors
    ///
    /// Returns the error of the store, which means that no consent applies.
    pub async fn check(&self, request: &ConsentRequest) -> Result<Consent, StoreError> {
        let standing = match &self.backend {
            ConsentBackend::Memory(memory) => memory.standing(request),
            #[cfg(feature = "sqlite")]
            ConsentBackend::Sqlite(database) => sqlite::standing(database, request).await?,
        };
        Ok(match standing {
            ConsentState::Approved(approval) => Consent::Granted(Permit {
                store: self.clone(),
                request: request.clone(),
                approval,
            }),
            ConsentState::Denied => Consent::Denied,
            ConsentState::Missing(why) => Consent::Missing(why),
        })
    }

    /// Returns a permit if consent is granted. If the store fails, logs the error and returns
    /// `None`.
    pub async fn permit(&self, request: &ConsentRequest) -> Option<Permit> {
        match self.check(request).await {
            Ok(Consent::Granted(permit)) => Some(permit),
            Ok(Consent::Denied | Consent::Missing(_)) => None,
            Err(error) => {
                tracing::error!(hook = request.hook, capability = request.capability, %error, "no consent: the store failed");
                None
            }
        }
    }

    /// Returns the decisions about a hook, oldest first.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn history_of_hook(&self, hook: &str) -> Result<Vec<ConsentChange>, StoreError> {
        match &self.backend {
            ConsentBackend::Memory(memory) => Ok(memory.changes(|change| change.hook == hook)),
            #[cfg(feature = "sqlite")]
            ConsentBackend::Sqlite(database) => sqlite::changes(database, Some(hook), None).await,
        }
    }

    /// Returns the decisions that name a user, oldest first.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn history_of_user(&self, user: &str) -> Result<Vec<ConsentChange>, StoreError> {
        match &self.backend {
            ConsentBackend::Memory(memory) => {
                Ok(memory.changes(|change| change.scope.user.as_deref() == Some(user)))
            }
            #[cfg(feature = "sqlite")]
            ConsentBackend::Sqlite(database) => sqlite::changes(database, None, Some(user)).await,
        }
    }
}

impl Permit {
    /// Checks that the approval of this permit still applies. Call it immediately before each use.
    ///
    /// # Errors
    ///
    /// Returns the reason why the permit must not be used.
    pub async fn check(&self) -> Result<(), PermitVoid> {
        match self.store.check(&self.request).await? {
            Consent::Granted(now) if now.approval == self.approval => Ok(()),
            _ => Err(PermitVoid::Withdrawn {
                capability: self.request.capability.clone(),
            }),
        }
    }

    /// Returns the request that the permit is for.
    pub fn request(&self) -> &ConsentRequest {
        &self.request
    }
}

impl fmt::Debug for ConsentStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match &self.backend {
            ConsentBackend::Memory(_) => "memory",
            #[cfg(feature = "sqlite")]
            ConsentBackend::Sqlite(_) => "sqlite",
        };
        f.debug_struct("ConsentStore")
            .field("backend", &backend)
            .finish()
    }
}
