//! Injections into the conversation (E-110 to E-115), and their audit.

mod model;

use hooks_runtime::approval::{ApprovalQueue, FixedAnswers};
use hooks_runtime::{
    Action, ApplyError, ContextRole, Conversation, Coordinator, HookRegistry, HookResult,
    InjectionRecord, InjectionStatus, Message, Role,
};
use serde_json::json;

use crate::kit::{at, named, plain, returning};

/// Applies the emission of hooks with these results, in this order.
async fn apply(
    coordinator: &Coordinator,
    conversation: &mut Conversation,
    results: impl IntoIterator<Item = HookResult>,
) -> Result<hooks_runtime::AppliedEmission, ApplyError> {
    let hooks = HookRegistry::new();
    for (number, result) in results.into_iter().enumerate() {
        hooks.register(
            "tool:post",
            returning(result),
            named(format!("hook-{number}")),
        );
    }
    coordinator
        .emit(&hooks, "tool:post", (), conversation)
        .await
}

async fn inject(conversation: &mut Conversation, results: impl IntoIterator<Item = HookResult>) {
    let applied = apply(&Coordinator::new(), conversation, results).await;
    assert!(!applied.expect("there is no limit").is_denied());
}

fn limited(chars: usize) -> Coordinator {
    Coordinator::builder().injection_size_limit(chars).build()
}

fn text(text: &str) -> HookResult {
    HookResult::inject_context(text)
}

fn ephemeral_text(text: &str) -> HookResult {
    HookResult::inject_context(text).ephemeral(true)
}

fn appended(text: &str) -> HookResult {
    ephemeral_text(text).append_to_last_tool_result(true)
}

fn roles_and_texts(messages: &[Message]) -> Vec<(Role, &str)> {
    let messages = messages.iter();
    messages
        .map(|message| (message.role, message.content.as_str()))
        .collect()
}

fn statuses(conversation: &Conversation) -> Vec<(String, InjectionStatus)> {
    let status = |record: &InjectionRecord| (record.provenance.hook.to_string(), record.status);
    conversation.audit().map(status).collect()
}

#[tokio::test]
async fn e_110_an_injection_is_stored_with_its_role() {
    for (role, expected) in [
        (ContextRole::System, Role::System),
        (ContextRole::User, Role::User),
        (ContextRole::Assistant, Role::Assistant),
    ] {
        let mut conversation = Conversation::new();
        conversation.push(Message::user("Tidy up."));
        inject(
            &mut conversation,
            [text("told").context_injection_role(role)],
        )
        .await;
        let expected = [(Role::User, "Tidy up."), (expected, "told")];
        assert_eq!(roles_and_texts(conversation.history()), expected);
        for _ in 0..2 {
            assert_eq!(roles_and_texts(&conversation.next_call()), expected);
        }
    }
}

#[tokio::test]
async fn e_110_the_default_role_is_system() {
    let mut conversation = Conversation::new();
    inject(&mut conversation, [text("told")]).await;
    assert_eq!(
        roles_and_texts(conversation.history()),
        [(Role::System, "told")]
    );
}

#[tokio::test]
async fn e_110_an_injected_message_records_its_hook() {
    let mut conversation = Conversation::new();
    conversation.push(Message::user("mine"));
    inject(&mut conversation, [text("told"), ephemeral_text("now")]).await;
    let call = conversation.next_call();
    let hook = |message: &Message| {
        message
            .injected_by
            .as_ref()
            .map(|from| from.hook.to_string())
    };
    let hooks: Vec<_> = call.iter().map(hook).collect();
    assert_eq!(
        hooks,
        [None, Some("hook-0".to_owned()), Some("hook-1".to_owned())]
    );
}

#[tokio::test]
async fn e_111_an_ephemeral_injection_is_part_of_one_call_only() {
    let mut conversation = Conversation::new();
    conversation.push(Message::user("Tidy up."));
    inject(&mut conversation, [ephemeral_text("3 todos")]).await;
    assert_eq!(
        roles_and_texts(conversation.history()),
        [(Role::User, "Tidy up.")]
    );
    let expected = [(Role::User, "Tidy up."), (Role::System, "3 todos")];
    for _ in 0..2 {
        assert_eq!(
            roles_and_texts(&conversation.preview_call()),
            expected,
            "`preview_call` consumes nothing"
        );
    }
    assert_eq!(roles_and_texts(&conversation.next_call()), expected);
    assert_eq!(
        roles_and_texts(&conversation.preview_call()),
        [(Role::User, "Tidy up.")]
    );
    assert_eq!(
        roles_and_texts(&conversation.next_call()),
        [(Role::User, "Tidy up.")]
    );
}

#[tokio::test]
async fn e_111_an_ephemeral_injection_keeps_its_role() {
    let mut conversation = Conversation::new();
    let user = ephemeral_text("staging too").context_injection_role(ContextRole::User);
    inject(&mut conversation, [user]).await;
    assert_eq!(
        roles_and_texts(&conversation.next_call()),
        [(Role::User, "staging too")]
    );
}

#[tokio::test]
async fn e_111_ephemeral_injections_are_not_serialized() {
    let mut conversation = Conversation::new();
    conversation.push(Message::tool_result("call-1", "ok"));
    inject(
        &mut conversation,
        [text("kept"), ephemeral_text("gone"), appended("gone too")],
    )
    .await;
    let stored = serde_json::to_string(&conversation).unwrap();
    let mut read: Conversation = serde_json::from_str(&stored).unwrap();
    assert_eq!(read.history(), conversation.history());
    assert_eq!(
        roles_and_texts(&read.next_call()),
        [(Role::Tool, "ok"), (Role::System, "kept")]
    );
    assert!(!stored.contains("gone"));
}

#[tokio::test]
async fn e_111_ephemeral_injections_follow_the_history() {
    let mut conversation = Conversation::new();
    inject(&mut conversation, [ephemeral_text("now"), text("kept")]).await;
    conversation.push(Message::user("later"));
    let call = conversation.next_call();
    let expected = [
        (Role::System, "kept"),
        (Role::User, "later"),
        (Role::System, "now"),
    ];
    assert_eq!(roles_and_texts(&call), expected);
}

#[tokio::test]
async fn e_112_an_ephemeral_injection_is_appended_to_the_last_tool_result() {
    let mut conversation = Conversation::new();
    conversation.push(Message::user("Tidy up."));
    conversation.push(Message::tool_result("call-1", "3 files"));
    let reminder = "\n\nReminder: This file needs review before deployment";
    inject(&mut conversation, [appended(reminder)]).await;
    let call = conversation.next_call();
    let whole = format!("3 files{reminder}");
    assert_eq!(
        roles_and_texts(&call),
        [(Role::User, "Tidy up."), (Role::Tool, &*whole)]
    );
    assert_eq!(call[1].tool_call_id.as_deref(), Some("call-1"));
    let history = [(Role::User, "Tidy up."), (Role::Tool, "3 files")];
    assert_eq!(
        roles_and_texts(conversation.history()),
        history,
        "it is not stored"
    );
    assert_eq!(roles_and_texts(&conversation.next_call()), history);
}

#[tokio::test]
async fn e_112_several_injections_are_appended_in_order() {
    let mut conversation = Conversation::new();
    conversation.push(Message::tool_result("call-1", "3 files"));
    inject(&mut conversation, [appended("one"), appended("two")]).await;
    let call = conversation.next_call();
    assert_eq!(call.len(), 1);
    let lines: Vec<_> = call[0]
        .content
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(lines, ["3 files", "one", "two"]);
}

#[tokio::test]
async fn e_112_without_a_last_tool_result_the_injection_is_a_separate_message() {
    let history = [
        vec![],
        vec![
            Message::tool_result("call-1", "ok"),
            Message::assistant("done"),
        ],
        vec![Message::user("hello")],
    ];
    for messages in history {
        let mut conversation = Conversation::new();
        messages
            .iter()
            .for_each(|message| conversation.push(message.clone()));
        let role = ContextRole::User;
        inject(
            &mut conversation,
            [appended("note").context_injection_role(role)],
        )
        .await;
        let call = conversation.next_call();
        let mut expected = roles_and_texts(&messages);
        expected.push((Role::User, "note"));
        assert_eq!(roles_and_texts(&call), expected);
    }
}

#[tokio::test]
async fn e_112_a_stored_injection_is_never_appended_to_a_tool_result() {
    let mut conversation = Conversation::new();
    conversation.push(Message::tool_result("call-1", "ok"));
    inject(
        &mut conversation,
        [text("kept").append_to_last_tool_result(true)],
    )
    .await;
    let expected = [(Role::Tool, "ok"), (Role::System, "kept")];
    assert_eq!(roles_and_texts(conversation.history()), expected);
    assert_eq!(roles_and_texts(&conversation.next_call()), expected);
}

#[tokio::test]
async fn e_112_the_injection_of_another_hook_does_not_separate_a_text_from_the_tool_result() {
    for other in [text("other"), ephemeral_text("other")] {
        for is_first in [true, false] {
            let mut conversation = Conversation::new();
            conversation.push(Message::tool_result("call-1", "ok"));
            let mut results = [appended("note"), other.clone()];
            if is_first {
                results.reverse();
            }
            inject(&mut conversation, results).await;
            let expected = [(Role::Tool, "ok\n\nnote"), (Role::System, "other")];
            assert_eq!(roles_and_texts(&conversation.next_call()), expected);
        }
    }
}

#[tokio::test]
async fn e_112_the_injection_of_an_earlier_event_does_not_separate_a_text_from_the_tool_result() {
    let mut conversation = Conversation::new();
    conversation.push(Message::tool_result("call-1", "one"));
    conversation.push(Message::tool_result("call-2", "two"));
    inject(&mut conversation, [text("kept")]).await;
    inject(&mut conversation, [appended("note")]).await;
    let expected = [
        (Role::Tool, "one"),
        (Role::Tool, "two\n\nnote"),
        (Role::System, "kept"),
    ];
    assert_eq!(roles_and_texts(&conversation.next_call()), expected);
    // The model has responded to the result since.
    conversation.push(Message::assistant("done"));
    inject(&mut conversation, [appended("late")]).await;
    let call = conversation.next_call();
    assert_eq!(call.last().unwrap().content, "late");
    assert_eq!(call.len(), 5);
}

/// The summary joins the texts; the coordinator adds a message for each hook.
#[tokio::test]
async fn e_29_the_coordinator_adds_a_message_for_each_hook() {
    let hooks = HookRegistry::new();
    hooks.register("e", returning(text("one")), plain());
    let role = ContextRole::User;
    hooks.register(
        "e",
        returning(text("two").context_injection_role(role)),
        plain(),
    );
    let emission = hooks.emit("e", ()).await.unwrap();
    let summary = emission.result();
    assert_eq!(summary.context_injection.as_deref(), Some("one\n\ntwo"));
    assert_eq!(summary.context_injection_role, ContextRole::System);
    let mut conversation = Conversation::new();
    let applied = Coordinator::new().apply(emission, &mut conversation).await;
    assert!(!applied.unwrap().is_denied());
    let expected = [(Role::System, "one"), (Role::User, "two")];
    assert_eq!(roles_and_texts(conversation.history()), expected);
}

#[tokio::test]
async fn e_29_injections_are_stored_in_the_order_of_their_hooks() {
    let hooks = HookRegistry::new();
    for (priority, word) in [(3, "c"), (1, "a"), (2, "b")] {
        hooks.register("e", returning(text(word)), at(priority));
    }
    let mut conversation = Conversation::new();
    let applied = Coordinator::new()
        .emit(&hooks, "e", (), &mut conversation)
        .await;
    assert!(!applied.unwrap().is_denied());
    let contents: Vec<_> = conversation
        .history()
        .iter()
        .map(|m| m.content.as_str())
        .collect();
    assert_eq!(contents, ["a", "b", "c"]);
}

#[tokio::test]
async fn e_30_each_injection_keeps_its_own_lifetime_and_role() {
    let mut conversation = Conversation::new();
    let user = text("kept").context_injection_role(ContextRole::User);
    let assistant = ephemeral_text("also").context_injection_role(ContextRole::Assistant);
    inject(&mut conversation, [ephemeral_text("now"), user, assistant]).await;
    assert_eq!(
        roles_and_texts(conversation.history()),
        [(Role::User, "kept")]
    );
    let call = conversation.next_call();
    let expected = [
        (Role::User, "kept"),
        (Role::System, "now"),
        (Role::Assistant, "also"),
    ];
    assert_eq!(roles_and_texts(&call), expected);
}

#[tokio::test]
async fn e_31_an_empty_text_is_not_injected() {
    let mut conversation = Conversation::new();
    let none = HookResult {
        context_injection: None,
        ..text("")
    };
    inject(&mut conversation, [text(""), none, ephemeral_text("")]).await;
    assert!(conversation.history().is_empty() && conversation.next_call().is_empty());
    assert_eq!(conversation.audit().len(), 0);
}

#[tokio::test]
async fn e_94_a_text_with_another_action_is_not_injected() {
    let mut conversation = Conversation::new();
    let odd = HookResult {
        action: Action::Continue,
        ..text("told")
    };
    inject(&mut conversation, [odd]).await;
    assert!(conversation.history().is_empty());
}

#[tokio::test]
async fn e_35_injections_are_kept_if_a_stronger_action_wins() {
    for (stronger, is_denied) in [
        (HookResult::deny("no"), true),
        (HookResult::ask_user("Run it?"), false),
    ] {
        let coordinator = Coordinator::builder()
            .provider(FixedAnswers::allow())
            .build();
        let mut conversation = Conversation::new();
        let results = [text("told"), ephemeral_text("now"), stronger];
        let applied = apply(&coordinator, &mut conversation, results)
            .await
            .unwrap();
        assert_eq!(applied.is_denied(), is_denied);
        let expected = [(Role::System, "told"), (Role::System, "now")];
        assert_eq!(roles_and_texts(&conversation.next_call()), expected);
    }
}

#[tokio::test]
async fn e_113_the_injection_size_is_unlimited_by_default() {
    let mut conversation = Conversation::new();
    let long = "ä".repeat(3_000_000);
    inject(&mut conversation, [text(&long)]).await;
    assert_eq!(conversation.history()[0].content, long);
    assert_eq!(conversation.audit().next().unwrap().chars, 3_000_000);
}

#[tokio::test]
async fn e_113_the_size_limit_counts_characters_not_bytes() {
    for word in ["aaaaa", "äääää", "日本語日本", "🦀🦀🦀🦀🦀"] {
        for result in [text(word), ephemeral_text(word), appended(word)] {
            let mut conversation = Conversation::new();
            let applied = apply(&limited(5), &mut conversation, [result.clone()]).await;
            assert!(applied.is_ok(), "{word} has five characters");
            assert_eq!(conversation.next_call()[0].content, word);
            let mut conversation = Conversation::new();
            let error = apply(&limited(4), &mut conversation, [result])
                .await
                .unwrap_err();
            assert!(
                matches!(&error, ApplyError::InjectionTooLong { hook, event, chars: 5, limit: 4, .. }
                    if &**hook == "hook-0" && &**event == "tool:post"),
                "{error:?}"
            );
            assert!(conversation.next_call().is_empty());
        }
    }
}

#[tokio::test]
async fn e_114_one_injection_above_the_limit_refuses_all_injections() {
    let mut conversation = Conversation::new();
    conversation.push(Message::user("mine"));
    let results = [
        text("short"),
        ephemeral_text("now"),
        text("too long a text"),
        text("also"),
    ];
    let error = apply(&limited(5), &mut conversation, results)
        .await
        .unwrap_err();
    let ApplyError::InjectionTooLong {
        hook, chars, limit, ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!((&*hook, chars, limit), ("hook-2", 15, 5));
    assert_eq!(
        roles_and_texts(&conversation.next_call()),
        [(Role::User, "mine")]
    );
    let expected = (0..4).map(|number| (format!("hook-{number}"), InjectionStatus::Refused));
    assert_eq!(statuses(&conversation), expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn e_114_the_error_names_hook_event_sizes_and_option() {
    let error = apply(&limited(5), &mut Conversation::new(), [text("too long")]).await;
    let message = error.unwrap_err().to_string();
    for word in ["hook-0", "tool:post", "8", "5", "injection_size_limit"] {
        assert!(message.contains(word), "{message}");
    }
}

#[tokio::test]
async fn e_114_with_an_injection_above_the_limit_no_request_is_asked() {
    let provider = FixedAnswers::allow();
    let coordinator = Coordinator::builder()
        .provider(provider.clone())
        .injection_size_limit(5)
        .build();
    let results = [HookResult::ask_user("Run it?"), text("too long")];
    let applied = apply(&coordinator, &mut Conversation::new(), results).await;
    assert!(applied.is_err());
    assert!(provider.asked().is_empty());
}

#[tokio::test]
async fn e_114_a_denial_with_an_injection_above_the_limit_never_allows() {
    let results = [text("too long"), HookResult::deny("no")];
    let applied = apply(&limited(5), &mut Conversation::new(), results).await;
    assert!(applied.is_err() || applied.is_ok_and(|applied| applied.is_denied()));
}

#[tokio::test]
async fn e_113_the_size_limit_applies_to_each_injection() {
    let mut conversation = Conversation::new();
    let results = [text("12345"), text("12345"), ephemeral_text("12345")];
    assert!(apply(&limited(5), &mut conversation, results).await.is_ok());
    assert_eq!(conversation.next_call().len(), 3);
    assert!(
        apply(&limited(5), &mut conversation, [text("1234")])
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn e_113_a_size_limit_of_0_refuses_only_injections() {
    let mut conversation = Conversation::new();
    assert!(
        apply(&limited(0), &mut conversation, [text("x")])
            .await
            .is_err()
    );
    let others = [HookResult::proceed(), text("")];
    assert!(apply(&limited(0), &mut conversation, others).await.is_ok());
    assert!(conversation.history().is_empty());
}

#[tokio::test]
async fn e_115_the_audit_records_every_injection_with_its_provenance() {
    let mut conversation = Conversation::new();
    let user = ephemeral_text("nöw").context_injection_role(ContextRole::User);
    inject(&mut conversation, [text("told"), user, appended("tail")]).await;
    let records: Vec<_> = conversation.audit().cloned().collect();
    let expected = [
        ("hook-0", ContextRole::System, 4, InjectionStatus::Stored),
        ("hook-1", ContextRole::User, 3, InjectionStatus::Ephemeral),
        ("hook-2", ContextRole::System, 4, InjectionStatus::Ephemeral),
    ];
    assert_eq!(records.len(), expected.len());
    for (record, (hook, role, chars, status)) in records.iter().zip(expected) {
        let from = &record.provenance;
        assert_eq!(
            (&*from.source, &*from.hook, &*from.event),
            ("hook", hook, "tool:post")
        );
        assert_eq!(
            (record.role, record.chars, record.status),
            (role, chars, status)
        );
    }
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let age = i64::try_from(now.as_secs()).unwrap() - records[0].provenance.at.as_second();
    assert!((0..600).contains(&age), "the time is that of now");
    assert!(records.is_sorted_by_key(|record| record.provenance.at));
}

#[tokio::test]
async fn e_115_the_audit_is_kept_after_the_call_and_round_trips() {
    let mut conversation = Conversation::new();
    inject(&mut conversation, [ephemeral_text("now"), text("kept")]).await;
    assert!(
        apply(&limited(1), &mut conversation, [text("refused")])
            .await
            .is_err()
    );
    let _ = conversation.next_call();
    conversation.history_mut().clear();
    let expected = [
        ("hook-0".to_owned(), InjectionStatus::Ephemeral),
        ("hook-1".to_owned(), InjectionStatus::Stored),
        ("hook-0".to_owned(), InjectionStatus::Refused),
    ];
    assert_eq!(statuses(&conversation), expected);
    let stored = serde_json::to_string(&conversation).unwrap();
    let read: Conversation = serde_json::from_str(&stored).unwrap();
    assert_eq!(statuses(&read), expected);
}

#[tokio::test]
async fn e_115_the_audit_keeps_the_last_10_000_records_and_counts_the_dropped() {
    let mut conversation = Conversation::new();
    let (coordinator, hooks) = (Coordinator::new(), HookRegistry::new());
    hooks.register("first", returning(ephemeral_text("1")), named("first"));
    hooks.register("e", returning(ephemeral_text("x")), plain());
    for number in 0..10_005 {
        let event = if number < 5 { "first" } else { "e" };
        let applied = coordinator.emit(&hooks, event, (), &mut conversation).await;
        assert!(!applied.unwrap().is_denied());
        if number % 100 == 0 {
            let _ = conversation.next_call();
        }
    }
    assert_eq!(conversation.audit().len(), 10_000);
    assert_eq!(conversation.audit_dropped(), 5);
    assert!(
        conversation
            .audit()
            .all(|record| &*record.provenance.event == "e")
    );
}

#[tokio::test]
async fn e_111_dropping_a_pending_apply_does_not_inject_twice() {
    let queue = ApprovalQueue::new();
    let coordinator = Coordinator::builder().provider(queue.clone()).build();
    let mut conversation = Conversation::new();
    let results = || {
        [
            text("told"),
            ephemeral_text("now"),
            HookResult::ask_user("Run it?"),
        ]
    };
    let waiting = apply(&coordinator, &mut conversation, results());
    let ended = tokio::time::timeout(std::time::Duration::from_millis(20), waiting).await;
    assert!(ended.is_err(), "no answer yet");
    assert!(queue.is_empty());
    let expected = [(Role::System, "told"), (Role::System, "now")];
    assert_eq!(roles_and_texts(&conversation.next_call()), expected);
    assert_eq!(conversation.audit().len(), 2);
}

#[tokio::test]
async fn e_115_the_audit_records_injections_of_denied_events() {
    let mut conversation = Conversation::new();
    let results = [text("told"), HookResult::deny("no")];
    let applied = apply(&Coordinator::new(), &mut conversation, results)
        .await
        .unwrap();
    assert!(applied.is_denied());
    assert_eq!(
        statuses(&conversation),
        [("hook-0".to_owned(), InjectionStatus::Stored)]
    );
    let json = serde_json::to_value(conversation.audit().next().unwrap()).unwrap();
    assert_eq!(json["provenance"]["source"], json!("hook"));
}
