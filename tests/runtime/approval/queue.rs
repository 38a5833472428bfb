//! The queue for user interfaces, and questions whose caller has dropped its future.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use hooks_runtime::approval::{ApprovalAnswer, ApprovalDecision, ApprovalQueue};
use hooks_runtime::{Conversation, Coordinator, HookResult, Map, UserMessage};
use serde_json::json;
use tokio::time::timeout;

use super::{approval_request, decide, gate, only_pending, run_other_tasks, spawn_ask, with};
use crate::kit::{Log, map, named, returning};

fn numbered(number: usize) -> Map {
    map(json!({"tool_name": "shell", "tool_input": number}))
}

fn ask_once() -> HookResult {
    HookResult::ask_user("Run it?")
}

#[tokio::test(start_paused = true)]
async fn e_131_the_queue_returns_requests_in_insertion_order() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let mut tasks = Vec::new();
    for number in 0..4 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(number)).await;
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    let inputs = |requests: &[Arc<hooks_runtime::approval::ApprovalRequest>]| -> Vec<_> {
        requests
            .iter()
            .map(|r| r.data["tool_input"].clone())
            .collect()
    };
    assert_eq!(inputs(&queue.pending()), [0, 1, 2, 3]);
    assert_eq!((queue.len(), queue.is_empty()), (4, false));
    let given = [
        queue.next().await,
        queue.try_next().unwrap(),
        queue.clone().next().await,
    ];
    assert_eq!(inputs(&given), [0, 1, 2]);
    assert_eq!(queue.len(), 4, "returning a request does not answer it");
    queue.answer(&given[1].id, "Allow").unwrap();
    assert_eq!(inputs(&queue.pending()), [0, 2, 3]);
    assert!(tasks.remove(1).await.unwrap().is_allowed());
    assert_eq!(inputs(&[queue.next().await]), [3]);
    assert!(queue.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn e_132_each_answer_completes_the_request_with_its_id() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let mut tasks = Vec::new();
    for number in 0..10 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(number)).await;
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    let pending = queue.pending();
    for number in [7, 0, 3, 9, 1, 2, 8, 4, 6, 5] {
        let answer = ["Allow", "Deny"][number % 2];
        queue.answer(&pending[number].id, answer).unwrap();
        run_other_tasks().await;
        assert!(tasks[number].is_finished());
    }
    for (number, task) in tasks.into_iter().enumerate() {
        let approval = task.await.unwrap();
        assert_eq!(approval.is_allowed(), number % 2 == 0);
        assert_eq!(*approval.request.data, numbered(number));
    }
}

#[tokio::test(start_paused = true)]
async fn e_131_next_skips_answered_and_withdrawn_requests() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let mut tasks = Vec::new();
    for number in 0..4 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(number)).await;
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    let pending = queue.pending();
    queue.answer(&pending[0].id, "Allow").unwrap();
    tasks.remove(2).abort();
    run_other_tasks().await;
    assert_eq!(queue.try_next().unwrap().id, pending[1].id);
    assert_eq!(queue.next().await.id, pending[3].id);
    assert!(queue.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn e_132_a_second_answer_and_an_unknown_id_are_errors() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(0)).await;
    let task = spawn_ask(&coordinator, &request).await;
    let id = only_pending(&queue).id.clone();
    let unknown = queue.answer("unknown", "Allow").unwrap_err();
    assert_eq!(unknown.id, "unknown");
    assert!(queue.answer("", "Allow").is_err());
    assert!(!task.is_finished());
    queue.answer(&id, "Deny").unwrap();
    let late = queue.answer(&id, "Allow").unwrap_err();
    assert_eq!(late.id, *id);
    assert!(!task.await.unwrap().is_allowed(), "the first answer counts");
}

#[tokio::test(start_paused = true)]
async fn e_134_a_timed_out_request_leaves_the_queue() {
    let queue = ApprovalQueue::new();
    let hooks = gate(ask_once().approval_timeout(5.0));
    let coordinator = with(queue.clone());
    let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(0)).await;
    let task = spawn_ask(&coordinator, &request).await;
    let id = only_pending(&queue).id.clone();
    let approval = task.await.unwrap();
    assert_eq!(approval.decision, ApprovalDecision::TimedOut);
    assert!(queue.is_empty() && queue.try_next().is_none());
    assert!(queue.answer(&id, "Allow").is_err());
}

#[tokio::test(start_paused = true)]
async fn e_131_next_waits_for_a_request_and_loses_none_if_dropped() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let gone = timeout(Duration::from_secs(1), queue.next()).await;
    assert!(gone.is_err(), "there is no question yet");
    // Two callers wait, and the caller that would be woken first is dropped.
    let first = tokio::spawn({
        let queue = queue.clone();
        async move { queue.next().await }
    });
    run_other_tasks().await;
    let second = tokio::spawn({
        let queue = queue.clone();
        async move { queue.next().await }
    });
    run_other_tasks().await;
    let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(0)).await;
    let clone = coordinator.clone();
    let task = tokio::spawn(async move { clone.ask(request).await });
    first.abort();
    run_other_tasks().await;
    let request = match first.await {
        Ok(request) => request,
        Err(_) => timeout(Duration::from_secs(1), second)
            .await
            .expect("the other caller gets the request")
            .unwrap(),
    };
    queue.answer(&request.id, "Allow").unwrap();
    assert!(task.await.unwrap().is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_132_an_option_of_the_request_can_be_the_answer() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(0)).await;
    let task = spawn_ask(&coordinator, &request).await;
    let waiting = only_pending(&queue);
    let answer = ApprovalAnswer::from(&waiting.options[0]);
    queue.answer(&waiting.id, answer).unwrap();
    assert_eq!(task.await.unwrap().label(), Some("Allow"));
}

#[tokio::test(start_paused = true)]
async fn e_42_dropping_a_pending_apply_withdraws_the_request_and_keeps_its_effects() {
    let (queue, log) = (ApprovalQueue::new(), Log::new());
    let shown = log.clone();
    let coordinator = Coordinator::builder()
        .provider(queue.clone())
        .display(move |message: &UserMessage| shown.add(&message.text))
        .build();
    let hooks = gate(ask_once().user_message("asks"));
    let inject = HookResult::inject_context("remember");
    hooks.register("tool:pre", returning(inject), named("tells"));
    let mut conversation = Conversation::new();
    let emission = hooks.emit("tool:pre", numbered(0)).await.unwrap();
    {
        let mut apply = pin!(coordinator.apply(emission, &mut conversation));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(apply.as_mut().poll(&mut cx).is_pending());
        assert_eq!(queue.len(), 1);
    }
    assert!(queue.is_empty() && queue.try_next().is_none());
    assert_eq!(log.lines(), ["asks"]);
    assert_eq!(conversation.history().len(), 1);
    let task = tokio::spawn({
        let (coordinator, hooks) = (coordinator.clone(), hooks.clone());
        async move { decide(&coordinator, &hooks, "tool:pre", numbered(0)).await }
    });
    run_other_tasks().await;
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    assert!(!task.await.unwrap().is_denied());
}

#[tokio::test(start_paused = true)]
async fn e_42_a_withdrawn_request_can_be_asked_again() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let request = approval_request(&coordinator, &hooks, "tool:pre", numbered(0)).await;
    for _ in 0..3 {
        let task = spawn_ask(&coordinator, &request).await;
        assert_eq!(only_pending(&queue).id, request.id);
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(queue.is_empty());
    }
    let task = spawn_ask(&coordinator, &request).await;
    queue.answer(&request.id, "Allow").unwrap();
    assert!(task.await.unwrap().is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_42_apply_asks_nothing_before_it_is_polled() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let emission = hooks.emit("tool:pre", numbered(0)).await.unwrap();
    let mut conversation = Conversation::new();
    drop(coordinator.apply(emission, &mut conversation));
    assert!(queue.is_empty());
}
