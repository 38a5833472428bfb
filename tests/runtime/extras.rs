//! Extra fields of a result beside the fourteen of the specification (E-90, E-96):
//! `user_message_source` and `context_injections`, as amplifier-core 2.0.2 writes them.

use futures::executor::block_on;
use hooks_runtime::{
    Action, ContextRole, Emission, FailurePolicy, HookRegistry, HookResult, Injection, MessageLevel,
};
use serde_json::{Value, json};

use crate::kit::{capture_logs, emit, map, named, plain, returning};

fn read(value: Value) -> HookResult {
    serde_json::from_value(value).unwrap()
}

/// Emits an event whose hooks return these results, in this order.
fn emission_of(results: impl IntoIterator<Item = HookResult>) -> Emission {
    let registry = HookRegistry::new();
    for (number, result) in results.into_iter().enumerate() {
        registry.register("e", returning(result), named(format!("hook-{number}")));
    }
    block_on(emit(&registry, "e", ()))
}

/// Returns content, role, `ephemeral` and `append_to_last_tool_result`.
fn settings(injection: &Injection) -> (&str, ContextRole, bool, bool) {
    (
        &injection.content,
        injection.role,
        injection.ephemeral,
        injection.append_to_last_tool_result,
    )
}

fn two_texts() -> Value {
    json!({
        "action": "inject_context",
        "context_injections": [
            {"content": "kept", "role": "user", "hook_name": "other", "event": "x"},
            {"content": "passing", "ephemeral": true, "append_to_last_tool_result": true},
        ],
    })
}

#[test]
fn e_90_texts_that_are_only_listed_are_injected_with_their_own_settings() {
    let emission = emission_of([read(two_texts())]);
    assert_eq!(emission.action, Action::InjectContext);
    assert_eq!(emission.decided_by.as_deref(), Some("hook-0"));
    let injections: Vec<_> = emission.injections.iter().map(settings).collect();
    assert_eq!(
        injections,
        [
            ("kept", ContextRole::User, false, false),
            ("passing", ContextRole::System, true, true),
        ]
    );
    for injection in &emission.injections {
        assert_eq!(&*injection.provenance.hook, "hook-0");
        assert_eq!(&*injection.provenance.event, "e");
    }
}

#[test]
fn e_90_a_list_replaces_the_single_text_that_summarizes_it() {
    let mut value = two_texts();
    value["context_injection"] = json!("kept\n\npassing");
    value["context_injection_role"] = json!("assistant");
    let emission = emission_of([read(value)]);
    let texts: Vec<_> = emission.injections.iter().map(settings).collect();
    assert_eq!(texts.len(), 2);
    assert_eq!(texts[0], ("kept", ContextRole::User, false, false));
}

#[test]
fn e_90_a_list_without_text_leaves_the_single_text() {
    for list in [json!([]), json!([{"content": ""}])] {
        let value = json!({
            "action": "inject_context",
            "context_injection": "text",
            "ephemeral": true,
            "context_injections": list,
        });
        let emission = emission_of([read(value)]);
        let texts: Vec<_> = emission.injections.iter().map(settings).collect();
        assert_eq!(texts, [("text", ContextRole::System, true, false)]);
    }
}

#[test]
fn e_31_a_list_without_text_injects_nothing() {
    for list in [json!([]), json!([{"content": ""}, {"content": ""}])] {
        let emission = emission_of([read(
            json!({"action": "inject_context", "context_injections": list}),
        )]);
        assert_eq!(emission.action, Action::Continue);
        assert!(emission.injections.is_empty());
    }
}

#[test]
fn e_94_a_list_has_no_effect_with_another_action() {
    for action in ["continue", "deny", "modify", "ask_user"] {
        let mut value = two_texts();
        value["action"] = json!(action);
        let emission = emission_of([read(value)]);
        assert!(emission.injections.is_empty(), "{action}");
    }
}

#[test]
fn e_93_an_invalid_extra_is_an_error_that_names_the_field() {
    let text = |item: Value| json!([{"content": "valid"}, item]);
    for (field, value) in [
        ("user_message_source", json!(1)),
        ("user_message_source", json!(["linter"])),
        ("context_injections", json!(null)),
        ("context_injections", json!("text")),
        ("context_injections", json!({"content": "text"})),
        ("context_injections", text(json!("text"))),
        ("context_injections", text(json!(["text", "user"]))),
        ("context_injections", text(json!({}))),
        ("context_injections", text(json!({"content": null}))),
        (
            "context_injections",
            text(json!({"content": "a", "role": "robot"})),
        ),
        (
            "context_injections",
            text(json!({"content": "a", "role": {"user": null}})),
        ),
        (
            "context_injections",
            text(json!({"content": "a", "role": null})),
        ),
        (
            "context_injections",
            text(json!({"content": "a", "ephemeral": 1})),
        ),
        (
            "context_injections",
            text(json!({"content": "a", "append_to_last_tool_result": "yes"})),
        ),
    ] {
        for action in ["continue", "deny", "inject_context"] {
            let object = json!({"action": action, field: value});
            let error = HookResult::from_map(map(object.clone())).unwrap_err();
            assert_eq!(error.field, field, "{object}");
            let error = serde_json::from_value::<HookResult>(object).unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
    }
}

/// Returns a result of Rust code with an invalid list.
fn with_invalid_list(action: Action) -> HookResult {
    HookResult {
        action,
        extra: Some(Box::new(map(
            json!({"context_injections": [{"text": "a"}]}),
        ))),
        ..HookResult::default()
    }
}

#[test]
fn e_93_an_output_with_an_invalid_list_is_a_failure_and_no_silent_continue() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(with_invalid_list(Action::InjectContext)),
        plain(),
    );
    let (emission, lines) = block_on(capture_logs(emit(&registry, "e", ())));
    assert_eq!(emission.failures.len(), 1);
    assert!(lines.iter().any(|line| line.contains("context_injections")));

    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(with_invalid_list(Action::InjectContext)),
        plain().on_failure(FailurePolicy::FailClosed),
    );
    assert!(block_on(emit(&registry, "e", ())).is_denied());
}

#[test]
fn e_93_a_denial_with_an_invalid_list_denies() {
    assert!(emission_of([with_invalid_list(Action::Deny)]).is_denied());
}

#[test]
fn e_96_extras_are_serialized_again() {
    let mut value = two_texts();
    value["user_message"] = json!("told");
    value["user_message_source"] = json!("linter");
    let written = serde_json::to_value(read(value.clone())).unwrap();
    for (field, value) in value.as_object().unwrap() {
        assert_eq!(&written[field], value, "{field}");
    }
}

#[test]
fn e_30_a_summary_lists_the_injections_of_all_hooks_if_the_first_has_a_list() {
    let single =
        HookResult::inject_context("single").context_injection_role(ContextRole::Assistant);
    for results in [
        vec![read(two_texts()), single.clone()],
        vec![read(two_texts()), read(two_texts())],
    ] {
        let emission = emission_of(results);
        let summary = emission.result();
        let texts: Vec<_> = emission
            .injections
            .iter()
            .map(|text| &*text.content)
            .collect();
        assert_eq!(summary.context_injection, Some(texts.join("\n\n")));
        assert_eq!(summary.context_injection_role, ContextRole::User);
        assert!(!summary.ephemeral);
        // As the result of a hook, the summary injects the same texts.
        let again = emission_of([summary]);
        let before: Vec<_> = emission.injections.iter().map(settings).collect();
        let after: Vec<_> = again.injections.iter().map(settings).collect();
        assert_eq!(before, after);
    }
    let single_first = emission_of([single, read(two_texts())]).result();
    assert_eq!(
        single_first.context_injection.as_deref(),
        Some("single\n\nkept\n\npassing")
    );
    assert_eq!(single_first.context_injection_role, ContextRole::Assistant);
}

#[test]
fn a_message_has_the_name_that_its_hook_set_for_display() {
    let told = |source: Option<&str>| {
        let result = HookResult::proceed().user_message("told");
        match source {
            Some(source) => result.user_message_source(source),
            None => result,
        }
    };
    let emission = emission_of([told(Some("linter")), told(None), told(Some("  "))]);
    let sources: Vec<_> = emission
        .messages
        .iter()
        .map(|message| (&*message.hook, message.source.as_deref()))
        .collect();
    assert_eq!(
        sources,
        [
            ("hook-0", Some("linter")),
            ("hook-1", None),
            ("hook-2", None)
        ]
    );
    let read_back = read(json!({"user_message": "m", "user_message_source": "linter"}));
    let message = &emission_of([read_back]).messages[0];
    assert_eq!(message.source.as_deref(), Some("linter"));
    assert_eq!(message.level, MessageLevel::Info);
    let written = serde_json::to_value(message).unwrap();
    assert_eq!(
        written,
        json!({"text": "m", "level": "info", "hook": "hook-0", "source": "linter"})
    );
}

#[test]
fn a_summary_has_the_source_that_all_its_messages_share() {
    let told = |source: &str| {
        HookResult::proceed()
            .user_message("m")
            .user_message_source(source)
    };
    let source_of = |results: Vec<HookResult>| {
        let extra = emission_of(results).result().extra;
        extra.and_then(|extra| extra.get("user_message_source").cloned())
    };
    assert_eq!(source_of(vec![told("a"), told("a")]), Some(json!("a")));
    assert_eq!(source_of(vec![told("a"), told("b")]), None);
    assert_eq!(
        source_of(vec![told("a"), HookResult::proceed().user_message("m")]),
        None
    );
    let changes = HookResult::set("k", 1)
        .user_message("m")
        .user_message_source("b");
    assert_eq!(source_of(vec![told("a"), changes]), None);
}
