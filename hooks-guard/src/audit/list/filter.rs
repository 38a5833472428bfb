//! Filters for decisions. Takes a filter and a page; returns the values that SQL statements compare
//! with.

use jiff::Timestamp;

use crate::audit::record::{
    AuditRecord, UserResponse, ceil_us, class_code, floor_us, fold_case, response_code, storable,
};
use crate::classify::{Crud, Decision};

/// Selects decisions. All given conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Matches decisions of this class.
    pub classification: Option<Crud>,
    /// Matches decisions with this answer.
    pub response: Option<UserResponse>,
    /// Matches decisions after this time.
    pub since: Option<Timestamp>,
    /// Matches decisions before this time.
    pub until: Option<Timestamp>,
    /// Matches decisions whose stored command contains this text. The comparison is literal and
    /// ignores case: two characters match if the lower case of their upper case is equal. An empty
    /// text matches every command.
    pub command: Option<String>,
    /// Matches decisions of this agent.
    pub agent: Option<String>,
    /// Matches decisions of this session.
    pub session_id: Option<String>,
    /// Matches decisions with this result.
    pub decision: Option<Decision>,
}

/// Page of the decisions that a filter selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Maximum number of decisions.
    pub limit: u64,
    /// Number of decisions to skip.
    pub offset: u64,
}

impl Default for Page {
    /// Selects the first 50 decisions.
    fn default() -> Self {
        Self {
            limit: 50,
            offset: 0,
        }
    }
}

/// A page of decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// Records, newest first: ordered by time, then by id.
    pub records: Vec<AuditRecord>,
    /// Total number of decisions that match the filter.
    pub total: u64,
}

/// A filter as SQL parameters `$1` to `$8`.
#[derive(Clone, Debug)]
pub(crate) struct FilterArgs {
    pub(super) after: Option<i64>,
    pub(super) before: Option<i64>,
    pub(super) class: Option<i64>,
    pub(super) response: Option<i64>,
    pub(super) agent: Option<String>,
    pub(super) session: Option<String>,
    pub(super) requires: Option<i64>,
    pub(super) text: Option<String>,
}

impl From<&Filter> for FilterArgs {
    fn from(filter: &Filter) -> Self {
        Self {
            after: filter.since.map(floor_us),
            before: filter.until.map(ceil_us),
            class: filter.classification.map(class_code),
            response: filter.response.map(response_code),
            agent: filter.agent.as_deref().map(storable),
            session: filter.session_id.as_deref().map(storable),
            requires: filter
                .decision
                .map(|decision| i64::from(decision == Decision::RequiresConfirmation)),
            text: filter
                .command
                .as_deref()
                .filter(|text| !text.is_empty())
                .map(|text| fold_case(&storable(text))),
        }
    }
}
