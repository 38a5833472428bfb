//! Grants of "allow always", and their lifetime (E-138).

use hooks_runtime::approval::{ApprovalDecision, FixedAnswers};
use hooks_runtime::{
    AppliedEmission, ApprovalDefault, Coordinator, HookRegistry, HookResult, Map, RegisterOptions,
};
use serde_json::{Value, json};

use super::{Silent, approval_request, call, decide, gate, with};
use crate::kit::{map, named, returning};

fn offers_allow_always() -> HookResult {
    HookResult {
        approval_options: Some(
            ["Allow once", "Allow always", "Deny"]
                .map(str::to_owned)
                .to_vec(),
        ),
        ..HookResult::ask_user("Run it?")
    }
}

/// Answers "Allow always" to the first question, and "Deny" to all later ones.
fn always_then_deny() -> (Coordinator, FixedAnswers) {
    let answers = ["Allow always"].into_iter().chain(["Deny"; 20]);
    let provider = FixedAnswers::labels(answers);
    (with(provider.clone()), provider)
}

fn is_remembered(applied: &AppliedEmission) -> bool {
    let approval = applied.approval.as_ref().expect("there is a question");
    approval.decision == ApprovalDecision::Remembered && !applied.is_denied()
}

/// Returns `true` if a grant for a first event also covers a second one.
async fn grant_covers(
    first: (&HookRegistry, &str, Value),
    second: (&HookRegistry, &str, Value),
) -> bool {
    let (coordinator, provider) = always_then_deny();
    let (hooks, event, data) = first;
    assert!(
        !decide(&coordinator, hooks, event, map(data))
            .await
            .is_denied()
    );
    let (hooks, event, data) = second;
    let applied = decide(&coordinator, hooks, event, map(data)).await;
    let is_unasked = provider.asked().len() == 1;
    assert_eq!(is_unasked, is_remembered(&applied), "asked, or remembered");
    assert_eq!(is_unasked, !applied.is_denied());
    is_unasked
}

fn shell(command: &str) -> Value {
    json!({"tool_name": "shell", "tool_input": {"command": command}})
}

#[tokio::test]
async fn e_138_after_allow_always_the_request_is_not_asked_again() {
    let (coordinator, provider) = always_then_deny();
    let hooks = gate(offers_allow_always());
    let first = decide(&coordinator, &hooks, "tool:pre", call()).await;
    assert!(!first.is_denied() && !is_remembered(&first));
    for _ in 0..3 {
        assert!(is_remembered(
            &decide(&coordinator, &hooks, "tool:pre", call()).await
        ));
        let clone = coordinator.clone();
        assert!(is_remembered(
            &decide(&clone, &hooks, "tool:pre", call()).await
        ));
    }
    assert_eq!(provider.asked().len(), 1);
}

#[tokio::test]
async fn e_138_a_grant_allows_even_with_timeout_0() {
    let (coordinator, provider) = always_then_deny();
    let first = gate(offers_allow_always());
    let _ = decide(&coordinator, &first, "tool:pre", call()).await;
    let immediate = gate(offers_allow_always().approval_timeout(0.0));
    let applied = decide(&coordinator, &immediate, "tool:pre", call()).await;
    assert!(is_remembered(&applied));
    assert_eq!(provider.asked().len(), 1);
}

#[tokio::test]
async fn e_138_allow_once_and_deny_are_not_remembered() {
    let provider = FixedAnswers::labels(["Allow once", "Deny", "Allow once", "Deny"]);
    let (coordinator, hooks) = (with(provider.clone()), gate(offers_allow_always()));
    for is_denied in [false, true, false, true] {
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        assert_eq!(applied.is_denied(), is_denied);
    }
    assert_eq!(provider.asked().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn e_138_the_default_after_a_timeout_is_not_remembered() {
    let question = HookResult {
        approval_options: Some(vec!["Allow always".to_owned()]),
        ..HookResult::ask_user("Run it?")
    };
    let hooks = gate(
        question
            .approval_default(ApprovalDefault::Allow)
            .approval_timeout(5.0),
    );
    let coordinator = with(Silent);
    for _ in 0..2 {
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        let decision = applied.approval.unwrap().decision;
        assert_eq!(decision, ApprovalDecision::TimedOut);
    }
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_another_tool_or_input() {
    let hooks = gate(offers_allow_always());
    let first = || (&hooks, "tool:pre", shell("ls"));
    assert!(grant_covers(first(), (&hooks, "tool:pre", shell("ls"))).await);
    for other in [
        shell("rm -rf ."),
        shell("ls "),
        json!({"tool_name": "shell2", "tool_input": {"command": "ls"}}),
        json!({"tool_name": "shell", "tool_input": {"command": "ls", "sudo": true}}),
        json!({"tool_name": "shell", "tool_input": {"command": ["ls"]}}),
        json!({"tool_name": "shell", "tool_input": {}}),
        json!({"tool_name": "shell", "tool_input": null}),
        json!({"tool_name": "shell"}),
        json!({"tool_input": {"command": "ls"}}),
        json!({}),
    ] {
        let second = (&hooks, "tool:pre", other.clone());
        assert!(!grant_covers(first(), second).await, "{other}");
    }
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_an_input_of_another_json_type_or_shape() {
    let hooks = gate(offers_allow_always());
    let with = |input: Value| json!({"tool_name": "t", "tool_input": input});
    for (a, b) in [
        (json!(1), json!("1")),
        (json!(null), json!("null")),
        (json!({"a": {"b": 1}}), json!({"a": null, "b": 1})),
        (json!(["a", "b"]), json!(["ab"])),
        (json!(["a,b"]), json!(["a", "b"])),
        (json!({"a": "b\",\"c\":\"d"}), json!({"a": "b", "c": "d"})),
        (json!([]), json!({})),
        (json!(false), json!(0)),
    ] {
        let first = (&hooks, "tool:pre", with(a.clone()));
        let second = (&hooks, "tool:pre", with(b.clone()));
        assert!(!grant_covers(first, second).await, "{a} and {b}");
    }
}

#[tokio::test]
async fn e_138_a_grant_ignores_fields_other_than_tool_and_input() {
    let hooks = gate(offers_allow_always());
    let data = |call: &str| json!({"tool_name": "shell", "tool_input": {"command": "ls"}, "call_id": call});
    let first = (&hooks, "tool:pre", data("1"));
    assert!(grant_covers(first, (&hooks, "tool:pre", data("2"))).await);
}

#[tokio::test]
async fn e_138_without_a_tool_name_a_grant_covers_only_equal_data() {
    let hooks = gate(offers_allow_always());
    let first = (&hooks, "tool:pre", json!({"agent": "reader"}));
    let second = (&hooks, "tool:pre", json!({"agent": "writer"}));
    assert!(!grant_covers(first, second).await);
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_another_prompt() {
    let hooks = gate(offers_allow_always());
    let other = gate(HookResult {
        approval_prompt: Some("Run it, really?".to_owned()),
        ..offers_allow_always()
    });
    let first = (&hooks, "tool:pre", shell("ls"));
    assert!(!grant_covers(first, (&other, "tool:pre", shell("ls"))).await);
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_another_hook() {
    let hooks = gate(offers_allow_always());
    let other = HookRegistry::new();
    other.register("tool:pre", returning(offers_allow_always()), named("guard"));
    let first = (&hooks, "tool:pre", shell("ls"));
    assert!(!grant_covers(first, (&other, "tool:pre", shell("ls"))).await);
}

/// Names are not unique (E-06): two plugins may use one name for their functions.
#[tokio::test]
async fn e_138_a_grant_does_not_cover_another_hook_with_the_same_name() {
    let asks = |prompt: &str| {
        HookResult::ask_user(prompt)
            .approval_options(["Allow always", "Deny"])
            .approval_key("fs")
    };
    let (docs, files) = (asks("Read the docs?"), asks("Delete /srv?"));
    let (reads, deletes) = (HookRegistry::new(), HookRegistry::new());
    reads.register("tool:pre", returning(docs), named("gate"));
    let other = move |_: hooks_runtime::Event<'_>| files.clone();
    deletes.register("tool:pre", other, named("gate"));
    let first = (&reads, "tool:pre", shell("ls"));
    assert!(!grant_covers(first, (&deletes, "tool:pre", shell("rm"))).await);
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_another_event() {
    let hooks = gate(offers_allow_always());
    hooks.register("tool:post", returning(offers_allow_always()), named("gate"));
    let first = (&hooks, "tool:pre", shell("ls"));
    assert!(!grant_covers(first, (&hooks, "tool:post", shell("ls"))).await);
}

#[tokio::test]
async fn e_138_grant_keys_separate_hook_prompt_and_tool_name() {
    let asks = |hook: &'static str, prompt: &str| {
        let hooks = HookRegistry::new();
        let result = HookResult {
            approval_prompt: Some(prompt.to_owned()),
            ..offers_allow_always()
        };
        hooks.register(
            "tool:pre",
            returning(result),
            RegisterOptions::new().name(hook),
        );
        hooks
    };
    let data = |tool: &str| json!({"tool_name": tool, "tool_input": {}});
    let first = asks("ab", "c");
    let second = asks("a", "bc");
    let is_covered = grant_covers(
        (&first, "tool:pre", data("x")),
        (&second, "tool:pre", data("x")),
    );
    assert!(!is_covered.await);
    let (first, second) = (asks("h", "ab"), asks("h", "a"));
    let is_covered = grant_covers(
        (&first, "tool:pre", data("c")),
        (&second, "tool:pre", data("bc")),
    );
    assert!(!is_covered.await);
}

#[tokio::test]
async fn e_138_a_grant_does_not_cover_another_session() {
    let hooks = gate(offers_allow_always());
    let data = |session: Option<&str>| {
        let mut data = shell("ls");
        if let Some(session) = session {
            data["session_id"] = session.into();
        }
        data
    };
    for (first, second, is_same) in [
        (Some("a"), Some("a"), true),
        (Some("a"), Some("b"), false),
        (Some("a"), None, false),
        (None, Some("b"), false),
        (None, None, true),
    ] {
        let is_covered = grant_covers(
            (&hooks, "tool:pre", data(first)),
            (&hooks, "tool:pre", data(second)),
        );
        assert_eq!(is_covered.await, is_same, "{first:?}, then {second:?}");
    }
}

#[tokio::test]
async fn e_138_sessions_with_ids_that_are_not_strings_are_separate() {
    let hooks = gate(offers_allow_always());
    let data = |session: Value| {
        let mut data = shell("ls");
        data["session_id"] = session;
        data
    };
    for (a, b) in [
        (json!(1), json!(2)),
        (json!({"id": "a"}), json!({"id": "b"})),
        (json!(["a"]), json!(["b"])),
    ] {
        let first = (&hooks, "tool:pre", data(a.clone()));
        let second = (&hooks, "tool:pre", data(b.clone()));
        assert!(!grant_covers(first, second).await, "{a} and {b}");
    }
}

#[tokio::test]
async fn e_138_tools_with_names_that_are_not_strings_are_separate() {
    let hooks = gate(offers_allow_always());
    let data = |field: &str, tool: &Value| {
        let mut data = json!({"tool_input": {"path": "a"}});
        data[field] = tool.clone();
        data
    };
    for field in ["tool_name", "tool"] {
        for (a, b) in [
            (json!({"name": "read"}), json!({"name": "delete"})),
            (json!(["read"]), json!(["delete"])),
            (json!(1), json!(2)),
        ] {
            let first = (&hooks, "tool:pre", data(field, &a));
            let second = (&hooks, "tool:pre", data(field, &b));
            assert!(!grant_covers(first, second).await, "`{field}`: {a} and {b}");
        }
    }
}

#[tokio::test]
async fn e_138_coordinators_do_not_share_grants() {
    let hooks = gate(offers_allow_always());
    let (first, _) = always_then_deny();
    let _ = decide(&first, &hooks, "tool:pre", call()).await;
    let provider = FixedAnswers::deny();
    let applied = decide(&with(provider.clone()), &hooks, "tool:pre", call()).await;
    assert!(applied.is_denied());
    assert_eq!(provider.asked().len(), 1);
}

#[tokio::test]
async fn e_138_end_session_removes_only_the_grants_of_the_session() {
    let provider = FixedAnswers::labels(["Allow always", "Allow always", "Deny"]);
    let (coordinator, hooks) = (with(provider), gate(offers_allow_always()));
    let data = |session: &str| {
        let mut data = call();
        data.insert("session_id".to_owned(), session.into());
        data
    };
    for session in ["a", "b"] {
        assert!(
            !decide(&coordinator, &hooks, "tool:pre", data(session))
                .await
                .is_denied()
        );
    }
    coordinator.end_session("a");
    coordinator.end_session("unknown");
    assert!(is_remembered(
        &decide(&coordinator, &hooks, "tool:pre", data("b")).await
    ));
    assert!(
        decide(&coordinator, &hooks, "tool:pre", data("a"))
            .await
            .is_denied()
    );
}

#[tokio::test]
async fn e_138_data_without_a_session_id_use_the_session_of_the_coordinator() {
    let coordinator = Coordinator::builder()
        .provider(FixedAnswers::labels(["Allow always", "Deny"]))
        .session("main")
        .build();
    assert_eq!(coordinator.session(), Some("main"));
    let hooks = gate(offers_allow_always());
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    assert_eq!(&*request.session, "main");
    let _ = decide(&coordinator, &hooks, "tool:pre", call()).await;
    coordinator.end_session("main");
    assert!(
        decide(&coordinator, &hooks, "tool:pre", call())
            .await
            .is_denied()
    );
}

#[tokio::test]
async fn e_138_an_approval_key_replaces_prompt_and_input_in_the_grant_key() {
    let keyed = |prompt: &str, key: &str| {
        let result = HookResult {
            approval_prompt: Some(prompt.to_owned()),
            ..offers_allow_always()
        };
        gate(result.approval_key(key))
    };
    let (first, same) = (
        keyed("Restart nginx?", "nginx"),
        keyed("Stop nginx?", "nginx"),
    );
    let other = keyed("Restart nginx?", "sshd");
    let start = || (&first, "tool:pre", shell("restart"));
    assert!(grant_covers(start(), (&same, "tool:pre", shell("stop"))).await);
    assert!(!grant_covers(start(), (&other, "tool:pre", shell("restart"))).await);
    let bare = gate(HookResult {
        approval_prompt: Some("Restart nginx?".to_owned()),
        ..offers_allow_always()
    });
    assert!(!grant_covers(start(), (&bare, "tool:pre", shell("restart"))).await);
}

#[tokio::test]
async fn e_138_an_approval_key_is_limited_to_its_hook_and_session() {
    let hooks = gate(offers_allow_always().approval_key("k"));
    let other_hook = HookRegistry::new();
    let result = offers_allow_always().approval_key("k");
    other_hook.register("tool:pre", returning(result), named("guard"));
    let start = || (&hooks, "tool:pre", shell("ls"));
    assert!(!grant_covers(start(), (&other_hook, "tool:pre", shell("ls"))).await);
    let mut elsewhere = shell("ls");
    elsewhere["session_id"] = "other".into();
    assert!(!grant_covers(start(), (&hooks, "tool:pre", elsewhere)).await);
}

#[tokio::test]
async fn e_138_a_request_without_a_prompt_is_never_remembered() {
    for prompt in [None, Some(String::new()), Some("  ".to_owned())] {
        let bare = HookResult {
            approval_prompt: prompt,
            ..offers_allow_always()
        };
        for result in [bare.clone(), bare.approval_key("k")] {
            let hooks = gate(result);
            let first = (&hooks, "tool:pre", shell("ls"));
            assert!(!grant_covers(first, (&hooks, "tool:pre", shell("ls"))).await);
        }
    }
}

#[tokio::test]
async fn e_138_a_denial_overrides_a_grant() {
    let (coordinator, provider) = always_then_deny();
    let hooks = gate(offers_allow_always());
    let _ = decide(&coordinator, &hooks, "tool:pre", call()).await;
    for priority in [-1, 1] {
        let options = named("no").priority(priority);
        let denies = hooks.register("tool:pre", returning(HookResult::deny("frozen")), options);
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        assert!(applied.denial().unwrap().contains("frozen"));
        denies.unregister();
    }
    assert!(is_remembered(
        &decide(&coordinator, &hooks, "tool:pre", call()).await
    ));
    assert_eq!(provider.asked().len(), 1);
}

#[tokio::test]
async fn e_138_an_approval_from_a_grant_contains_the_current_data() {
    let (coordinator, _) = always_then_deny();
    let hooks = gate(offers_allow_always());
    let mut data: Map = call();
    let _ = decide(&coordinator, &hooks, "tool:pre", data.clone()).await;
    data.insert("call_id".to_owned(), 2.into());
    let applied = decide(&coordinator, &hooks, "tool:pre", data.clone()).await;
    assert!(is_remembered(&applied));
    assert_eq!(*applied.data, data);
    assert!(applied.covers(&data) && !applied.covers(&call()));
}
