//! `GET /api/hooks/stats` (P-30, P-31).

use axum::Json;
use axum::extract::{Extension, State};

use super::AppState;
use super::decisions::failed;
use super::error::{ApiError, RequestId};
use super::query::Query;
use crate::audit::{Period, Stats};

/// Statistics about all decisions of a period.
#[utoipa::path(
    get,
    path = "/api/hooks/stats",
    params(
        ("since" = Option<String>, Query, description = "Only what was decided after this time"),
        ("until" = Option<String>, Query, description = "Only what was decided before this time"),
    ),
    responses(
        (status = 200, description = "The statistics", body = Stats),
        (status = 400, description = "INVALID_DATE", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn stats(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    query: Query,
) -> Result<Json<Stats>, ApiError> {
    let period = Period {
        since: query.date("since")?,
        until: query.date("until")?,
    };
    let stats = state.service().audit().stats(&period).await;
    stats.map(Json).map_err(|error| failed(&id, &error))
}
