//! The audit trail over HTTP: `GET /api/hooks/decisions`, a single decision, and the report that a
//! command was executed. Takes a request; returns records or an API error.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::common::{failed, now, number, unknown};
use super::error::{ApiError, RequestId};
use super::query::Query;
use super::state::AppState;
use super::{body, permission, reads};
use crate::audit::{ApprovalStatus, AuditRecord, ExecutionResult, Page, RedeemResult, Totals};
use crate::request::PermissionRequest;

/// Maximum number of records per response.
const MAX_PAGE: u64 = 1000;
/// Maximum time to wait for an answer, in seconds.
const MAX_WAIT_SECONDS: u64 = 60;

/// A page of the trail. Only describes the schema; the response is written record by record.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Decisions {
    decisions: Vec<AuditRecord>,
    #[serde(flatten)]
    rest: DecisionsRest,
}

/// Fields of a page besides its records.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DecisionsRest {
    stats: Totals,
    pagination: Pagination,
    #[schema(value_type = String, format = DateTime)]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    generated_at: Timestamp,
}

/// Position and size of the returned page.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Pagination {
    limit: u64,
    offset: u64,
    /// Total number of records that match the filters.
    total: u64,
    returned: usize,
}

/// Lists decisions, newest first.
#[utoipa::path(
    get,
    path = "/api/hooks/decisions",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of records, at most 1000. Default: 50"),
        ("offset" = Option<u64>, Query, description = "Number of records to skip"),
        super::query::FilterParameters,
    ),
    responses(
        (status = 200, description = "The records", body = Decisions),
        (status = 400, description = "INVALID_FILTER, INVALID_DATE", body = super::error::ErrorBody),
        (status = 503, description = "BUSY: too many concurrent reads", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let limit = query.number("limit")?.unwrap_or(50).min(MAX_PAGE);
    let offset = query.number("offset")?.unwrap_or(0);
    let filter = query.filter()?;
    let audit = state.audit(&headers);
    let page = Page { limit, offset };
    let failed = |error| failed(&id, &error);
    let (numbers, total, totals) = {
        let _turn = state.turn(&headers).await?;
        let (numbers, total) = audit
            .decision_numbers(&filter, page)
            .await
            .map_err(failed)?;
        (numbers, total, audit.totals().await.map_err(failed)?)
    };
    let rest = DecisionsRest {
        pagination: Pagination {
            limit,
            offset,
            total,
            returned: numbers.len(),
        },
        stats: totals,
        generated_at: now(),
    };
    reads::list(&state, &id, &headers, "decisions", numbers, &rest).await
}

/// A record, and how long its approval lasts.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DecisionDetails {
    #[serde(flatten)]
    record: AuditRecord,
    /// How long the approval lasts, and if it still applies; absent if the question was not
    /// approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalStatus>,
}

/// Returns a decision; waits up to a minute for the answer if one is pending.
#[utoipa::path(
    get,
    path = "/api/hooks/decisions/{id}",
    params(
        ("id" = i64, Path, description = "Id of the decision"),
        ("wait" = Option<u64>, Query, description = "Seconds to wait for the answer, at most 60"),
    ),
    responses(
        (status = 200, description = "The current record. The state of an approval is `changed` only in responses to the operator, because the service reads the files then", body = DecisionDetails),
        (status = 400, description = "INVALID_FILTER", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
        (status = 503, description = "SHUTTING_DOWN: only if `wait` is given", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn one(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(decision): Path<String>,
    headers: HeaderMap,
    query: Query,
) -> Result<Json<DecisionDetails>, ApiError> {
    let decision = number(&decision)?;
    let wait = query.number("wait")?.unwrap_or(0).min(MAX_WAIT_SECONDS);
    let found = state
        .service()
        .decision(decision, Duration::from_secs(wait));
    let found = tokio::select! {
        biased;
        found = found => found,
        () = state.inner.ending.begun(), if wait > 0 => return Err(ApiError::shutting_down()),
    };
    let record = found.map_err(|error| failed(&id, &error))?;
    let record = record.ok_or_else(unknown)?;
    let audit = state.audit(&headers);
    let approval = audit.approval_status(&record, state.is_operator(&headers));
    let approval = approval.await.map_err(|error| failed(&id, &error))?;
    Ok(Json(DecisionDetails { record, approval }))
}

/// Report of an execution.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "describes a body that is parsed field by field")]
pub(crate) struct ExecutedBody {
    /// The decision's `secret`.
    secret: String,
    /// Exit status of the command, if it has one.
    exit_status: Option<i32>,
    /// The request that ran. If it is not the decided one, the record has it as `ran_command`.
    ran: Option<PermissionRequest>,
}

/// Reports that the command of a decision was executed.
#[utoipa::path(
    post,
    path = "/api/hooks/decisions/{id}/executed",
    params(("id" = i64, Path, description = "Id of the decision")),
    request_body = ExecutedBody,
    responses(
        (status = 200, description = "The current record", body = AuditRecord),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 403, description = "WRONG_SECRET", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
        (status = 409, description = "ALREADY_EXECUTED", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn executed(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(decision): Path<String>,
    body: Body,
) -> Result<Json<AuditRecord>, ApiError> {
    let decision = number(&decision)?;
    let mut map = body::object(body).await?;
    let secret = body::text(&mut map, "secret", 200)?.ok_or_else(|| ApiError::missing("secret"))?;
    let expected = "an integer of 32 bits";
    let exit_status = body::integer(&mut map, "exit_status", expected)?
        .map(i32::try_from)
        .transpose()
        .map_err(|_| body::wrong_type("exit_status", expected))?;
    let ran = match map.remove("ran") {
        None | Some(Value::Null) => None,
        Some(Value::Object(ran)) => Some(permission::read(ran)?),
        Some(_) => return Err(body::wrong_type("ran", "an object")),
    };
    let service = state.service();
    let done = service.record_execution(decision, &secret, exit_status, ran.as_ref());
    let done = done.await;
    match done.map_err(|error| failed(&id, &error))? {
        ExecutionResult::Done(record) => Ok(Json(*record)),
        ExecutionResult::Already(_) => Err(ApiError::conflict(
            "ALREADY_EXECUTED",
            "the execution was already reported; report it once",
        )),
        ExecutionResult::WrongSecret => Err(wrong_secret()),
        ExecutionResult::Unknown => Err(unknown()),
    }
}

/// Proof that the caller owns a decision.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "describes a body that is parsed field by field")]
pub(crate) struct RedeemBody {
    /// The decision's `secret`.
    secret: String,
}

/// Uses the approval of a decision, which is possible once.
#[utoipa::path(
    post,
    path = "/api/hooks/decisions/{id}/redeem",
    params(("id" = i64, Path, description = "Id of the decision")),
    request_body = RedeemBody,
    responses(
        (status = 200, description = "The command may run now, once", body = AuditRecord),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 403, description = "WRONG_SECRET", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
        (status = 409, description = "NOT_APPROVED, ALREADY_USED, CHANGED", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn redeem(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(decision): Path<String>,
    body: Body,
) -> Result<Json<AuditRecord>, ApiError> {
    let decision = number(&decision)?;
    let mut map = body::object(body).await?;
    let secret = body::text(&mut map, "secret", 200)?.ok_or_else(|| ApiError::missing("secret"))?;
    let result = state.service().redeem(decision, &secret).await;
    redeemed(result.map_err(|error| failed(&id, &error))?)
}

/// Returns the record of an approval that was used, or the error of one that does not hold.
pub(super) fn redeemed(result: RedeemResult) -> Result<Json<AuditRecord>, ApiError> {
    match result {
        RedeemResult::Done(record) => Ok(Json(*record)),
        RedeemResult::Already(_) => Err(ApiError::conflict(
            "ALREADY_USED",
            "the approval was already used; request a new decision",
        )),
        RedeemResult::NotApproved(_) => Err(ApiError::conflict(
            "NOT_APPROVED",
            "the command was not approved; wait for the answer, or request a new decision",
        )),
        RedeemResult::Changed(_, why) => Err(ApiError::conflict(
            "CHANGED",
            format!("the command has changed since its approval: {why}; request a new decision"),
        )),
        RedeemResult::WrongSecret => Err(wrong_secret()),
        RedeemResult::Unknown => Err(unknown()),
    }
}

fn wrong_secret() -> ApiError {
    ApiError::forbidden(
        "WRONG_SECRET",
        "wrong secret; send the `secret` of the decision",
    )
}
