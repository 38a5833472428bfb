//! Which decisions are wanted. In: a filter with its page, as a caller gives them. Out: values that the
//! database compares with.

use jiff::Timestamp;

use crate::audit::record::{
    AuditRecord, UserResponse, ceil_us, class_code, floor_us, fold, response_code, storable,
};
use crate::classify::{Crud, Decision};

/// Which decisions are wanted; everything that is given has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those of this class.
    pub classification: Option<Crud>,
    /// Those that were answered so.
    pub response: Option<UserResponse>,
    /// Those after this time.
    pub since: Option<Timestamp>,
    /// Those before this time.
    pub until: Option<Timestamp>,
    /// Those in whose command, as it is stored, this text stands: literally, but for upper
    /// and lower case, which are the same if the lower case of the upper case of each character
    /// is. An empty text stands in every command.
    pub command: Option<String>,
    /// Those of this agent.
    pub agent: Option<String>,
    /// Those of this session.
    pub session_id: Option<String>,
    /// Those that were decided so.
    pub decision: Option<Decision>,
}

/// Which part of the decisions found is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many at most.
    pub limit: u64,
    /// How many to leave out before.
    pub offset: u64,
}

impl Default for Page {
    /// The first fifty.
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
    /// The newest first: by their time, those of one time by their number.
    pub records: Vec<AuditRecord>,
    /// How many the filter finds altogether.
    pub total: u64,
}

/// The filter as values for the texts below: `$1` to `$8`.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(super) after: Option<i64>,
    pub(super) before: Option<i64>,
    pub(super) class: Option<i64>,
    pub(super) response: Option<i64>,
    pub(super) agent: Option<String>,
    pub(super) session: Option<String>,
    pub(super) requires: Option<i64>,
    pub(super) text: Option<String>,
}

impl From<&Filter> for Bound {
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
                .map(|text| fold(&storable(text))),
        }
    }
}
