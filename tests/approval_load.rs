//! Questions that stay unanswered for a while cost no thread, no lock, and little memory. In a
//! separate binary, because it measures the process.

#![cfg(target_os = "linux")]

use std::fs;

use hooks_runtime::approval::{ApprovalQueue, ApprovalRequest};
use hooks_runtime::{
    ApplyStep, Conversation, Coordinator, Event, HookRegistry, HookResult, RegisterOptions,
};
use serde_json::json;

const QUESTIONS: usize = 10_000;
const LIMIT: usize = 50_000_000;

/// Returns a value in kilobytes or a count, from the system's status of this process.
fn status(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the process has a status");
    let line = status.lines().find(|line| line.starts_with(field));
    let value = line.and_then(|line| line.split_whitespace().nth(1));
    value
        .and_then(|value| value.parse().ok())
        .expect("a number")
}

fn resident() -> usize {
    status("VmRSS:") * 1024
}

async fn request(
    coordinator: &Coordinator,
    hooks: &HookRegistry,
    number: usize,
) -> ApprovalRequest {
    let data = json!({
        "session_id": "session",
        "tool_name": "shell",
        "tool_input": {"command": format!("make target-{number}"), "cwd": "/srv/project"},
        "number": number,
    });
    let emission = hooks.emit("tool:pre", data).await.expect("an emission");
    match coordinator.begin(emission, &mut Conversation::new()) {
        Ok(ApplyStep::Ask(request)) => *request,
        other => panic!("no question: {other:?}"),
    }
}

/// Returns the numbers below `count`, shuffled.
fn shuffled(count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..count).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from(state % (last as u64 + 1)).expect("an index");
        numbers.swap(last, other);
    }
    numbers
}

#[tokio::test]
async fn e_140_ten_thousand_pending_requests_fit_in_50_mb_and_each_gets_its_answer() {
    let queue = ApprovalQueue::new();
    let coordinator = Coordinator::builder().provider(queue.clone()).build();
    let hooks = HookRegistry::new();
    let asks = |event: Event<'_>| {
        let number = event.get("number").and_then(|number| number.as_u64());
        let yes = format!("Yes, {}", number.expect("a number"));
        HookResult {
            approval_options: Some(vec![yes, "No".to_owned()]),
            ..HookResult::ask_user("Run it?")
        }
    };
    hooks.register("tool:pre", asks, RegisterOptions::new());

    let warm = request(&coordinator, &hooks, QUESTIONS).await;
    let warm = tokio::spawn({
        let coordinator = coordinator.clone();
        async move { coordinator.ask(warm).await }
    });
    let first = queue.next().await;
    queue.answer(&first.id, "No").unwrap();
    assert!(!warm.await.unwrap().is_allowed());

    let (before, threads) = (resident(), status("Threads:"));
    let mut tasks = Vec::with_capacity(QUESTIONS);
    for number in 0..QUESTIONS {
        let request = request(&coordinator, &hooks, number).await;
        let coordinator = coordinator.clone();
        tasks.push(tokio::spawn(async move { coordinator.ask(request).await }));
    }
    while queue.len() < QUESTIONS {
        tokio::task::yield_now().await;
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < LIMIT, "{QUESTIONS} questions take {grown} bytes");
    assert!(grown > 1_000_000, "{grown} bytes: this measures nothing");
    assert_eq!(status("Threads:"), threads, "no thread waits");

    let pending = queue.pending();
    for &number in &shuffled(QUESTIONS) {
        let request = &pending[number];
        let own = request.data["number"].as_u64().expect("a number");
        let answer = match own % 3 {
            0 => "No".to_owned(),
            _ => format!("Yes, {own}"),
        };
        queue.answer(&request.id, &*answer).expect("it waits");
    }
    assert!(queue.is_empty());
    for (number, task) in tasks.into_iter().enumerate() {
        let approval = task.await.unwrap();
        assert_eq!(approval.request.data["number"], number);
        let own = format!("Yes, {number}");
        let expected = if number % 3 == 0 { "No" } else { own.as_str() };
        assert_eq!(approval.label(), Some(expected));
        assert_eq!(approval.is_allowed(), number % 3 != 0);
    }
}
