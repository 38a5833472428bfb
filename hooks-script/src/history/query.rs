//! Queries of a history, and their result pages.

use jiff::Timestamp;

use super::record::{OutcomeKind, RunRecord};
use crate::store::to_the_microsecond;

/// Maximum number of records of a page.
const MAX_PAGE: usize = 1000;

/// Selects records of a [`RunHistory`](crate::RunHistory). Each call narrows the query; a second
/// call of the same method replaces the first.
///
/// ```
/// use hooks_script::{OutcomeKind, RunQuery};
///
/// let failures = RunQuery::new().hook("https://example.org/hook.js").outcome(OutcomeKind::Failure).limit(20);
/// # let _ = failures;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunQuery {
    pub(super) hook: Option<String>,
    pub(super) outcome: Option<OutcomeKind>,
    pub(super) action: Option<String>,
    pub(super) from: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) before: Option<u64>,
    pub(super) limit: usize,
}

/// A page of records, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunPage {
    /// Records of the page.
    pub records: Vec<RunRecord>,
    /// Argument of [`RunQuery::before`] for the next page. `None` on the last page.
    pub next: Option<u64>,
}

impl RunQuery {
    /// Creates a query for the last 100 records.
    pub fn new() -> Self {
        RunQuery {
            hook: None,
            outcome: None,
            action: None,
            from: None,
            until: None,
            before: None,
            limit: 100,
        }
    }

    /// Selects the records of one hook, by the `source` of its manifest.
    #[must_use]
    pub fn hook(mut self, source: impl Into<String>) -> Self {
        self.hook = Some(source.into());
        self
    }

    /// Selects records with this outcome.
    #[must_use]
    pub fn outcome(mut self, outcome: OutcomeKind) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Selects records of runs before or after one action.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// Selects records at or after this time.
    #[must_use]
    pub fn from(mut self, time: Timestamp) -> Self {
        self.from = Some(to_the_microsecond(time));
        self
    }

    /// Selects records before this time.
    #[must_use]
    pub fn until(mut self, time: Timestamp) -> Self {
        self.until = Some(to_the_microsecond(time));
        self
    }

    /// Selects records stored before the record with this id: the [`next`](RunPage::next) of the
    /// previous page.
    #[must_use]
    pub fn before(mut self, id: u64) -> Self {
        self.before = Some(id);
        self
    }

    /// Sets the maximum number of records, clamped to 1..=1000. Default: 100.
    #[must_use]
    pub fn limit(mut self, records: usize) -> Self {
        self.limit = records.clamp(1, MAX_PAGE);
        self
    }

    pub(super) fn matches(&self, record: &RunRecord) -> bool {
        self.hook.as_ref().is_none_or(|hook| *hook == record.source)
            && self
                .outcome
                .is_none_or(|outcome| outcome == record.outcome.kind())
            && self
                .action
                .as_ref()
                .is_none_or(|action| *action == record.action)
            && self.from.is_none_or(|from| record.time >= from)
            && self.until.is_none_or(|until| record.time < until)
            && self.before.is_none_or(|before| record.id < before)
    }
}

impl Default for RunQuery {
    fn default() -> Self {
        RunQuery::new()
    }
}

impl RunPage {
    /// Builds a page from the records found. If there are more records than the limit, `found`
    /// contains one extra.
    pub(super) fn of(mut found: Vec<RunRecord>, limit: usize) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        RunPage {
            next: found.last().filter(|_| more).map(|record| record.id),
            records: found,
        }
    }
}
