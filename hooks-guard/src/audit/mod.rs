//! The audit trail. Takes decisions, answers and executions; returns records and counts, and
//! verifies that the trail is unchanged.
//!
//! | Type | Description |
//! |---|---|
//! | [`AuditStore`] | audit trail in a SQLite file or a PostgreSQL database |
//! | [`TrailAddress`] | parsed address of a trail |
//! | [`NewDecision`], [`NewAnswer`], [`Execution`] | input of the store |
//! | [`AuditRecord`] | decision with its outcome |
//! | [`Filter`], [`Page`], [`Listing`] | search for records |
//! | [`Totals`], [`Stats`] | counts |
//! | [`Remembered`] | answer that also applies to later requests |
//! | [`Verification`] | result of a verification |
//! | [`export`] | JSON lines and CSV |
//!
//! # Writes
//!
//! A call that records something returns when the record is on disk. Concurrent calls share one
//! transaction and therefore one disk flush. Secrets in the command, and in texts that quote it,
//! are masked before they are written. A NUL, which no command can contain and PostgreSQL cannot
//! store, is written as `␀`. Times have microsecond precision.
//!
//! # The chain
//!
//! Every event is an entry of a log. The hash of an entry covers the previous entry and the rows
//! that filters and statistics read. [`verify`](AuditStore::verify) walks the log from its
//! beginning. It detects a changed row or count, an entry that was removed, inserted or moved, and
//! a truncated log. A cleanup removes entries and adds a permanent entry, which covers exactly the
//! gaps that it left.
//!
//! An open store keeps the head that it wrote or read last. If the database does not continue from
//! that head, or its schema is not the schema that the migrations produce, every call fails with
//! [`AuditError::Rewritten`], [`AuditError::Replaced`] or [`AuditError::Schema`].
//!
//! The chain has no secret. While no store has the database open, a program with write access can
//! rewrite all of it, or restore an older state as a whole. To detect this, keep a copy of the
//! [`head`](AuditStore::head) elsewhere and pass it to [`verify_with`](AuditStore::verify_with).

mod address;
mod anchor;
mod approvals;
mod backend;
mod chain;
mod changes;
mod claim;
mod clean;
mod cleanups;
mod database;
mod deadlines;
mod decide;
mod error;
pub mod export;
mod follow;
mod head;
mod list;
mod open;
mod open_counts;
mod past;
mod question;
mod record;
mod remember;
mod remembered;
mod segments;
mod series;
mod stats;
mod store;
mod tally;
mod tx;
mod used;
mod verify;
mod walk;
mod write;

pub(crate) use decide::{CallId, DecisionSelector};
pub(crate) use record::ReportedCommand;
pub(crate) use remembered::SessionScope;

pub use self::store::AuditStore;
pub use address::{TrailAddress, without_password};
pub use approvals::{ApprovalState, ApprovalStatus};
pub use changes::{AuditChange, ChangeStream};
pub use claim::ServiceClaim;
pub use clean::Cleanup;
pub use cleanups::PastCleanup;
pub use database::MAX_QUEUE_TIME;
pub use error::AuditError;
pub use list::{Filter, Listing, Page};
pub use open::{
    QuestionCursor, QuestionFilter, QuestionLimits, QuestionOrder, QuestionPage, SessionQuestions,
    TooManyQuestions,
};
pub use record::{
    AnswerResult, AuditRecord, Execution, ExecutionResult, NewAnswer, NewDecision, UserResponse,
};
pub use remembered::{NewRemembered, RememberScope, Remembered};
pub use series::{Count, Point, Series};
pub use stats::{
    Classifications, Confidence, Covered, Performance, Period, Stats, Totals, UserResponses,
};
pub use used::{Grant, GrantResult, RedeemResult};
pub(crate) use used::{SCOPE_TIMEOUT, with_deadline, with_timeout};
pub use verify::Verification;
pub use walk::{ChainBreak, ChainHead, HeadState, InvalidHead, NotedHead};
