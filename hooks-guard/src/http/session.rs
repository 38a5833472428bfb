//! Signs the operator in and out in a browser. In: a request with the token or the cookie. Out: the
//! cookie, and the value that every action needs.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use serde::Serialize;

use super::error::ApiError;
use super::state::AppState;

/// What the page needs for its actions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Begun {
    /// To be sent as `X-Guard-CSRF` with every action.
    csrf: String,
}

/// Whether somebody is signed in.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SignedIn {
    signed_in: bool,
}

/// Signs in: the answer's cookie stands for the operator's token, together with `csrf`.
#[utoipa::path(
    post,
    path = "/api/console/session",
    security(("operator" = [])),
    responses(
        (status = 200, description = "Signed in", body = Begun),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn begin(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let operator = &state.inner.operator;
    operator.token.check(&headers)?;
    // Whoever signs in anew is not signed in twice.
    operator.sessions.end(&headers);
    let (id, csrf) = operator.sessions.begin();
    let cookie = operator.sessions.set_cookie(&id, "");
    Ok((cookie, Json(Begun { csrf })))
}

/// Says whether the page's cookie and value are still good.
#[utoipa::path(
    get,
    path = "/api/console/session",
    responses((status = 200, description = "Whether", body = SignedIn))
)]
pub(crate) async fn state(State(state): State<AppState>, headers: HeaderMap) -> Json<SignedIn> {
    let signed_in = state.inner.operator.sessions.check(&headers).is_ok();
    Json(SignedIn { signed_in })
}

/// Signs out.
#[utoipa::path(
    delete,
    path = "/api/console/session",
    responses(
        (status = 200, description = "Signed out", body = SignedIn),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED: nobody was signed in", body = super::error::ErrorBody),
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
    let body = Json(SignedIn { signed_in: false });
    Ok((StatusCode::OK, cookie, body))
}
