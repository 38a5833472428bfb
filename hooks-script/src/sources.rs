//! Where hooks come from, and which versions of them there were.

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

use self::versions::{Kept, Seen};
use crate::limits::Limits;
use crate::sandbox::hex;
use crate::store::StoreError;

/// The longest that a server can keep its answer from being looked at again.
const LONGEST_FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Location of a hook's code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Here.
    Text {
        /// What its versions are kept under.
        name: String,
        /// The code.
        code: String,
    },
    /// In a file.
    File(PathBuf),
    /// At an `https` URL. Needs the feature `fetch`.
    Url(String),
}

/// The code of a hook, and where it was loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The code.
    pub code: String,
    /// Which version it is.
    pub version: SourceVersion,
    /// How new it is.
    pub freshness: Freshness,
}

/// Age of a loaded source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freshness {
    /// It was read just now.
    Read,
    /// It was read before, and its server says that it has not changed.
    Revalidated,
    /// It was read before, and its server said then that it need not be asked yet.
    Fresh,
    /// It was read before, and is the version that was asked for.
    Pinned,
    /// It was read before, and cannot be read now.
    Stale {
        /// Why not.
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
        /// Which one.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It has more bytes than it may have.
    #[error("the source has more than {limit} bytes; shorten it, or raise the limit")]
    TooLarge {
        /// What it may have.
        limit: usize,
    },
    /// It is no text.
    #[error("the source is no UTF-8; save it as such")]
    NotText,
    /// It is not the version that was asked for.
    #[error(
        "the source has the hash `{found}`, and `{expected}` was asked for; pin the version that is meant"
    )]
    Pinned {
        /// What was asked for: SHA-256 in hexadecimal digits.
        expected: String,
        /// What there is.
        found: String,
    },
    /// It is at a URL, and nothing was given to read it with.
    #[error("the source is at a URL; give `Sources` a `Fetcher`, of the feature `fetch`")]
    NoFetcher,
    /// It cannot be read from its URL.
    #[cfg(feature = "fetch")]
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The versions cannot be kept or looked up.
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
    /// A source that is here.
    pub fn text(name: impl Into<String>, code: impl Into<String>) -> Self {
        Source::Text {
            name: name.into(),
            code: code.into(),
        }
    }

    /// A source in a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Source::File(path.into())
    }

    /// A source at an `https` URL.
    pub fn url(url: impl Into<String>) -> Self {
        Source::Url(url.into())
    }
}

/// What the versions of the source are kept under.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Text { name, .. } => write!(f, "text:{name}"),
            Source::File(path) => write!(f, "file:{}", path.display()),
            // Which cannot be read, but would have what was kept of a file or a text.
            Source::Url(url) if url.starts_with("file:") || url.starts_with("text:") => {
                write!(f, "url:{url}")
            }
            Source::Url(url) => f.write_str(url),
        }
    }
}

impl Sources {
    /// Reads texts and files, and keeps what it sees in `versions`.
    pub fn new(versions: Versions) -> Self {
        Sources {
            versions,
            #[cfg(feature = "fetch")]
            fetcher: None,
            max_bytes: Limits::default().source,
            longest_fresh: LONGEST_FRESH,
            stale_if_error: None,
            clock: Arc::new(Timestamp::now),
        }
    }

    /// Reads URLs too.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn fetcher(mut self, fetcher: Fetcher) -> Self {
        self.fetcher = Some(fetcher);
        self
    }

    /// The most bytes of a source; 256 KiB, unless given.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The longest time for which a server is believed that it need not be asked again; a day,
    /// unless given.
    #[must_use]
    pub fn longest_fresh(mut self, time: Duration) -> Self {
        self.longest_fresh = time;
        self
    }

    /// Loads the last version of a URL if it cannot be read now, for so long after it was last
    /// seen; unless its server forbids that (`must-revalidate`, `no-cache`). Not at all, unless
    /// given: the error is what [`load`](Self::load) returns.
    #[must_use]
    pub fn stale_if_error(mut self, time: Duration) -> Self {
        self.stale_if_error = Some(time);
        self
    }

    /// The time; that of the system, unless given.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    /// The versions that were seen.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Loads a source; with `pin` no other version of it than that of this SHA-256, in
    /// hexadecimal digits, such as [`Manifest::pinned_hash`](crate::Manifest::pinned_hash).
    ///
    /// A version that is pinned and kept is not asked for again. A file is read on this
    /// thread. A dropped future keeps nothing that was not complete.
    ///
    /// # Errors
    ///
    /// Why there is no source. What was kept of it before stays, for a pin and for
    /// [`last_good`](Self::last_good).
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

    /// The version that was seen last, whatever has become of it since: a host that runs on
    /// with it decides so itself.
    ///
    /// # Errors
    ///
    /// That of the store.
    pub async fn last_good(&self, source: &Source) -> Result<Option<Loaded>, StoreError> {
        let kept = self.versions.kept(&source.to_string(), None).await?;
        let why = "it was not asked for anew".to_owned();
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
            .seen(Seen::new(key, &hash, (self.clock)()).code(&code))
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
        // Another version than the one that is wanted says nothing in its place.
        let is_wanted = |kept: &Kept| pin.is_none_or(|pin| pin == kept.version.hash);
        if let Some(kept) = kept.as_ref().filter(|kept| is_wanted(kept)) {
            // A clock that has gone back says nothing about what has become of it.
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
                tracing::warn!(source = key, %error, "a source cannot be read; its last version is used");
                Ok(loaded)
            }
            None => Err(error.into()),
        }
    }

    /// Keeps what a server answered, as far as it allows that.
    #[cfg(feature = "fetch")]
    async fn keep(
        &self,
        key: &str,
        kept: Option<Kept>,
        response: fetch::Response,
    ) -> Result<Loaded, SourceError> {
        let now = (self.clock)();
        let caching = &response.caching;
        let fresh = caching.fresh_for().min(self.longest_fresh);
        let fresh_until = now.saturating_add(fresh).unwrap_or(now);
        let (code, freshness, forbidden) = match (response.code, kept) {
            (Some(code), _) => (code, Freshness::Read, false),
            // "Unchanged" need not repeat what was forbidden before.
            (
                None,
                Some(Kept {
                    code: Some(code),
                    stale_allowed,
                    ..
                }),
            ) => (code, Freshness::Revalidated, !stale_allowed),
            // The fetcher takes "unchanged" only where there is something that can be.
            (None, _) => return Err(FetchError::Status(304).into()),
        };
        let hash = hash(&code);
        let seen = Seen {
            fresh_until,
            stale_allowed: caching.allows_stale() && !forbidden,
            url: Some(response.url),
            etag: response.etag,
            last_modified: response.last_modified,
            code: (!caching.no_store).then_some(&*code),
            ..Seen::new(key, &hash, now)
        };
        let version = self.versions.seen(seen).await?;
        Ok(Loaded {
            code,
            version,
            freshness,
        })
    }
}

fn loaded(kept: Kept, freshness: Freshness) -> Option<Loaded> {
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
    // Asked before it is opened: to open a pipe waits for whoever writes to it.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no file",
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
