//! Loads the code of hooks from texts, files and URLs, and stores every version.

#[cfg(feature = "fetch")]
mod caching;
#[cfg(feature = "fetch")]
mod fetch;
mod versions;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

#[cfg(feature = "fetch")]
pub use self::fetch::{FetchError, Fetcher, FetcherBuilder};
pub use self::versions::{SourceVersion, Versions};

use self::versions::{LoadedVersion, StoredVersion};
use crate::limits::Limits;
use crate::sandbox::hex;
use crate::store::StoreError;

/// Default maximum time for which a server's response is fresh.
const MAX_FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Location of a hook's code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// In memory.
    Text {
        /// Name of the source in the store of versions.
        name: String,
        /// Code.
        code: String,
    },
    /// In a file.
    File(PathBuf),
    /// At an `https` URL. Needs the feature `fetch`.
    Url(String),
}

/// The code of a hook, with its version and age.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// Code.
    pub code: String,
    /// Version of the code.
    pub version: SourceVersion,
    /// Age of the code.
    pub freshness: Freshness,
}

/// Age of a loaded source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freshness {
    /// The source was read now.
    Read,
    /// The source was read before, and its server confirmed that it is unchanged.
    Revalidated,
    /// The source was read before, and the freshness that its server allowed has not ended.
    Fresh,
    /// The source was read before, and is the pinned version.
    Pinned,
    /// The source was read before, and cannot be read now.
    Stale {
        /// Reason of the failure.
        why: String,
    },
}

/// Error returned when a source cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    File {
        /// Path of the file.
        path: String,
        /// Cause.
        source: io::Error,
    },
    /// The source is too long.
    #[error("the source has more than {limit} bytes; shorten it, or raise the limit")]
    TooLarge {
        /// Maximum length in bytes.
        limit: usize,
    },
    /// The source is not valid UTF-8.
    #[error("the source is not UTF-8; save it as UTF-8")]
    NotText,
    /// The source is not the pinned version.
    #[error(
        "the source has hash `{found}`, but `{expected}` is pinned; update the pin or the source"
    )]
    Pinned {
        /// Pinned version: SHA-256 in hexadecimal digits.
        expected: String,
        /// Hash of the source.
        found: String,
    },
    /// The source is a URL, and no fetcher was set.
    #[error("the source is a URL; set a `Fetcher` on `Sources` (feature `fetch`)")]
    NoFetcher,
    /// The URL cannot be read.
    #[cfg(feature = "fetch")]
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The store of versions failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Loads sources and stores every version that it loads. Clones share the store.
///
/// ```
/// use hooks_script::{Source, Sources, Versions};
///
/// # futures_executor::block_on(async {
/// let sources = Sources::new(Versions::in_memory());
/// let code = "export default () => ({ out: {} });";
/// let loaded = sources.load(&Source::text("empty", code), None).await?;
///
/// let hash = loaded.version.hash;
/// let error = sources.load(&Source::text("empty", "another"), Some(&hash)).await;
/// assert_eq!(error?.code, code, "the version that was asked for is still there");
/// # Ok::<_, hooks_script::SourceError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Sources {
    versions: Versions,
    #[cfg(feature = "fetch")]
    fetcher: Option<Fetcher>,
    max_bytes: usize,
    longest_fresh: Duration,
    stale_if_error: Option<Duration>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Source {
    /// Creates a source from a text.
    pub fn text(name: impl Into<String>, code: impl Into<String>) -> Self {
        Source::Text {
            name: name.into(),
            code: code.into(),
        }
    }

    /// Creates a source from a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Source::File(path.into())
    }

    /// Creates a source from an `https` URL.
    pub fn url(url: impl Into<String>) -> Self {
        Source::Url(url.into())
    }
}

/// Formats the key under which the versions of the source are stored.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Text { name, .. } => write!(f, "text:{name}"),
            Source::File(path) => write!(f, "file:{}", path.display()),
            // Such a URL is invalid, but without a prefix its key would equal that of a file or a
            // text.
            Source::Url(url) if url.starts_with("file:") || url.starts_with("text:") => {
                write!(f, "url:{url}")
            }
            Source::Url(url) => f.write_str(url),
        }
    }
}

impl Sources {
    /// Creates a loader of texts and files that stores the versions in `versions`.
    pub fn new(versions: Versions) -> Self {
        Sources {
            versions,
            #[cfg(feature = "fetch")]
            fetcher: None,
            max_bytes: Limits::default().source,
            longest_fresh: MAX_FRESH,
            stale_if_error: None,
            clock: Arc::new(Timestamp::now),
        }
    }

    /// Sets the fetcher that reads URLs. Default: none.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn fetcher(mut self, fetcher: Fetcher) -> Self {
        self.fetcher = Some(fetcher);
        self
    }

    /// Sets the maximum length of a source in bytes. Default: 256 KiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the maximum time for which a server's response is fresh. Default: one day.
    #[must_use]
    pub fn longest_fresh(mut self, time: Duration) -> Self {
        self.longest_fresh = time;
        self
    }

    /// Sets for how long after its last read a version may be returned if its URL cannot be read,
    /// unless its server forbids that (`must-revalidate`, `no-cache`). Default: never;
    /// [`load`](Self::load) returns the error.
    #[must_use]
    pub fn stale_if_error(mut self, time: Duration) -> Self {
        self.stale_if_error = Some(time);
        self
    }

    /// Sets the clock. Default: the system clock.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    /// Returns the stored versions.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Loads a source. With `pin`, accepts only the version with this SHA-256, in hexadecimal
    /// digits, such as [`Manifest::pinned_hash`](crate::Manifest::pinned_hash).
    ///
    /// A pinned version that is stored is not requested again. A file is read on the current
    /// thread. If the future is dropped, no incomplete version is stored.
    ///
    /// # Errors
    ///
    /// Returns the reason why the source cannot be loaded. Stored versions remain available, by pin
    /// and through [`last_good`](Self::last_good).
    pub async fn load(&self, source: &Source, pin: Option<&str>) -> Result<Loaded, SourceError> {
        let key = source.to_string();
        if let Some(pin) = pin
            && let Some(kept) = self.versions.kept(&key, Some(pin)).await?
            && let Some(loaded) = loaded(kept, Freshness::Pinned)
        {
            return Ok(loaded);
        }
        let loaded = match source {
            Source::Text { code, .. } => self.read(&key, code.clone()).await?,
            Source::File(path) => self.read(&key, read_file(path, self.max_bytes)?).await?,
            Source::Url(url) => self.load_url(&key, url, pin).await?,
        };
        match pin {
            Some(pin) if pin != loaded.version.hash => Err(SourceError::Pinned {
                expected: pin.to_owned(),
                found: loaded.version.hash,
            }),
            _ => Ok(loaded),
        }
    }

    /// Returns the last version that was read, regardless of its age and of later errors. A host
    /// that uses it accepts that it may be outdated.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn last_good(&self, source: &Source) -> Result<Option<Loaded>, StoreError> {
        let kept = self.versions.kept(&source.to_string(), None).await?;
        let why = "it was not requested again".to_owned();
        Ok(kept.and_then(|kept| loaded(kept, Freshness::Stale { why })))
    }

    async fn read(&self, key: &str, code: String) -> Result<Loaded, SourceError> {
        if code.len() > self.max_bytes {
            let limit = self.max_bytes;
            return Err(SourceError::TooLarge { limit });
        }
        let hash = hash(&code);
        let version = self
            .versions
            .seen(LoadedVersion::new(key, &hash, (self.clock)()).code(&code))
            .await?;
        Ok(Loaded {
            code,
            version,
            freshness: Freshness::Read,
        })
    }

    #[cfg(not(feature = "fetch"))]
    async fn load_url(&self, _: &str, _: &str, _: Option<&str>) -> Result<Loaded, SourceError> {
        Err(SourceError::NoFetcher)
    }

    #[cfg(feature = "fetch")]
    async fn load_url(
        &self,
        key: &str,
        url: &str,
        pin: Option<&str>,
    ) -> Result<Loaded, SourceError> {
        let fetcher = self.fetcher.as_ref().ok_or(SourceError::NoFetcher)?;
        let kept = self
            .versions
            .kept(key, None)
            .await?
            .filter(|kept| kept.code.is_some());
        // A stored version other than the pinned one is not a substitute.
        let is_wanted = |kept: &StoredVersion| pin.is_none_or(|pin| pin == kept.version.hash);
        if let Some(kept) = kept.as_ref().filter(|kept| is_wanted(kept)) {
            // If the clock went back, the freshness of the stored version is unknown.
            let fresh = (kept.version.last_seen..kept.fresh_until).contains(&(self.clock)());
            if let Some(loaded) = loaded(kept.clone(), Freshness::Fresh).filter(|_| fresh) {
                return Ok(loaded);
            }
        }
        let error = match fetcher.fetch(url, kept.as_ref(), self.max_bytes).await {
            Ok(response) => return self.keep(key, kept, response).await,
            Err(error) => error,
        };
        let stale = kept.filter(is_wanted).filter(|kept| {
            let since = (self.clock)()
                .duration_since(kept.version.last_seen)
                .unsigned_abs();
            kept.stale_allowed && self.stale_if_error.is_some_and(|longest| since <= longest)
        });
        let why = error.to_string();
        match stale.and_then(|kept| loaded(kept, Freshness::Stale { why })) {
            Some(loaded) => {
                tracing::warn!(source = key, %error, "cannot read a source; using its last version");
                Ok(loaded)
            }
            None => Err(error.into()),
        }
    }

    /// Stores the response of a server as far as its caching headers allow.
    #[cfg(feature = "fetch")]
    async fn keep(
        &self,
        key: &str,
        kept: Option<StoredVersion>,
        response: fetch::Response,
    ) -> Result<Loaded, SourceError> {
        let now = (self.clock)();
        let caching = &response.caching;
        let fresh = caching.fresh_for().min(self.longest_fresh);
        let fresh_until = now.saturating_add(fresh).unwrap_or(now);
        let (code, freshness, forbidden) = match (response.code, kept) {
            (Some(code), _) => (code, Freshness::Read, false),
            // A "not modified" response need not repeat the restrictions of the first one.
            (
                None,
                Some(StoredVersion {
                    code: Some(code),
                    stale_allowed,
                    ..
                }),
            ) => (code, Freshness::Revalidated, !stale_allowed),
            // The fetcher accepts "not modified" only if there is a stored version.
            (None, _) => return Err(FetchError::Status(304).into()),
        };
        let hash = hash(&code);
        let seen = LoadedVersion {
            fresh_until,
            stale_allowed: caching.allows_stale() && !forbidden,
            url: Some(response.url),
            etag: response.etag,
            last_modified: response.last_modified,
            code: (!caching.no_store).then_some(&*code),
            ..LoadedVersion::new(key, &hash, now)
        };
        let version = self.versions.seen(seen).await?;
        Ok(Loaded {
            code,
            version,
            freshness,
        })
    }
}

fn loaded(kept: StoredVersion, freshness: Freshness) -> Option<Loaded> {
    Some(Loaded {
        code: kept.code?,
        version: kept.version,
        freshness,
    })
}

fn hash(code: &str) -> String {
    hex(&Sha256::digest(code))
}

fn read_file(path: &Path, limit: usize) -> Result<String, SourceError> {
    let failed = |source| SourceError::File {
        path: path.display().to_string(),
        source,
    };
    // Check before opening: opening a pipe blocks until it has a writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a file",
        )));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take((limit as u64).saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() > limit {
        return Err(SourceError::TooLarge { limit });
    }
    String::from_utf8(bytes).map_err(|_| SourceError::NotText)
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("versions", &self.versions)
            .field("max_bytes", &self.max_bytes)
            .field("longest_fresh", &self.longest_fresh)
            .field("stale_if_error", &self.stale_if_error)
            .finish_non_exhaustive()
    }
}
