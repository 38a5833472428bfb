//! Metrics. Takes requests, decisions and answers; updates the counters that `GET /metrics`
//! returns.
//!
//! | Metric | Description |
//! |---|---|
//! | `hooks_guard_http_requests_total{path, status}` | number of requests |
//! | `hooks_guard_http_request_seconds{path}` | latency of requests |
//! | `hooks_guard_decisions_total{class, decision, method}` | number of decisions |
//! | `hooks_guard_decision_seconds` | latency of decisions, including their records |
//! | `hooks_guard_answers_total{response}` | number of answers by the operator |
//! | `hooks_guard_withdrawn_answers_total` | number of answers that the operator withdrew before they took effect |
//! | `hooks_guard_pending` | number of open questions |

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::StatusCode;
use metrics::{counter, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::audit::{AuditRecord, UserResponse};
use crate::request::PermissionDecision;

/// Recorder of the process's metrics.
#[derive(Clone)]
pub struct Metrics(pub(super) Option<PrometheusHandle>);

impl Metrics {
    /// Installs the recorder of this process, whose metrics `/metrics` returns. A process has only
    /// one recorder: if another is installed already, it receives the metrics and `/metrics`
    /// responds with 404.
    #[must_use]
    pub fn install() -> Self {
        static INSTALLED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
        let handle = INSTALLED.get_or_init(|| {
            let seconds = [
                0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 2.5,
                10.0, 60.0,
            ];
            let builder = PrometheusBuilder::new().set_buckets(&seconds).ok()?;
            builder.install_recorder().ok()
        });
        Self(handle.clone())
    }

    /// Aggregates new measurements; without this call, each of them stays in memory.
    pub(crate) fn add_up(&self) {
        if let Some(handle) = &self.0 {
            handle.run_upkeep();
        }
    }

    /// Returns a recorder without output.
    #[must_use]
    pub fn disabled() -> Self {
        Self(None)
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Metrics").field(&self.0.is_some()).finish()
    }
}

pub(crate) fn request(route: &str, status: StatusCode, took: Duration) {
    let (route, status) = (route.to_owned(), status.as_u16().to_string());
    counter!("hooks_guard_http_requests_total", "path" => route.clone(), "status" => status)
        .increment(1);
    histogram!("hooks_guard_http_request_seconds", "path" => route).record(took);
}

pub(crate) fn decision(permission: &PermissionDecision, took: Duration) {
    counter!(
        "hooks_guard_decisions_total",
        "class" => permission.classification.to_string(),
        "decision" => permission.decision.to_string(),
        "method" => permission.classification_method.to_string(),
    )
    .increment(1);
    histogram!("hooks_guard_decision_seconds").record(took);
}

pub(crate) fn answer(record: &AuditRecord) {
    let response = record.user_response.map_or("none", |said| said.as_str());
    counter!("hooks_guard_answers_total", "response" => response).increment(1);
}

pub(crate) fn withdrawn_answer() {
    counter!("hooks_guard_withdrawn_answers_total").increment(1);
}

/// Like [`answer`], for questions that were answered together.
pub(crate) fn answers(response: UserResponse, count: u64) {
    counter!("hooks_guard_answers_total", "response" => response.as_str()).increment(count);
}
