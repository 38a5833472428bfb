//! History of runs: one record per run, without any of the hook's input.

mod anonymous;
mod memory;
mod query;
mod record;
#[cfg(feature = "sqlite")]
mod sqlite;
mod summary;
mod text;

use std::fmt;
use std::future::ready;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

pub use self::anonymous::{AnonymizerKey, KeyTooShort};
pub use self::query::{RunPage, RunQuery};
pub use self::record::{OutcomeKind, RunOutcome, RunRecord};
pub use self::summary::{Histogram, RunGroup};
pub use self::text::mask;

use self::summary::Summary;
use crate::store::{StoreError, to_the_microsecond};

/// Default maximum number of characters of a hook's own text.
const MAX_TEXT_CHARS: usize = 1000;

/// History of runs, newest first. Clones share it.
///
/// The text that a hook throws is the only part of a record that a hook controls. Before it is
/// stored, parts of the hook's input are removed, private data is [masked](mask), and the text is
/// truncated. A malicious hook can still encode the message differently and throw the encoded text.
/// If the history must never contain any of the message, store no text:
/// [`text_chars(0)`](Self::text_chars).
///
/// ```
/// use std::num::NonZeroUsize;
/// use hooks_script::{OutcomeKind, RunHistory, RunQuery, RunRecord};
/// # use hooks_script::{ContextData, Manifest, Scope, ScriptEngine, Stage};
/// # futures_executor::block_on(async {
/// # let engine = ScriptEngine::builder().build()?;
/// # let manifest = Manifest::new("https://example.org/no.js", "No", [])?;
/// # let hook = engine.register(manifest, "export default () => { throw new HookStopException('no links'); }")?;
/// # let (message, data) = (Default::default(), ContextData::new());
/// let history = RunHistory::in_memory(NonZeroUsize::new(1000).unwrap());
///
/// let run = hook.run_pre(&message, &data).await;
/// let record = RunRecord::of(&hook, Stage::Pre, &run, &message, &data)
///     .action("message.send")
///     .scope(Scope::user("u-1"));
/// history.record(record).await?;
///
/// let page = history.query(&RunQuery::new().outcome(OutcomeKind::Stopped)).await?;
/// assert_eq!(page.records[0].name, "No");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct RunHistory {
    backend: HistoryBackend,
    text_chars: usize,
    masker: Arc<dyn Fn(&str) -> String + Send + Sync>,
    anonymizer: Option<AnonymizerKey>,
    summary: Arc<Mutex<Summary>>,
}

#[derive(Clone)]
enum HistoryBackend {
    Memory(Arc<memory::RunTable>),
    #[cfg(feature = "sqlite")]
    Sqlite(crate::store::Database),
}

impl RunHistory {
    /// Creates a history of the last `capacity` runs in memory, which is lost when the process
    /// ends.
    pub fn in_memory(capacity: NonZeroUsize) -> Self {
        RunHistory::with_backend(HistoryBackend::Memory(Arc::new(memory::RunTable::new(
            capacity,
        ))))
    }

    /// Creates a history in a database. It grows until [`forget_before`](Self::forget_before) is
    /// called.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(database: &crate::store::Database) -> Self {
        RunHistory::with_backend(HistoryBackend::Sqlite(database.clone()))
    }

    fn with_backend(backend: HistoryBackend) -> Self {
        RunHistory {
            backend,
            text_chars: MAX_TEXT_CHARS,
            masker: Arc::new(mask),
            anonymizer: None,
            summary: Arc::default(),
        }
    }

    /// Sets the maximum number of characters stored of a message and of a trace, each. The host's
    /// own texts about limits and skipped runs are stored whole. Default: 1000.
    #[must_use]
    pub fn text_chars(mut self, most: usize) -> Self {
        self.text_chars = most;
        self
    }

    /// Sets the function that masks messages and traces before they are truncated and stored. It
    /// also masks a class name that does not occur in the hook's source, but not the host's own
    /// texts about limits and skipped runs. Default: [`mask`].
    #[must_use]
    pub fn masker(mut self, masker: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.masker = Arc::new(masker);
        self
    }

    /// Stores a keyed hash instead of each id of a user, a guild and a channel. An id of at least
    /// four characters is also replaced in exceptions, unless it was masked. An id always has one
    /// hash while the key is unchanged.
    #[must_use]
    pub fn anonymize(mut self, key: AnonymizerKey) -> Self {
        self.anonymizer = Some(key);
        self
    }

    /// Stores a record and returns it as stored. The record is counted even if it cannot be stored.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn record(&self, record: RunRecord) -> Result<RunRecord, StoreError> {
        let mut record = self.count(record);
        record.id = match &self.backend {
            HistoryBackend::Memory(memory) => memory.append(&record),
            #[cfg(feature = "sqlite")]
            HistoryBackend::Sqlite(database) => sqlite::append(database.pool(), &record).await?,
        };
        Ok(record)
    }

    /// Stores records. Writing continues if the returned future is dropped. Errors are logged.
    pub(crate) fn store_records(
        &self,
        records: Vec<RunRecord>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let records = records.into_iter().map(|record| self.count(record));
        let records: Vec<_> = records.collect();
        match &self.backend {
            HistoryBackend::Memory(memory) => {
                for record in &records {
                    memory.append(record);
                }
                Box::pin(ready(()))
            }
            #[cfg(feature = "sqlite")]
            HistoryBackend::Sqlite(database) => {
                let unwritten = UnwrittenRecords(records.len());
                let database = database.clone();
                let writing = async move {
                    let written = sqlite::append_all(&database, &records).await;
                    unwritten.end(written);
                };
                match tokio::runtime::Handle::try_current() {
                    Ok(runtime) => {
                        let writing = runtime.spawn(writing);
                        // The writing task logs its own errors.
                        Box::pin(async { drop(writing.await) })
                    }
                    Err(_) => Box::pin(ready(())),
                }
            }
        }
    }

    /// Counts the record and returns it in the form in which it is stored.
    fn count(&self, record: RunRecord) -> RunRecord {
        let mut record = self.masked(record);
        self.summary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .count(&record);
        let microseconds = u64::try_from(record.duration.as_micros());
        record.duration = Duration::from_micros(microseconds.unwrap_or(u64::MAX));
        record.time = to_the_microsecond(record.time);
        record
    }

    fn masked(&self, mut record: RunRecord) -> RunRecord {
        let ids = self
            .anonymizer
            .as_ref()
            .map(|key| key.replace(&mut record.scope))
            .unwrap_or_default();
        let without_ids = |text: String| {
            ids.iter()
                .fold(text, |text, (id, hash)| text.replace(id, hash))
        };
        let is_of_the_hook = record.outcome.may_quote_hook();
        let clean = |text: &str, most: usize| {
            if !is_of_the_hook {
                return without_ids(text.to_owned());
            }
            // Insert hashes last: they look like keys, which `mask` would mask.
            let masked = (self.masker)(&text::truncate_to_limit(text));
            text::truncate(&without_ids(masked), most)
        };
        let most = self.text_chars;
        let is_class_known = std::mem::take(&mut record.is_class_known);
        match &mut record.outcome {
            RunOutcome::Success => {}
            RunOutcome::Skipped { reason } => *reason = clean(reason, most),
            RunOutcome::Stopped {
                class,
                message,
                trace,
            }
            | RunOutcome::Failure {
                class,
                message,
                trace,
                ..
            } => {
                *class = if is_class_known {
                    text::truncate(class, text::MAX_CLASS_CHARS)
                } else {
                    clean(class, text::MAX_CLASS_CHARS)
                };
                *message = clean(message, most);
                *trace = clean(trace, most);
            }
        }
        record
    }

    /// Returns one page of matching records, newest first.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn query(&self, query: &RunQuery) -> Result<RunPage, StoreError> {
        match &self.backend {
            HistoryBackend::Memory(memory) => Ok(memory.query(query)),
            #[cfg(feature = "sqlite")]
            HistoryBackend::Sqlite(database) => sqlite::query(database, query).await,
        }
    }

    /// Deletes the records of runs before `time` and returns their number.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn forget_before(&self, time: Timestamp) -> Result<u64, StoreError> {
        match &self.backend {
            HistoryBackend::Memory(memory) => Ok(memory.forget_before(to_the_microsecond(time))),
            #[cfg(feature = "sqlite")]
            HistoryBackend::Sqlite(database) => sqlite::forget_before(database, time).await,
        }
    }

    /// Returns the runs recorded through this history and its clones, grouped by hook, outcome and
    /// class, with count, durations and fuel. With the feature `metrics`, these numbers are also
    /// sent to the recorder of the crate `metrics`.
    pub fn summary(&self) -> Vec<RunGroup> {
        self.summary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .groups()
    }
}

#[cfg(feature = "sqlite")]
/// Number of records being written. If it is dropped before they are written, it logs the loss.
#[cfg(feature = "sqlite")]
struct UnwrittenRecords(usize);

#[cfg(feature = "sqlite")]
impl UnwrittenRecords {
    fn end(mut self, written: Result<(), StoreError>) {
        if let Err(error) = written {
            self.log(&error);
        }
        self.0 = 0;
    }

    fn log(&self, error: &dyn fmt::Display) {
        let runs = self.0;
        tracing::error!(target: "hooks_script", runs, %error, "runs are not recorded: the store fails");
    }
}

#[cfg(feature = "sqlite")]
impl Drop for UnwrittenRecords {
    fn drop(&mut self) {
        if self.0 > 0 {
            self.log(&"there is no runtime to write them");
        }
    }
}

impl fmt::Debug for RunHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match &self.backend {
            HistoryBackend::Memory(_) => "memory",
            #[cfg(feature = "sqlite")]
            HistoryBackend::Sqlite(_) => "sqlite",
        };
        f.debug_struct("RunHistory")
            .field("backend", &backend)
            .field("text_chars", &self.text_chars)
            .field("anonymize", &self.anonymizer.is_some())
            .finish_non_exhaustive()
    }
}
