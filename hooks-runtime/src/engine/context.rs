//! What the hooks of an engine share.

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

/// What the hooks of an engine share: what is known about tools and intents, the
/// session, and where files are. A clone is the same.
///
/// Every hook of the engine can be made from one, and then works in any
/// [`PhaseRegistry<ToolRequest, ToolResult>`](crate::PhaseRegistry). The default knows the usual
/// tools, no intents, and no files: hooks that write keep quiet.
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
    /// What hooks are to share, with a session that begins.
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

    /// What is known about tools.
    pub fn tools(&self) -> &ToolTable {
        &self.shared.tools
    }

    /// The intents.
    pub fn intents(&self) -> &IntentCatalogue {
        &self.shared.intents
    }

    /// What is remembered between calls.
    pub fn session(&self) -> &Session {
        &self.shared.session
    }

    /// The folder that the agent works in.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.shared.workspace.as_ref()
    }

    /// Where hooks write.
    pub fn storage(&self) -> Option<&Storage> {
        self.shared.storage.as_ref()
    }

    /// The intent of a result: that of its call, or the one that the call selects.
    pub(crate) fn intent_of<'a>(&self, request: &'a ToolRequest) -> Option<&'a str> {
        request
            .intent_id
            .as_deref()
            .or_else(|| self.selected(request))
    }

    /// The intent that a call selects.
    pub(crate) fn selected<'a>(&self, request: &'a ToolRequest) -> Option<&'a str> {
        let selects = self.tools().role(&request.tool) == ToolRole::SelectIntent;
        request.text("intent_id").filter(|_| selects)
    }

    /// The path from the workspace on by which a file is known.
    pub(crate) fn locate(&self, path: &str) -> Result<String, PathRefusal> {
        match self.workspace() {
            Some(workspace) => workspace.locate(path),
            None => normal(path),
        }
    }

    /// What tells it from others, while it lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Runs what may block away from the runtime, where there is one.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&EngineContext) -> T + Send + 'static,
    ) -> Result<T, HookError> {
        let context = self.clone();
        match tokio::runtime::Handle::try_current() {
            // A worker that panicked must look like a hook that failed, not like an answer.
            Ok(runtime) => Ok(runtime.spawn_blocking(move || work(&context)).await?),
            Err(_) => Ok(work(&context)),
        }
    }

    /// Appends lines to a file of the storage, away from the runtime. Without a storage
    /// nothing happens.
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

    /// Whether there are files that the engine needs.
    pub(crate) fn has_files(&self) -> bool {
        self.storage().is_some() || self.intents().file().is_some()
    }

    /// Whether the files that the engine needs are there: its storage takes lines, and its
    /// intents can be read.
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
