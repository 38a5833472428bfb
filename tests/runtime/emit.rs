//! Emitting an event (E-20 to E-44).

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::{
    Action, ContextRole, EmitError, Event, HookError, HookRegistry, HookResult, Map, MessageLevel,
};
use serde_json::{Value, json};

use crate::kit::{
    Dropped, Log, at, capture_logs, emit, has_line, logging, map, named, plain, recording_data,
    returning, yield_once,
};

fn object(data: &Map) -> Value {
    Value::Object(data.clone())
}

#[test]
fn e_20_without_handlers_the_result_is_continue_with_the_data() {
    let emission = block_on(emit(&HookRegistry::new(), "e", json!({"a": 1})));
    assert_eq!(emission.action, Action::Continue);
    assert_eq!(object(&emission.data), json!({"a": 1}));
    assert_eq!(emission.decided_by, None);
    let result = emission.result();
    assert_eq!(
        (result.action, result.data),
        (Action::Continue, Some(map(json!({"a": 1}))))
    );
}

#[test]
fn e_20_defaults_are_merged_even_without_handlers() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"session_id": "s", "a": 0})));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(object(&emission.data), json!({"session_id": "s", "a": 1}));
}

#[test]
fn e_20_after_the_last_hook_is_unregistered_the_result_is_continue() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"d": 1})));
    registry
        .register("e", returning(HookResult::deny("no")), plain())
        .unregister();
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(emission.action, Action::Continue);
    assert_eq!(object(&emission.data), json!({"d": 1, "a": 1}));
}

#[test]
fn e_21_each_hook_starts_after_the_previous_hook_completes() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    for (priority, name) in [(3, "c"), (1, "a"), (2, "b")] {
        let log = log.clone();
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let log = log.clone();
            async move {
                log.add(format!("{name} begins"));
                for _ in 0..3 {
                    yield_once().await;
                }
                log.add(format!("{name} ends"));
                HookResult::proceed()
            }
        };
        registry.register("e", handler, at(priority));
    }
    block_on(emit(&registry, "e", ()));
    let expected = [
        "a begins", "a ends", "b begins", "b ends", "c begins", "c ends",
    ];
    assert_eq!(log.lines(), expected);
}

#[test]
fn e_22_event_data_override_default_fields() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"only_default": 1, "both": "default"})));
    registry.register("e", recording_data(&log), plain());
    let emission = block_on(emit(
        &registry,
        "e",
        json!({"both": "event", "only_event": 2}),
    ));
    let expected = json!({"only_default": 1, "both": "event", "only_event": 2});
    assert_eq!(log.lines()[0].parse::<Value>().unwrap(), expected);
    assert_eq!(object(&emission.data), expected);
}

#[test]
fn e_22_nested_objects_are_not_merged() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"user": {"id": 1, "name": "a"}})));
    registry.register("e", returning(HookResult::proceed()), plain());
    let emission = block_on(emit(&registry, "e", json!({"user": {"id": 2}})));
    assert_eq!(object(&emission.data), json!({"user": {"id": 2}}));
}

#[test]
fn e_22_an_explicit_null_overrides_a_default() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"a": 1})));
    registry.register("e", recording_data(&log), plain());
    let emission = block_on(emit(&registry, "e", json!({"a": null})));
    assert_eq!(log.lines(), [r#"{"a":null}"#]);
    assert_eq!(object(&emission.data), json!({"a": null}));
}

#[test]
fn e_22_borrowing_hooks_see_event_and_default_fields() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"default": "d", "both": "d"})));
    let writing = log.clone();
    registry.register(
        "e",
        move |event: Event<'_>| {
            for field in ["default", "both", "own", "none"] {
                writing.add(format!("{field}={:?}", event.str(field)));
            }
            HookResult::proceed()
        },
        plain(),
    );
    block_on(emit(&registry, "e", json!({"both": "e", "own": "e"})));
    let expected = [
        r#"default=Some("d")"#,
        r#"both=Some("e")"#,
        r#"own=Some("e")"#,
        "none=None",
    ];
    assert_eq!(log.lines(), expected);
}

#[test]
fn e_23_deny_stops_the_chain() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", logging(&log, "before", HookResult::proceed()), at(1));
    registry.register("e", logging(&log, "denies", HookResult::deny("no")), at(2));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(3));
    let emission = block_on(emit(&registry, "e", ()));
    assert!(emission.is_denied());
    assert_eq!(log.lines(), ["before", "denies"]);
}

#[test]
fn e_23_the_denying_output_is_returned_unchanged() {
    let denial = HookResult {
        data: Some(map(json!({"of": "the denial"}))),
        extra: Some(Box::new(map(json!({"unknown": true})))),
        ..HookResult::deny("Less than 100MB free space remaining")
            .user_message("Operation blocked: insufficient disk space")
            .user_message_level(MessageLevel::Error)
            .suppress_output(true)
    };
    let registry = HookRegistry::new();
    registry.register("e", returning(denial.clone()), named("disk"));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(emission.result(), denial);
    assert_eq!(emission.decision(), Some(&denial));
    assert_eq!(
        emission.reason(),
        Some("Less than 100MB free space remaining")
    );
    assert_eq!(emission.decided_by.as_deref(), Some("disk"));
    assert_eq!(object(&emission.data), json!({"a": 1}));
}

#[test]
fn e_23_a_denial_needs_no_reason() {
    let registry = HookRegistry::new();
    let bare = HookResult {
        action: Action::Deny,
        ..HookResult::default()
    };
    registry.register("e", returning(bare), plain());
    let emission = block_on(emit(&registry, "e", ()));
    assert!(emission.is_denied());
    assert_eq!(emission.reason(), None);
}

#[test]
fn e_24_a_later_deny_overrides_earlier_actions() {
    let earlier = [
        HookResult::ask_user("Sure?"),
        HookResult::inject_context("note"),
        HookResult::modify(map(json!({"b": 2}))),
        HookResult::set("b", 2),
    ];
    for earlier in earlier {
        let registry = HookRegistry::new();
        registry.register("e", returning(earlier.clone()), at(1).name("earlier"));
        registry.register("e", returning(HookResult::deny("no")), at(2).name("denies"));
        let emission = block_on(emit(&registry, "e", ()));
        assert_eq!(emission.action, Action::Deny, "after {}", earlier.action);
        assert_eq!(emission.decided_by.as_deref(), Some("denies"));
        let data = (earlier.action == Action::Modify).then(|| map(json!({"b": 2})));
        let denial = HookResult {
            data,
            ..HookResult::deny("no")
        };
        assert_eq!(emission.result(), denial);
    }
}

/// Also `X-5`.
#[test]
fn e_25_modify_replaces_the_data_for_later_handlers() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"user_id": 1})))),
        at(1),
    );
    registry.register("e", recording_data(&log), at(2));
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"user_id": 2})))),
        at(3),
    );
    registry.register("e", recording_data(&log), at(4));
    let emission = block_on(emit(&registry, "e", json!({"other": true})));
    assert_eq!(log.lines(), [r#"{"user_id":1}"#, r#"{"user_id":2}"#]);
    assert_eq!(object(&emission.data), json!({"user_id": 2}));
}

#[test]
fn e_25_defaults_are_not_merged_into_replaced_data() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"session_id": "s"})));
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"a": 2})))),
        at(1),
    );
    registry.register("e", recording_data(&log), at(2));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(log.lines(), [r#"{"a":2}"#]);
    assert_eq!(object(&emission.data), json!({"a": 2}));
}

#[test]
fn e_25_a_handler_can_modify_a_copy_of_its_data() {
    let registry = HookRegistry::new();
    let adding = |field: &'static str| {
        move |_: Arc<str>, data: Arc<Map>| {
            let mut data = Map::clone(&data);
            data.insert(field.to_owned(), Value::Bool(true));
            HookResult::modify(data)
        }
    };
    registry.register("e", adding("first"), at(1));
    registry.register("e", adding("second"), at(2));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(
        object(&emission.data),
        json!({"a": 1, "first": true, "second": true})
    );
}

#[test]
fn e_25_modify_with_an_empty_map_removes_all_fields() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"d": 1})));
    registry.register("e", returning(HookResult::modify(Map::new())), plain());
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(emission.action, Action::Modify);
    assert!(emission.data.is_empty());
}

#[test]
fn e_25_set_changes_single_fields_and_keeps_the_others() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"d": 1})));
    registry.register(
        "e",
        |_: Event<'_>| HookResult::set("a", 2).and_set("new", 3),
        at(1),
    );
    registry.register("e", recording_data(&log), at(2));
    let emission = block_on(emit(&registry, "e", json!({"a": 1, "b": 1})));
    let expected = json!({"d": 1, "a": 2, "b": 1, "new": 3});
    assert_eq!(log.lines()[0].parse::<Value>().unwrap(), expected);
    assert_eq!(object(&emission.data), expected);
    assert_eq!(emission.action, Action::Modify);
}

#[test]
fn e_25_modify_discards_earlier_single_field_changes() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), at(1));
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"b": 2})))),
        at(2),
    );
    registry.register("e", returning(HookResult::set("c", 3)), at(3));
    let emission = block_on(emit(&registry, "e", json!({"z": 0})));
    assert_eq!(object(&emission.data), json!({"b": 2, "c": 3}));
}

#[test]
fn e_26_modify_without_data_changes_nothing() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let bare = HookResult {
        action: Action::Modify,
        ..HookResult::default()
    };
    registry.register("e", returning(bare), at(1));
    registry.register("e", recording_data(&log), at(2));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(log.lines(), [r#"{"a":1}"#]);
    assert_eq!(object(&emission.data), json!({"a": 1}));
    assert_eq!(emission.action, Action::Continue);
}

#[test]
fn e_26_modify_without_data_keeps_an_earlier_change() {
    let registry = HookRegistry::new();
    let bare = HookResult {
        action: Action::Modify,
        ..HookResult::default()
    };
    registry.register(
        "e",
        returning(HookResult::set("a", 2)),
        at(1).name("changes"),
    );
    registry.register("e", returning(bare), at(2).name("bare"));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(object(&emission.data), json!({"a": 2}));
    assert_eq!(emission.decided_by.as_deref(), Some("changes"));
}

#[test]
fn e_27_the_action_is_modify_if_data_were_supplied() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"args": [1]})))),
        plain(),
    );
    registry.register("e", returning(HookResult::proceed()), plain());
    let emission = block_on(emit(&registry, "e", json!({"args": []})));
    assert_eq!(emission.action, Action::Modify);
    let result = emission.result();
    assert_eq!(
        (result.action, result.data),
        (Action::Modify, Some(map(json!({"args": [1]}))))
    );
}

#[test]
fn e_27_modify_with_equal_data_is_still_modify() {
    let registry = HookRegistry::new();
    let unchanged = |_: Arc<str>, data: Arc<Map>| HookResult::modify(Map::clone(&data));
    registry.register("e", unchanged, plain());
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(emission.action, Action::Modify);
}

#[test]
fn e_28_data_of_other_actions_are_ignored() {
    let data = Some(map(json!({"ignored": true})));
    let results = [
        HookResult {
            data: data.clone(),
            ..HookResult::proceed()
        },
        HookResult {
            data: data.clone(),
            ..HookResult::inject_context("note")
        },
        HookResult {
            data: data.clone(),
            ..HookResult::ask_user("Sure?")
        },
        HookResult {
            data,
            ..HookResult::deny("no")
        },
    ];
    for result in results {
        let (registry, log) = (HookRegistry::new(), Log::new());
        registry.register("e", returning(result.clone()), at(1));
        registry.register("e", recording_data(&log), at(2));
        let emission = block_on(emit(&registry, "e", json!({"a": 1})));
        assert_eq!(emission.action, result.action);
        assert_eq!(
            object(&emission.data),
            json!({"a": 1}),
            "after {}",
            result.action
        );
        assert!(log.lines().iter().all(|line| line == r#"{"a":1}"#));
    }
}

#[test]
fn e_28_changes_of_other_actions_are_ignored() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::proceed().and_set("a", 2)),
        plain(),
    );
    registry.register(
        "e",
        returning(HookResult::inject_context("x").and_set("a", 3)),
        plain(),
    );
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(object(&emission.data), json!({"a": 1}));
}

#[test]
fn e_29_injections_are_joined_in_execution_order() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::inject_context("third")), at(3));
    registry.register("e", returning(HookResult::inject_context("first")), at(1));
    registry.register("e", returning(HookResult::inject_context("second")), at(2));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.action, Action::InjectContext);
    let result = emission.result();
    assert_eq!(
        result.context_injection.as_deref(),
        Some("first\n\nsecond\n\nthird")
    );
    let items: Vec<_> = emission
        .injections
        .iter()
        .map(|item| &*item.content)
        .collect();
    assert_eq!(items, ["first", "second", "third"]);
}

#[test]
fn e_29_a_single_injection_is_returned_unchanged() {
    let injection = HookResult::inject_context("\n\nReminder ")
        .context_injection_role(ContextRole::User)
        .ephemeral(true)
        .append_to_last_tool_result(true)
        .suppress_output(true)
        .reason("why")
        .user_message("told")
        .user_message_level(MessageLevel::Warning);
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::proceed()), plain());
    registry.register("e", returning(injection.clone()), plain());
    registry.register("e", returning(HookResult::proceed()), plain());
    assert_eq!(block_on(emit(&registry, "e", ())).result(), injection);
}

#[test]
fn e_30_merged_injections_use_the_settings_of_the_first() {
    let registry = HookRegistry::new();
    let first = HookResult::inject_context("first")
        .context_injection_role(ContextRole::Assistant)
        .ephemeral(true);
    let second = HookResult::inject_context("second")
        .context_injection_role(ContextRole::User)
        .append_to_last_tool_result(true);
    registry.register("e", returning(second), at(2));
    registry.register("e", returning(first), at(1));
    let result = block_on(emit(&registry, "e", ())).result();
    assert_eq!(result.context_injection_role, ContextRole::Assistant);
    assert!(result.ephemeral);
    assert!(!result.append_to_last_tool_result);
}

#[test]
fn e_31_an_injection_without_text_is_continue() {
    let bare = HookResult {
        action: Action::InjectContext,
        ..HookResult::default()
    };
    for empty in [bare, HookResult::inject_context("")] {
        let registry = HookRegistry::new();
        registry.register("e", returning(empty.user_message("still told")), plain());
        let emission = block_on(emit(&registry, "e", ()));
        assert_eq!(emission.action, Action::Continue);
        assert!(emission.injections.is_empty());
        assert_eq!(emission.result().action, Action::Continue);
        assert_eq!(emission.messages.len(), 1);
    }
}

#[test]
fn e_31_an_injection_without_text_adds_nothing_to_others() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::inject_context("")), plain());
    registry.register(
        "e",
        returning(HookResult::inject_context("text")),
        named("text"),
    );
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.result().context_injection.as_deref(), Some("text"));
    assert_eq!(emission.decided_by.as_deref(), Some("text"));
}

#[test]
fn e_32_the_first_ask_user_output_decides() {
    let registry = HookRegistry::new();
    let first = HookResult::ask_user("first?")
        .approval_timeout(5.0)
        .reason("why");
    registry.register(
        "e",
        returning(HookResult::ask_user("second?")),
        at(2).name("second"),
    );
    registry.register("e", returning(first.clone()), at(1).name("first"));
    registry.register(
        "e",
        returning(HookResult::ask_user("third?")),
        at(3).name("third"),
    );
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.action, Action::AskUser);
    assert_eq!(emission.decided_by.as_deref(), Some("first"));
    assert_eq!(emission.result(), first);
    assert_eq!(emission.decision(), Some(&first));
}

#[test]
fn e_33_handlers_after_ask_user_still_run() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register(
        "e",
        logging(&log, "asks", HookResult::ask_user("Sure?")),
        at(1),
    );
    registry.register(
        "e",
        logging(&log, "changes", HookResult::set("a", 2)),
        at(2),
    );
    registry.register("e", logging(&log, "proceeds", HookResult::proceed()), at(3));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(log.lines(), ["asks", "changes", "proceeds"]);
    assert_eq!(emission.action, Action::AskUser);
    assert_eq!(object(&emission.data), json!({"a": 2}));
}

#[test]
fn e_36_after_an_error_the_chain_continues_with_the_previous_data() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", returning(HookResult::set("a", 2)), at(1));
    let fails = |_: Arc<str>, _: Arc<Map>| Err::<HookResult, _>(HookError::new("broken"));
    registry.register("e", fails, at(2).name("fails"));
    registry.register("e", recording_data(&log), at(3));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(log.lines(), [r#"{"a":2}"#]);
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(emission.failures.len(), 1);
    assert_eq!(
        (&*emission.failures[0].hook, &*emission.failures[0].event),
        ("fails", "e")
    );
    assert_eq!(emission.failures[0].failure.kind(), "error");
}

#[test]
fn e_36_after_a_panic_the_chain_continues() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("broken") };
    registry.register("e", panics, at(1).name("panics"));
    let panics_later = |_: Arc<str>, _: Arc<Map>| async {
        yield_once().await;
        if true {
            panic!("broken later");
        }
        HookResult::proceed()
    };
    registry.register("e", panics_later, at(2).name("panics later"));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(3));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["after"]);
    assert_eq!(emission.action, Action::Continue);
    let failures: Vec<_> = emission
        .failures
        .iter()
        .map(|failure| failure.failure.to_string())
        .collect();
    assert_eq!(failures, ["panicked: broken", "panicked: broken later"]);
}

#[tokio::test]
async fn e_36_a_failure_is_logged_with_event_and_handler() {
    let registry = HookRegistry::new();
    let fails = |_: Arc<str>, _: Arc<Map>| Err::<HookResult, _>(HookError::new("disk on fire"));
    registry.register("deploy:start", fails, named("failing_hook"));
    let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("out of range") };
    registry.register("deploy:start", panics, named("panicking_hook"));
    let (_, lines) = capture_logs(emit(&registry, "deploy:start", ())).await;
    let about: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("ERROR") || line.starts_with("WARN"))
        .cloned()
        .collect();
    assert_eq!(about.len(), 2, "each failure is logged once: {lines:?}");
    assert!(
        has_line(
            &about,
            "",
            &["deploy:start", "failing_hook", "disk on fire"]
        ),
        "{about:?}"
    );
    assert!(
        has_line(
            &about,
            "",
            &["deploy:start", "panicking_hook", "out of range"]
        ),
        "{about:?}"
    );
}

#[test]
fn e_37_changes_in_place_are_invisible_to_later_handlers() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let in_place = |_: Arc<str>, mut data: Arc<Map>| {
        Arc::make_mut(&mut data).insert("leaked".to_owned(), Value::Bool(true));
        HookResult::proceed()
    };
    registry.register("e", in_place, at(1));
    let in_place_and_fails = |_: Arc<str>, mut data: Arc<Map>| {
        Arc::make_mut(&mut data).insert("leaked".to_owned(), Value::Bool(true));
        Err::<HookResult, _>(HookError::new("broken"))
    };
    registry.register("e", in_place_and_fails, at(2));
    registry.register("e", recording_data(&log), at(3));
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(log.lines(), [r#"{"a":1}"#]);
    assert_eq!(object(&emission.data), json!({"a": 1}));
}

#[test]
fn e_37_emit_does_not_change_the_callers_map_or_the_defaults() {
    let registry = HookRegistry::new();
    let defaults = Arc::new(map(json!({"d": 1})));
    registry.set_default_fields(Arc::clone(&defaults));
    registry.register(
        "e",
        returning(HookResult::set("a", 2).and_set("d", 2)),
        plain(),
    );
    let given = Arc::new(map(json!({"a": 1})));
    let emission = block_on(emit(&registry, "e", &given));
    assert_eq!(object(&emission.data), json!({"d": 2, "a": 2}));
    assert_eq!(object(&given), json!({"a": 1}));
    assert_eq!(object(&defaults), json!({"d": 1}));
    let unchanged = block_on(emit(&registry, "other", ()));
    assert_eq!(object(&unchanged.data), json!({"d": 1}));
}

#[tokio::test]
async fn e_38_an_invalid_output_is_ignored_with_a_warning() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let invalid = HookResult::ask_user("Sure?").approval_timeout(f64::NAN);
    registry.register("e", returning(invalid), at(1).name("asks_badly"));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    let (emission, lines) = capture_logs(emit(&registry, "e", ())).await;
    assert_eq!(log.lines(), ["after"]);
    assert_eq!(emission.failures.len(), 1);
    assert_eq!(emission.failures[0].failure.kind(), "invalid");
    assert!(has_line(&lines, "WARN", &["asks_badly"]), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn e_39_emit_has_no_timeout() {
    let registry = HookRegistry::new();
    let slow = |_: Arc<str>, _: Arc<Map>| async {
        tokio::time::sleep(Duration::from_secs(60 * 60 * 24)).await;
        HookResult::set("done", true)
    };
    registry.register("e", slow, plain());
    let emission = emit(&registry, "e", ()).await;
    assert_eq!(emission.data["done"], true);
    assert!(emission.failures.is_empty());
}

#[tokio::test(start_paused = true)]
async fn e_39_an_entry_can_have_its_own_timeout() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let slow = |_: Arc<str>, _: Arc<Map>| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        HookResult::set("done", true)
    };
    registry.register(
        "e",
        slow,
        at(1).name("slow").timeout(Duration::from_secs(1)),
    );
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    let emission = emit(&registry, "e", ()).await;
    assert_eq!(log.lines(), ["after"]);
    assert!(emission.data.is_empty());
    assert_eq!(emission.failures[0].failure.kind(), "timeout");
}

#[test]
fn e_40_no_timestamp_is_added_by_default() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let defaults = json!({"session_id": "sess_123", "user_id": "user_456"});
    registry.set_default_fields(map(defaults));
    registry.register("tool:pre", recording_data(&log), plain());
    let emission = block_on(emit(
        &registry,
        "tool:pre",
        json!({"tool_name": "calculator"}),
    ));
    let expected =
        json!({"session_id": "sess_123", "user_id": "user_456", "tool_name": "calculator"});
    assert_eq!(log.lines()[0].parse::<Value>().unwrap(), expected);
    assert_eq!(object(&emission.data), expected);
}

#[test]
fn e_40_set_timestamps_adds_timestamps() {
    let registry = HookRegistry::new();
    registry.set_timestamps(true);
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    let stamp = emission.data["timestamp"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(stamp.ends_with('Z') || stamp.ends_with("+00:00"), "{stamp}");
    let emission = block_on(emit(&registry, "e", json!({"timestamp": "mine"})));
    assert_eq!(emission.data["timestamp"], "mine");
    registry.set_timestamps(false);
    assert!(block_on(emit(&registry, "e", ())).data.is_empty());
}

#[test]
fn e_41_unit_none_and_null_are_empty_data() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", recording_data(&log), plain());
    block_on(emit(&registry, "e", ()));
    block_on(emit(&registry, "e", Value::Null));
    block_on(emit(&registry, "e", None::<Map>));
    block_on(emit(&registry, "e", Map::new()));
    assert_eq!(log.lines(), ["{}"; 4]);
}

#[test]
fn e_41_data_that_are_not_an_object_are_an_error_before_any_hook() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("e", recording_data(&log), plain());
    for value in [
        json!([1]),
        json!([]),
        json!(1),
        json!(1.5),
        json!("text"),
        json!(true),
    ] {
        for event in ["e", "without hooks"] {
            let error = block_on(registry.emit(event, value.clone())).unwrap_err();
            assert!(
                matches!(error, EmitError::NotAnObject { .. }),
                "{value}: {error}"
            );
            assert!(error.emission().is_none());
        }
    }
    assert!(log.lines().is_empty());
}

#[test]
fn e_42_dropping_an_emission_drops_the_running_hook_and_runs_no_other() {
    let (registry, log, dropped) = (HookRegistry::new(), Log::new(), Dropped::default());
    let (writing, drops) = (log.clone(), dropped.clone());
    let hangs = move |_: Arc<str>, _: Arc<Map>| {
        let (log, guard) = (writing.clone(), drops.guard());
        async move {
            log.add("starts");
            std::future::pending::<()>().await;
            log.add("ends");
            drop(guard);
            HookResult::proceed()
        }
    };
    registry.register("e", hangs, at(1));
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    {
        let mut emission = pin!(registry.emit("e", ()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(emission.as_mut().poll(&mut context).is_pending());
        assert!(!dropped.is_set());
    }
    assert!(dropped.is_set());
    assert_eq!(log.lines(), ["starts"]);
}

#[test]
fn e_42_the_registry_is_usable_after_a_dropped_emission() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let first = Arc::new(AtomicUsize::new(0));
    let hangs_once = move |_: Arc<str>, _: Arc<Map>| {
        let is_first = first.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if is_first {
                std::future::pending::<()>().await;
            }
            HookResult::proceed()
        }
    };
    registry.register("e", hangs_once, at(1));
    {
        let mut emission = pin!(registry.emit("e", ()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(emission.as_mut().poll(&mut context).is_pending());
    }
    registry.register("e", logging(&log, "after", HookResult::proceed()), at(2));
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["after"]);
}

#[tokio::test]
async fn e_42_a_detached_emission_completes_without_its_caller() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let (done, is_done) = tokio::sync::oneshot::channel();
    let done = std::sync::Mutex::new(Some(done));
    let slow = |_: Arc<str>, _: Arc<Map>| async {
        yield_once().await;
        HookResult::proceed()
    };
    registry.register("session:end", slow, at(1));
    registry.register(
        "session:end",
        logging(&log, "cleanup", HookResult::proceed()),
        at(2),
    );
    let last = move |_: Arc<str>, _: Arc<Map>| {
        done.lock().unwrap().take().unwrap().send(()).unwrap();
        HookResult::proceed()
    };
    registry.register("session:end", last, at(3));
    drop(registry.emit_detached("session:end", ()));
    is_done.await.unwrap();
    assert_eq!(log.lines(), ["cleanup"]);
}

#[test]
fn e_43_handlers_can_emit_recursively() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let (inner, writing) = (registry.clone(), log.clone());
    let recursive = move |_: Arc<str>, data: Arc<Map>| {
        let (registry, log) = (inner.clone(), writing.clone());
        async move {
            let depth = data["depth"].as_u64().unwrap();
            log.add(format!("{depth} begins"));
            if depth < 3 {
                let emission: std::pin::Pin<Box<dyn Future<Output = _> + Send>> =
                    Box::pin(async move { registry.emit("e", json!({"depth": depth + 1})).await });
                assert_eq!(emission.await.unwrap().action, Action::Continue);
            }
            log.add(format!("{depth} ends"));
            HookResult::proceed()
        }
    };
    registry.register("e", recursive, plain());
    block_on(emit(&registry, "e", json!({"depth": 1})));
    let expected = [
        "1 begins", "2 begins", "3 begins", "3 ends", "2 ends", "1 ends",
    ];
    assert_eq!(log.lines(), expected);
}

#[test]
fn e_43_a_pending_handler_holds_no_lock() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        std::future::pending::<()>().await;
        HookResult::proceed()
    };
    let registration = registry.register("e", hangs, named("hangs"));
    let mut emission = pin!(registry.emit("e", ()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(emission.as_mut().poll(&mut context).is_pending());
    registry.set_default_fields(map(json!({"d": 1})));
    registry.register("other", recording_data(&log), plain());
    assert_eq!(registry.list_handlers(Some("e"))["e"], ["hangs"]);
    block_on(emit(&registry, "other", ()));
    assert_eq!(log.lines(), [r#"{"d":1}"#]);
    assert!(registration.unregister());
}

#[test]
fn e_44_emit_completes_after_the_last_hook() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let writing = log.clone();
    let slow = move |_: Arc<str>, _: Arc<Map>| {
        let log = writing.clone();
        async move {
            for _ in 0..100 {
                yield_once().await;
            }
            log.add("hook");
            HookResult::proceed()
        }
    };
    registry.register("e", slow, plain());
    block_on(async {
        emit(&registry, "e", ()).await;
        log.add("caller");
    });
    assert_eq!(log.lines(), ["hook", "caller"]);
}

/// Records the fields `a`, `b` and `d` as a borrowing hook reads them.
fn recording_fields(log: &Log) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |event: Event<'_>| {
        log.add(
            ["a", "b", "d"]
                .map(|field| format!("{:?}", event.get(field)))
                .join(" "),
        );
        HookResult::proceed()
    }
}

#[test]
fn e_25_borrowing_hooks_see_set_and_replaced_fields() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"d": 1})));
    registry.register("e", recording_fields(&log), at(1));
    registry.register(
        "e",
        returning(HookResult::set("a", 2).and_set("d", 2)),
        at(2),
    );
    registry.register("e", recording_fields(&log), at(3));
    registry.register(
        "e",
        returning(HookResult::modify(map(json!({"b": 3})))),
        at(4),
    );
    registry.register("e", recording_fields(&log), at(5));
    registry.register("e", returning(HookResult::set("a", 4)), at(6));
    registry.register("e", recording_fields(&log), at(7));
    block_on(emit(&registry, "e", json!({"a": 1})));
    let expected = [
        "Some(Number(1)) None Some(Number(1))",
        "Some(Number(2)) None Some(Number(2))",
        "None Some(Number(3)) None",
        "Some(Number(4)) Some(Number(3)) None",
    ];
    assert_eq!(log.lines(), expected);
}

#[test]
fn e_25_one_output_can_replace_data_and_set_fields() {
    let registry = HookRegistry::new();
    let both = HookResult::modify(map(json!({"a": 2, "b": 2}))).and_set("b", 3);
    registry.register("e", returning(both), plain());
    let emission = block_on(emit(&registry, "e", json!({"z": 0})));
    assert_eq!(object(&emission.data), json!({"a": 2, "b": 3}));
}

#[test]
fn e_37_data_kept_by_a_handler_do_not_change_later() {
    let (registry, kept) = (HookRegistry::new(), Arc::new(std::sync::Mutex::new(None)));
    let keeping = Arc::clone(&kept);
    let keeps = move |_: Arc<str>, data: Arc<Map>| {
        *keeping.lock().unwrap() = Some(data);
        HookResult::proceed()
    };
    registry.register("e", keeps, at(1));
    registry.register("e", returning(HookResult::set("a", 2)), at(2));
    block_on(emit(&registry, "e", json!({"a": 1})));
    let kept = kept.lock().unwrap().take().unwrap();
    assert_eq!(object(&kept), json!({"a": 1}));
}
