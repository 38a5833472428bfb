//! Approval requests (E-130 to E-140), and their decisions.

mod data;
mod identical;
mod labels;
mod memory;
mod outcome;
mod queue;
mod stored;
mod trust;
mod unclear;

use std::future::Future;
use std::sync::Arc;

use hooks_runtime::approval::{
    Approval, ApprovalAnswer, ApprovalProvider, ApprovalQueue, ApprovalRequest,
};
use hooks_runtime::{
    AppliedEmission, ApplyStep, Conversation, Coordinator, EventData, HookError, HookRegistry,
    HookResult, Map,
};
use serde_json::json;
use tokio::task::{JoinHandle, yield_now};

use crate::kit::{Log, map, named, returning};

/// Returns the data of a tool call.
fn call() -> Map {
    map(json!({"tool_name": "shell", "tool_input": {"command": "ls"}}))
}

/// Returns a registry with one hook `gate`, which returns this result for `tool:pre`.
fn gate(result: HookResult) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", returning(result), named("gate"));
    hooks
}

/// Returns a coordinator with a provider.
fn with(provider: impl ApprovalProvider + 'static) -> Coordinator {
    Coordinator::builder().provider(provider).build()
}

/// Returns the result of an event, without a conversation.
async fn decide(
    coordinator: &Coordinator,
    hooks: &HookRegistry,
    event: &str,
    data: impl Into<EventData>,
) -> AppliedEmission {
    coordinator
        .emit(hooks, event, data, &mut Conversation::new())
        .await
        .expect("the event can be applied")
}

/// Returns the result of one question, asked by the trusted hook `gate` about [`call`].
async fn ask(provider: impl ApprovalProvider + 'static, question: HookResult) -> AppliedEmission {
    decide(&with(provider), &gate(question), "tool:pre", call()).await
}

/// Returns the approval request of an event.
async fn approval_request(
    coordinator: &Coordinator,
    hooks: &HookRegistry,
    event: &str,
    data: impl Into<EventData>,
) -> ApprovalRequest {
    let emission = hooks.emit(event, data).await.expect("an emission");
    match coordinator.begin(emission, &mut Conversation::new()) {
        Ok(ApplyStep::Ask(request)) => *request,
        other => panic!("no request: {other:?}"),
    }
}

/// Returns the labels that an answer offers.
fn labels(request: &ApprovalRequest) -> Vec<&str> {
    let options = request.options.iter();
    options.map(|option| option.label.as_str()).collect()
}

/// Asks in a separate task, and polls it as far as possible.
async fn spawn_ask(coordinator: &Coordinator, request: &ApprovalRequest) -> JoinHandle<Approval> {
    let (coordinator, request) = (coordinator.clone(), request.clone());
    let task = tokio::spawn(async move { coordinator.ask(request).await });
    run_other_tasks().await;
    task
}

/// Lets the other tasks run as far as they can without a change of time.
async fn run_other_tasks() {
    for _ in 0..20 {
        yield_now().await;
    }
}

/// Returns the only pending request.
fn only_pending(queue: &ApprovalQueue) -> Arc<ApprovalRequest> {
    let pending = queue.pending();
    assert_eq!(pending.len(), 1, "one request is pending");
    Arc::clone(&pending[0])
}

/// Never answers.
struct Silent;

impl ApprovalProvider for Silent {
    async fn ask(&self, _: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        std::future::pending().await
    }
}

/// Cannot ask.
struct Offline;

impl ApprovalProvider for Offline {
    async fn ask(&self, _: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        Err(std::io::Error::other("the window is closed").into())
    }
}

/// Panics while it is pending.
struct Panics;

impl ApprovalProvider for Panics {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        tokio::task::yield_now().await;
        panic!("cannot draw {}", request.prompt)
    }
}

/// Panics before it returns a future.
struct PanicsBeforeFuture;

impl ApprovalProvider for PanicsBeforeFuture {
    fn ask(
        &self,
        request: &Arc<ApprovalRequest>,
    ) -> impl Future<Output = Result<ApprovalAnswer, HookError>> + Send {
        assert!(request.prompt.is_empty(), "cannot draw {}", request.prompt);
        async { Ok(ApprovalAnswer::new("Allow")) }
    }
}

/// Records its requests, and allows them.
struct RecordsRequests(Log);

impl ApprovalProvider for RecordsRequests {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        self.0.add(format!("asked: {}", request.prompt));
        Ok(ApprovalAnswer::new("Allow"))
    }
}
