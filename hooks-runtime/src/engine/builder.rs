//! Builder of the engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::call::{ToolRequest, ToolResult};
use super::context::EngineContext;
use super::error::EngineError;
use super::gateway::HookEngine;
use super::health::HealthProbe;
use super::intent::{Intent, IntentCatalogue};
use super::post::{
    AgentTrace, GeneralTrace, IntentProgress, MutationLog, ReadFileBaseline, ScopeDrift,
    SharedBrain, TurnUpdate, VerificationFailure,
};
use super::pre::{
    BudgetLimits, CallBudget, CircuitBreaker, Concurrency, FailSafe, ScopeEnforcement, StateCheck,
    Traceability,
};
use super::storage::{STORAGE_FOLDER, Storage};
use super::tools::ToolTable;
use super::workspace::Workspace;
use crate::{PhaseRegistry, RegisterOptions, RegistryOptions};

/// Builder of a [`HookEngine`].
///
/// ```
/// use hooks_runtime::HookEngine;
/// use hooks_runtime::engine::{Intent, BudgetLimits};
///
/// let engine = HookEngine::builder()
///     .safe_tool("search_docs")
///     .intents([Intent::new("REQ-12").owns("src/**")])
///     .session_limits(BudgetLimits::new().calls(200))
///     .repeat_threshold(3)
///     .build()?;
/// assert!(engine.context().intents().get("REQ-12").is_some());
/// # Ok::<_, hooks_runtime::engine::EngineError>(())
/// ```
///
/// For other options, build the hook itself from the [context](HookEngine::context) and register it
/// in place of the built-in hook.
#[derive(Default)]
#[must_use = "`build` makes the engine"]
pub struct EngineBuilder {
    workspace: Option<PathBuf>,
    storage: Option<PathBuf>,
    tools: ToolTable,
    intents: Vec<Intent>,
    intents_file: Option<PathBuf>,
    health: Option<Arc<dyn HealthProbe>>,
    session_limits: BudgetLimits,
    intent_limits: BudgetLimits,
    threshold: Option<u32>,
    pattern: Option<String>,
    registry: RegistryOptions,
}

impl EngineBuilder {
    /// Creates a builder with the default tools only.
    pub fn new() -> Self {
        EngineBuilder::default()
    }

    /// Sets the folder that the agent works in. Hooks write to its folder `.orchestration` by
    /// default; see [`storage`](Self::storage).
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Sets the folder that hooks write to; a relative path starts at the workspace. It must
    /// neither be the workspace nor contain it: no agent may change files in the storage.
    pub fn storage(mut self, folder: impl Into<PathBuf>) -> Self {
        self.storage = Some(folder.into());
        self
    }

    /// Replaces the default table of tools.
    pub fn tools(mut self, tools: ToolTable) -> Self {
        self.tools = tools;
        self
    }

    /// Adds a read-only tool.
    pub fn safe_tool(mut self, name: impl Into<String>) -> Self {
        self.tools = self.tools.safe_tool(name);
        self
    }

    /// Adds a tool that changes the files that these parameters name.
    pub fn file_tool(
        mut self,
        name: impl Into<String>,
        paths: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.tools = self.tools.file_tool(name, paths);
        self
    }

    /// Adds a tool that applies a patch, which one of these parameters contains.
    pub fn patch_tool(
        mut self,
        name: impl Into<String>,
        patches: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.tools = self.tools.patch_tool(name, patches);
        self
    }

    /// Adds intents.
    pub fn intents(mut self, intents: impl IntoIterator<Item = Intent>) -> Self {
        self.intents.extend(intents);
        self
    }

    /// Loads the intents from a file: a JSON list, or one JSON object a line. The file is read now,
    /// and again whenever an intent is selected. A relative path starts at the workspace.
    pub fn intents_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.intents_file = Some(file.into());
        self
    }

    /// Sets the health probe; by default, the engine checks its files.
    pub fn health(mut self, probe: impl HealthProbe + 'static) -> Self {
        self.health = Some(Arc::new(probe));
        self
    }

    /// Limits the session.
    pub fn session_limits(mut self, limits: BudgetLimits) -> Self {
        self.session_limits = limits;
        self
    }

    /// Limits each known intent; all unknown intents share one such limit.
    pub fn intent_limits(mut self, limits: BudgetLimits) -> Self {
        self.intent_limits = limits;
        self
    }

    /// Sets the number of equal calls in a row at which the agent is halted; 3 by default.
    pub fn repeat_threshold(mut self, threshold: u32) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the regular expression for ids of intents; `^REQ-[a-zA-Z0-9\-]+$` by default.
    pub fn intent_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }

    /// Sets the options of the engine's registry: the timeout and the failure policy of registrations that
    /// set none, the default hooks included, and the deadline of a run.
    pub fn registry_options(mut self, options: RegistryOptions) -> Self {
        self.registry = options;
        self
    }

    /// Builds the engine. May block: it reads the file of intents and creates the storage folder.
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn build(self) -> Result<HookEngine, EngineError> {
        let workspace = self.workspace.map(Workspace::new).transpose()?;
        let below = |path: PathBuf| match &workspace {
            Some(workspace) => Ok(workspace.root().join(path)),
            None if path.is_absolute() => Ok(path),
            None => Err(EngineError::NoWorkspace),
        };
        let storage = match (self.storage, &workspace) {
            (Some(folder), _) => Some(below(folder)?),
            (None, Some(workspace)) => Some(workspace.root().join(Path::new(STORAGE_FOLDER))),
            (None, None) => None,
        };
        let storage = storage.map(Storage::new).transpose()?;
        if let (Some(storage), Some(workspace)) = (&storage, &workspace) {
            if workspace.root().starts_with(storage.folder()) {
                let folder = storage.folder().to_owned();
                return Err(EngineError::StorageHoldsWorkspace(folder));
            }
        }
        let intents = match self.intents_file {
            Some(_) if !self.intents.is_empty() => return Err(EngineError::TwoSources),
            Some(file) => IntentCatalogue::load(below(file)?)?,
            None => IntentCatalogue::new(self.intents)?,
        };
        let context = EngineContext::new(self.tools, intents, workspace, storage);
        let engine = HookEngine::with_options(context, self.registry);
        let (context, registry) = (engine.context(), engine.registry());
        let plain = RegisterOptions::new;
        if let Some(probe) = self.health {
            registry.register_pre(FailSafe::new(context).probe_shared(probe), plain());
        }
        if let Some(pattern) = self.pattern {
            registry.register_pre(Traceability::new(context).pattern(&pattern)?, plain());
        }
        if let Some(threshold) = self.threshold {
            let breaker = CircuitBreaker::new(context).threshold(threshold)?;
            registry.register_pre(breaker, plain());
        }
        let budget = CallBudget::new(context)
            .session(self.session_limits)
            .each_intent(self.intent_limits);
        registry.register_pre(budget, plain());
        Ok(engine)
    }
}

impl HookEngine {
    /// Creates an engine without files, intents and limits. No tool may change a file, because no
    /// intent owns one; a command that names an intent may run. Hooks that write do nothing.
    pub fn new() -> Self {
        HookEngine::of(EngineContext::default())
    }

    /// Returns a builder.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }

    /// Creates an engine with the sixteen default hooks on this context.
    pub fn of(context: EngineContext) -> Self {
        HookEngine::with_options(context, RegistryOptions::new())
    }

    fn with_options(context: EngineContext, options: RegistryOptions) -> Self {
        let registry = PhaseRegistry::with_options(options);
        registry.set_tool_names(
            |request: &ToolRequest| Some(&request.tool),
            |result: &ToolResult| Some(&result.request.tool),
        );
        fill(&registry, &context);
        HookEngine { registry, context }
    }
}

impl Default for HookEngine {
    fn default() -> Self {
        HookEngine::new()
    }
}

/// Registers the sixteen hooks, each at its own priority or in this order.
fn fill(registry: &PhaseRegistry<ToolRequest, ToolResult>, context: &EngineContext) {
    let plain = RegisterOptions::new;
    registry.register_pre(FailSafe::new(context), plain());
    registry.register_pre(StateCheck::new(context), plain());
    registry.register_pre(Traceability::new(context), plain());
    registry.register_pre(Concurrency::new(context), plain());
    registry.register_pre(ScopeEnforcement::new(context), plain());
    registry.register_pre(CallBudget::new(context), plain());
    registry.register_pre(CircuitBreaker::new(context), plain());

    registry.register_post(MutationLog::new(context), plain());
    registry.register_post(TurnUpdate::new(context), plain());
    registry.register_post(ReadFileBaseline::new(context), plain());
    registry.register_post(AgentTrace::new(context), plain());
    registry.register_post(GeneralTrace::new(context), plain());
    registry.register_post(VerificationFailure::new(context), plain());
    registry.register_post(IntentProgress::new(context), plain());
    registry.register_post(ScopeDrift::new(context), plain());
    registry.register_post(SharedBrain::new(context), plain());
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("workspace", &self.workspace)
            .field("storage", &self.storage)
            .field("intents", &self.intents)
            .field("intents_file", &self.intents_file)
            .finish_non_exhaustive()
    }
}
