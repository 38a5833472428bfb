//! Untrusted hooks may restrict a decision, never relax one; and an error during a question denies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use hooks_runtime::approval::{
    ApprovalDecision, ApprovalEffect, ApprovalOption, ApprovalQueue, FixedAnswers,
};
use hooks_runtime::{ApprovalDefault, Coordinator, HookRegistry, HookResult, Map};
use serde_json::json;

use super::{
    Silent, approval_request, ask, call, decide, gate, only_pending, run_other_tasks, spawn_ask,
    with,
};
use crate::kit::{map, named, returning};

const BOTH: [bool; 2] = [true, false];

/// Returns a registry with hooks that return these results, in this order, trusted or not.
fn asked_by(hooks: impl IntoIterator<Item = (&'static str, bool, HookResult)>) -> HookRegistry {
    let registry = HookRegistry::new();
    for (name, is_trusted, result) in hooks {
        registry.register(
            "tool:pre",
            returning(result),
            named(name).trusted(is_trusted),
        );
    }
    registry
}

fn asks(result: &str) -> HookResult {
    HookResult::ask_user(result)
}

#[tokio::test]
async fn e_32_the_first_request_of_a_trusted_hook_precedes_untrusted_requests() {
    for (first, second, asked) in [
        (true, true, "one?"),
        (true, false, "one?"),
        (false, false, "one?"),
        (false, true, "two?"),
    ] {
        let hooks = asked_by([("one", first, asks("one?")), ("two", second, asks("two?"))]);
        let emission = hooks.emit("tool:pre", call()).await.unwrap();
        let by = asked.trim_end_matches('?');
        assert_eq!(emission.decided_by.as_deref(), Some(by));
        let request = approval_request(&Coordinator::new(), &hooks, "tool:pre", call()).await;
        assert_eq!(request.prompt, asked, "{first} {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn e_134_requests_of_untrusted_hooks_default_to_deny() {
    for is_trusted in BOTH {
        for timeout in [0.0, 60.0] {
            let result = asks("x?")
                .approval_default(ApprovalDefault::Allow)
                .approval_timeout(timeout);
            let hooks = asked_by([("hook", is_trusted, result)]);
            let applied = decide(&with(Silent), &hooks, "tool:pre", call()).await;
            assert_eq!(applied.is_denied(), !is_trusted, "{timeout}");
        }
    }
}

#[tokio::test]
async fn e_138_approval_keys_of_untrusted_hooks_and_blank_keys_are_ignored() {
    for (is_trusted, key) in [(true, "k"), (false, "k"), (true, ""), (true, " ")] {
        let result = asks("x?").approval_options(["Allow always", "Deny"]);
        let hooks = asked_by([("hook", is_trusted, result.approval_key(key))]);
        let user = FixedAnswers::labels(["Allow always", "Deny"]);
        let coordinator = with(user.clone());
        let command = |command: &str| -> Map {
            map(json!({"tool_name": "shell", "tool_input": {"command": command}}))
        };
        let _ = decide(&coordinator, &hooks, "tool:pre", command("cat README")).await;
        assert_eq!(
            user.asked()[0].key(),
            (is_trusted && key == "k").then_some("k")
        );
        let applied = decide(&coordinator, &hooks, "tool:pre", command("rm /")).await;
        assert_eq!(
            applied.is_denied(),
            !(is_trusted && key == "k"),
            "{is_trusted} {key:?}"
        );
    }
}

#[tokio::test]
async fn e_138_a_null_input_counts_as_missing_input() {
    let hooks = gate(asks("x?").approval_options(["Allow always", "Deny"]));
    let coordinator = with(FixedAnswers::labels(["Allow always", "Deny"]));
    let path =
        |path: &str| -> Map { map(json!({"tool_name": "rm", "tool_input": null, "path": path})) };
    assert!(
        !decide(&coordinator, &hooks, "tool:pre", path("a"))
            .await
            .is_denied()
    );
    assert!(
        decide(&coordinator, &hooks, "tool:pre", path("/"))
            .await
            .is_denied()
    );
}

#[tokio::test]
async fn e_138_hooks_cannot_override_the_session_of_the_coordinator() {
    let registry = HookRegistry::new();
    let other = HookResult::set("session_id", "other");
    registry.register("tool:pre", returning(other), named("switch").priority(-1));
    registry.register("tool:pre", returning(asks("x?")), named("gate"));
    let data = || map(json!({"session_id": "own", "tool_name": "shell"}));
    let coordinator = Coordinator::builder().session("own").build();
    let request = approval_request(&coordinator, &registry, "tool:pre", data()).await;
    assert_eq!(&*request.session, "own");
}

#[tokio::test]
async fn e_138_an_answer_after_the_end_of_its_session_is_not_remembered() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let hooks = gate(asks("x?").approval_options(["Allow always", "Deny"]));
    let data = |session: &str| map(json!({"session_id": session, "tool_name": "shell"}));
    let request = approval_request(&coordinator, &hooks, "tool:pre", data("a")).await;
    let open = spawn_ask(&coordinator, &request).await;
    coordinator.end_session("a");
    queue
        .answer(&only_pending(&queue).id, "Allow always")
        .unwrap();
    assert!(open.await.unwrap().is_allowed(), "this once");
    // An equal question of a new session with that name is asked.
    let request = approval_request(&coordinator, &hooks, "tool:pre", data("a")).await;
    let _open = spawn_ask(&coordinator, &request).await;
    assert_eq!(queue.len(), 1);
    // And a request of another session is remembered.
    let request = approval_request(&coordinator, &hooks, "tool:pre", data("b")).await;
    let approval = coordinator.resolve(request, "Allow always");
    assert!(approval.is_allowed());
    assert!(
        !decide(&coordinator, &hooks, "tool:pre", data("b"))
            .await
            .is_denied()
    );
}

#[tokio::test]
async fn e_138_a_session_stays_ended_after_5000_other_sessions_end() {
    let coordinator = Coordinator::new();
    let hooks = gate(asks("x?").approval_options(["Allow always", "Deny"]));
    let data = || map(json!({"session_id": "a", "tool_name": "shell"}));
    let old = approval_request(&coordinator, &hooks, "tool:pre", data()).await;
    coordinator.end_session("a");
    for number in 0..5000 {
        coordinator.end_session(&number.to_string());
    }
    assert!(coordinator.resolve(old, "Allow always").is_allowed());
    let applied = decide(&coordinator, &hooks, "tool:pre", data()).await;
    assert!(applied.is_denied(), "it is asked, without a user");
}

#[tokio::test]
async fn e_133_a_denial_later_in_a_label_denies() {
    let denials = [
        "Always deny",
        "Please don't",
        "I do not want this",
        "Go back",
        "Discard",
        "Wait",
        "Do nothing",
        "Back up nothing",
        "Back",
    ];
    for label in denials {
        let labels = ["Allow".to_owned(), "Deny".to_owned(), label.to_owned()];
        let options = ApprovalOption::of_labels(&labels, true);
        assert_eq!(options[2].effect, ApprovalEffect::Deny, "{label}");
        // Alone, such a label is no evidence that the labels beside it allow.
        let options = ApprovalOption::of_labels(&["Overwrite".to_owned(), label.to_owned()], true);
        assert_eq!(options[0].effect, ApprovalEffect::Deny, "{label}");
    }
    let seed = ["Overwrite", "Create backup and overwrite", "Cancel"].map(str::to_owned);
    let options = ApprovalOption::of_labels(&seed, true);
    assert_eq!(options[1].effect, ApprovalEffect::AllowOnce);
    for label in ["Back up and overwrite", "First back up", "BACK UP"] {
        let options = ApprovalOption::of_labels(&[label.to_owned(), "Cancel".to_owned()], true);
        assert_eq!(options[0].effect, ApprovalEffect::AllowOnce, "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn e_134_a_denial_after_the_deadline_still_denies() {
    let result = asks("x?")
        .approval_default(ApprovalDefault::Allow)
        .approval_timeout(1e-6);
    for (label, is_allowed) in [("Deny", false), ("Allow", true), ("what?", false)] {
        let coordinator = with(Silent);
        let request = {
            let patient = result.clone().approval_timeout(60.0);
            approval_request(&coordinator, &gate(patient), "tool:pre", call()).await
        };
        let mut stored = serde_json::to_value(&request).unwrap();
        stored["timeout"] = json!(0.0);
        let request: hooks_runtime::approval::ApprovalRequest =
            serde_json::from_value(stored).unwrap();
        assert_eq!(
            coordinator.resolve(request, label).is_allowed(),
            is_allowed,
            "{label}"
        );
    }
}

/// In a runtime without a clock.
#[test]
fn e_134_a_timeout_without_a_clock_denies() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let result = asks("x?").approval_default(ApprovalDefault::Allow);
        let applied = ask(Silent, result).await;
        assert!(applied.is_denied());
        let decision = applied.approval.unwrap().decision;
        assert!(
            matches!(decision, ApprovalDecision::NoTime(_)),
            "{decision:?}"
        );
    });
}

#[tokio::test]
async fn e_140_a_request_of_two_coordinators_stays_queued_if_one_withdraws_it() {
    let queue = ApprovalQueue::new();
    let (one, other) = (with(queue.clone()), with(queue.clone()));
    let hooks = gate(asks("x?").approval_default(ApprovalDefault::Allow));
    let request = approval_request(&one, &hooks, "tool:pre", call()).await;
    let first = spawn_ask(&one, &request).await;
    let second = spawn_ask(&other, &request).await;
    first.abort();
    run_other_tasks().await;
    assert!(!second.is_finished(), "no answer yet");
    assert_eq!(queue.len(), 1);
    queue.answer(&request.id, "Deny").unwrap();
    assert!(!second.await.unwrap().is_allowed());
    assert!(queue.is_empty());
}

/// A waker that reads the queue when it is called.
struct ReadsQueue {
    queue: ApprovalQueue,
    is_called: AtomicBool,
}

impl Wake for ReadsQueue {
    fn wake(self: Arc<Self>) {
        let _ = self.queue.len();
        self.is_called.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn the_queue_does_not_call_wakers_while_it_is_locked() {
    let queue = ApprovalQueue::new();
    let reader = Arc::new(ReadsQueue {
        queue: queue.clone(),
        is_called: AtomicBool::new(false),
    });
    let waker = Waker::from(Arc::clone(&reader));
    let mut cx = Context::from_waker(&waker);
    let (mut first, mut second) = (Box::pin(queue.next()), Box::pin(queue.next()));
    assert!(first.as_mut().poll(&mut cx).is_pending());
    assert!(second.as_mut().poll(&mut cx).is_pending());
    let coordinator = with(queue.clone());
    let mut open = Vec::new();
    for prompt in ["one?", "two?"] {
        let request = approval_request(&coordinator, &gate(asks(prompt)), "tool:pre", call()).await;
        open.push(spawn_ask(&coordinator, &request).await);
    }
    assert!(matches!(first.as_mut().poll(&mut cx), Poll::Ready(_)));
    assert!(matches!(second.as_mut().poll(&mut cx), Poll::Ready(_)));
    assert!(reader.is_called.load(Ordering::SeqCst));
}
