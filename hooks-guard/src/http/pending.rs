//! Open questions over HTTP: `GET /api/hooks/pending` lists them in pages,
//! `POST /api/hooks/pending/deny` denies many at once.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use jiff::Timestamp;
use serde::Serialize;

use super::common::{failed, now};
use super::delayed::AnsweredRecord;
use super::error::{ApiError, RequestId};
use super::query::Query;
use super::state::AppState;
use super::{body, metrics, reads};
use crate::audit::{QuestionCursor, QuestionFilter, QuestionOrder, SessionQuestions, UserResponse};
use crate::mask;
use crate::request::MAX_NAME_CHARS;

/// Default number of questions per page.
const DEFAULT_PAGE: u64 = 100;
/// Maximum number of questions per page.
const MAX_PAGE: u64 = 1000;
/// Length of the questions in bytes of JSON after which a page ends. Together with one more
/// question, this is the part of a page that is in memory.
const MAX_PAGE_BYTES: usize = 300 << 10;
/// Maximum number of questions that one request denies; clients repeat the request for the others.
const MAX_DENIALS: u64 = 2000;
/// Maximum length of a note in characters.
const MAX_NOTE_CHARS: usize = 1000;

/// A page of open questions. Only describes the schema.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Pending {
    pending: Vec<AnsweredRecord>,
    #[serde(flatten)]
    rest: PendingRest,
}

/// Fields of a page besides its questions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PendingRest {
    /// Total number of questions that match the filters.
    total: u64,
    /// `after` of the next page; `null` on the last page.
    next: Option<String>,
    /// Sessions with the most questions, at most 20.
    sessions: Vec<SessionQuestions>,
    #[schema(value_type = String, format = DateTime)]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    generated_at: Timestamp,
}

/// Lists open questions.
///
/// With `oldest`, the oldest question comes first. With `fair`, the oldest question of each session
/// comes first, then the second of each session, and so on, so that no session hides another.
///
/// A page ends before its limit if its questions are longer than 300 KiB; `next` is the `after` of
/// the next page.
#[utoipa::path(
    get,
    path = "/api/hooks/pending",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of questions, at most 1000. Default: 100"),
        ("order" = Option<String>, Query, pattern = "^(oldest|fair)$", description = "`oldest` or `fair`. Default: `oldest`"),
        ("after" = Option<String>, Query, description = "The `next` of the previous page, with an equal `order`"),
        ("agent" = Option<String>, Query, description = "Only requests of this agent"),
        ("session_id" = Option<String>, Query, description = "Only requests of this session"),
    ),
    responses(
        (status = 200, description = "The questions", body = Pending),
        (status = 400, description = "INVALID_FILTER", body = super::error::ErrorBody),
        (status = 503, description = "BUSY: too many concurrent reads", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let limit = query.number("limit")?.unwrap_or(DEFAULT_PAGE).min(MAX_PAGE);
    let orders = [QuestionOrder::Oldest, QuestionOrder::Fair];
    let order = query.choice("order", &orders, &["oldest", "fair"])?;
    let order = order.unwrap_or_default();
    let after = query.text("after")?.map(|text| decode_cursor(text, order));
    let after = after.transpose()?.unwrap_or_default();
    let filter = QuestionFilter {
        agent: query.stored_name("agent")?,
        session_id: query.stored_name("session_id")?,
        session_of: None,
    };
    let page = {
        let _turn = state.turn(&headers).await?;
        let audit = state.audit(&headers);
        let page = audit.questions(&filter, order, after, limit).await;
        page.map_err(|error| failed(&id, &error))?
    };
    // Sent as a whole, so that the response can be signed.
    let place = state.place(&headers).ok_or_else(ApiError::busy)?;
    let is_operator = state.is_operator(&headers);
    let mut text = "{\"pending\":[".to_owned();
    let (mut last, mut next) = (None, page.next);
    'page: for some in page.cursors.chunks(reads::together(&state, &headers)) {
        let ids = some.iter().map(|cursor| cursor.id).collect();
        let records = reads::several(&state, &headers, ids).await;
        let mut records = records.map_err(|error| failed(&id, &error))?;
        for cursor in some {
            // A question that was answered meanwhile is not open.
            let found = records
                .iter()
                .position(|record| record.id == cursor.id && record.user_response.is_none());
            let Some(found) = found else { continue };
            if text.len() > MAX_PAGE_BYTES {
                next = last;
                break 'page;
            }
            if last.replace(*cursor).is_some() {
                text.push(',');
            }
            let answering = match is_operator {
                true => state.inner.delayed.get(cursor.id),
                false => None,
            };
            let record = records.swap_remove(found);
            let question = serde_json::to_string(&AnsweredRecord { record, answering });
            text.push_str(&question.map_err(|error| failed(&id, &error))?);
        }
    }
    let rest = PendingRest {
        total: page.total,
        next: next.map(|next| encode_cursor(next, order)),
        sessions: page.sessions,
        generated_at: now(),
    };
    let rest = serde_json::to_string(&rest).map_err(|error| failed(&id, &error))?;
    // The remaining fields of the object, with its closing bracket.
    text.push_str("],");
    text.push_str(rest.trim_start_matches('{'));
    Ok(reads::whole(text, place))
}

/// Formats a cursor for clients.
fn encode_cursor(cursor: QuestionCursor, order: QuestionOrder) -> String {
    match order {
        QuestionOrder::Oldest => cursor.id.to_string(),
        QuestionOrder::Fair => format!("{}.{}", cursor.place, cursor.id),
    }
}

fn decode_cursor(text: &str, order: QuestionOrder) -> Result<QuestionCursor, ApiError> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_number)
    };
    let cursor = match order {
        QuestionOrder::Oldest => number(text).map(|id| QuestionCursor { place: 0, id }),
        QuestionOrder::Fair => text.split_once('.').and_then(|(place, id)| {
            let (place, id) = (number(place)?, number(id)?);
            Some(QuestionCursor { place, id })
        }),
    };
    let expected = "`next` of a page with an equal `order`";
    cursor.ok_or_else(|| ApiError::invalid_parameter("after", expected))
}

/// Selects the questions to deny; at least one field is required.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "describes a body that is parsed field by field")]
pub(crate) struct DenyBody {
    /// Selects all open questions.
    #[serde(default)]
    all: bool,
    /// Selects questions of this agent.
    agent: Option<String>,
    /// Selects questions of this session.
    session_id: Option<String>,
    /// Selects questions with the agent and the session of this decision, including an absent
    /// session.
    session_of: Option<i64>,
    /// Note that is stored with each answer.
    note: Option<String>,
}

/// Result of a denial of many questions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Denied {
    /// Number of denied questions.
    denied: u64,
    /// Number of selected questions that are still open; if it is not 0, repeat the request.
    remaining: u64,
}

/// Denies many questions at once: up to 2000 that were asked before the request.
#[utoipa::path(
    post,
    path = "/api/hooks/pending/deny",
    request_body = DenyBody,
    security(("operator" = [])),
    responses(
        (status = 200, description = "Number of denied questions", body = Denied),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn deny(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Denied>, ApiError> {
    let by = state.inner.operator.check(&headers)?;
    let mut map = body::object(body).await?;
    let all = body::flag(&mut map, "all")?;
    let mut stored_name = |field| -> Result<Option<String>, ApiError> {
        let name = body::text(&mut map, field, MAX_NAME_CHARS)?;
        Ok(name.map(|name| mask::name(&name)))
    };
    let filter = QuestionFilter {
        agent: stored_name("agent")?,
        session_id: stored_name("session_id")?,
        session_of: body::integer(&mut map, "session_of", "an integer")?,
    };
    if !all && filter == QuestionFilter::default() {
        return Err(ApiError::missing("all, agent, session_id or session_of"));
    }
    let note = body::text(&mut map, "note", MAX_NOTE_CHARS)?;
    let note = note.map(|note| mask::note(&note));
    let audit = state.audit(&headers);
    let failed = |error| failed(&id, &error);
    let denied = audit.deny_questions(&filter, MAX_DENIALS, by, note);
    let denied = denied.await.map_err(failed)?;
    metrics::answers(UserResponse::Denied, denied);
    let (order, after) = (QuestionOrder::Oldest, QuestionCursor::default());
    let left = audit.questions(&filter, order, after, 0).await;
    Ok(Json(Denied {
        denied,
        remaining: left.map_err(failed)?.total,
    }))
}
