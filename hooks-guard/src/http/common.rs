//! What handlers share. In: an id in a path, or a failure of the trail. Out: a number, an error of the
//! API, the time of a response.

use axum::http::StatusCode;
use jiff::Timestamp;

use super::error::{ApiError, RequestId};
use crate::log_limit;

/// The id in a path; what is none names no decision.
pub(crate) fn number(text: &str) -> Result<i64, ApiError> {
    text.parse().map_err(|_| unknown())
}

pub(crate) fn unknown() -> ApiError {
    ApiError::not_found("There is no such decision")
}

/// The time of an answer, to the millisecond.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap_or_default()
}

/// Logs a failure of the trail, and returns the error that tells nothing of it.
pub(crate) fn failed(id: &RequestId, error: &impl std::error::Error) -> ApiError {
    if let Some(suppressed) = log_limit::suppressed("the audit trail failed", error) {
        tracing::error!(request_id = id.0, %error, suppressed, "the audit trail failed");
    }
    ApiError::database(id)
}

pub(super) async fn no_such_path() -> ApiError {
    ApiError::not_found("There is nothing at this path")
}

pub(super) async fn no_such_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        "This path has no such method",
    )
}
