//! The service over HTTP.
//!
//! | Request | Is |
//! |---|---|
//! | `POST /api/hooks/permission-request` | decides about a command (P-01 … P-15) |
//! | `GET /api/hooks/decisions` | the audit trail, newest first (P-20 … P-28) |
//! | `GET /api/hooks/decisions/{id}?wait=SECONDS` | one decision; waits for its answer |
//! | `POST /api/hooks/decisions/{id}/executed` | reports that it ran; needs its secret |
//! | `POST /api/hooks/decisions/{id}/redeem` | uses an approval, which serves once; needs its secret |
//! | `GET /api/hooks/pending` | the questions that wait for an answer, in pages |
//! | `POST /api/hooks/pending/deny` | denies many of them; needs the operator's token |
//! | `POST /api/hooks/permission-response` | answers one; needs the operator's token |
//! | `GET /api/hooks/remembered` | what was approved for longer |
//! | `DELETE /api/hooks/remembered/{id}` | revokes it; needs the operator's token |
//! | `GET /api/hooks/events` | what happens, as it happens (server-sent events) |
//! | `GET /api/hooks/stats` | statistics (P-30, P-31) |
//! | `GET /api/hooks/series` | the same over time |
//! | `GET /api/hooks/export` | the trail as JSON lines or a table |
//! | `GET /api/hooks/registered` | which hooks judge, and how they did |
//! | `DELETE /api/hooks/cleanup` | deletes old records (P-40 … P-42) |
//! | `GET /api/hooks/identity` | proves that the service has the key |
//! | `GET /api/hooks/openapi.json` | all of this, for programs |
//! | `GET`, `POST`, `DELETE /api/console/session` | signs the operator in and out in a browser |
//! | `GET /`, `/trail`, … | the console, for people |
//! | `GET /health`, `GET /metrics` | how the service is (P-43), and Prometheus' view of it |

mod body;
mod cleanup;
mod connections;
mod console;
mod decisions;
mod ending;
mod error;
mod events;
mod export;
mod health;
mod identity;
mod limit;
mod local;
mod metrics;
mod openapi;
mod operator;
mod pending;
mod permission;
mod query;
mod reads;
mod registered;
mod remembered;
mod respond;
mod serve;
mod session;
mod stats;
mod stream;
mod upkeep;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use futures_util::FutureExt;
use tokio::time::Instant;

pub use metrics::Metrics;
pub use openapi::document;
pub use operator::OperatorToken;
pub use serve::{ServeError, Server, Sockets};

use error::{ApiError, REQUEST_ID, RequestId};
use limit::RateLimit;
use local::Names;
use operator::Operator;
use session::Sessions;

use crate::config::Config;
use crate::proof::ServiceKey;
use crate::service::PermissionService;

/// What [`app`] needs: the service, who may answer, and how it is set up (P-16).
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct AppState {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    service: PermissionService,
    operator: Operator,
    config: Config,
    names: Names,
    limit: Option<RateLimit>,
    metrics: Metrics,
    hub: events::Hub,
    reads: reads::BulkReads,
    ending: ending::Ending,
    /// By which clients and this service know each other.
    key: OnceLock<ServiceKey>,
}

impl AppState {
    /// The state of a service with this configuration, whose questions are answered by whoever
    /// has the token.
    #[must_use]
    pub fn new(
        service: PermissionService,
        operator: OperatorToken,
        config: Config,
        metrics: Metrics,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                names: Names::new(config.listen, &config.allowed_hosts),
                limit: RateLimit::new(config.rate_limit_per_minute),
                hub: events::Hub::default(),
                reads: reads::BulkReads::default(),
                ending: ending::Ending::default(),
                key: OnceLock::new(),
                operator: Operator {
                    token: operator,
                    sessions: Sessions::new(config.listen.port()),
                },
                service,
                config,
                metrics,
            }),
        }
    }

    /// Has the service prove to clients that it has this key. The first key counts.
    ///
    /// The proofs need [`Server`]: they hold for one connection.
    #[must_use]
    pub fn with_key(self, key: ServiceKey) -> Self {
        self.inner.key.get_or_init(|| key);
        self
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &PermissionService {
        &self.inner.service
    }
}

/// From where a connection comes; none for the Unix socket. [`Server`] puts it with every
/// request; without it a client counts as one of the Unix socket (P-11).
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub Option<SocketAddr>);

/// The service as a router, to be served by [`Server`] or by a server of one's own, or to be
/// asked without any.
///
/// No answer tells of the inside of the service: what goes wrong is in the log, under the
/// request's id, which every answer has as `X-Request-Id` (P-13).
pub fn app(state: AppState) -> Router {
    Router::new()
        .route("/api/hooks/permission-request", post(permission::request))
        .route("/api/hooks/permission-response", post(respond::respond))
        .route("/api/hooks/pending", get(pending::list))
        .route("/api/hooks/pending/deny", post(pending::deny))
        .route("/api/hooks/decisions", get(decisions::list))
        .route("/api/hooks/decisions/{id}", get(decisions::one))
        .route(
            "/api/hooks/decisions/{id}/executed",
            post(decisions::executed),
        )
        .route("/api/hooks/decisions/{id}/redeem", post(decisions::redeem))
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
        .route("/metrics", get(metrics::served))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(state.clone(), around))
        .with_state(state)
}

async fn no_such_path() -> ApiError {
    ApiError::not_found("There is nothing at this path")
}

async fn no_such_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        "This path has no such method",
    )
}

/// What holds for every request: a name, the check of who calls, a count, and an answer even if
/// a handler panics.
async fn around(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
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
    metrics::request(path, response.status(), began.elapsed());
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// Runs a request whose proof holds, if it has one, and proves the response.
async fn proved(request: Request, next: Next) -> Response {
    match identity::check(request).await {
        Err(refused) => refused.into_response(),
        Ok((request, None)) => next.run(request).await,
        Ok((request, Some(proved))) => proved.sign(next.run(request).await).await,
    }
}

/// The route that a request goes to, not its path: ids and whatever else a client makes up are
/// no names of counters.
fn route_of(request: &Request) -> &'static str {
    const ROUTES: [&str; 21] = [
        "/api/hooks/identity",
        "/api/hooks/series",
        "/api/hooks/export",
        "/api/hooks/registered",
        "/",
        "/api/console/session",
        "/api/hooks/permission-request",
        "/api/hooks/permission-response",
        "/api/hooks/pending",
        "/api/hooks/pending/deny",
        "/api/hooks/decisions",
        "/api/hooks/events",
        "/api/hooks/remembered",
        "/api/hooks/stats",
        "/api/hooks/cleanup",
        "/api/hooks/openapi.json",
        "/health",
        "/metrics",
        "/api/hooks/decisions/{id}",
        "/api/hooks/decisions/{id}/executed",
        "/api/hooks/decisions/{id}/redeem",
    ];
    let path = request.uri().path();
    let known = ROUTES.into_iter().find(|route| *route == path);
    known.unwrap_or_else(|| match path.strip_prefix("/api/hooks/decisions/") {
        Some(rest) if rest.ends_with("/redeem") => "/api/hooks/decisions/{id}/redeem",
        Some(rest) if rest.ends_with("/executed") => "/api/hooks/decisions/{id}/executed",
        Some(_) => "/api/hooks/decisions/{id}",
        None => match path.starts_with("/api/hooks/remembered/") {
            true => "/api/hooks/remembered/{id}",
            false => "other",
        },
    })
}
