//! `TestCoordinator` (`E-160`).

use hooks_runtime::testing::TestCoordinator;
use hooks_runtime::{Event, FailurePolicy, HookResult, Map, RegisterOptions};
use serde_json::json;

use crate::kit::{at, named, plain, returning};

fn ask() -> HookResult {
    HookResult::ask_user("Deploy?").approval_options(["Allow once", "Allow always", "Deny"])
}

#[tokio::test]
async fn e_160_the_test_coordinator_gives_the_configured_answers() {
    let mut deny = TestCoordinator::new();
    let mut allow = TestCoordinator::allowing();
    let mut scripted = TestCoordinator::answering(["Allow once", "Deny"]);
    for host in [&deny, &allow, &scripted] {
        host.hooks().register("tool:pre", returning(ask()), plain());
    }
    assert!(deny.emit("tool:pre", ()).await.is_denied());
    assert!(!allow.emit("tool:pre", ()).await.is_denied());
    assert!(!scripted.emit("tool:pre", ()).await.is_denied());
    assert!(scripted.emit("tool:pre", ()).await.is_denied());
    // There are no more answers: the default applies.
    assert!(scripted.emit("tool:pre", ()).await.is_denied());
    assert_eq!(scripted.questions().len(), 3);
}

#[tokio::test]
async fn e_160_the_test_coordinator_records_messages_output_and_injections() {
    let mut host = TestCoordinator::new();
    host.hooks().register(
        "tool:post",
        |event: Event<'_>| {
            event.print("details");
            HookResult::inject_context("lint failed").user_message("Found issues")
        },
        named("linter"),
    );
    host.hooks().register(
        "tool:post",
        returning(HookResult::inject_context("for now").ephemeral(true)),
        at(5),
    );
    let applied = host.emit("tool:post", json!({"tool_name": "Write"})).await;
    assert!(!applied.is_denied());
    host.events().assert_sequence(["tool:post"]);
    assert_eq!(host.events().of("tool:post")[0].data["tool_name"], "Write");
    assert_eq!(&*host.messages()[0].hook, "linter");
    assert_eq!(host.output()[0].text, "details");
    let injected: Vec<_> = host
        .injected()
        .iter()
        .map(|message| message.content.clone())
        .collect();
    assert_eq!(injected, ["lint failed"]);
    assert_eq!(host.conversation().next_call().len(), 2);
    assert!(host.questions().is_empty());
}

#[tokio::test]
async fn e_160_the_test_coordinator_records_the_data_before_any_hook() {
    let mut host = TestCoordinator::new();
    host.hooks().register(
        "tool:pre",
        returning(HookResult::modify(Map::new())),
        at(-5),
    );
    host.hooks()
        .register("tool:pre", returning(HookResult::deny("no")), plain());
    let applied = host.emit("tool:pre", json!({"tool_name": "bash"})).await;
    assert_eq!(applied.denial(), Some("no"));
    assert_eq!(host.events().of("tool:pre")[0].data["tool_name"], "bash");
}

#[tokio::test]
#[should_panic(expected = "tests/runtime/testing/coordinator.rs")]
async fn e_160_a_propagated_failure_panics_at_the_emitting_line() {
    let mut host = TestCoordinator::new();
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let options = RegisterOptions::new().on_failure(FailurePolicy::Propagate);
    host.hooks().register("tool:pre", fails, options);
    let _ = host.emit("tool:pre", ()).await;
}
