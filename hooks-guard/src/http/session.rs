//! Browser sessions of the operator. Takes a request with the token or the cookie; returns the
//! cookie, and the CSRF value that every action needs.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use serde::Serialize;

use super::error::ApiError;
use super::state::AppState;

/// A new browser session.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Begun)]
pub(crate) struct NewSession {
    /// CSRF value, required in `X-Guard-CSRF` for every action.
    csrf: String,
}

/// State of the browser session.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = SignedIn)]
pub(crate) struct SessionStatus {
    signed_in: bool,
}

/// Signs in. The cookie of the response, together with `csrf`, replaces the operator's token.
#[utoipa::path(
    post,
    path = "/api/console/session",
    security(("operator" = [])),
    responses(
        (status = 200, description = "Signed in", body = NewSession),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn begin(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let operator = &state.inner.operator;
    operator.token.check(&headers)?;
    // Signing in again replaces the previous session.
    operator.sessions.end(&headers);
    let (id, csrf) = operator.sessions.begin();
    let cookie = operator.sessions.set_cookie(&id, "");
    Ok((cookie, Json(NewSession { csrf })))
}

/// Returns `true` if the cookie and the CSRF value of the page are valid.
#[utoipa::path(
    get,
    path = "/api/console/session",
    responses((status = 200, description = "State of the session", body = SessionStatus))
)]
pub(crate) async fn state(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Json<SessionStatus> {
    let signed_in = state.inner.operator.sessions.check(&headers).is_ok();
    Json(SessionStatus { signed_in })
}

/// Signs out.
#[utoipa::path(
    delete,
    path = "/api/console/session",
    responses(
        (status = 200, description = "Signed out", body = SessionStatus),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED: not signed in", body = super::error::ErrorBody),
        (status = 403, description = "CSRF_REQUIRED", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn end(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let sessions = &state.inner.operator.sessions;
    sessions.check(&headers)?;
    sessions.end(&headers);
    let cookie = sessions.set_cookie("", "; Max-Age=0");
    let body = Json(SessionStatus { signed_in: false });
    Ok((StatusCode::OK, cookie, body))
}
