//! Asking the user (E-130 to E-140), and what comes of it.

mod data;
mod identical;
mod labels;
mod memory;
mod outcome;
mod queue;
mod stored;
mod trust;

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

use crate::kit::{Log, answering, map, named};

/// The data of a call of a tool.
fn call() -> Map {
    map(json!({"tool_name": "shell", "tool_input": {"command": "ls"}}))
}

/// A registry with one hook `gate`, which gives this answer to `tool:pre`.
fn gate(result: HookResult) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", answering(result), named("gate"));
    hooks
}

/// A coordinator with somebody to ask.
fn with(provider: impl ApprovalProvider + 'static) -> Coordinator {
    Coordinator::builder().provider(provider).build()
}

/// What comes of an event, without a conversation to look at.
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

/// What comes of one question, put by the trusted hook `gate` about [`call`].
async fn ask(provider: impl ApprovalProvider + 'static, question: HookResult) -> AppliedEmission {
    decide(&with(provider), &gate(question), "tool:pre", call()).await
}

/// The question that an event leads to.
async fn question(
    coordinator: &Coordinator,
    hooks: &HookRegistry,
    event: &str,
    data: impl Into<EventData>,
) -> ApprovalRequest {
    let emission = hooks.emit(event, data).await.expect("an emission");
    match coordinator.begin(emission, &mut Conversation::new()) {
        Ok(ApplyStep::Ask(request)) => *request,
        other => panic!("no question: {other:?}"),
    }
}

/// The labels that an answer offers.
fn labels(request: &ApprovalRequest) -> Vec<&str> {
    let options = request.options.iter();
    options.map(|option| option.label.as_str()).collect()
}

/// A question in a task of its own, put as far as it goes.
async fn asking(coordinator: &Coordinator, request: &ApprovalRequest) -> JoinHandle<Approval> {
    let (coordinator, request) = (coordinator.clone(), request.clone());
    let task = tokio::spawn(async move { coordinator.ask(request).await });
    settled().await;
    task
}

/// Lets the other tasks run as far as they can without time going by.
async fn settled() {
    for _ in 0..20 {
        yield_now().await;
    }
}

/// The only question that waits.
fn only(queue: &ApprovalQueue) -> Arc<ApprovalRequest> {
    let pending = queue.pending();
    assert_eq!(pending.len(), 1, "one question waits");
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

/// Panics while it asks.
struct Panics;

impl ApprovalProvider for Panics {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        tokio::task::yield_now().await;
        panic!("cannot draw {}", request.prompt)
    }
}

/// Panics before there is a future.
struct PanicsAtOnce;

impl ApprovalProvider for PanicsAtOnce {
    fn ask(
        &self,
        request: &Arc<ApprovalRequest>,
    ) -> impl Future<Output = Result<ApprovalAnswer, HookError>> + Send {
        assert!(request.prompt.is_empty(), "cannot draw {}", request.prompt);
        async { Ok(ApprovalAnswer::new("Allow")) }
    }
}

/// Writes down what it is asked, and says yes.
struct Writes(Log);

impl ApprovalProvider for Writes {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        self.0.add(format!("asked: {}", request.prompt));
        Ok(ApprovalAnswer::new("Allow"))
    }
}
