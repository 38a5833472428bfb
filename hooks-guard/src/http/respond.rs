//! `POST /api/hooks/permission-response`. Takes the operator's answer to a question; returns the
//! record with the answer.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;

use super::common::{failed, unknown};
use super::error::{ApiError, RequestId};
use super::state::AppState;
use super::{body, metrics};
use crate::audit::{AnswerResult, AuditRecord};
use crate::service::{OperatorAnswer, RememberScope, RespondResult};

/// Maximum length of a note in characters.
const MAX_NOTE_CHARS: usize = 1000;

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
}

/// Answers a question. The first answer takes effect.
#[utoipa::path(
    post,
    path = "/api/hooks/permission-response",
    request_body = ResponseBody,
    security(("operator" = [])),
    responses(
        (status = 200, description = "The current record", body = AuditRecord),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
        (status = 409, description = "ALREADY_ANSWERED, CANNOT_BE_ANSWERED, CANNOT_BE_REMEMBERED, HIDDEN_CODE", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn respond(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<AuditRecord>, ApiError> {
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
    };
    let answered = state.service().respond(decision, reply, by).await;
    let answered = match answered.map_err(|error| failed(&id, &error))? {
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
            Ok(Json(*record))
        }
        AnswerResult::Already(record) => {
            let response = record.user_response.map_or("nothing", |said| said.as_str());
            Err(ApiError::conflict(
                "ALREADY_ANSWERED",
                format!("already answered: {response}"),
            ))
        }
        AnswerResult::NotAsked(_) => Err(ApiError::conflict(
            "CANNOT_BE_ANSWERED",
            "no answer needed: the command was allowed without a question, or denied by a rule",
        )),
        AnswerResult::Unknown => Err(unknown()),
    }
}
