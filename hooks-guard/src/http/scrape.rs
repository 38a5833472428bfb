//! `GET /metrics`. Returns the metrics of the service in Prometheus' text format.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use metrics::gauge;

use super::common::no_such_path;
use super::state::AppState;

/// Returns the metrics in Prometheus' text format.
#[utoipa::path(
    get,
    path = "/metrics",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain"))
)]
pub(crate) async fn served(State(state): State<AppState>) -> Response {
    let Some(handle) = &state.inner.metrics.0 else {
        return no_such_path().await.into_response();
    };
    if let Ok(pending) = state.service().audit().count_questions().await {
        gauge!("hooks_guard_pending").set(pending as f64);
    }
    state.inner.metrics.add_up();
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, content_type)], handle.render()).into_response()
}
