//! Store of every version of a source that was loaded.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::store::StoreError;

#[cfg(feature = "sqlite")]
mod sqlite;

/// A version of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceVersion {
    /// Key of the source: the URL, `file:` and the path, or `text:` and the name.
    pub source: String,
    /// SHA-256 of the code, in hexadecimal digits.
    pub hash: String,
    /// Time of the first load.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub first_seen: Timestamp,
    /// Time of the last load or confirmation by the server.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub last_seen: Timestamp,
    /// `ETag` of the server.
    pub etag: Option<String>,
    /// `Last-Modified` of the server.
    pub last_modified: Option<String>,
}

/// Versions of sources, with their code. Clones share the store.
#[derive(Clone)]
pub struct Versions {
    backend: VersionsBackend,
}

#[derive(Clone)]
enum VersionsBackend {
    Memory(Arc<Mutex<VersionTable>>),
    #[cfg(feature = "sqlite")]
    Sqlite(crate::store::Database),
}

/// Versions by source, ordered by the time they were last seen.
type VersionTable = HashMap<String, Vec<StoredVersion>>;

/// A stored version, with the data for requesting it again.
#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "fetch"),
    expect(dead_code, reason = "only fetched versions are requested again")
)]
pub(super) struct StoredVersion {
    pub(super) version: SourceVersion,
    /// The code; `None` if the server forbids storing it.
    pub(super) code: Option<String>,
    /// URL after all redirects, to which the validators belong.
    pub(super) url: Option<String>,
    pub(super) fresh_until: Timestamp,
    pub(super) stale_allowed: bool,
}

/// A version that was just loaded.
pub(super) struct LoadedVersion<'a> {
    pub(super) source: &'a str,
    pub(super) hash: &'a str,
    pub(super) now: Timestamp,
    /// The code; `None` if it must not be stored, which also deletes a stored one.
    pub(super) code: Option<&'a str>,
    pub(super) url: Option<String>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) fresh_until: Timestamp,
    pub(super) stale_allowed: bool,
}

impl<'a> LoadedVersion<'a> {
    pub(super) fn new(source: &'a str, hash: &'a str, now: Timestamp) -> Self {
        LoadedVersion {
            source,
            hash,
            now,
            code: None,
            url: None,
            etag: None,
            last_modified: None,
            fresh_until: now,
            stale_allowed: true,
        }
    }

    pub(super) fn code(mut self, code: &'a str) -> Self {
        self.code = Some(code);
        self
    }
}

impl Versions {
    /// Creates a store in memory, which is lost when the process ends.
    pub fn in_memory() -> Self {
        Versions {
            backend: VersionsBackend::Memory(Arc::default()),
        }
    }

    /// Creates a store in a database.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(database: &crate::store::Database) -> Self {
        Versions {
            backend: VersionsBackend::Sqlite(database.clone()),
        }
    }

    /// Returns the versions of a source, last seen first. Name the source as
    /// [`Source`](crate::Source) formats it.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn of(&self, source: &str) -> Result<Vec<SourceVersion>, StoreError> {
        match &self.backend {
            VersionsBackend::Memory(memory) => {
                let memory = lock(memory);
                let versions = memory.get(source).into_iter().flatten().rev();
                Ok(versions.map(|kept| kept.version.clone()).collect())
            }
            #[cfg(feature = "sqlite")]
            VersionsBackend::Sqlite(database) => sqlite::of(database, source).await,
        }
    }

    /// Returns the code of a version; `None` if its server forbids storing it (`no-store`).
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn code(&self, source: &str, hash: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .kept(source, Some(hash))
            .await?
            .and_then(|kept| kept.code))
    }

    /// Deletes versions that were last seen before `time`, except the last one of each source, and
    /// returns their number. Without this cleanup, the server of a source can grow the store with
    /// every change.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn forget_before(&self, time: Timestamp) -> Result<u64, StoreError> {
        match &self.backend {
            VersionsBackend::Memory(memory) => {
                let mut forgotten = 0;
                for versions in lock(memory).values_mut() {
                    let Some(last) = versions.pop() else { continue };
                    let before = versions.len();
                    versions.retain(|kept| kept.version.last_seen >= time);
                    forgotten += (before - versions.len()) as u64;
                    versions.push(last);
                }
                Ok(forgotten)
            }
            #[cfg(feature = "sqlite")]
            VersionsBackend::Sqlite(database) => sqlite::forget_before(database, time).await,
        }
    }

    /// Returns the version with this hash or, by default, the one last seen.
    pub(super) async fn kept(
        &self,
        source: &str,
        hash: Option<&str>,
    ) -> Result<Option<StoredVersion>, StoreError> {
        match &self.backend {
            VersionsBackend::Memory(memory) => {
                let memory = lock(memory);
                let mut versions = memory.get(source).into_iter().flatten().rev();
                Ok(versions
                    .find(|kept| hash.is_none_or(|hash| kept.version.hash == hash))
                    .cloned())
            }
            #[cfg(feature = "sqlite")]
            VersionsBackend::Sqlite(database) => sqlite::kept(database, source, hash).await,
        }
    }

    pub(super) async fn seen(&self, seen: LoadedVersion<'_>) -> Result<SourceVersion, StoreError> {
        match &self.backend {
            VersionsBackend::Memory(memory) => Ok(remember(&mut lock(memory), seen)),
            #[cfg(feature = "sqlite")]
            VersionsBackend::Sqlite(database) => sqlite::seen(database, seen).await,
        }
    }
}

fn remember(memory: &mut VersionTable, seen: LoadedVersion<'_>) -> SourceVersion {
    let versions = memory.entry(seen.source.to_owned()).or_default();
    let before = versions
        .iter()
        .position(|kept| kept.version.hash == seen.hash);
    let before = before.map(|at| versions.remove(at));
    let first_seen = before.map_or(seen.now, |kept| kept.version.first_seen);
    let version = SourceVersion {
        source: seen.source.to_owned(),
        hash: seen.hash.to_owned(),
        first_seen,
        last_seen: seen.now,
        etag: seen.etag,
        last_modified: seen.last_modified,
    };
    versions.push(StoredVersion {
        version: version.clone(),
        code: seen.code.map(str::to_owned),
        url: seen.url,
        fresh_until: seen.fresh_until,
        stale_allowed: seen.stale_allowed,
    });
    version
}

// No holder of the lock can panic in the middle of a change, so a poisoned lock is safe to use.
fn lock(memory: &Mutex<VersionTable>) -> MutexGuard<'_, VersionTable> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match &self.backend {
            VersionsBackend::Memory(_) => "memory",
            #[cfg(feature = "sqlite")]
            VersionsBackend::Sqlite(_) => "sqlite",
        };
        f.debug_struct("Versions")
            .field("backend", &backend)
            .finish()
    }
}
