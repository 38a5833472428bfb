//! Text form of time stamps.
//!
//! Every stamp that this workspace writes as text has the same width: RFC 3339 in UTC with nine
//! digits of fraction, such as `2026-05-01T10:00:00.000000000Z`. Stamps of the years 0 to 9999
//! therefore sort as text, in a log, in a `jq` filter and in a database column alike. Reading
//! accepts any RFC 3339 time.
//!
//! ```
//! use hooks_runtime::timestamp;
//! use jiff::Timestamp;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Line {
//!     #[serde(serialize_with = "timestamp::serialize")]
//!     at: Timestamp,
//! }
//!
//! let at: Timestamp = "2026-05-01T10:00:00.5Z".parse()?;
//! assert_eq!(timestamp::to_text(at), "2026-05-01T10:00:00.500000000Z");
//! assert_eq!(
//!     serde_json::to_string(&Line { at })?,
//!     r#"{"at":"2026-05-01T10:00:00.500000000Z"}"#
//! );
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use jiff::Timestamp;
use serde::Serializer;

/// Returns the text of a time stamp.
pub fn to_text(at: Timestamp) -> String {
    format!("{at:.9}")
}

/// Serializes a time stamp as its text, for `#[serde(serialize_with = "…")]`.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{at:.9}"))
}

/// Serializes an optional time stamp, for `#[serde(serialize_with = "…")]`.
///
/// # Errors
/// If the serializer fails.
pub fn serialize_option<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serialize(at, serializer),
        None => serializer.serialize_none(),
    }
}
