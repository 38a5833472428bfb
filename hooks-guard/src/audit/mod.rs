//! The audit trail. In: what was decided, what was answered, what ran. Out: records, counts, and
//! whether the trail is as it was written.
//!
//! | Type | Is |
//! |---|---|
//! | [`AuditStore`] | the trail, in a SQLite file or a PostgreSQL database |
//! | [`TrailAddress`] | which of them an address means |
//! | [`NewDecision`], [`NewAnswer`], [`Execution`] | what it is given |
//! | [`AuditRecord`] | what it gives back |
//! | [`Filter`], [`Page`], [`Listing`] | finding records |
//! | [`Totals`], [`Stats`] | counts |
//! | [`Remembered`] | an answer that holds for the next time as well |
//! | [`Verification`] | whether it is still as it was written |
//! | [`export`] | JSON lines and tables |
//!
//! # What is written
//!
//! A call that records something returns when it is on the disk. Calls that come at the same time
//! share one transaction, and so one wait for the disk. Secrets are masked before: in the
//! command, and in what quotes it. A NUL, which no command can hold and PostgreSQL not store, is
//! written as `␀`. Times are kept to the microsecond.
//!
//! # The chain
//!
//! Everything that happens is an entry of a log, whose hash covers the entry before and the rows
//! that filters and statistics read. [`verify`](AuditStore::verify) walks it from its beginning and
//! finds a row or a count that was changed, and an entry that was removed, inserted or moved, or
//! cut off at the end. A cleanup takes entries out and leaves one of its own, which stays for
//! ever and vouches for exactly the gaps that it left.
//!
//! An open store keeps the head that it wrote or read last. If the database does not continue from
//! that head, or its schema is not the one that the migrations make, every call fails with
//! [`AuditError::Rewritten`], [`AuditError::Replaced`] or [`AuditError::Schema`].
//!
//! The chain has no secret: a program that may write to the database can write all of it anew, or
//! set it back to an older state as a whole, while no store has it open. A
//! [`head`](AuditStore::head) that was noted down elsewhere shows that, by
//! [`verify_with`](AuditStore::verify_with).

mod address;
mod anchor;
mod backend;
mod chain;
mod changes;
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
mod record;
mod remember;
mod remembered;
mod series;
mod stats;
mod store;
mod tally;
mod tx;
mod used;
mod verify;
mod waiting;
mod walk;
mod write;

pub(crate) use decide::{CallName, Which};
pub(crate) use remembered::Lasting;

pub use self::store::AuditStore;
pub use address::TrailAddress;
pub use changes::{Change, ChangeStream};
pub use clean::Cleanup;
pub use cleanups::PastCleanup;
pub use error::AuditError;
pub use list::{Filter, Listing, Page};
pub use open::{
    QuestionCursor, QuestionFilter, QuestionLimits, QuestionOrder, QuestionPage, SessionQuestions,
    TooManyQuestions,
};
pub use record::{
    Answered, AuditRecord, Executed, Execution, NewAnswer, NewDecision, UserResponse,
};
pub use remembered::{NewRemembered, Remembered};
pub use series::{Count, Point, Series};
pub use stats::{
    Classifications, Confidence, Covered, Performance, Period, Stats, Totals, UserResponses,
};
pub(crate) use used::in_time;
pub use used::{Grant, Granted, Redeemed};
pub use verify::Verification;
pub use walk::{Broken, ChainHead, HeadState, InvalidHead, NotedHead};
