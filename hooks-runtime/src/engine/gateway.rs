//! The engine: one registry with the sixteen hooks.

use std::fmt;
use std::sync::Arc;

use super::call::{ToolRequest, ToolResult};
use super::context::EngineContext;
use super::pre::FailSafe;
use super::session::Session;
use super::tools::{ToolClass, ToolRole};
use crate::phases::PreRun;
use crate::transform::{TransformError, TransformOutcome};
use crate::{HookError, HookResponse, PhaseRegistry, Report, ResponseAction};

/// Checks each tool call of an agent's session before it runs, and records its result. Clones share
/// one engine.
///
/// The engine only runs the hooks of its [`registry`](Self::registry), which starts with seven
/// [PRE](super::pre) and nine [POST](super::post) hooks. Register more hooks there; a hook with the
/// id of another one replaces it.
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
    /// Runs the PRE hooks on a call, and adds the tool's class to a response that lets the call
    /// continue.
    ///
    /// Dropping the future starts no further hooks; counts that hooks have made stay.
    ///
    /// # Errors
    /// If a hook fails; the call must not happen then. Built-in hooks fail with a
    /// [`TraceabilityError`](super::TraceabilityError) or a
    /// [`ConcurrencyError`](super::ConcurrencyError).
    pub async fn pre_tool_use(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let response = self.registry.execute_pre(request).await;
        self.conclude(request, response)
    }

    /// Like [`pre_tool_use`](Self::pre_tool_use), with a report on each hook. A response does not
    /// name the hook that returned it, the report does.
    ///
    /// # Errors
    /// As [`pre_tool_use`](Self::pre_tool_use); the report is returned in any case.
    pub async fn pre_tool_use_reported(
        &self,
        request: &ToolRequest,
    ) -> (Result<HookResponse, HookError>, Report) {
        let (response, report) = self.registry.execute_pre_reported(request).await;
        (self.conclude(request, response), report)
    }

    /// Converts the result of the run into the response for the host.
    fn conclude(
        &self,
        request: &ToolRequest,
        response: Result<HookResponse, HookError>,
    ) -> Result<HookResponse, HookError> {
        let mut response = response?;
        let selects = self.context.tools().role(&request.tool) == ToolRole::SelectIntent;
        if selects && response.action == ResponseAction::Other(FailSafe::PASS.into()) {
            response.action = ResponseAction::Continue;
        }
        if response.is_continue() {
            response.classification = Some(self.classify(&request.tool).name().to_owned());
        }
        Ok(response)
    }

    /// Runs the POST hooks on a result. Failures are logged. The built-in hooks read each file
    /// once, together, so their records agree.
    ///
    /// Dropping the future cancels the running hook, and starts no further ones; see
    /// [`post_tool_use_detached`](Self::post_tool_use_detached).
    pub async fn post_tool_use(&self, result: &ToolResult, request_id: Option<&str>) {
        let told = self.registry.execute_post(result, request_id);
        self.context.seen_once(result, told).await;
    }

    /// Like [`post_tool_use`](Self::post_tool_use), with a report on each hook.
    pub async fn post_tool_use_reported(
        &self,
        result: &ToolResult,
        request_id: Option<&str>,
    ) -> Report {
        let told = self.registry.execute_post_reported(result, request_id);
        self.context.seen_once(result, told).await
    }

    /// Runs the hooks that may [change the request](PhaseRegistry::requests), then the PRE hooks on
    /// the changed request. Make the call with [`PreRun::request`].
    pub async fn run_pre_tool_use(
        &self,
        request: impl Into<Arc<ToolRequest>>,
    ) -> PreRun<ToolRequest> {
        let mut run = self.registry.run_pre(request).await;
        run.response = self.conclude(&run.request, run.response);
        run
    }

    /// Runs the hooks that may [change the result](PhaseRegistry::results) of a call. Give the agent
    /// the [`value`](TransformOutcome::value). Pass the [raw](TransformOutcome::raw) result to
    /// [`post_tool_use`](Self::post_tool_use): the built-in hooks compare it with the files.
    ///
    /// # Errors
    /// If a hook denies or fails: the agent must not get the raw result.
    ///
    /// ```
    /// use hooks_runtime::transform::{TransformFn, TransformInput, Transformed};
    /// use hooks_runtime::{HookEngine, RegisterOptions, ToolRequest, ToolResult};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let engine = HookEngine::new();
    /// engine.registry().results().register(
    ///     TransformFn::new("redact", |result: TransformInput<'_, ToolResult>| {
    ///         let mut changed = result.current().clone();
    ///         changed.output = changed.output.map(|output| output.replace("hunter2", "[redacted]"));
    ///         Transformed::changed(changed)
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    ///
    /// let request = ToolRequest::new("read_file").param("path", "notes.md");
    /// let raw = ToolResult::of(request).succeeded("password: hunter2");
    /// let result = engine.tool_result(raw).await?;
    /// assert_eq!(result.value.output.as_deref(), Some("password: [redacted]"));
    /// engine.post_tool_use(&result.raw, Some("call-1")).await;
    /// # Ok::<_, hooks_runtime::transform::TransformError>(())
    /// # }).unwrap();
    /// ```
    pub async fn tool_result(
        &self,
        raw: impl Into<Arc<ToolResult>>,
    ) -> Result<TransformOutcome<ToolResult>, TransformError> {
        self.registry.results().apply(raw).await
    }

    /// Runs the POST hooks in a separate task, without making the caller wait.
    ///
    /// The order of concurrent results is unspecified.
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

    /// Returns an engine with hooks of its own beside those of this engine: its registry
    /// [follows](PhaseRegistry::child) the registry of this engine. Both engines share the state of the
    /// built-in hooks, such as the intent that is selected.
    ///
    /// ```
    /// use hooks_runtime::HookEngine;
    /// use hooks_runtime::engine::ToolRequest;
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::{HookResponse, RegisterOptions, ResponseAction};
    ///
    /// let engine = HookEngine::new();
    /// let read_only = engine.child();
    /// read_only.registry().register_pre(
    ///     PreFn::new("read-only", |_: &ToolRequest| HookResponse::new(ResponseAction::Deny)),
    ///     RegisterOptions::new().tools(["write_*"]),
    /// );
    /// assert!(engine.registry().registered_hooks(hooks_runtime::Phase::Pre).len() + 1
    ///     == read_only.registry().registered_hooks(hooks_runtime::Phase::Pre).len());
    /// ```
    #[must_use = "this engine itself stays unchanged"]
    pub fn child(&self) -> HookEngine {
        HookEngine {
            registry: self.registry.child(),
            context: self.context.clone(),
        }
    }

    /// Returns the registry, to register and unregister hooks.
    pub fn registry(&self) -> &PhaseRegistry<ToolRequest, ToolResult> {
        &self.registry
    }

    /// Returns the state that the built-in hooks share, to build others from.
    pub fn context(&self) -> &EngineContext {
        &self.context
    }

    /// Returns the state between calls.
    pub fn session(&self) -> &Session {
        self.context.session()
    }

    /// Returns the class of a tool; an unknown tool is destructive.
    pub fn classify(&self, tool: &str) -> ToolClass {
        self.context.tools().classify(tool)
    }

    /// Resets repeated calls and the turn context, as [`Session::reset`].
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
