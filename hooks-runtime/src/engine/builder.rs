//! How an engine is put together.

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
    Budget, CircuitBreaker, Concurrency, FailSafe, Limits, ScopeEnforcement, StateCheck,
    Traceability,
};
use super::storage::{STORAGE_FOLDER, Storage};
use super::tools::ToolTable;
use super::workspace::Workspace;
use crate::{PhaseRegistry, RegisterOptions};

/// What an engine is to know.
///
/// ```
/// use hooks_runtime::HookEngine;
/// use hooks_runtime::engine::{Intent, Limits};
///
/// let engine = HookEngine::builder()
///     .safe_tool("search_docs")
///     .intents([Intent::new("REQ-12").owns("src/**")])
///     .session_limits(Limits::new().calls(200))
///     .repeat_threshold(3)
///     .build()?;
/// assert!(engine.context().intents().get("REQ-12").is_some());
/// # Ok::<_, hooks_runtime::engine::EngineError>(())
/// ```
///
/// Whatever is not said here can be said to the hook itself, which
/// is made from the [context](HookEngine::context) and registered in the place of the built-in
/// one.
#[derive(Default)]
#[must_use = "`build` makes the engine"]
pub struct EngineBuilder {
    workspace: Option<PathBuf>,
    storage: Option<PathBuf>,
    tools: ToolTable,
    intents: Vec<Intent>,
    intents_file: Option<PathBuf>,
    health: Option<Arc<dyn HealthProbe>>,
    session_limits: Limits,
    intent_limits: Limits,
    threshold: Option<u32>,
    pattern: Option<String>,
}

impl EngineBuilder {
    /// An engine that knows nothing but the usual tools.
    pub fn new() -> Self {
        EngineBuilder::default()
    }

    /// The folder that the agent works in. Hooks write below it, to `.orchestration`, unless
    /// another [storage](Self::storage) is named.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// The folder that hooks write to; a relative one begins at the workspace. It cannot be the
    /// workspace, nor a folder that this lies in: no agent may change what is in it.
    pub fn storage(mut self, folder: impl Into<PathBuf>) -> Self {
        self.storage = Some(folder.into());
        self
    }

    /// What is known about tools, in place of the usual ones.
    pub fn tools(mut self, tools: ToolTable) -> Self {
        self.tools = tools;
        self
    }

    /// Adds a tool that only looks.
    pub fn safe_tool(mut self, name: impl Into<String>) -> Self {
        self.tools = self.tools.safe_tool(name);
        self
    }

    /// Adds a tool that changes files, which these parameters name.
    pub fn file_tool(
        mut self,
        name: impl Into<String>,
        paths: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.tools = self.tools.file_tool(name, paths);
        self
    }

    /// Adds a tool that changes files as a patch says, which one of these parameters holds.
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

    /// Takes the intents from a file: a JSON list, or one JSON object a line. It is read now,
    /// and again whenever an intent is selected. A relative one is below the workspace.
    pub fn intents_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.intents_file = Some(file.into());
        self
    }

    /// Asks this whether the engine is all right, in place of looking at its files.
    pub fn health(mut self, probe: impl HealthProbe + 'static) -> Self {
        self.health = Some(Arc::new(probe));
        self
    }

    /// Limits the session.
    pub fn session_limits(mut self, limits: Limits) -> Self {
        self.session_limits = limits;
        self
    }

    /// Limits each intent that is there; those that are not share one such limit.
    pub fn intent_limits(mut self, limits: Limits) -> Self {
        self.intent_limits = limits;
        self
    }

    /// Halts the same call when it is made so many times in a row; 3 by default.
    pub fn repeat_threshold(mut self, threshold: u32) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// What ids of intents look like, as a regular expression; `^REQ-[a-zA-Z0-9\-]+$` by
    /// default.
    pub fn intent_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }

    /// Makes the engine. Reads the file of the intents and makes the storage folder, so it may
    /// block.
    ///
    /// # Errors
    /// If something of what was said cannot be used.
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
        let engine = HookEngine::of(context);
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
        let budget = Budget::new(context)
            .session(self.session_limits)
            .each_intent(self.intent_limits);
        registry.register_pre(budget, plain());
        Ok(engine)
    }
}

impl HookEngine {
    /// An engine without files, intents and limits. No tool may change a file with it, because
    /// no intent owns any; a command that names an intent may run. Hooks that write keep quiet.
    pub fn new() -> Self {
        HookEngine::of(EngineContext::default())
    }

    /// An engine that is told more.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }

    /// An engine with the sixteen hooks as they are by themselves, on this context.
    pub fn of(context: EngineContext) -> Self {
        let registry = PhaseRegistry::new();
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
    registry.register_pre(Budget::new(context), plain());
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
