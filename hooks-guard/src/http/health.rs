//! `GET /health`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::state::AppState;

/// How the service is.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Health {
    /// `ok`, or `degraded` if the trail cannot be read or could not be written last.
    status: &'static str,
    version: &'static str,
    hooks: Hooks,
}

/// How the classification of commands is.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Hooks {
    enabled: bool,
    classifier_available: bool,
    /// Whether a language model has responded.
    model_loaded: bool,
    /// The model that is asked, if one is.
    model_name: Option<String>,
    /// How long it took to judge the last request, without its record.
    classification_latency_ms: u64,
}

/// Says how the service is.
#[utoipa::path(
    get,
    path = "/health",
    responses(
        (status = 200, description = "It works", body = Health),
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
