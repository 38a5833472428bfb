//! `HookEngine` and its sixteen hooks.

mod files;
mod gateway;
mod intents;
mod post;
mod pre;
mod scope;
mod tools;
mod writers;

use std::path::{Path, PathBuf};

use hooks_runtime::engine::{EngineBuilder, Intent};
use hooks_runtime::{HookEngine, HookError, HookResponse, ResponseAction, ToolRequest, ToolResult};
use serde_json::Value;

/// An engine in a separate workspace, in which `REQ-1` owns `src/**`, and `REQ-5` nothing.
pub(crate) struct Bench {
    pub(crate) engine: HookEngine,
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Bench::with(|builder| builder)
    }

    /// Creates an engine with further options.
    pub(crate) fn with(more: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::create_dir(folder.path().join("src")).expect("there is room");
        let builder = HookEngine::builder()
            .workspace(folder.path())
            .intents([Intent::new("REQ-1").owns("src/**"), Intent::new("REQ-5")]);
        let engine = more(builder).build().expect("it can be built");
        Bench { engine, folder }
    }

    /// Selects an intent.
    pub(crate) fn ready(self) -> Self {
        self.engine.session().select_intent("REQ-1");
        self
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        std::fs::write(self.path(path), content).expect("there is room");
    }

    pub(crate) async fn pre(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        self.engine.pre_tool_use(request).await
    }

    /// Returns the response, if no hook fails.
    pub(crate) async fn ask(&self, request: &ToolRequest) -> HookResponse {
        self.pre(request).await.expect("no hook fails")
    }

    pub(crate) async fn post(&self, result: &ToolResult) {
        self.engine.post_tool_use(result, Some("call-1")).await;
    }

    /// Returns the lines of a file of the storage.
    pub(crate) fn lines(&self, file: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(".orchestration").join(file));
        let text = text.unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_str(line).expect("every line is JSON"))
            .collect()
    }
}

pub(crate) fn write(path: &str) -> ToolRequest {
    ToolRequest::new("write_to_file")
        .param("path", path)
        .intent("REQ-1")
}

pub(crate) fn read(path: &str) -> ToolRequest {
    ToolRequest::new("read_file")
        .param("path", path)
        .intent("REQ-1")
}

pub(crate) fn select(intent: &str) -> ToolRequest {
    ToolRequest::new("select_active_intent").param("intent_id", intent)
}

pub(crate) fn command(command: &str) -> ToolRequest {
    ToolRequest::new("execute_command")
        .param("command", command)
        .intent("REQ-1")
}

/// Asserts that a response denies for this reason, with all fields that an agent needs to continue.
pub(crate) fn assert_denied(response: &HookResponse, action: ResponseAction, reason: &str) {
    assert_eq!(response.action, action, "{response:?}");
    assert_eq!(response.reason.as_deref(), Some(reason), "{response:?}");
    for field in [
        &response.details,
        &response.recovery_hint,
        &response.error_type,
    ] {
        assert!(
            field.as_ref().is_some_and(|text| !text.is_empty()),
            "{response:?}"
        );
    }
}
