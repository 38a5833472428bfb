//! `GET /health`. Returns the health of the service and of its classifier.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::state::AppState;

/// Health of the service.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Health {
    /// `ok`, or `degraded` if the trail cannot be read or the last write failed.
    status: &'static str,
    version: &'static str,
    hooks: Hooks,
}

/// State of the classification of commands.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Hooks {
    enabled: bool,
    classifier_available: bool,
    /// If `true`, a language model has responded.
    model_loaded: bool,
    /// Configured language model, if any.
    model_name: Option<String>,
    /// Duration of the last classification in milliseconds, without its record.
    classification_latency_ms: u64,
}

/// Returns the health of the service.
#[utoipa::path(
    get,
    path = "/health",
    responses(
        (status = 200, description = "The service is healthy", body = Health),
        (status = 503, description = "The audit trail cannot be read or written", body = Health),
    )
)]
pub(crate) async fn health(State(state): State<AppState>) -> (StatusCode, Json<Health>) {
    let inner = &state.inner;
    let works = inner.service.audit().ping().await.is_ok();
    let model = inner.config.semantic.as_ref();
    let latency = inner.service.classification_latency();
    let health = Health {
        status: if works { "ok" } else { "degraded" },
        version: env!("CARGO_PKG_VERSION"),
        hooks: Hooks {
            enabled: inner.config.enabled,
            classifier_available: inner.config.enabled && inner.service.gate().has_classifier(),
            model_loaded: inner.service.gate().model_answered(),
            model_name: model.map(|semantic| semantic.model.clone()),
            classification_latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        },
    };
    let status = match works {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(health))
}
