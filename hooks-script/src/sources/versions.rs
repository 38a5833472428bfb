//! Every version of a source that was seen.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::store::StoreError;

#[cfg(feature = "sqlite")]
mod sqlite;

/// One version of a source (`S-05`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceVersion {
    /// Where it comes from: the URL, `file:` and the path, or `text:` and the name.
    pub source: String,
    /// SHA-256 of the code, in hexadecimal digits.
    pub hash: String,
    /// When it was seen first.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub first_seen: Timestamp,
    /// When it was seen last: read, or confirmed by its server.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub last_seen: Timestamp,
    /// What its server calls it (`ETag`).
    pub etag: Option<String>,
    /// When it was changed last, as its server says it (`Last-Modified`).
    pub last_modified: Option<String>,
}

/// The versions of sources, with their code (`S-05`). A clone is the same.
#[derive(Clone)]
pub struct Versions {
    backend: Backend,
}

#[derive(Clone)]
enum Backend {
    Memory(Arc<Mutex<Memory>>),
    #[cfg(feature = "sqlite")]
    Sqlite(crate::store::Database),
}

/// By source, the version that was seen last at the end.
type Memory = HashMap<String, Vec<Kept>>;

/// A version, with what belongs to reading it again.
#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "fetch"),
    expect(dead_code, reason = "only what is fetched is read again")
)]
pub(super) struct Kept {
    pub(super) version: SourceVersion,
    /// None of what its server does not let anyone keep.
    pub(super) code: Option<String>,
    /// Which URL the validators are of, behind all redirects.
    pub(super) url: Option<String>,
    pub(super) fresh_until: Timestamp,
    pub(super) stale_allowed: bool,
}

/// A version that was just seen.
pub(super) struct Seen<'a> {
    pub(super) source: &'a str,
    pub(super) hash: &'a str,
    pub(super) now: Timestamp,
    /// None of what is not to be kept, not even as it was before.
    pub(super) code: Option<&'a str>,
    pub(super) url: Option<String>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) fresh_until: Timestamp,
    pub(super) stale_allowed: bool,
}

impl<'a> Seen<'a> {
    pub(super) fn new(source: &'a str, hash: &'a str, now: Timestamp) -> Self {
        Seen {
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
    /// Versions that are gone with the process.
    pub fn in_memory() -> Self {
        Versions {
            backend: Backend::Memory(Arc::default()),
        }
    }

    /// Versions in a database.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(database: &crate::store::Database) -> Self {
        Versions {
            backend: Backend::Sqlite(database.clone()),
        }
    }

    /// The versions of a source, the one that was seen last first. A source is named as
    /// [`Source`](crate::Source) prints.
    ///
    /// # Errors
    ///
    /// That of the store.
    pub async fn of(&self, source: &str) -> Result<Vec<SourceVersion>, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => {
                let memory = lock(memory);
                let versions = memory.get(source).into_iter().flatten().rev();
                Ok(versions.map(|kept| kept.version.clone()).collect())
            }
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::of(database, source).await,
        }
    }

    /// The code of a version, if it was kept: `no-store` of its server forbids that.
    ///
    /// # Errors
    ///
    /// That of the store.
    pub async fn code(&self, source: &str, hash: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .kept(source, Some(hash))
            .await?
            .and_then(|kept| kept.code))
    }

    /// Deletes the versions that were last seen before `time`, except the last one of each
    /// source, and says how many there were. Without this, whoever serves a source can make
    /// the store grow with every change.
    ///
    /// # Errors
    ///
    /// That of the store.
    pub async fn forget_before(&self, time: Timestamp) -> Result<u64, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => {
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
            Backend::Sqlite(database) => sqlite::forget_before(database, time).await,
        }
    }

    /// The version of this hash, or the one that was seen last.
    pub(super) async fn kept(
        &self,
        source: &str,
        hash: Option<&str>,
    ) -> Result<Option<Kept>, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => {
                let memory = lock(memory);
                let mut versions = memory.get(source).into_iter().flatten().rev();
                Ok(versions
                    .find(|kept| hash.is_none_or(|hash| kept.version.hash == hash))
                    .cloned())
            }
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::kept(database, source, hash).await,
        }
    }

    pub(super) async fn seen(&self, seen: Seen<'_>) -> Result<SourceVersion, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => Ok(remember(&mut lock(memory), seen)),
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(database) => sqlite::seen(database, seen).await,
        }
    }
}

fn remember(memory: &mut Memory, seen: Seen<'_>) -> SourceVersion {
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
    versions.push(Kept {
        version: version.clone(),
        code: seen.code.map(str::to_owned),
        url: seen.url,
        fresh_until: seen.fresh_until,
        stale_allowed: seen.stale_allowed,
    });
    version
}

// Nothing that holds the lock can panic halfway through a change.
fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match &self.backend {
            Backend::Memory(_) => "memory",
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(_) => "sqlite",
        };
        f.debug_struct("Versions")
            .field("backend", &backend)
            .finish()
    }
}
