//! The engine: one registry, filled with the sixteen hooks.

use std::fmt;
use std::sync::Arc;

use super::call::{ToolRequest, ToolResult};
use super::context::EngineContext;
use super::pre::FailSafe;
use super::session::Session;
use super::tools::{ToolClass, ToolRole};
use crate::{HookError, HookResponse, PhaseRegistry, Report, ResponseAction};

/// What stands around the tools of one session of an agent: it is asked before each call, and
/// told after it. A clone is the same engine.
///
/// It does nothing but run the hooks of its [`registry`](Self::registry), into which it
/// was built with seven [PRE](super::pre) and nine [POST](super::post) hooks. One more is one
/// registration; one with the id of another takes its place.
///
/// ```
/// use hooks_runtime::engine::Intent;
/// use hooks_runtime::{HookEngine, ResponseAction, ToolRequest, ToolResult};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let engine = HookEngine::builder()
///     .intents([Intent::new("REQ-7").owns("src/**")])
///     .build()
///     .unwrap();
///
/// let write = ToolRequest::new("write_to_file").param("path", "src/lib.rs").intent("REQ-7");
/// let response = engine.pre_tool_use(&write).await?;
/// assert_eq!(response.action, ResponseAction::Deny, "nothing was thought about yet");
///
/// let select = ToolRequest::new("select_active_intent").param("intent_id", "REQ-7");
/// let response = engine.pre_tool_use(&select).await?;
/// assert!(response.is_continue());
/// engine.post_tool_use(&ToolResult::of(select).succeeded("selected"), None).await;
///
/// let response = engine.pre_tool_use(&write).await?;
/// assert!(response.is_continue());
/// assert_eq!(response.classification.as_deref(), Some("DESTRUCTIVE"));
/// # Ok::<_, hooks_runtime::HookError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct HookEngine {
    pub(super) registry: PhaseRegistry<ToolRequest, ToolResult>,
    pub(super) context: EngineContext,
}

impl HookEngine {
    /// Asks the PRE hooks about a call, and adds what class the tool is of to a response that
    /// lets it go on.
    ///
    /// Dropping the future asks no more hooks; what hooks have counted stays counted.
    ///
    /// # Errors
    /// If a hook fails; the call must not happen then. Built-in hooks answer with a
    /// [`TraceabilityError`](super::TraceabilityError) or a
    /// [`ConcurrencyError`](super::ConcurrencyError).
    pub async fn pre_tool_use(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let answer = self.registry.execute_pre(request).await;
        self.conclude(request, answer)
    }

    /// As [`pre_tool_use`](Self::pre_tool_use), with what became of each hook: a response does
    /// not name the hook that gave it, the report does.
    ///
    /// # Errors
    /// As of [`pre_tool_use`](Self::pre_tool_use); the report is there in any case.
    pub async fn pre_tool_use_reported(
        &self,
        request: &ToolRequest,
    ) -> (Result<HookResponse, HookError>, Report) {
        let (answer, report) = self.registry.execute_pre_reported(request).await;
        (self.conclude(request, answer), report)
    }

    /// What the answer of the hooks is to the host.
    fn conclude(
        &self,
        request: &ToolRequest,
        answer: Result<HookResponse, HookError>,
    ) -> Result<HookResponse, HookError> {
        let mut response = answer?;
        let selects = self.context.tools().role(&request.tool) == ToolRole::SelectIntent;
        if selects && response.action == ResponseAction::Other(FailSafe::PASS.into()) {
            response.action = ResponseAction::Continue;
        }
        if response.is_continue() {
            response.classification = Some(self.classify(&request.tool).name().to_owned());
        }
        Ok(response)
    }

    /// Tells the POST hooks about a result. Those that fail are logged. The built-in
    /// ones look at each file of it once, together: what they note about it does not differ.
    ///
    /// Dropping the future stops the hook that runs, and no more is started; see
    /// [`post_tool_use_detached`](Self::post_tool_use_detached).
    pub async fn post_tool_use(&self, result: &ToolResult, request_id: Option<&str>) {
        let told = self.registry.execute_post(result, request_id);
        self.context.seen_once(result, told).await;
    }

    /// As [`post_tool_use`](Self::post_tool_use), with what became of each hook.
    pub async fn post_tool_use_reported(
        &self,
        result: &ToolResult,
        request_id: Option<&str>,
    ) -> Report {
        let told = self.registry.execute_post_reported(result, request_id);
        self.context.seen_once(result, told).await
    }

    /// Tells the POST hooks in a task of its own, for which the caller does not wait.
    ///
    /// Results that are told at the same time are noted in any order.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[track_caller]
    pub fn post_tool_use_detached(
        &self,
        result: impl Into<Arc<ToolResult>>,
        request_id: Option<String>,
    ) -> tokio::task::JoinHandle<()> {
        let (engine, result) = (self.clone(), result.into());
        tokio::spawn(async move {
            engine.post_tool_use(&result, request_id.as_deref()).await;
        })
    }

    /// The hooks: one more is one registration, one less is one deregistration.
    pub fn registry(&self) -> &PhaseRegistry<ToolRequest, ToolResult> {
        &self.registry
    }

    /// What the built-in hooks share, to make others from.
    pub fn context(&self) -> &EngineContext {
        &self.context
    }

    /// What is remembered between calls.
    pub fn session(&self) -> &Session {
        self.context.session()
    }

    /// Whether a tool only looks; one that nobody knows does not.
    pub fn classify(&self, tool: &str) -> ToolClass {
        self.context.tools().classify(tool)
    }

    /// Forgets repeated calls and the turn context, as [`Session::reset`].
    pub fn reset(&self) {
        self.session().reset();
    }
}

impl fmt::Debug for HookEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookEngine")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}
