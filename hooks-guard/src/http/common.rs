//! Helpers of the handlers: ids in paths, API errors for failures of the trail, and the time of a
//! response.

use axum::http::StatusCode;
use jiff::Timestamp;

use super::error::{ApiError, RequestId};
use crate::log_limit;

/// Parses the id in a path; an invalid id is an unknown decision.
pub(crate) fn number(text: &str) -> Result<i64, ApiError> {
    text.parse().map_err(|_| unknown())
}

pub(crate) fn unknown() -> ApiError {
    ApiError::not_found("unknown decision; list decisions with `GET /api/hooks/decisions`")
}

/// Returns the time of a response, in millisecond precision.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap_or_default()
}

/// Logs a failure of the trail, and returns an API error without its details.
pub(crate) fn failed(id: &RequestId, error: &impl std::error::Error) -> ApiError {
    if let Some(suppressed) = log_limit::suppressed("cannot access the audit trail", error) {
        tracing::error!(request_id = id.0, %error, suppressed, "cannot access the audit trail");
    }
    ApiError::database(id)
}

/// Message for a path that the service does not have.
const UNKNOWN_PATH: &str = "unknown path; `hooks-guard openapi` prints all paths";

pub(super) async fn no_such_path() -> ApiError {
    ApiError::not_found(UNKNOWN_PATH)
}

pub(super) async fn no_such_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        "method not allowed for this path; use a method of the header `Allow`",
    )
}
