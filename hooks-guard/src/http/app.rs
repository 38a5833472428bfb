//! The service as an axum router. Takes the state; returns a router with all routes and the
//! middleware of every request: request id, check of the caller, metrics, and a response even if a
//! handler panics.

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderValue;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use futures_util::FutureExt;
use tokio::time::Instant;

use super::common::no_such_method;
use super::error::{ApiError, REQUEST_ID, RequestId};
use super::state::AppState;
use super::{
    agent_hook, changes, cleanup, console, decisions, events, export, health, identity, metrics,
    openapi, pending, permission, registered, remembered, respond, rule, scrape, session, stats,
};

/// Returns the service as a router, to be served by [`Server`](super::Server), by another server,
/// or called directly.
///
/// Responses reveal no internal errors: their causes are logged under the request id, which every
/// response carries as `X-Request-Id`.
pub fn app(state: AppState) -> Router {
    Router::new()
        .route("/api/hooks/permission-request", post(permission::request))
        .route("/api/hooks/agents/{agent}", post(agent_hook::hook))
        .route("/api/hooks/permission-response", post(respond::respond))
        .route(
            "/api/hooks/permission-response/{id}",
            delete(respond::withdraw),
        )
        .route("/api/hooks/pending", get(pending::list))
        .route("/api/hooks/pending/deny", post(pending::deny))
        .route("/api/hooks/decisions", get(decisions::list))
        .route("/api/hooks/decisions/{id}", get(decisions::one))
        .route(
            "/api/hooks/decisions/{id}/executed",
            post(decisions::executed),
        )
        .route("/api/hooks/decisions/{id}/redeem", post(decisions::redeem))
        .route("/api/hooks/decisions/{id}/rule", get(rule::propose))
        .route(
            "/api/hooks/decisions/{id}/changes",
            get(changes::read).post(changes::attach),
        )
        .route("/api/hooks/events", get(events::events))
        .route("/api/hooks/remembered", get(remembered::list))
        .route("/api/hooks/remembered/{id}", delete(remembered::revoke))
        .route("/api/hooks/stats", get(stats::stats))
        .route("/api/hooks/series", get(stats::series))
        .route("/api/hooks/export", get(export::export))
        .route("/api/hooks/registered", get(registered::registered))
        .route("/api/hooks/cleanup", delete(cleanup::cleanup))
        .route("/api/hooks/identity", get(identity::identity))
        .route("/api/hooks/openapi.json", get(openapi::served))
        .merge(console::pages())
        .route(
            "/api/console/session",
            get(session::state)
                .post(session::begin)
                .delete(session::end),
        )
        .route("/health", get(health::health))
        .route("/metrics", get(scrape::served))
        .fallback(console::missing)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(state.clone(), around))
        .with_state(state)
}

/// Middleware of every request: assigns a request id, checks the caller, counts the request, and
/// returns a response even if a handler panics.
pub(super) async fn around(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId::new();
    let began = Instant::now();
    let path = route_of(&request);
    request.extensions_mut().insert(id.clone());
    let names = &state.inner.names;
    let mut response = match names.check(request.uri(), request.headers()) {
        Err(refused) => refused.into_response(),
        Ok(()) => {
            let run = std::panic::AssertUnwindSafe(proved(request, next)).catch_unwind();
            run.await.unwrap_or_else(|_| {
                tracing::error!(request_id = id.0, path, "a handler panicked");
                ApiError::internal(&id).into_response()
            })
        }
    };
    metrics::request(&path, response.status(), began.elapsed());
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// Checks the proof of a request, if it has one, and signs the response.
pub(super) async fn proved(request: Request, next: Next) -> Response {
    match identity::check(request).await {
        Err(refused) => refused.into_response(),
        Ok((request, None)) => next.run(request).await,
        Ok((mut request, Some(proved))) => {
            request.extensions_mut().insert(identity::Proved);
            proved.sign(next.run(request).await).await
        }
    }
}

/// Returns the route that a request matches, not its path: paths contain ids and other values from
/// clients, which must not become metric labels.
fn route_of(request: &Request) -> String {
    let route = request.extensions().get::<MatchedPath>();
    route.map_or("other", MatchedPath::as_str).to_owned()
}
