//! How does a host add a rule to the sixteen hooks around an agent's tools?
//!
//! The engine is a registry with hooks. Register another hook with the priority that determines its
//! place; it sees the call and the engine's context.

use hooks_runtime::engine::{EngineContext, Intent, Stage};
use hooks_runtime::{
    HookEngine, HookError, HookResponse, PreHook, RegisterOptions, ResponseAction, ToolRequest,
    ToolResult,
};

/// Refuses `new_task`, which starts another agent, once the intent has changed files.
struct OneAgent {
    context: EngineContext,
}

impl PreHook<ToolRequest> for OneAgent {
    fn id(&self) -> &str {
        "one-agent"
    }

    // After `traceability`, before the file hooks.
    fn priority(&self) -> Option<i32> {
        Some(15)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let files = &self.context.session().progress("REQ-7").files;
        if request.tool != "new_task" || files.is_empty() {
            return Ok(HookResponse::default());
        }
        Ok(HookResponse::new(ResponseAction::Deny)
            .reason("One agent at a time")
            .details(format!("{} file has been changed", files.len()))
            .recovery_hint("complete this intent first"))
    }
}

/// Makes a call if the hooks allow it, and prints the result.
async fn call(engine: &HookEngine, request: ToolRequest) {
    let tool = request.tool.clone();
    match engine.pre_tool_use(&request).await {
        Ok(response) if response.is_continue() => {
            let class = response.classification.unwrap_or_default();
            println!("{tool}: {class}");
            let result = ToolResult::of(request).succeeded("done");
            engine.post_tool_use(&result, None).await;
        }
        Ok(response) => {
            let reason = response.reason.unwrap_or_default();
            println!("{tool}: {}, {reason}", response.action);
        }
        Err(error) => println!("{tool}: {error}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = tempfile::tempdir()?;
    let engine = HookEngine::builder()
        .workspace(project.path())
        .intents([Intent::new("REQ-7").owns("src/**")])
        .build()?;
    let context = engine.context().clone();
    engine
        .registry()
        .register_pre(OneAgent { context }, RegisterOptions::new());

    let write = |path: &str| ToolRequest::new("write_to_file").param("path", path);
    let task = || ToolRequest::new("new_task").intent("REQ-7");

    call(&engine, write("src/lib.rs").intent("REQ-7")).await;
    let select = ToolRequest::new("select_active_intent").param("intent_id", "REQ-7");
    call(&engine, select).await;
    call(&engine, write("src/lib.rs")).await;
    call(&engine, task()).await;
    call(&engine, write("src/lib.rs").intent("REQ-7")).await;
    call(&engine, write("Cargo.toml").intent("REQ-7")).await;
    call(&engine, task()).await;

    assert_eq!(engine.session().stage(), Stage::Action);
    let log = project.path().join(".orchestration/mutations.jsonl");
    println!(
        "{} change was logged",
        std::fs::read_to_string(log)?.lines().count()
    );
    Ok(())
}
