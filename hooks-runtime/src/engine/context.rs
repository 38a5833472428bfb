//! State that the hooks of an engine share.

use std::sync::Arc;

use super::call::ToolRequest;
use super::error::EngineError;
use super::intent::IntentCatalogue;
use super::record::FILES;
use super::session::Session;
use super::storage::Storage;
use super::tools::{ToolRole, ToolTable};
use super::workspace::{PathRefusal, Workspace, normal};
use crate::HookError;

/// State that the hooks of an engine share: tools, intents, the session, and the location of files.
/// Clones share one state.
///
/// Every hook of the engine can be built from a context, and then works in any
/// [`PhaseRegistry<ToolRequest, ToolResult>`](crate::PhaseRegistry). The default has the usual
/// tools, no intents, and no files: hooks that write do nothing.
#[derive(Debug, Clone, Default)]
pub struct EngineContext {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    tools: ToolTable,
    intents: IntentCatalogue,
    session: Session,
    workspace: Option<Workspace>,
    storage: Option<Storage>,
}

impl EngineContext {
    /// Creates a context with a new session.
    pub fn new(
        tools: ToolTable,
        intents: IntentCatalogue,
        workspace: Option<Workspace>,
        storage: Option<Storage>,
    ) -> Self {
        EngineContext {
            shared: Arc::new(Shared {
                tools,
                intents,
                session: Session::new(),
                workspace,
                storage,
            }),
        }
    }

    /// Returns the table of tools.
    pub fn tools(&self) -> &ToolTable {
        &self.shared.tools
    }

    /// Returns the intents.
    pub fn intents(&self) -> &IntentCatalogue {
        &self.shared.intents
    }

    /// Returns the state between calls.
    pub fn session(&self) -> &Session {
        &self.shared.session
    }

    /// Returns the folder that the agent works in.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.shared.workspace.as_ref()
    }

    /// Returns the folder that hooks write to.
    pub fn storage(&self) -> Option<&Storage> {
        self.shared.storage.as_ref()
    }

    /// Returns the intent of a result: the intent of its call, or the intent that the call selects.
    pub(crate) fn intent_of<'a>(&self, request: &'a ToolRequest) -> Option<&'a str> {
        request
            .intent_id
            .as_deref()
            .or_else(|| self.selected(request))
    }

    /// Returns the intent that a call selects.
    pub(crate) fn selected<'a>(&self, request: &'a ToolRequest) -> Option<&'a str> {
        let selects = self.tools().role(&request.tool) == ToolRole::SelectIntent;
        request.text("intent_id").filter(|_| selects)
    }

    /// Returns the path of a file relative to the workspace.
    pub(crate) fn locate(&self, path: &str) -> Result<String, PathRefusal> {
        match self.workspace() {
            Some(workspace) => workspace.locate(path),
            None => normal(path),
        }
    }

    /// Returns an address that is unique while the context lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Runs blocking work away from the runtime, if there is one.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&EngineContext) -> T + Send + 'static,
    ) -> Result<T, HookError> {
        let context = self.clone();
        match tokio::runtime::Handle::try_current() {
            // Report a panic in a worker as a failure of the hook, not as a result.
            Ok(runtime) => Ok(runtime.spawn_blocking(move || work(&context)).await?),
            Err(_) => Ok(work(&context)),
        }
    }

    /// Appends lines to a file of the storage, away from the runtime. Does nothing without a
    /// storage.
    pub(crate) async fn write(
        &self,
        file: &'static str,
        lines: Vec<serde_json::Value>,
    ) -> Result<(), HookError> {
        let Some(storage) = self.storage().cloned() else {
            return Ok(());
        };
        let written = self.blocking(move |_| {
            let mut lines = lines.iter();
            lines.try_for_each(|line| storage.append(file, line))
        });
        Ok(written.await??)
    }

    /// Returns `true` if the engine uses files.
    pub(crate) fn has_files(&self) -> bool {
        self.storage().is_some() || self.intents().file().is_some()
    }

    /// Checks the files that the engine uses: lines can be appended to its storage, and its intents
    /// can be read.
    pub(crate) fn check_files(&self) -> Result<(), EngineError> {
        if let Some(storage) = self.storage() {
            storage.probe(&FILES).map_err(|source| EngineError::Path {
                path: storage.folder().to_owned(),
                remedy: "make it a folder that can be written to",
                source,
            })?;
        }
        self.intents().probe()
    }
}
