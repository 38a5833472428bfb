//! `GET` and `POST /api/hooks/decisions/{id}/changes`: the changes that a file tool would make, for
//! the operator who answers the question.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;

use super::body;
use super::common::{failed, number};
use super::error::{ApiError, RequestId};
use super::state::AppState;
use crate::changes::{AttachResult, ChangeTotals, ChangesError, FileChanges};

/// Checks the changes that a client sends.
pub(super) fn check(changes: &FileChanges) -> Result<(), ApiError> {
    changes.check("changes").map_err(|error| match error {
        ChangesError::TooLong(field, most) => ApiError::too_long(&field, most),
        ChangesError::Invalid(field, why) => {
            ApiError::invalid_json(format!("field `{field}`: {why}"))
        }
    })
}

/// Returns the changes of a pending question about files. They are in the memory of the process that
/// asked the question, until it is answered; their secrets are masked.
#[utoipa::path(
    get,
    path = "/api/hooks/decisions/{id}/changes",
    params(("id" = i64, Path, description = "Id of the decision")),
    security(("operator" = [])),
    responses(
        (status = 200, description = "The changes", body = FileChanges),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND: no pending question with known changes", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn read(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    Path(decision): Path<String>,
) -> Result<Json<Arc<FileChanges>>, ApiError> {
    // The diffs show the content of files that other users may not read.
    state.inner.operator.check(&headers)?;
    let changes = state.service().changes(number(&decision)?).await;
    let changes = changes.map_err(|error| failed(&id, &error))?;
    let unknown =
        || ApiError::not_found("no changes are known for this decision, or it is answered");
    changes.map(Json).ok_or_else(unknown)
}

/// The changes of a question, with the proof that the caller owns it.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "describes a body that is parsed field by field")]
pub(crate) struct ChangesBody {
    /// The decision's `secret`.
    secret: String,
    /// The changes.
    changes: FileChanges,
}

/// Shows changes with a pending question about files, once.
#[utoipa::path(
    post,
    path = "/api/hooks/decisions/{id}/changes",
    params(("id" = i64, Path, description = "Id of the decision")),
    request_body = ChangesBody,
    responses(
        (status = 200, description = "The size of the changes", body = ChangeTotals),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 403, description = "WRONG_SECRET", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND: not a pending question about files of this process", body = super::error::ErrorBody),
        (status = 409, description = "ALREADY_KNOWN", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn attach(
    State(state): State<AppState>,
    Path(decision): Path<String>,
    body: Body,
) -> Result<Json<ChangeTotals>, ApiError> {
    let decision = number(&decision)?;
    let mut map = body::object(body).await?;
    let secret = body::text(&mut map, "secret", 200)?.ok_or_else(|| ApiError::missing("secret"))?;
    let changes = body::value::<FileChanges>(&mut map, "changes")?;
    let changes = changes.ok_or_else(|| {
        ApiError::missing("changes").details("send `changes` as an object with `files`")
    })?;
    check(&changes)?;
    let attached = state.service().attach_changes(decision, &secret, changes);
    match attached.await {
        AttachResult::Attached(totals) => {
            state.inner.hub.announce_changes(decision, totals);
            Ok(Json(totals))
        }
        AttachResult::Already => Err(ApiError::conflict(
            "ALREADY_KNOWN",
            "the changes of this question are known; send them once",
        )),
        AttachResult::WrongSecret => Err(ApiError::forbidden(
            "WRONG_SECRET",
            "wrong secret; send the `secret` of the decision",
        )),
        AttachResult::NotPending => Err(ApiError::not_found(
            "not a pending question about files of this process; send the changes right after the \
             decision",
        )),
    }
}
