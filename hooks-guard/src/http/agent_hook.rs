//! `POST /api/hooks/agents/{agent}`: the hook of an agent that calls it over HTTP. Takes the agent's
//! JSON; returns the reply in the agent's format.
//!
//! An agent may run the tool if the response is an error, so every failure is a denial with status
//! 200. Only an unknown agent gets an error: then there is no format for a denial.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::time::{Instant, timeout, timeout_at};

use super::common::{failed, unknown};
use super::error::{ApiError, RequestId};
use super::limit::Peer;
use super::operator::bearer_token;
use super::permission::{self, REQUEST_BUDGET};
use super::query::Query;
use super::state::AppState;
use super::{body, decisions};
use crate::audit::UserResponse;
use crate::changes::{AttachResult, FileChanges};
use crate::protocol::{
    self, Agent, AgentDecision, AgentDenial, DecisionRequest, HookEvent, HookReply,
    MAX_INPUT_BYTES, ToolRun, UnknownAgent,
};
use crate::request::{PermissionDecision, Sight};
use crate::service::ServiceError;
use crate::tool_call::{
    self, NO_DECISION, QuestionAnswer, QuestionDecider, QuestionService, RedeemError,
};

/// Maximum of the parameter `timeout`, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 3_600;

/// Maximum duration of a request to this endpoint.
pub(super) const MAX_DURATION: Duration = Duration::from_secs(MAX_TIMEOUT_SECONDS);

/// Path of this endpoint, without the agent's name.
pub(crate) const PATH: &str = "/api/hooks/agents/";

/// Prefix of headers with variables of the agent's environment. `X-Hooks-Guard-Env-NAME` holds the
/// variable `NAME`, with `-` for `_`.
const VARIABLE_HEADER: &str = "x-hooks-guard-env-";

/// Answers a hook that an agent calls over HTTP.
#[utoipa::path(
    post,
    path = "/api/hooks/agents/{agent}",
    params(
        ("agent" = String, Path, description = "Name of the agent on the command line, such as `claude-code`"),
        ("timeout" = Option<u64>, Query, description = "Timeout in the agent's settings in seconds, at most 3600. The response arrives before it. Default: a short one, 10 seconds for most agents"),
        ("unattended" = Option<bool>, Query, description = "`true` if the agent has no user at the keyboard: the operator is asked instead of the agent's user. Default: as the headers `X-Hooks-Guard-Env-…` show, else `false`"),
        ("X-Hooks-Guard-Env-Hooks-Guard-Unattended" = Option<String>, Header, description = "Value of the variable `HOOKS_GUARD_UNATTENDED` of the agent; as `unattended`"),
        ("X-Hooks-Guard-Env-Home" = Option<String>, Header, description = "Value of the variable `HOME`. If it is not the service's, the service does not decide: the agent asks its user, or the request is denied"),
        ("X-Hooks-Guard-Env-Claude-Code-Entrypoint" = Option<String>, Header, description = "Value of the variable `CLAUDE_CODE_ENTRYPOINT`, by which an unattended session of Claude Code is detected"),
    ),
    request_body(content = serde_json::Value, description = "The input that the agent sends to its hook, at most 10 MiB", content_type = "application/json"),
    security(("agent" = [])),
    responses(
        (status = 200, description = "The reply in the agent's format: its decision field, or an empty body for no decision. Every failure is a denial: a missing or wrong token, an input that cannot be read, a rate limit, a timeout", body = serde_json::Value),
        (status = 404, description = "NOT_FOUND: unknown agent", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn hook(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    Path(agent): Path<String>,
    query: Result<Query, ApiError>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Response {
    let began = Instant::now();
    let agent = match Agent::from_str(&agent) {
        Ok(agent) => agent,
        Err(UnknownAgent { name }) => return unknown_agent(&name),
    };
    let peer = peer.and_then(|Extension(Peer(peer))| peer);
    let read = async {
        let options = HookOptions::read(&query?, request.headers(), agent)?;
        check_token(&state, agent, request.headers())?;
        let input = body::bytes_up_to(request.into_body(), MAX_INPUT_BYTES).await?;
        Ok::<_, ApiError>((options, input))
    };
    let reply = match read.await {
        Ok((options, input)) => {
            let caller = Caller {
                agent,
                peer,
                options,
            };
            answer(&state, &id, caller, &input, began).await
        }
        Err(error) => protocol::unread_reply(agent, &error.message()),
    };
    response(&id, reply)
}

/// Returns the error for an unknown agent.
fn unknown_agent(name: &str) -> Response {
    let name: String = name.chars().take(100).collect();
    ApiError::not_found(UnknownAgent { name }.to_string()).into_response()
}

/// The agent that calls its hook.
struct Caller {
    agent: Agent,
    peer: Option<SocketAddr>,
    options: HookOptions,
}

/// How an agent calls its hook.
struct HookOptions {
    /// Timeout in the agent's settings.
    timeout: Option<Duration>,
    /// `true` if the agent has no user at the keyboard.
    unattended: bool,
    /// Home directory of the agent's shell, if the agent tells it.
    home: Option<PathBuf>,
}

impl HookOptions {
    fn read(query: &Query, headers: &HeaderMap, agent: Agent) -> Result<Self, ApiError> {
        let seconds = query.number("timeout")?;
        if seconds.is_some_and(|seconds| !(1..=MAX_TIMEOUT_SECONDS).contains(&seconds)) {
            let expected = format!("a number of seconds from 1 to {MAX_TIMEOUT_SECONDS}");
            return Err(ApiError::invalid_parameter("timeout", &expected));
        }
        let given = match query.text("unattended")? {
            None => false,
            Some("true") => true,
            Some("false") => false,
            Some(_) => {
                return Err(ApiError::invalid_parameter("unattended", "true or false"));
            }
        };
        // An agent sends an empty header for a variable that is not set.
        let variable = |name: &str| -> Option<String> {
            let name = format!("{VARIABLE_HEADER}{}", name.replace('_', "-"));
            let value = headers.get(name.to_ascii_lowercase())?.to_str().ok()?;
            (!value.is_empty()).then(|| value.to_owned())
        };
        let is_set = variable("HOOKS_GUARD_UNATTENDED").is_some_and(|value| is_true(&value));
        Ok(Self {
            timeout: seconds.map(Duration::from_secs),
            unattended: given || is_set || protocol::is_unattended(agent, variable),
            home: variable("HOME").map(PathBuf::from),
        })
    }
}

/// Returns `false` for the values with which a user turns a variable off.
fn is_true(value: &str) -> bool {
    let off = ["n", "no", "f", "false", "off", "0"];
    !off.contains(&value.to_ascii_lowercase().as_str())
}

/// Checks that a request presents the agent's token; compares in constant time.
fn check_token(state: &AppState, agent: Agent, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(key) = state.inner.key.get() else {
        return Err(ApiError::no_key());
    };
    let given = bearer_token(headers).unwrap_or_default();
    let expected = key.agent_token(agent.name());
    match given.as_bytes().ct_eq(expected.as_bytes()).into() {
        true => Ok(()),
        false => Err(ApiError::no_agent_token(agent)),
    }
}

async fn answer(
    state: &AppState,
    id: &RequestId,
    caller: Caller,
    input: &[u8],
    began: Instant,
) -> HookReply {
    let Caller {
        agent,
        peer,
        options,
    } = caller;
    let mut event = match protocol::read(agent, input) {
        Ok(event) => event,
        Err(error) => {
            let why = error.to_string();
            return match error.hook {
                Some(hook) => protocol::failure_reply(agent, Some(hook), &why),
                None => protocol::unread_reply(agent, &why),
            };
        }
    };
    let hook = event.hook();
    if !state.inner.config.enabled {
        return protocol::empty_reply(hook);
    }
    if let HookEvent::Ask(question) = &mut event {
        // Only questions count, as for the other clients.
        if let Err(error) = permission::check_rate(state, peer) {
            return protocol::failure_reply(agent, Some(hook), &error.message());
        }
        if options.unattended {
            question.set_unattended();
        }
    }
    if let Some(problem) = state.inner.files.problem(event.directory()) {
        return tool_call::undecided_reply(agent, &event, &problem);
    }
    let deadline = began + protocol::limit(agent, Some(hook), options.timeout);
    let call = AgentHookCall {
        state,
        id,
        agent,
        home: options.home,
        is_on_this_machine: peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback()),
        deadline,
    };
    match event {
        HookEvent::Ask(question) => call.ask(question).await,
        HookEvent::Ran(ran) => call.record_run(ran).await,
        HookEvent::Refused(refused) => call.record_denial(refused).await,
        HookEvent::Nothing { hook, .. } => protocol::empty_reply(hook),
    }
}

/// One call of a hook.
struct AgentHookCall<'a> {
    state: &'a AppState,
    id: &'a RequestId,
    agent: Agent,
    /// Home directory of the agent's shell, if the agent tells it.
    home: Option<PathBuf>,
    /// `true` if the caller, which presented the agent's token, connects from this machine.
    is_on_this_machine: bool,
    /// Deadline of the reply.
    deadline: Instant,
}

impl AgentHookCall<'_> {
    async fn ask(&self, mut question: DecisionRequest) -> HookReply {
        question.request.asks_itself = !question.unattended();
        if self.is_on_this_machine {
            question.request.sight = Sight::Files;
        }
        tool_call::complete(&mut question.request, self.agent.name());
        if let Some(why) = self.other_home() {
            let answer = self.denial_or(&question, why).await;
            return protocol::decision_reply(&question, &answer);
        }
        let answer = match timeout_at(self.deadline, self.decide(&question)).await {
            Ok(Ok(permission)) => {
                tool_call::resolve(self, self, &question, permission, self.deadline).await
            }
            Ok(Err(why)) => self.denial_or(&question, why).await,
            Err(_) => self.denial_or(&question, NO_DECISION.to_owned()).await,
        };
        protocol::decision_reply(&question, &answer)
    }

    /// Returns the reason why the service cannot decide for the agent's shell: `~` means another
    /// directory there. A project can set the variable `HOME`.
    fn other_home(&self) -> Option<String> {
        let home = self.home.as_deref().filter(|home| home.is_absolute())?;
        let own = self.state.service().gate().rules()?.home();
        (home != own).then(|| {
            format!(
                "the agent's `HOME` is `{}`, and the service's is `{}`; start both with the same \
                 `HOME`",
                home.display(),
                own.display()
            )
        })
    }

    async fn decide(&self, question: &DecisionRequest) -> Result<PermissionDecision, String> {
        let request = question.request.clone();
        let decided = permission::rule(self.state, self.id, request, REQUEST_BUDGET).await;
        decided.map_err(|error| error.message())
    }

    /// Returns the reply to a question that could not be decided and recorded. A denial by a rule
    /// holds even if it cannot be recorded.
    async fn denial_or(&self, question: &DecisionRequest, why: String) -> AgentDecision {
        let gate = self.state.service().gate();
        let decided = timeout(DENIAL_TIMEOUT, gate.decide(&question.request)).await;
        match decided {
            Ok(decided) if decided.permission.denied => {
                AgentDecision::of(question, &decided.permission)
            }
            _ => tool_call::without_decision(question, why),
        }
    }

    /// Records that a tool ran.
    async fn record_run(&self, mut ran: ToolRun) -> HookReply {
        let request = &mut ran.request;
        tool_call::complete(request, self.agent.name());
        let status = ran.outcome.exit_status;
        let status = status.and_then(|status| i32::try_from(status).ok());
        let service = self.state.service();
        let recording = service.record_call_execution(request, status);
        match self.written(recording).await {
            Ok(recorded) => tool_call::run_reply(ran.hook, recorded.other_command().as_ref()),
            Err(error) => {
                tracing::error!(request_id = self.id.0, error, "cannot record the execution");
                protocol::failure_reply(self.agent, Some(ran.hook), "cannot record the execution")
            }
        }
    }

    /// Records that the agent itself denied a tool call.
    async fn record_denial(&self, mut refused: AgentDenial) -> HookReply {
        tool_call::complete(&mut refused.request, self.agent.name());
        let service = self.state.service();
        let recording = service.record_agent_denial(refused.request, &refused.reason);
        let Err(error) = self.written(recording).await else {
            return protocol::empty_reply(refused.hook);
        };
        let why = "cannot record the agent's denial";
        tracing::error!(
            request_id = self.id.0,
            error,
            "cannot record the agent's denial"
        );
        protocol::failure_reply(self.agent, Some(refused.hook), why)
    }

    /// Waits until a record is written, at most until the deadline; returns the result of the
    /// recording, or the error as text.
    async fn written<T>(
        &self,
        recording: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, String> {
        match timeout_at(self.deadline, recording).await {
            Ok(Ok(recorded)) => Ok(recorded),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("timeout".to_owned()),
        }
    }
}

/// Timeout of the search for a denial by a rule after a failure.
const DENIAL_TIMEOUT: Duration = Duration::from_secs(1);

impl QuestionDecider for AgentHookCall<'_> {
    async fn decide_again(
        &self,
        question: &DecisionRequest,
    ) -> Result<PermissionDecision, Option<String>> {
        self.decide(question).await.map_err(Some)
    }
}

impl QuestionService for AgentHookCall<'_> {
    async fn show_changes(&self, id: i64, secret: &str, changes: FileChanges, limit: Duration) {
        let attached = self.state.service().attach_changes(id, secret, changes);
        if let Ok(AttachResult::Attached(totals)) = timeout(limit, attached).await {
            self.state.inner.hub.announce_changes(id, totals);
        }
    }

    async fn wait_for_answer(
        &self,
        id: i64,
        wait: u64,
        limit: Duration,
    ) -> Result<Option<QuestionAnswer>, String> {
        let wait = Duration::from_secs(wait).min(limit);
        let found = self.state.service().decision(id, wait);
        let found = tokio::select! {
            biased;
            found = found => found,
            () = self.state.inner.ending.begun() => {
                return Err("the service is shutting down; try again".to_owned());
            }
        };
        let record = found.map_err(|error| failed(self.id, &error).message())?;
        let record = record.ok_or_else(|| unknown().message())?;
        Ok(record.user_response.map(|answer| match answer {
            UserResponse::Approved => QuestionAnswer::Approved,
            UserResponse::Timeout => QuestionAnswer::Expired,
            _ => QuestionAnswer::Denied {
                note: record.answer_note.clone(),
            },
        }))
    }

    async fn redeem(&self, id: i64, secret: &str, limit: Duration) -> Result<(), RedeemError> {
        let redeemed = timeout(limit, self.state.service().redeem(id, secret)).await;
        let redeemed = redeemed.map_err(|_| RedeemError::Failed(NO_DECISION.to_owned()))?;
        let redeemed =
            redeemed.map_err(|error| RedeemError::Failed(failed(self.id, &error).message()))?;
        match decisions::redeemed(redeemed) {
            Ok(_) => Ok(()),
            Err(error) if error.code() == "CHANGED" => Err(RedeemError::Changed(error.message())),
            Err(error) => Err(RedeemError::Failed(error.message())),
        }
    }
}

/// Header with the exit status of the hook, for a program that forwards a hook's input.
const EXIT_STATUS: &str = "x-hooks-guard-exit-status";

/// Converts a reply to a response. A client sees neither the exit status nor standard error, so a
/// denial that consists of them becomes one in the body. An error after a tool ran is only logged.
fn response(id: &RequestId, reply: HookReply) -> Response {
    if !reply.stderr.is_empty() {
        tracing::warn!(request_id = id.0, error = reply.stderr, "hook failed");
    }
    let body = match (reply.stdout.is_empty(), reply.exit) {
        (false, _) => reply.stdout,
        (true, 0) => String::new(),
        (true, _) => json!({"decision": "block", "reason": reply.stderr}).to_string(),
    };
    let mut response = match body.is_empty() {
        true => StatusCode::OK.into_response(),
        false => {
            let json = HeaderValue::from_static("application/json");
            ([(header::CONTENT_TYPE, json)], body).into_response()
        }
    };
    let exit = HeaderValue::from(u16::from(reply.exit));
    response.headers_mut().insert(EXIT_STATUS, exit);
    response
}
