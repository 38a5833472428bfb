//! How does a hook change what a tool returned, before the agent receives it?
//!
//! Result hooks run after the tool, one after the other. Each receives the result as the previous
//! hooks left it, and the raw result. An around hook encloses the whole call, and may call again.

use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::RegisterOptions;
use hooks_runtime::around::{Around, Next};
use hooks_runtime::toolset::{
    ExecuteTool, ToolCall, ToolCallContext, ToolCallOutput, ToolError, ToolFailure, ToolRunner,
    ToolSet,
};
use hooks_runtime::transform::{TransformFn, TransformInput, Transformed};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct ReadFile {
    path: String,
}

#[derive(ToolSet)]
enum Tools {
    /// Reads a file.
    #[tool(output = String)]
    ReadFile(ReadFile),
}

/// A file server that is busy at the first call.
struct Server {
    calls: AtomicU32,
}

impl ExecuteTool<ReadFile, String> for Server {
    async fn execute(&self, input: ReadFile, _: ToolCallContext) -> Result<String, ToolFailure> {
        match (self.calls.fetch_add(1, Ordering::Relaxed), &*input.path) {
            (0, _) => Err("the server is busy".into()),
            (_, ".env") => Ok("KEY=-----BEGIN PRIVATE KEY-----".to_owned()),
            _ => Ok("user: ada, password: hunter2".to_owned()),
        }
    }
}

/// Calls once more after a failure of the tool.
struct Retry;

impl Around<ToolCall> for Retry {
    async fn call<'a>(
        &'a self,
        (call,): (ToolCall,),
        next: Next<'a, ToolCall>,
    ) -> Result<Value, ToolError> {
        match next.call((call.clone(),)).await {
            Err(error @ ToolError::Failed { .. }) => {
                println!("again: {error}");
                next.call((call,)).await
            }
            result => result,
        }
    }
}

/// Redacts passwords.
fn redact(result: TransformInput<'_, ToolCallOutput>) -> Transformed<ToolCallOutput> {
    match result.current().output.as_str() {
        Some(text) if text.contains("hunter2") => {
            let text = text.replace("hunter2", "[redacted]");
            Transformed::changed(result.current().with_output(text))
        }
        _ => Transformed::Unchanged,
    }
}

/// Withholds private keys.
fn no_keys(result: TransformInput<'_, ToolCallOutput>) -> Transformed<ToolCallOutput> {
    match result.raw().output.as_str() {
        Some(text) if text.contains("PRIVATE KEY") => Transformed::denied("a private key"),
        _ => Transformed::Unchanged,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let calls = AtomicU32::new(0);
    let runner = ToolRunner::<Tools, _>::new(Server { calls });
    runner.around().register(Retry);
    let results = runner.results();
    results.register(TransformFn::new("redact", redact), RegisterOptions::new());
    results.register(TransformFn::new("no-keys", no_keys), RegisterOptions::new());

    let read = |path: &str| runner.execute(ToolCall::new("1", "read_file", json!({"path": path})));
    let output = read("users.txt")
        .await
        .expect("the second attempt succeeds");
    println!("{output}");
    assert_eq!(output, "user: ada, password: [redacted]");
    let error = read(".env").await.expect_err("a key is withheld");
    println!("{error}");
}
