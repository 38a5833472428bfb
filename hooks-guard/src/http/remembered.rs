//! What was approved for longer than once: `GET` and `DELETE /api/hooks/remembered`.

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use serde::Serialize;

use super::AppState;
use super::decisions::{failed, number};
use super::error::{ApiError, RequestId};
use crate::audit::Remembered;

/// What was approved for longer than once.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct List {
    remembered: Vec<Remembered>,
}

/// What was approved for longer than once, and not revoked since.
#[utoipa::path(
    get,
    path = "/api/hooks/remembered",
    responses((status = 200, description = "The approvals, the oldest first", body = List))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
) -> Result<Json<List>, ApiError> {
    let found = state.service().audit().all_remembered().await;
    Ok(Json(List {
        remembered: found.map_err(|error| failed(&id, &error))?,
    }))
}

/// Revokes an approval, from the next request on.
#[utoipa::path(
    delete,
    path = "/api/hooks/remembered/{id}",
    params(("id" = i64, Path, description = "The approval")),
    security(("operator" = [])),
    responses(
        (status = 200, description = "What was revoked", body = Remembered),
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
    let audit = state.service().audit();
    let failed = |error| failed(&id, &error);
    let number = number(&remembered)?;
    let all = audit.all_remembered().await.map_err(failed)?;
    let gone = || ApiError::not_found("There is no such approval");
    let found = all
        .into_iter()
        .find(|one| one.id == number)
        .ok_or_else(gone)?;
    match audit.forget(number, by).await.map_err(failed)? {
        true => Ok(Json(found)),
        false => Err(gone()),
    }
}
