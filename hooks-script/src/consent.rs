//! Who agreed to what a hook may do beyond computing, and whether that still holds (`S-21`).
//!
//! The store is a list of changes that only grows. Whether there is consent is read off it
//! anew at every check, so that a revocation needs to reach nobody.

mod memory;
mod rule;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::rule::Standing;
use crate::hook::ScriptHook;
use crate::manifest::ContextKey;
use crate::scope::Scope;
use crate::store::StoreError;

/// What is asked for: that this version of a hook may use a capability, for somebody and
/// somewhere (`S-21`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentRequest {
    hook: String,
    code_hash: String,
    context: String,
    capability: String,
    scope: Scope,
}

/// What a check comes to (`S-21`). Only [`Granted`](Consent::Granted) is a yes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Consent {
    /// Yes, for as long as the permit holds.
    Granted(Permit),
    /// No: somebody said so, about this version of the hook.
    Denied,
    /// Nobody has said anything that still counts; ask.
    Missing(Missing),
}

/// Why nobody's word counts (`S-21`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Missing {
    /// It was never asked for.
    Never,
    /// The hook has changed since it was, or what its manifest asks to be told.
    Changed,
    /// It was revoked.
    Revoked,
}

/// What somebody decided (`S-21`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Yes, to this version of the hook.
    Approve,
    /// No, to this version of the hook.
    Deny,
    /// Whatever was approved before, for any version, is void.
    Revoke,
}

/// One entry of the store's history (`S-21`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConsentChange {
    /// Grows with every change.
    pub id: u64,
    /// When.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub time: Timestamp,
    /// Who decided, as the host calls them.
    pub by: String,
    /// What.
    pub decision: Decision,
    /// Which hook: the `source` of its manifest.
    pub hook: String,
    /// Which version of it: SHA-256 of its source. None of a revocation, which is of them all.
    pub code_hash: Option<String>,
    /// What that version asks to be told, in its manifest: the names of the keys, with a comma
    /// between them. None of a revocation.
    pub context: Option<String>,
    /// What the hook would be able to do, such as `http`.
    pub capability: String,
    /// For whom, and where.
    pub scope: Scope,
}

/// Why a consent cannot be recorded (`S-21`).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsentError {
    /// The store fails: there is no consent.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An approval has to say for whom or where it is.
    #[error("the approval is for everybody, everywhere; name a user, a guild or a channel")]
    Everything,
}

/// Why a permit is void (`S-21`).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PermitVoid {
    /// The consent was withdrawn, denied or given anew since.
    #[error("the consent to `{capability}` no longer holds; ask for it again")]
    Withdrawn {
        /// What it was for.
        capability: String,
    },
    /// The store fails, which never means yes.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The consents of users, out of reach of any hook (`S-21`). A clone is the same store.
///
/// An approval is of one version of a hook: a hook whose source has changed, or what its manifest
/// asks to be told, asks again. It
/// covers what lies within its scope, but nobody whom it does not name: what is approved for a
/// guild is not approved for a user of it. A denial covers everybody within its scope, and
/// stands against every approval of the same version, until its own scope decides otherwise. In its scope, a
/// revocation voids every approval made before it, of that scope, of a narrower and of a wider
/// one; a wider one stands elsewhere.
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
    backend: Backend,
}

#[derive(Clone)]
enum Backend {
    Memory(Arc<memory::Memory>),
    #[cfg(feature = "sqlite")]
    Sqlite(crate::store::Database),
}

/// A consent that was found, to be looked at again right before it is used (`S-21`).
#[derive(Debug, Clone)]
#[must_use = "a permit that nobody checks holds nothing back"]
pub struct Permit {
    store: ConsentStore,
    request: ConsentRequest,
    approval: u64,
}

impl ConsentRequest {
    /// A request by its parts: the `source` of the hook's manifest, the SHA-256 of its code,
    /// what it would do, such as `http`, and for whom and where. That of a hook whose manifest asks
    /// for nothing in `data`.
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

    /// The request of a registered hook.
    pub fn of(hook: &ScriptHook, capability: impl Into<String>, scope: Scope) -> Self {
        let manifest = hook.manifest();
        let keys: Vec<_> = manifest.context().map(ContextKey::as_str).collect();
        ConsentRequest {
            context: keys.join(","),
            ..ConsentRequest::new(manifest.source(), &**hook.code_hash(), capability, scope)
        }
    }

    /// What the hook would be able to do.
    pub fn capability(&self) -> &str {
        &self.capability
    }

    /// For whom, and where.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

impl ConsentStore {
    /// A store that is gone with the process.
    pub fn in_memory() -> Self {
        ConsentStore {
            backend: Backend::Memory(Arc::default()),
        }
    }

    /// A store in a database. What a call confirmed is there after the process is killed.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(database: &crate::store::Database) -> Self {
        ConsentStore {
            backend: Backend::Sqlite(database.clone()),
        }
    }

    /// Records a yes, to this version of the hook.
    ///
    /// # Errors
    ///
    /// [`ConsentError::Everything`] for a scope that names nobody and no place, or that of the
    /// store: whether the approval counts is then for a check to say.
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

    /// Records a no, to this version of the hook.
    ///
    /// # Errors
    ///
    /// That of the store. An approval from before may still count.
    pub async fn deny(
        &self,
        request: &ConsentRequest,
        by: &str,
    ) -> Result<ConsentChange, ConsentError> {
        self.append(request, Decision::Deny, by).await
    }

    /// Takes back what was approved, for every version of the hook. When this has returned, no
    /// check in the scope of the request says yes and no permit in it holds that rests on an
    /// earlier approval, in any process that uses the same database.
    ///
    /// # Errors
    ///
    /// That of the store. An approval from before may still count: try again.
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
            Backend::Memory(memory) => memory.append(change),
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::append(database, change).await?,
        })
    }

    /// Whether there is consent, now.
    ///
    /// # Errors
    ///
    /// That of the store, which means that there is none.
    pub async fn check(&self, request: &ConsentRequest) -> Result<Consent, StoreError> {
        let standing = match &self.backend {
            Backend::Memory(memory) => memory.standing(request),
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::standing(database, request).await?,
        };
        Ok(match standing {
            Standing::Approved(approval) => Consent::Granted(Permit {
                store: self.clone(),
                request: request.clone(),
                approval,
            }),
            Standing::Denied => Consent::Denied,
            Standing::Missing(why) => Consent::Missing(why),
        })
    }

    /// The permit, if there is consent. A store that fails is logged, and gives none.
    pub async fn permit(&self, request: &ConsentRequest) -> Option<Permit> {
        match self.check(request).await {
            Ok(Consent::Granted(permit)) => Some(permit),
            Ok(Consent::Denied | Consent::Missing(_)) => None,
            Err(error) => {
                tracing::error!(hook = request.hook, capability = request.capability, %error, "no consent: the store fails");
                None
            }
        }
    }

    /// What was decided about a hook, oldest first.
    ///
    /// # Errors
    ///
    /// That of the store.
    pub async fn history_of_hook(&self, hook: &str) -> Result<Vec<ConsentChange>, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => Ok(memory.changes(|change| change.hook == hook)),
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::changes(database, Some(hook), None).await,
        }
    }

    /// What was decided for a user by name, oldest first.
    ///
    /// # Errors
    ///
    /// That of the store.
    pub async fn history_of_user(&self, user: &str) -> Result<Vec<ConsentChange>, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => {
                Ok(memory.changes(|change| change.scope.user.as_deref() == Some(user)))
            }
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::changes(database, None, Some(user)).await,
        }
    }
}

impl Permit {
    /// Whether the very approval that this rests on still counts. Asked right before each use.
    ///
    /// # Errors
    ///
    /// Why the permit must not be used.
    pub async fn check(&self) -> Result<(), PermitVoid> {
        match self.store.check(&self.request).await? {
            Consent::Granted(now) if now.approval == self.approval => Ok(()),
            _ => Err(PermitVoid::Withdrawn {
                capability: self.request.capability.clone(),
            }),
        }
    }

    /// What it permits.
    pub fn request(&self) -> &ConsentRequest {
        &self.request
    }
}

impl Decision {
    /// The word for it, as stores spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::Deny => "deny",
            Decision::Revoke => "revoke",
        }
    }
}

impl fmt::Debug for ConsentStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match &self.backend {
            Backend::Memory(_) => "memory",
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(_) => "sqlite",
        };
        f.debug_struct("ConsentStore")
            .field("backend", &backend)
            .finish()
    }
}
