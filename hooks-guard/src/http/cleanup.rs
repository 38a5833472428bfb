//! `DELETE /api/hooks/cleanup`. Takes an age in days; returns the result of the cleanup.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use jiff::{SignedDuration, Timestamp};

use super::common::failed;
use super::error::{ApiError, RequestId};
use super::query::Query;
use super::state::AppState;
use crate::audit::Cleanup;
use crate::config::CleanupAccess;

/// Deletes records that are older than a number of days.
#[utoipa::path(
    delete,
    path = "/api/hooks/cleanup",
    params(
        ("days" = Option<u64>, Query, minimum = 1, maximum = 365, description = "1 to 365. Default: 30"),
        ("force" = Option<bool>, Query, description = "Required: without it, nothing is deleted"),
    ),
    responses(
        (status = 200, description = "Result of the cleanup", body = Cleanup),
        (status = 400, description = "INVALID_DAYS", body = super::error::ErrorBody),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 403, description = "REQUIRES_CONFIRMATION, CLEANUP_IS_OFF", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn cleanup(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Json<Cleanup>, ApiError> {
    let by = match state.inner.config.cleanup {
        CleanupAccess::Open => "any client, over HTTP",
        CleanupAccess::Operator => state.inner.operator.check(&headers)?,
        CleanupAccess::Off => {
            return Err(ApiError::forbidden(
                "CLEANUP_IS_OFF",
                "cleanup over HTTP is disabled; run `hooks-guard audit cleanup`",
            ));
        }
    };
    let days = query.number("days").map_err(|_| ApiError::invalid_days())?;
    let days = days.unwrap_or(30);
    if !(1..=365).contains(&days) {
        return Err(ApiError::invalid_days());
    }
    if !query.flag("force")? {
        return Err(ApiError::needs_force());
    }
    let age = SignedDuration::from_hours(24 * i64::try_from(days).unwrap_or(365));
    let done = state.service().audit().cleanup(Timestamp::now() - age, by);
    done.await.map(Json).map_err(|error| failed(&id, &error))
}
