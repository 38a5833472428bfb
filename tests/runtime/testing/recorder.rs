//! `EventRecorder`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::testing::EventRecorder;
use hooks_runtime::{Action, Event, HookRegistry, HookResult, events};
use serde_json::json;

use crate::kit::{at, emit, map};

/// Returns the message of a failed assertion.
fn failure_message(check: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(check)).expect_err("it does not hold");
    *payload.downcast::<String>().expect("a message")
}

#[tokio::test]
async fn e_160_events_are_recorded_in_order_with_their_data() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new();
    assert_eq!(recorder.attach(&hooks, events::STANDARD).len(), 16);
    recorder.attach_to(&hooks, "custom:event");

    emit(&hooks, "session:start", ()).await;
    emit(&hooks, "custom:event", json!({"a": 1})).await;
    emit(&hooks, "custom:unrecorded", ()).await;
    emit(&hooks, "session:start", json!({"b": 2})).await;

    assert_eq!(
        recorder.names(),
        ["session:start", "custom:event", "session:start"]
    );
    assert_eq!((recorder.len(), recorder.is_empty()), (3, false));
    let starts = recorder.of("session:start");
    assert_eq!([starts[0].index, starts[1].index], [0, 2]);
    assert_eq!(*starts[1].data, map(json!({"b": 2})));
    assert!(starts[0].at <= starts[1].at);
    assert_eq!(recorder.events()[1].data["a"], 1);

    recorder.clear();
    assert!(recorder.is_empty());
    emit(&hooks, "custom:event", ()).await;
    assert_eq!(recorder.events()[0].index, 0);
}

#[tokio::test]
async fn e_160_unregistering_detaches_a_recorder() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new();
    let registration = recorder.attach_to(&hooks, "tool:pre");
    assert_eq!(hooks.list_handlers(None)["tool:pre"], ["event_recorder"]);
    registration.unregister();
    emit(&hooks, "tool:pre", ()).await;
    assert!(recorder.is_empty());
}

#[tokio::test]
async fn e_160_the_priority_of_a_recorder_selects_the_data_it_records() {
    let hooks = HookRegistry::new();
    let (first, last) = (
        EventRecorder::new(),
        EventRecorder::new().priority(i32::MAX),
    );
    first.attach_to(&hooks, "tool:pre");
    last.attach_to(&hooks, "tool:pre");
    let judge = |event: Event<'_>| match event.str("path") {
        Some("bad") => HookResult::deny("no"),
        _ => HookResult::set("path", "elsewhere"),
    };
    hooks.register("tool:pre", judge, at(-5));

    emit(&hooks, "tool:pre", json!({"path": "good"})).await;
    emit(&hooks, "tool:pre", json!({"path": "bad"})).await;
    let paths = |recorder: &EventRecorder| -> Vec<_> {
        let events = recorder.events().into_iter();
        events.map(|event| event.data["path"].clone()).collect()
    };
    assert_eq!(paths(&first), ["good", "bad"]);
    assert_eq!(paths(&last), ["elsewhere"]);
}

#[tokio::test]
async fn e_160_a_recorder_returns_the_scripted_outputs() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new()
        .returning("tool:pre", HookResult::deny("enough"))
        .returning_in_turn(
            "tool:pre",
            [HookResult::proceed(), HookResult::ask_user("sure?")],
        );
    recorder.attach(&hooks, ["tool:pre", "tool:post"]);
    let mut actions = Vec::new();
    for _ in 0..4 {
        actions.push(emit(&hooks, "tool:pre", ()).await.action);
    }
    let expected = [
        Action::Continue,
        Action::AskUser,
        Action::Deny,
        Action::Deny,
    ];
    assert_eq!(actions, expected);
    assert_eq!(emit(&hooks, "tool:post", ()).await.action, Action::Continue);
}

#[tokio::test]
async fn e_160_assert_sequence_reports_the_first_difference() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new();
    recorder.attach(&hooks, ["a", "b", "c\u{1b}"]);
    for event in ["a", "c\u{1b}"] {
        emit(&hooks, event, ()).await;
    }
    recorder.assert_sequence(["a", "c\u{1b}"]);
    let message = failure_message(|| recorder.assert_sequence(["a", "b", "c"]));
    assert_eq!(
        message.lines().collect::<Vec<_>>(),
        [
            "the events are not the expected ones",
            "  0: expected `a`, recorded `a`",
            r"  1: expected `b`, recorded `c\u{1b}`  <- they part here",
            "  2: expected `c`, recorded nothing",
        ]
    );
    failure_message(|| recorder.assert_sequence(["a"]));
    failure_message(|| recorder.assert_sequence::<&str>([]));
}

#[tokio::test]
async fn e_160_assert_count_reports_the_recorded_events() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new();
    recorder.attach_to(&hooks, "a");
    assert!(failure_message(|| recorder.assert_count("a", 1)).contains("recorded are no events"));
    emit(&hooks, "a", json!({"why": "so"})).await;
    recorder.assert_count("a", 1);
    recorder.assert_none("b");
    let message = failure_message(|| recorder.assert_count("a", 2));
    assert!(
        message.contains("`a` was emitted 1 times, not 2; recorded are `a`"),
        "{message}"
    );
    let message = failure_message(|| recorder.assert_none("a"));
    assert!(message.contains(r#"{"why":"so"}"#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn e_160_wait_for_completes_after_events_of_another_task() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new();
    recorder.attach_to(&hooks, "tick");
    let emitting = hooks.clone();
    tokio::spawn(async move {
        for tick in 0..3 {
            tokio::time::sleep(Duration::from_secs(60)).await;
            emit(&emitting, "tick", json!({"tick": tick})).await;
        }
    });
    let hour = Duration::from_secs(3600);
    let seen = tokio::time::timeout(hour, recorder.wait_for("tick", 2)).await;
    let seen = seen.expect("it is woken");
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].data["tick"], 1);
    // Events that are already recorded are returned at once.
    assert_eq!(recorder.wait_for("tick", 1).await.len(), 2);
    let never = tokio::time::timeout(hour, recorder.wait_for("tick", 4));
    assert!(never.await.is_err());
}

#[test]
fn e_160_clones_of_a_recorder_share_their_events_across_threads() {
    let hooks = HookRegistry::new();
    let recorder = EventRecorder::new();
    recorder.clone().attach_to(&hooks, "tick");
    let waiting = recorder.clone();
    let (done, waited) = mpsc::channel();
    thread::spawn(move || done.send(block_on(waiting.wait_for("tick", 200))));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    block_on(emit(&hooks, "tick", ()));
                }
            });
        }
    });
    let seen = waited.recv_timeout(Duration::from_secs(60));
    assert_eq!(seen.expect("it is woken").len(), 200);
    let indices: Vec<_> = recorder.events().iter().map(|event| event.index).collect();
    assert_eq!(indices, (0..200).collect::<Vec<_>>());
}
