//! The final data are approved: a later change asks again (E-136).

use hooks_runtime::approval::{ApprovalQueue, FixedAnswers};
use hooks_runtime::{ApplyStep, Conversation, Coordinator, HookRegistry, HookResult, Map};
use serde_json::{Value, json};

use super::{approval_request, call, decide, gate, only_pending, spawn_ask, with};
use crate::kit::{at, map, returning};

fn shell(command: &str) -> Map {
    map(json!({"tool_name": "shell", "tool_input": {"command": command}}))
}

/// Returns a registry in which the hook `gate` asks, and a later one replaces the data.
fn with_later_change(question: HookResult, data: Map) -> HookRegistry {
    let hooks = gate(question);
    hooks.register("tool:pre", returning(HookResult::modify(data)), at(1));
    hooks
}

fn offers_allow_always(prompt: &str) -> HookResult {
    HookResult {
        approval_options: Some(vec!["Allow always".to_owned(), "Deny".to_owned()]),
        ..HookResult::ask_user(prompt)
    }
}

#[tokio::test]
async fn e_136_the_request_contains_the_data_after_the_last_hook() {
    let hooks = with_later_change(HookResult::ask_user("Run `ls`?"), shell("rm -rf ."));
    let provider = FixedAnswers::allow();
    let applied = decide(&with(provider.clone()), &hooks, "tool:pre", shell("ls")).await;
    let asked = &provider.asked()[0];
    assert_eq!(*asked.data, shell("rm -rf ."));
    assert!(asked.has_changed, "the prompt describes other data");
    assert_eq!(*applied.data, shell("rm -rf ."));
}

#[tokio::test]
async fn e_136_a_change_of_one_field_by_a_later_hook_sets_has_changed() {
    let hooks = gate(HookResult::ask_user("Run it?"));
    let change = HookResult::set("tool_input", json!({"command": "rm"}));
    hooks.register("tool:pre", returning(change), at(1));
    let request = approval_request(&Coordinator::new(), &hooks, "tool:pre", shell("ls")).await;
    assert!(request.has_changed);
    assert_eq!(request.data["tool_input"]["command"], "rm");
}

#[tokio::test]
async fn e_136_a_change_by_an_earlier_hook_does_not_set_has_changed() {
    let hooks = gate(HookResult::ask_user("Run it?"));
    let change = HookResult::modify(shell("ls -l"));
    hooks.register("tool:pre", returning(change), at(-1));
    let request = approval_request(&Coordinator::new(), &hooks, "tool:pre", shell("ls")).await;
    assert!(!request.has_changed);
    assert_eq!(*request.data, shell("ls -l"));
}

#[tokio::test]
async fn e_136_an_approval_covers_its_own_data_only() {
    let hooks = gate(HookResult::ask_user("Run it?"));
    let applied = decide(
        &with(FixedAnswers::allow()),
        &hooks,
        "tool:pre",
        shell("ls"),
    )
    .await;
    assert!(applied.covers(&shell("ls")) && applied.covers(&applied.data));
    let mut with_more = shell("ls");
    with_more.insert("sudo".to_owned(), Value::Bool(true));
    for other in [shell("rm"), with_more, Map::new()] {
        assert!(!applied.covers(&other), "{other:?}");
    }
    let denied = decide(&with(FixedAnswers::deny()), &hooks, "tool:pre", shell("ls")).await;
    assert!(!denied.covers(&shell("ls")), "a denial covers nothing");
}

#[tokio::test]
async fn e_136_without_a_request_the_emission_has_no_approval() {
    let hooks = HookRegistry::new();
    let applied = decide(&Coordinator::new(), &hooks, "tool:pre", shell("ls")).await;
    assert!(!applied.is_denied() && applied.approval.is_none());
    let denies = gate(HookResult::deny("no"));
    let applied = decide(&Coordinator::new(), &denies, "tool:pre", shell("ls")).await;
    assert!(!applied.covers(&shell("ls")));
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_data_changed_by_a_later_hook() {
    let provider = FixedAnswers::labels(["Allow always", "Deny"]);
    let coordinator = with(provider.clone());
    let plain = gate(offers_allow_always("Run it?"));
    assert!(
        !decide(&coordinator, &plain, "tool:pre", shell("ls"))
            .await
            .is_denied()
    );
    let changed = with_later_change(offers_allow_always("Run it?"), shell("rm -rf ."));
    assert!(
        decide(&coordinator, &changed, "tool:pre", shell("ls"))
            .await
            .is_denied()
    );
    assert_eq!(provider.asked().len(), 2);
}

#[tokio::test]
async fn e_138_a_keyed_grant_does_not_cover_data_changed_by_a_later_hook() {
    let provider = FixedAnswers::labels(["Allow always", "Deny"]);
    let coordinator = with(provider.clone());
    let keyed = || offers_allow_always("Run it?").approval_key("k");
    assert!(
        !decide(&coordinator, &gate(keyed()), "tool:pre", shell("ls"))
            .await
            .is_denied()
    );
    let changed = with_later_change(keyed(), shell("rm -rf ."));
    assert!(
        decide(&coordinator, &changed, "tool:pre", shell("ls"))
            .await
            .is_denied()
    );
    assert_eq!(provider.asked().len(), 2);
}

#[tokio::test]
async fn e_138_a_grant_for_changed_data_does_not_cover_unchanged_data_with_its_key() {
    let provider = FixedAnswers::labels(["Allow always", "Deny"]);
    let coordinator = with(provider.clone());
    let keyed = || offers_allow_always("Run it?").approval_key("k");
    let changed = with_later_change(keyed(), shell("ls"));
    assert!(
        !decide(&coordinator, &changed, "tool:pre", shell("rm"))
            .await
            .is_denied()
    );
    let applied = decide(&coordinator, &gate(keyed()), "tool:pre", shell("rm -rf .")).await;
    assert!(applied.is_denied(), "the user has seen another command");
}

#[tokio::test(start_paused = true)]
async fn e_136_data_changed_while_a_request_is_pending_need_a_new_approval() {
    let queue = ApprovalQueue::new();
    let (coordinator, hooks) = (with(queue.clone()), gate(HookResult::ask_user("Run it?")));
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let task = spawn_ask(&coordinator, &request).await;
    // The host changes the data, and emits again.
    let other = approval_request(&coordinator, &hooks, "tool:pre", shell("rm")).await;
    queue.answer(&only_pending(&queue).id, "Allow").unwrap();
    let approval = task.await.unwrap();
    assert!(approval.covers(&call()) && !approval.covers(&other.data));
    let task = spawn_ask(&coordinator, &other).await;
    queue.answer(&only_pending(&queue).id, "Deny").unwrap();
    assert!(!task.await.unwrap().is_allowed());
}

#[tokio::test]
async fn e_136_begin_completes_emissions_that_need_no_approval() {
    let coordinator = with(FixedAnswers::allow());
    let mut conversation = Conversation::new();
    for (result, is_denied) in [
        (HookResult::proceed(), false),
        (HookResult::deny("no"), true),
        (HookResult::modify(shell("ls -l")), false),
        (HookResult::inject_context("told"), false),
    ] {
        let emission = gate(result).emit("tool:pre", shell("ls")).await.unwrap();
        let step = coordinator.begin(emission, &mut conversation).unwrap();
        let ApplyStep::Done(applied) = step else {
            panic!("no approval is needed: {step:?}");
        };
        assert_eq!(applied.is_denied(), is_denied);
    }
}
