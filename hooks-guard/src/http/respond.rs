//! `POST /api/hooks/permission-response` and `DELETE /api/hooks/permission-response/{id}`. Takes the
//! operator's answer to a question, or the withdrawal of a delayed answer; returns the record.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::common::{failed, number, unknown};
use super::delayed::{AnsweredRecord, DelayedAnswer, WithdrawResult};
use super::error::{ApiError, RequestId};
use super::state::AppState;
use super::{body, metrics};
use crate::audit::{AnswerResult, AuditRecord, UserResponse};
use crate::mask;
use crate::service::{OperatorAnswer, RememberScope, RespondResult};

/// Maximum length of a note in characters.
const MAX_NOTE_CHARS: usize = 1000;
/// Maximum delay of an answer, in milliseconds.
const MAX_DELAY_MS: i64 = 10_000;
/// Time between the end of a delay and the deadline of the question, so that the answer takes effect
/// before the question expires.
const DEADLINE_MARGIN: SignedDuration = SignedDuration::from_secs(1);

/// An answer to a question.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "describes a body that is parsed field by field")]
pub(crate) struct ResponseBody {
    /// Id of the decision.
    id: i64,
    /// `APPROVED` or `DENIED`.
    #[schema(example = "APPROVED", pattern = "^(APPROVED|DENIED)$")]
    response: String,
    /// Scope in which an approval is remembered. Default: it applies only to this request.
    remember: Option<RememberScope>,
    /// Note that is stored with the answer.
    note: Option<String>,
    /// Confirms that a deletion is allowed `always`; required for `remember: "always"` if the
    /// `classification` is DELETE.
    #[serde(default)]
    confirm_deletion: bool,
    /// Milliseconds after which the answer takes effect. Until then it can be withdrawn. Default: 0.
    /// The delay ends at least a second before the deadline of the question.
    #[schema(minimum = 0, maximum = 10000)]
    delay_ms: Option<u64>,
}

/// Answers a question. The first answer takes effect.
///
/// With `delay_ms`, the answer takes effect after the delay, and can be withdrawn until then. Before
/// it takes effect, the agent continues to wait and the trail has no answer; if the service stops,
/// the question stays open.
#[utoipa::path(
    post,
    path = "/api/hooks/permission-response",
    request_body = ResponseBody,
    security(("operator" = [])),
    responses(
        (status = 200, description = "The answer has taken effect; the current record", body = AuditRecord),
        (status = 202, description = "The answer takes effect after its delay; the current record", body = AnsweredRecord),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
        (status = 409, description = "ALREADY_ANSWERED, CANNOT_BE_ANSWERED, CANNOT_BE_REMEMBERED, DELETION_NOT_CONFIRMED, HIDDEN_CODE", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn respond(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<AnsweredRecord>), ApiError> {
    let by = state.inner.operator.check(&headers)?;
    let mut map = body::object(body).await?;
    let decision = body::integer(&mut map, "id", "an integer")?;
    let decision = decision.ok_or_else(|| ApiError::missing("id"))?;
    let response = body::text(&mut map, "response", 100)?;
    let reply = OperatorAnswer {
        approved: match response.as_deref() {
            Some("APPROVED") => true,
            Some("DENIED") => false,
            Some(_) => return Err(body::wrong_type("response", "APPROVED or DENIED")),
            None => return Err(ApiError::missing("response")),
        },
        remember: match body::text(&mut map, "remember", 100)?.as_deref() {
            None | Some("once") => RememberScope::Once,
            Some("session") => RememberScope::Session,
            Some("always") => RememberScope::Always,
            Some(_) => return Err(body::wrong_type("remember", "once, session or always")),
        },
        note: body::text(&mut map, "note", MAX_NOTE_CHARS)?,
        confirms_deletion: body::flag(&mut map, "confirm_deletion")?,
    };
    let delay_ms = delay_ms(body::integer(&mut map, "delay_ms", DELAY_VALUES)?)?;
    if let Some(earlier) = state.inner.delayed.get(decision) {
        return Err(already_delayed(&earlier));
    }
    let failed = |error| failed(&id, &error);
    if delay_ms > 0 {
        let checked = state.service().check_answer(decision, &reply).await;
        let record = match checked.map_err(failed)? {
            Ok(record) => record,
            Err(refused) => return result(refused),
        };
        let delay = Duration::from_millis(delay_ms);
        if let Some((effective_at, until)) = effective(&record, delay) {
            let answering = DelayedAnswer {
                id: decision,
                response: match reply.approved {
                    true => UserResponse::Approved,
                    false => UserResponse::Denied,
                },
                remember: reply.remember,
                note: reply.note.as_deref().map(mask::note),
                by,
                effective_at,
            };
            let delayed = state.delay(&answering, reply, until);
            delayed.map_err(|earlier| already_delayed(&earlier))?;
            let record = AnsweredRecord {
                record: *record,
                answering: Some(answering),
            };
            return Ok((StatusCode::ACCEPTED, Json(record)));
        }
    }
    let answered = state.service().respond(decision, reply, by).await;
    result(answered.map_err(failed)?)
}

/// Expected values of `delay_ms`.
const DELAY_VALUES: &str = "an integer from 0 to 10000";

fn delay_ms(given: Option<i64>) -> Result<u64, ApiError> {
    match given.unwrap_or(0) {
        delay @ 0..=MAX_DELAY_MS => Ok(delay.unsigned_abs()),
        _ => Err(body::wrong_type("delay_ms", DELAY_VALUES)),
    }
}

/// Returns when an answer with this delay takes effect: at least a second before the deadline of the
/// question. Returns `None` if there is no time for a delay.
fn effective(record: &AuditRecord, delay: Duration) -> Option<(Timestamp, Instant)> {
    let now = Timestamp::now();
    let left = record.deadline.map(|deadline| {
        let left = deadline.duration_since(now) - DEADLINE_MARGIN;
        Duration::try_from(left).unwrap_or_default()
    });
    let delay = left.map_or(delay, |left| left.min(delay));
    (!delay.is_zero()).then(|| (now + delay, Instant::now() + delay))
}

fn already_delayed(earlier: &DelayedAnswer) -> ApiError {
    ApiError::conflict(
        "ALREADY_ANSWERED",
        format!(
            "already answered: {}, takes effect at {}; withdraw it with `DELETE \
             /api/hooks/permission-response/{}`",
            earlier.response.as_str(),
            earlier.effective_at,
            earlier.id
        ),
    )
}

/// Returns the response to an answer that has taken effect, or the error of one that has not.
fn result(answered: RespondResult) -> Result<(StatusCode, Json<AnsweredRecord>), ApiError> {
    let answered = match answered {
        RespondResult::Answered(answered) => answered,
        RespondResult::NotRemembered(Some(why)) => {
            return Err(ApiError::conflict(
                "CANNOT_BE_REMEMBERED",
                format!("the answer cannot be remembered: {why}"),
            ));
        }
        RespondResult::NotRemembered(None) => {
            return Err(ApiError::conflict(
                "CANNOT_BE_REMEMBERED",
                "the answer cannot be remembered: the command affects the guard or later commands, \
                 or its effect is unknown until it runs; approve it with `once`",
            ));
        }
        RespondResult::HiddenCode => {
            return Err(ApiError::conflict(
                "HIDDEN_CODE",
                "the command executes text that is hidden as a secret; deny it, or approve it in \
                 the agent's own prompt",
            ));
        }
        RespondResult::DeletionNotConfirmed => {
            return Err(ApiError::conflict(
                "DELETION_NOT_CONFIRMED",
                "`always` would allow this deletion in every session without another question; to \
                 confirm it, send `\"confirm_deletion\": true`, or approve it with `once`",
            ));
        }
        RespondResult::NoSession => {
            return Err(ApiError::conflict(
                "CANNOT_BE_REMEMBERED",
                "the request has no session; approve it with `once` or `always`",
            ));
        }
    };
    match answered {
        AnswerResult::Done(record) => {
            metrics::answer(&record);
            let record = AnsweredRecord {
                record: *record,
                answering: None,
            };
            Ok((StatusCode::OK, Json(record)))
        }
        AnswerResult::Already(record) => Err(already_answered(&record)),
        AnswerResult::NotAsked(_) => Err(ApiError::conflict(
            "CANNOT_BE_ANSWERED",
            "no answer needed: the command was allowed without a question, or denied by a rule",
        )),
        AnswerResult::Unknown => Err(unknown()),
    }
}

fn already_answered(record: &AuditRecord) -> ApiError {
    let response = record.user_response.map_or("nothing", |said| said.as_str());
    ApiError::conflict("ALREADY_ANSWERED", format!("already answered: {response}"))
}

/// Withdraws a delayed answer. The question is open again, with its deadline.
#[utoipa::path(
    delete,
    path = "/api/hooks/permission-response/{id}",
    params(("id" = i64, Path, description = "Id of the decision")),
    security(("operator" = [])),
    responses(
        (status = 200, description = "The answer was withdrawn; the current record", body = AuditRecord),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND: unknown decision, or there is no answer to withdraw", body = super::error::ErrorBody),
        (status = 409, description = "ALREADY_ANSWERED: the answer has taken effect", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn withdraw(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(decision): Path<String>,
    headers: HeaderMap,
) -> Result<Json<AuditRecord>, ApiError> {
    let by = state.inner.operator.check(&headers)?;
    let decision = number(&decision)?;
    let result = state.inner.delayed.withdraw(&state.inner.hub, decision, by);
    if matches!(result, WithdrawResult::Withdrawn) {
        // The trail records only answers that took effect.
        tracing::info!(decision, by, "answer withdrawn");
        metrics::withdrawn_answer();
    }
    let record = state.service().reserved_audit().decision(decision).await;
    let record = record.map_err(|error| failed(&id, &error))?;
    let record = record.ok_or_else(unknown)?;
    match result {
        WithdrawResult::Withdrawn => Ok(Json(record)),
        WithdrawResult::TakesEffect(response) => Err(ApiError::conflict(
            "ALREADY_ANSWERED",
            format!("too late: {} takes effect", response.as_str()),
        )),
        WithdrawResult::Unknown if record.user_response.is_some() => Err(already_answered(&record)),
        WithdrawResult::Unknown => Err(ApiError::not_found(
            "no answer to withdraw; the question is open",
        )),
    }
}
