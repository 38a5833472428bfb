//! Concurrent equal questions (E-140).

use std::time::Duration;

use hooks_runtime::approval::{ApprovalDecision, ApprovalOption, ApprovalQueue};
use hooks_runtime::{ApprovalDefault, HookRegistry, HookResult, Map};
use serde_json::json;
use tokio::time::sleep;

use super::{
    Panics, approval_request, call, decide, gate, only_pending, run_other_tasks, spawn_ask, with,
};
use crate::kit::{map, named, returning};

fn ask_once() -> HookResult {
    HookResult::ask_user("Run it?")
}

#[tokio::test(start_paused = true)]
async fn e_140_identical_requests_are_asked_once_and_all_get_the_answer() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    for (answer, is_allowed) in [("Allow", true), ("Deny", false), ("Perhaps", false)] {
        let mut tasks = Vec::new();
        for _ in 0..5 {
            let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
            tasks.push(spawn_ask(&coordinator, &request).await);
        }
        queue.answer(&only_pending(&queue).id, answer).unwrap();
        for task in tasks {
            let approval = task.await.unwrap();
            assert_eq!(approval.is_allowed(), is_allowed, "{answer}");
            assert!(!matches!(approval.decision, ApprovalDecision::TimedOut));
        }
        assert!(queue.is_empty(), "asked once");
    }
}

/// The time stamp of the data (E-40) does not distinguish questions.
#[tokio::test(start_paused = true)]
async fn e_140_requests_that_differ_only_in_the_timestamp_are_identical() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    hooks.set_timestamps(true);
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
        assert!(request.data.contains_key("timestamp"));
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    for task in tasks {
        assert!(task.await.unwrap().is_allowed());
    }
}

#[tokio::test(start_paused = true)]
async fn e_140_an_identical_request_after_the_answer_is_asked_again() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let first = spawn_ask(&coordinator, &request).await;
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    assert!(first.await.unwrap().is_allowed());
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let second = spawn_ask(&coordinator, &request).await;
    queue.answer(&only_pending(&queue).id, "Deny").unwrap();
    assert!(!second.await.unwrap().is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_140_if_the_first_caller_is_dropped_the_others_still_get_the_answer() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    for leader in tasks.drain(..2) {
        leader.abort();
        assert!(leader.await.unwrap_err().is_cancelled());
        run_other_tasks().await;
        assert_eq!(queue.len(), 1, "the request is still pending");
    }
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    for task in tasks {
        assert!(task.await.unwrap().is_allowed());
    }
}

#[tokio::test(start_paused = true)]
async fn e_140_if_the_first_caller_is_dropped_the_others_still_time_out() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let leader = spawn_ask(&coordinator, &request).await;
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let other = spawn_ask(&coordinator, &request).await;
    leader.abort();
    let approval = other.await.unwrap();
    assert_eq!(approval.decision, ApprovalDecision::TimedOut);
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn e_140_if_all_callers_are_dropped_the_request_is_withdrawn() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(ask_once()));
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    let id = only_pending(&queue).id.clone();
    for task in tasks {
        task.abort();
        let _ = task.await;
    }
    run_other_tasks().await;
    assert!(queue.is_empty() && queue.pending().is_empty());
    assert!(queue.try_next().is_none());
    assert!(queue.answer(&id, "Allow").is_err());
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let again = spawn_ask(&coordinator, &request).await;
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    assert!(again.await.unwrap().is_allowed());
}

/// A way in which a question differs from the first one, and its data.
type Variant = (&'static str, HookRegistry, &'static str, Map);

fn variants() -> Vec<Variant> {
    let with_tool = |tool: &str, input: &str| map(json!({"tool_name": tool, "tool_input": input}));
    let base = || with_tool("shell", "ls");
    let differently = |result: HookResult| gate(result);
    let other_hook = HookRegistry::new();
    other_hook.register("tool:pre", returning(ask_once()), named("guard"));
    let other_event = HookRegistry::new();
    other_event.register("tool:post", returning(ask_once()), named("gate"));
    let untrusted = HookRegistry::new();
    let typed = ask_once().approval_choices([
        ApprovalOption::allow_once("Allow"),
        ApprovalOption::allow_once("Deny"),
    ]);
    untrusted.register("tool:pre", returning(typed), named("gate"));
    let mut in_session = base();
    in_session.insert("session_id".to_owned(), "other".into());
    let mut more = base();
    more.insert("path".to_owned(), "/etc".into());
    vec![
        ("the first", gate(ask_once()), "tool:pre", base()),
        (
            "tool",
            gate(ask_once()),
            "tool:pre",
            with_tool("shel", "ls"),
        ),
        (
            "input",
            gate(ask_once()),
            "tool:pre",
            with_tool("shell", "rm"),
        ),
        ("session", gate(ask_once()), "tool:pre", in_session),
        ("data", gate(ask_once()), "tool:pre", more),
        ("hook", other_hook, "tool:pre", base()),
        ("event", other_event, "tool:post", base()),
        ("effects", untrusted, "tool:pre", base()),
        (
            "prompt",
            differently(HookResult::ask_user("Run it!")),
            "tool:pre",
            base(),
        ),
        (
            "default",
            differently(ask_once().approval_default(ApprovalDefault::Allow)),
            "tool:pre",
            base(),
        ),
        (
            "options",
            differently(HookResult {
                approval_options: Some(vec!["Allow".to_owned(), "No".to_owned()]),
                ..ask_once()
            }),
            "tool:pre",
            base(),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn e_140_different_requests_are_asked_separately_and_concurrently() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let mut tasks = Vec::new();
    for (number, (what, hooks, event, data)) in variants().into_iter().enumerate() {
        let request = approval_request(&coordinator, &hooks, event, data).await;
        tasks.push((what, spawn_ask(&coordinator, &request).await));
        assert_eq!(
            queue.len(),
            number + 1,
            "another {what} is another question"
        );
    }
    let pending = queue.pending();
    for (request, (what, task)) in pending.iter().zip(tasks).rev() {
        assert!(!task.is_finished(), "{what}");
        queue.answer(&request.id, "Allow").unwrap();
        let approval = task.await.unwrap();
        assert!(approval.is_allowed(), "{what}");
        assert_eq!(approval.request.data, request.data, "{what}");
    }
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn e_140_a_shorter_timeout_ends_only_its_own_request() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let long = gate(ask_once().approval_timeout(100.0));
    let short = gate(ask_once().approval_timeout(10.0));
    for is_short_first in [true, false] {
        let (first, second) = match is_short_first {
            true => (&short, &long),
            false => (&long, &short),
        };
        let request = approval_request(&coordinator, first, "tool:pre", call()).await;
        let first = spawn_ask(&coordinator, &request).await;
        let request = approval_request(&coordinator, second, "tool:pre", call()).await;
        let second = spawn_ask(&coordinator, &request).await;
        let (short, long) = match is_short_first {
            true => (first, second),
            false => (second, first),
        };
        sleep(Duration::from_secs(20)).await;
        run_other_tasks().await;
        assert!(short.is_finished() && !long.is_finished());
        let approval = short.await.unwrap();
        assert_eq!(approval.decision, ApprovalDecision::TimedOut);
        queue.answer(&only_pending(&queue).id, "Allow").unwrap();
        assert!(long.await.unwrap().is_allowed());
    }
}

#[tokio::test(start_paused = true)]
async fn e_140_a_later_identical_request_has_its_full_timeout() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let hooks = gate(ask_once().approval_timeout(100.0));
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let first = spawn_ask(&coordinator, &request).await;
    sleep(Duration::from_secs(90)).await;
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let second = spawn_ask(&coordinator, &request).await;
    sleep(Duration::from_secs(20)).await;
    run_other_tasks().await;
    assert!(first.is_finished(), "its timeout of 100 s has elapsed");
    assert!(!second.is_finished(), "only 20 s of its 100 s have elapsed");
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    assert!(second.await.unwrap().is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_140_a_request_with_timeout_0_does_not_join_a_pending_request() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let request = approval_request(&coordinator, &gate(ask_once()), "tool:pre", call()).await;
    let pending = spawn_ask(&coordinator, &request).await;
    let immediate = gate(ask_once().approval_timeout(0.0));
    let applied = decide(&coordinator, &immediate, "tool:pre", call()).await;
    assert_eq!(
        applied.approval.unwrap().decision,
        ApprovalDecision::TimedOut
    );
    assert!(!pending.is_finished());
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    assert!(pending.await.unwrap().is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_140_allow_always_is_remembered_for_all_joined_callers() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let hooks = gate(HookResult {
        approval_options: Some(vec!["Allow always".to_owned(), "Deny".to_owned()]),
        ..ask_once()
    });
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
        tasks.push(spawn_ask(&coordinator, &request).await);
    }
    queue
        .answer(&only_pending(&queue).id, "Allow always")
        .unwrap();
    for task in tasks {
        assert!(task.await.unwrap().is_allowed());
    }
    let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
    let decision = applied.approval.unwrap().decision;
    assert_eq!(decision, ApprovalDecision::Remembered);
}

#[tokio::test(start_paused = true)]
async fn e_134_if_the_provider_panics_all_joined_callers_get_the_default() {
    let coordinator = with(Panics);
    for (default, is_allowed) in [
        (ApprovalDefault::Allow, true),
        (ApprovalDefault::Deny, false),
    ] {
        let hooks = gate(ask_once().approval_default(default));
        let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
        let (one, two) = tokio::join!(
            coordinator.ask(request.clone()),
            coordinator.ask(request.clone())
        );
        for approval in [one, two] {
            assert_eq!(approval.is_allowed(), is_allowed);
            assert!(matches!(approval.decision, ApprovalDecision::Failed(_)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e_140_callers_joined_and_aborted_on_two_threads_all_complete() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let hooks = gate(ask_once());
    let answers = tokio::spawn({
        let queue = queue.clone();
        async move {
            loop {
                let request = queue.next().await;
                tokio::task::yield_now().await;
                // It may have been withdrawn in between.
                let _ = queue.answer(&request.id, "Allow");
            }
        }
    });
    let mut tasks = Vec::new();
    for number in 0..600 {
        let data = map(json!({"tool_name": "shell", "tool_input": number % 5}));
        let request = approval_request(&coordinator, &hooks, "tool:pre", data).await;
        let coordinator = coordinator.clone();
        let task = tokio::spawn(async move { coordinator.ask(request).await });
        if number % 3 == 0 {
            tokio::task::yield_now().await;
            task.abort();
        }
        tasks.push((number, task));
    }
    for (number, task) in tasks {
        match task.await {
            Ok(approval) => assert!(approval.is_allowed()),
            Err(gone) => assert!(gone.is_cancelled() && number % 3 == 0),
        }
    }
    assert!(queue.is_empty());
    answers.abort();
}
