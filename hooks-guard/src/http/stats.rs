//! `GET /api/hooks/stats` and `GET /api/hooks/series`. Takes a period; returns its statistics, in
//! total or over time.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;

use super::common::failed;
use super::error::{ApiError, RequestId};
use super::query::Query;
use super::state::AppState;
use crate::audit::{Period, Series, Stats};

/// Returns statistics about all decisions of a period.
#[utoipa::path(
    get,
    path = "/api/hooks/stats",
    params(
        ("since" = Option<String>, Query, format = DateTime, description = "Only decisions after this time"),
        ("until" = Option<String>, Query, format = DateTime, description = "Only decisions before this time"),
    ),
    responses(
        (status = 200, description = "The statistics", body = Stats),
        (status = 400, description = "INVALID_DATE", body = super::error::ErrorBody),
        (status = 503, description = "BUSY: too many concurrent reads", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn stats(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Json<Stats>, ApiError> {
    let period = period(&query)?;
    let _turn = state.turn(&headers).await?;
    let stats = state.audit(&headers).stats(&period).await;
    stats.map(Json).map_err(|error| failed(&id, &error))
}

/// Returns statistics over time, in whole hours, days or weeks.
#[utoipa::path(
    get,
    path = "/api/hooks/series",
    params(
        ("since" = Option<String>, Query, format = DateTime, description = "Start: the hour, day or week of this time"),
        ("until" = Option<String>, Query, format = DateTime, description = "End: the hour, day or week of this time"),
    ),
    responses(
        (status = 200, description = "The points", body = Series),
        (status = 400, description = "INVALID_DATE", body = super::error::ErrorBody),
        (status = 503, description = "BUSY: too many concurrent reads", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn series(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Json<Series>, ApiError> {
    let period = period(&query)?;
    let _turn = state.turn(&headers).await?;
    let series = state.audit(&headers).series(&period).await;
    series.map(Json).map_err(|error| failed(&id, &error))
}

fn period(query: &Query) -> Result<Period, ApiError> {
    Ok(Period {
        since: query.date("since")?,
        until: query.date("until")?,
    })
}
