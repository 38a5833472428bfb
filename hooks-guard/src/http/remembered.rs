//! Remembered answers over HTTP: `GET` and `DELETE /api/hooks/remembered`. Returns the remembered
//! answers, or the revoked answer.

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use serde::Serialize;

use super::common::{failed, number};
use super::error::{ApiError, RequestId};
use super::query::Query;
use super::state::AppState;
use crate::audit::Remembered;

/// Maximum number of answers per response.
const MAX_PAGE: u64 = 1000;

/// A page of remembered answers.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct List {
    remembered: Vec<Remembered>,
    /// Total number of remembered answers: the active ones, or with `all` also the revoked ones.
    total: u64,
    /// `after` of the next page; `null` on the last page.
    next: Option<i64>,
}

/// Lists active remembered answers; with `all=true`, also revoked ones.
#[utoipa::path(
    get,
    path = "/api/hooks/remembered",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of answers, at most 1000. Default: 1000"),
        ("after" = Option<u64>, Query, description = "The `next` of the previous page"),
        ("all" = Option<bool>, Query, description = "If `true`, includes revoked answers. Default: `false`"),
    ),
    responses(
        (status = 200, description = "The remembered answers, oldest first", body = List),
        (status = 400, description = "INVALID_FILTER", body = super::error::ErrorBody),
        (status = 503, description = "BUSY: too many concurrent reads", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Json<List>, ApiError> {
    let limit = query.number("limit")?.unwrap_or(MAX_PAGE).min(MAX_PAGE);
    let after = query.number("after")?.unwrap_or(0);
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let all = query.choice("all", &[false, true], &["false", "true"])?;
    let all = all.unwrap_or(false);
    let _turn = state.turn(&headers).await?;
    let audit = state.audit(&headers);
    // One more than the limit, to detect another page.
    let found = audit.remembered_page(after, limit + 1, all).await;
    let (mut remembered, total) = found.map_err(|error| failed(&id, &error))?;
    let is_last = remembered.len() as u64 <= limit;
    remembered.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = remembered.last().map(|one| one.id).filter(|_| !is_last);
    Ok(Json(List {
        remembered,
        total,
        next,
    }))
}

/// Revokes a remembered answer; effective from the next request.
#[utoipa::path(
    delete,
    path = "/api/hooks/remembered/{id}",
    params(("id" = i64, Path, description = "Id of the remembered answer")),
    security(("operator" = [])),
    responses(
        (status = 200, description = "The revoked answer", body = Remembered),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn revoke(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(remembered): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Remembered>, ApiError> {
    let by = state.inner.operator.check(&headers)?;
    let audit = state.audit(&headers);
    let failed = |error| failed(&id, &error);
    let number = number(&remembered)?;
    let not_found =
        || ApiError::not_found("unknown approval; list approvals with `GET /api/hooks/remembered`");
    if !audit.revoke(number, by).await.map_err(failed)? {
        return Err(not_found());
    }
    let found = audit.remembered_by_id(number).await.map_err(failed)?;
    found.map(Json).ok_or_else(not_found)
}
