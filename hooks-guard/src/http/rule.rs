//! `GET /api/hooks/decisions/{id}/rule`. Takes a decision; returns a proposed rule that allows its
//! command. The service does not write rules: whoever has the operator's session could otherwise
//! allow everything.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use serde::Serialize;

use super::common::{failed, number, unknown};
use super::error::{ApiError, RequestId};
use super::state::AppState;
use crate::request::PermissionRequest;
use crate::rules;

/// A proposed rule.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ProposedRule {
    /// The rule with its tests, in TOML, to be appended to a rules file.
    toml: String,
    /// The user's rules file.
    file: String,
}

/// Proposes a rule that allows the command of a decision. Nothing is written.
#[utoipa::path(
    get,
    path = "/api/hooks/decisions/{id}/rule",
    params(("id" = i64, Path, description = "Id of the decision")),
    security(("operator" = [])),
    responses(
        (status = 200, description = "The proposed rule", body = ProposedRule),
        (status = 401, description = "OPERATOR_TOKEN_REQUIRED", body = super::error::ErrorBody),
        (status = 404, description = "NOT_FOUND", body = super::error::ErrorBody),
        (status = 409, description = "NO_RULE: no rule can be proposed; the message has the reason", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn propose(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(decision): Path<String>,
    headers: HeaderMap,
) -> Result<Json<ProposedRule>, ApiError> {
    state.inner.operator.check(&headers)?;
    let decision = number(&decision)?;
    let found = state.audit(&headers).decision(decision).await;
    let record = found.map_err(|error| failed(&id, &error))?;
    let record = record.ok_or_else(unknown)?;
    let no_rule = |why: &str| ApiError::conflict("NO_RULE", format!("no rule is proposed: {why}"));
    let Some(book) = state.service().gate().rules().map(Arc::clone) else {
        return Err(no_rule("the service runs without rules"));
    };
    if !record.shows_whole_command() {
        return Err(no_rule(
            "its secrets are masked in the trail, or it is not a shell command",
        ));
    }
    let request = PermissionRequest {
        cwd: record.cwd,
        agent: record.agent,
        ..PermissionRequest::new(record.command)
    };
    let file = book.user_file().display().to_string();
    // Reads rules files, and classifies the command.
    let proposed = tokio::task::spawn_blocking(move || rules::rule_for(&book, &request)).await;
    let proposed = proposed.unwrap_or_else(|_| Err("the analysis failed".to_owned()));
    let toml = proposed.map_err(|why| no_rule(&why))?;
    Ok(Json(ProposedRule { toml, file }))
}
