//! `POST /api/hooks/permission-request`. Takes a command with its context; returns a decision.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, RequestExt};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};

use super::error::{ApiError, RequestId};
use super::identity::Proved;
use super::limit::{Allowance, ClientIdentity, Peer};
use super::state::AppState;
use super::{body, changes, metrics};
use crate::changes::FileChanges;
use crate::classify::{MAX_COMMAND_CHARS, MAX_CONTEXT_CHARS, TerminalInput};
use crate::log_limit;
use crate::request::{
    AgentTool, AgentToolEffect, FileAccess, MAX_NAME_CHARS, MAX_PATH_CHARS, McpCall, NetworkAccess,
    PermissionDecision, PermissionRequest, Sight,
};
use crate::service::ServiceError;

/// Deadline of a request. The classification has a shorter timeout; the rest of the time is for the
/// record, which waits for the disk.
pub(super) const REQUEST_BUDGET: Duration = Duration::from_secs(6);

/// Decides about a command.
#[utoipa::path(
    post,
    path = "/api/hooks/permission-request",
    request_body = PermissionRequest,
    responses(
        (status = 200, description = "The recorded decision", body = PermissionDecision),
        (status = 400, description = "INVALID_JSON, MISSING_FIELD, FIELD_TOO_LONG", body = super::error::ErrorBody),
        (status = 408, description = "TIMEOUT: no decision was made or recorded; the body also has the fields of a fallback", body = super::error::ErrorBody),
        (status = 429, description = "RATE_LIMITED; TOO_MANY_QUESTIONS: nothing was decided or recorded", body = super::error::ErrorBody),
        (status = 503, description = "CLASSIFIER_NOT_READY", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn request(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    mut request: Request,
) -> Response {
    let peer = request.extract_parts::<Extension<Peer>>().await.ok();
    let allowance = allowance(&state, peer.and_then(|Extension(Peer(peer))| peer));
    let sight = match request.extensions().get::<Proved>() {
        Some(Proved) => Sight::Files,
        None => Sight::Text,
    };
    let mut response = match allowance {
        Some(allowance) if !allowance.allowed => allowance.error().into_response(),
        _ => match decide(&state, &id, sight, request.into_body()).await {
            Ok(permission) => (StatusCode::OK, Json(permission)).into_response(),
            Err(error) => error.into_response(),
        },
    };
    if let Some(allowance) = allowance {
        add_rate_limit_headers(&mut response, allowance);
    }
    response
}

/// Adds the rate limit headers.
fn add_rate_limit_headers(response: &mut Response, allowance: Allowance) {
    let reset = Timestamp::now() + allowance.reset;
    // Whole seconds, rounded up.
    let reset = reset.as_second() + i64::from(reset.subsec_nanosecond() > 0);
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", HeaderValue::from(allowance.limit));
    headers.insert(
        "x-ratelimit-remaining",
        HeaderValue::from(allowance.remaining),
    );
    headers.insert("x-ratelimit-reset", HeaderValue::from(reset));
}

async fn decide(
    state: &AppState,
    id: &RequestId,
    sight: Sight,
    body: Body,
) -> Result<PermissionDecision, ApiError> {
    let request = PermissionRequest {
        sight,
        ..read(body::object(body).await?)?
    };
    if !state.inner.config.enabled {
        return Err(ApiError::not_ready(
            "`enabled` is false in the configuration",
        ));
    }
    let permission = rule(state, id, request, REQUEST_BUDGET).await?;
    if let Some(id) = permission.id
        && let Some(totals) = state.service().change_totals(id)
    {
        state.inner.hub.announce_changes(id, totals);
    }
    Ok(permission)
}

pub(super) async fn rule(
    state: &AppState,
    id: &RequestId,
    request: PermissionRequest,
    budget: Duration,
) -> Result<PermissionDecision, ApiError> {
    let began = Instant::now();
    let permission = timeout(budget, state.inner.service.request(request)).await;
    let permission = permission.map_err(|_| ApiError::timed_out(budget))?;
    let permission = permission.map_err(|error| match error {
        ServiceError::NoClassifier => ApiError::not_ready("no classifier is registered"),
        ServiceError::TooManyQuestions(_) => {
            tracing::debug!(request_id = id.0, %error, "refused a question");
            ApiError::too_many_questions(error.to_string())
        }
        error => {
            if let Some(suppressed) = log_limit::suppressed("cannot record the decision", &error) {
                tracing::error!(request_id = id.0, %error, suppressed, "cannot record the decision");
            }
            ApiError::internal(id)
        }
    })?;
    metrics::decision(&permission, began.elapsed());
    Ok(permission)
}

/// Counts a request of the client at an address, unless its limit is reached. Returns `None` if
/// there is no limit.
fn allowance(state: &AppState, peer: Option<SocketAddr>) -> Option<Allowance> {
    let limit = state.inner.limit.as_ref()?;
    Some(limit.try_acquire(ClientIdentity::of(peer), Instant::now()))
}

/// Counts a request as [`allowance`] does. Returns an error if the limit is reached.
pub(super) fn check_rate(state: &AppState, peer: Option<SocketAddr>) -> Result<(), ApiError> {
    match allowance(state, peer) {
        Some(allowance) if !allowance.allowed => Err(allowance.error()),
        _ => Ok(()),
    }
}

impl Allowance {
    /// Returns the error for a request beyond the limit.
    fn error(&self) -> ApiError {
        let seconds = self.reset.as_secs() + u64::from(self.reset.subsec_nanos() > 0);
        ApiError::rate_limited(self.limit, seconds.max(1))
    }
}

/// Parses the body of a permission request.
pub(super) fn read(mut map: Map<String, Value>) -> Result<PermissionRequest, ApiError> {
    let command = body::text(&mut map, "command", MAX_COMMAND_CHARS)?;
    let command = command
        .filter(|command| !command.trim().is_empty())
        .ok_or_else(|| ApiError::missing("command"))?;
    let permission_mode = body::text(&mut map, "permission_mode", MAX_NAME_CHARS)?;
    let changes = body::value::<FileChanges>(&mut map, "changes")?;
    changes.as_ref().map_or(Ok(()), changes::check)?;
    let mut name = |field, most| body::text(&mut map, field, most);
    Ok(PermissionRequest {
        command,
        context: name("context", MAX_CONTEXT_CHARS)?,
        agent: name("agent", MAX_NAME_CHARS)?,
        session_id: name("session_id", MAX_NAME_CHARS)?,
        cwd: name("cwd", MAX_PATH_CHARS)?.map(PathBuf::from),
        call_id: name("call_id", MAX_NAME_CHARS)?,
        asks_itself: body::flag(&mut map, "asks_itself")?,
        confirm: body::flag(&mut map, "confirm")?,
        permission_mode,
        types_into_programs: body::value::<TerminalInput>(&mut map, "types_into_programs")?,
        network: body::value::<NetworkAccess>(&mut map, "network")?,
        mcp: mcp(&mut map)?,
        tool: tool(&mut map)?,
        file: match body::value::<FileAccess>(&mut map, "file")? {
            None if changes.is_some() => return Err(changes_without_file()),
            file => file,
        },
        changes,
        secret_variables: secret_variables(&mut map)?,
        sight: Sight::Text,
    })
}

/// Maximum number of names of variables.
const MAX_VARIABLES: usize = 1_000;

/// Parses the names of variables.
fn secret_variables(map: &mut Map<String, Value>) -> Result<Option<Vec<String>>, ApiError> {
    let names = body::value::<Vec<String>>(map, "secret_variables")?;
    let is_long = |name: &String| name.chars().count() > MAX_NAME_CHARS;
    match &names {
        Some(names) if names.len() > MAX_VARIABLES => Err(ApiError::invalid_json(format!(
            "field `secret_variables` has more than {MAX_VARIABLES} entries"
        ))),
        Some(names) if names.iter().any(is_long) => {
            Err(ApiError::too_long("secret_variables", MAX_NAME_CHARS))
        }
        _ => Ok(names),
    }
}

/// Maximum number of ways to read the name of a tool of an MCP server.
const MAX_MCP_TOOLS: usize = MAX_NAME_CHARS;

/// Parses the call of a tool of an MCP server.
fn mcp(map: &mut Map<String, Value>) -> Result<Option<McpCall>, ApiError> {
    let Some(call) = body::value::<McpCall>(map, "mcp")? else {
        return Ok(None);
    };
    if call.tools.is_empty() {
        return Err(ApiError::missing("mcp.tools").details("name the server and the tool"));
    }
    if call.tools.len() > MAX_MCP_TOOLS {
        return Err(ApiError::invalid_json(format!(
            "field `mcp.tools` has more than {MAX_MCP_TOOLS} entries"
        )));
    }
    let is_long = |name: &String| name.chars().count() > MAX_NAME_CHARS;
    let mut tools = call.tools.iter();
    match tools.any(|one| is_long(&one.server) || is_long(&one.tool)) {
        true => Err(ApiError::too_long("mcp.tools", MAX_NAME_CHARS)),
        false => Ok(Some(call)),
    }
}

/// Parses the call of a tool of the agent.
fn tool(map: &mut Map<String, Value>) -> Result<Option<AgentTool>, ApiError> {
    let Some(tool) = body::value::<AgentTool>(map, "tool")? else {
        return Ok(None);
    };
    let is_long = |text: &String, most| text.chars().count() > most;
    match &tool.effect {
        _ if is_long(&tool.name, MAX_NAME_CHARS) => {
            Err(ApiError::too_long("tool.name", MAX_NAME_CHARS))
        }
        Some(AgentToolEffect::Does(does)) if is_long(does, MAX_NAME_CHARS) => {
            Err(ApiError::too_long("tool.effect", MAX_NAME_CHARS))
        }
        _ => Ok(Some(tool)),
    }
}

fn changes_without_file() -> ApiError {
    ApiError::missing("file").details("send `file` with `changes`")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::to_bytes;
    use axum::response::IntoResponse;
    use serde_json::Value;

    use super::rule;
    use crate::audit::AuditStore;
    use crate::classify::CommandAnalysis;
    use crate::config::Config;
    use crate::gate::{Classify, Gate, GateHooks, Policy};
    use crate::http::error::RequestId;
    use crate::http::metrics::Metrics;
    use crate::http::operator::OperatorToken;
    use crate::http::state::AppState;
    use crate::request::PermissionRequest;
    use crate::service::PermissionService;

    struct Slow;

    impl Classify for Slow {
        async fn classify(&self, _: &PermissionRequest) -> Option<CommandAnalysis> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn p_08_a_request_that_exceeds_its_timeout_is_not_allowed() {
        let gate = Gate::with_hooks(GateHooks::new().with_classify(Slow), Policy::default());
        let audit = AuditStore::open("sqlite::memory:").await.unwrap();
        let service = PermissionService::new(gate, audit, Duration::from_secs(1));
        let (token, config) = (OperatorToken::random(), Config::default());
        let state = AppState::new(service, token, config, Metrics::disabled());
        let (id, request) = (RequestId::new(), PermissionRequest::new("ls"));
        let refused = rule(&state, &id, request, Duration::from_millis(20)).await;
        let response = refused.unwrap_err().into_response();
        assert_eq!(response.status(), 408);
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["code"], "TIMEOUT");
        assert_eq!(body["decision"], "REQUIRES_CONFIRMATION");
        assert_eq!(body["classification"], "CREATE");
        assert_eq!(body["classification_method"], "fallback");
        assert_eq!(body["confidence"], 0.0);
        assert!(body["timestamp"].is_string());
    }
}
