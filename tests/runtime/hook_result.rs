//! `HookResult` as a value and as JSON (E-90 to E-97).

use std::collections::BTreeSet;

use futures::executor::block_on;
use hooks_runtime::{
    Action, ApprovalDefault, Changes, ContextRole, HookRegistry, HookResult, Map, MessageLevel,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{emit, map, plain, returning};

/// The fields of the seed; `changes` is ours.
const FIELDS: [&str; 14] = [
    "action",
    "data",
    "reason",
    "context_injection",
    "context_injection_role",
    "ephemeral",
    "append_to_last_tool_result",
    "approval_prompt",
    "approval_options",
    "approval_timeout",
    "approval_default",
    "suppress_output",
    "user_message",
    "user_message_level",
];

fn known() -> Vec<&'static str> {
    FIELDS.into_iter().chain(["changes"]).collect()
}

const ACTIONS: [Action; 5] = [
    Action::Continue,
    Action::Deny,
    Action::Modify,
    Action::InjectContext,
    Action::AskUser,
];

fn read(value: Value) -> Result<HookResult, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Every field with another value than its default.
fn full() -> Value {
    json!({
        "action": "ask_user",
        "data": {"a": [1, null, {"b": "c"}]},
        "reason": "Preventing accidental data loss",
        "context_injection": "text",
        "context_injection_role": "assistant",
        "ephemeral": true,
        "append_to_last_tool_result": true,
        "approval_prompt": "Overwrite?",
        "approval_options": ["Overwrite", "Create backup and overwrite", "Cancel"],
        "approval_timeout": 120.5,
        "approval_default": "allow",
        "suppress_output": true,
        "user_message": "told",
        "user_message_level": "warning",
    })
}

#[test]
fn e_90_an_empty_object_is_continue() {
    assert_eq!(read(json!({})).unwrap(), HookResult::proceed());
    assert_eq!(
        read(json!({"action": "continue"})).unwrap(),
        HookResult::default()
    );
    assert_eq!(HookResult::default(), HookResult::proceed());
}

#[test]
fn e_90_the_json_form_has_exactly_the_specified_fields() {
    let written = serde_json::to_value(read(full()).unwrap()).unwrap();
    let keys: BTreeSet<_> = written
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, BTreeSet::from(FIELDS));
    let written = serde_json::to_value(HookResult::default()).unwrap();
    for key in written.as_object().unwrap().keys() {
        assert!(FIELDS.contains(&&**key), "{key}");
    }
}

#[test]
fn e_90_each_field_is_optional() {
    for field in FIELDS {
        let mut value = full();
        let left_out = value.as_object_mut().unwrap().shift_remove(field);
        assert!(left_out.is_some());
        let result = read(value).unwrap_or_else(|error| panic!("without {field}: {error}"));
        let written = serde_json::to_value(&result).unwrap();
        let default = serde_json::to_value(HookResult::default()).unwrap();
        assert_eq!(written.get(field), default.get(field), "{field}");
    }
}

#[test]
fn e_91_the_defaults_are_those_of_the_specification() {
    let result = HookResult::default();
    assert_eq!(result.action, Action::Continue);
    assert_eq!(
        (result.data, result.reason, result.context_injection),
        (None, None, None)
    );
    assert_eq!(result.context_injection_role, ContextRole::System);
    assert!(!result.ephemeral && !result.append_to_last_tool_result && !result.suppress_output);
    assert_eq!(
        (result.approval_prompt, result.approval_options),
        (None, None)
    );
    assert_eq!(result.approval_timeout, 300.0);
    assert_eq!(result.approval_default, ApprovalDefault::Deny);
    assert_eq!(
        (result.user_message, result.user_message_level),
        (None, MessageLevel::Info)
    );
}

#[test]
fn e_92_the_enum_names_are_those_of_the_specification() {
    let value_of = |field: &str, name: &str| read(json!({field: name})).unwrap();
    for (name, action) in [
        ("continue", Action::Continue),
        ("deny", Action::Deny),
        ("modify", Action::Modify),
        ("inject_context", Action::InjectContext),
        ("ask_user", Action::AskUser),
    ] {
        assert_eq!(value_of("action", name).action, action);
        assert_eq!(serde_json::to_value(action).unwrap(), name);
        assert_eq!(action.to_string(), name);
    }
    for (name, role) in [
        ("system", ContextRole::System),
        ("user", ContextRole::User),
        ("assistant", ContextRole::Assistant),
    ] {
        assert_eq!(
            value_of("context_injection_role", name).context_injection_role,
            role
        );
    }
    for (name, default) in [
        ("allow", ApprovalDefault::Allow),
        ("deny", ApprovalDefault::Deny),
    ] {
        assert_eq!(value_of("approval_default", name).approval_default, default);
    }
    for (name, level) in [
        ("info", MessageLevel::Info),
        ("warning", MessageLevel::Warning),
        ("error", MessageLevel::Error),
    ] {
        assert_eq!(
            value_of("user_message_level", name).user_message_level,
            level
        );
    }
}

#[test]
fn e_92_every_field_is_deserialized() {
    let result = read(full()).unwrap();
    assert_eq!(result.action, Action::AskUser);
    assert_eq!(result.data, Some(map(json!({"a": [1, null, {"b": "c"}]}))));
    assert_eq!(
        result.reason.as_deref(),
        Some("Preventing accidental data loss")
    );
    assert_eq!(result.context_injection.as_deref(), Some("text"));
    assert_eq!(result.context_injection_role, ContextRole::Assistant);
    assert!(result.ephemeral && result.append_to_last_tool_result && result.suppress_output);
    assert_eq!(result.approval_prompt.as_deref(), Some("Overwrite?"));
    let options = ["Overwrite", "Create backup and overwrite", "Cancel"];
    assert_eq!(
        result.approval_options.as_deref(),
        Some(&options.map(str::to_owned)[..])
    );
    assert_eq!(result.approval_timeout, 120.5);
    assert_eq!(result.approval_default, ApprovalDefault::Allow);
    assert_eq!(result.user_message.as_deref(), Some("told"));
    assert_eq!(result.user_message_level, MessageLevel::Warning);
    assert_eq!(result.extra, None);
}

/// Invalid values, by field.
fn wrong() -> Vec<(&'static str, Value)> {
    let texts = [json!(1), json!(true), json!(["x"]), json!({"x": 1})];
    let bools = [
        json!(2),
        json!("maybe"),
        json!([true]),
        json!({}),
        json!(null),
    ];
    let names = [
        json!("unknown"),
        json!(""),
        json!(1),
        json!(true),
        json!(["deny"]),
        json!({"deny": null}),
    ];
    let mut all = Vec::new();
    for field in [
        "reason",
        "context_injection",
        "approval_prompt",
        "user_message",
    ] {
        all.extend(texts.iter().cloned().map(|value| (field, value)));
    }
    for field in ["ephemeral", "append_to_last_tool_result", "suppress_output"] {
        all.extend(bools.iter().cloned().map(|value| (field, value)));
    }
    for field in [
        "action",
        "context_injection_role",
        "approval_default",
        "user_message_level",
    ] {
        all.extend(names.iter().cloned().map(|value| (field, value)));
        all.push((field, Value::Null));
    }
    for value in [
        json!([]),
        json!("x"),
        json!(1),
        json!(true),
        json!([["a", 1]]),
    ] {
        all.push(("data", value));
    }
    for value in [
        json!([["a", 1]]),
        json!([1]),
        json!("x"),
        json!(1),
        json!(false),
    ] {
        all.push(("changes", value));
    }
    for value in [
        json!("Allow"),
        json!([1]),
        json!(["a", null]),
        json!({"a": "b"}),
        json!(1),
    ] {
        all.push(("approval_options", value));
    }
    for value in [
        json!("soon"),
        json!([1]),
        json!({}),
        json!(true),
        json!(null),
        json!("NaN"),
    ] {
        all.push(("approval_timeout", value));
    }
    all
}

#[test]
fn e_93_a_wrong_type_is_an_error_that_names_the_field() {
    let tried: BTreeSet<_> = wrong().into_iter().map(|(field, _)| field).collect();
    assert_eq!(tried, known().into_iter().collect(), "every field is tried");
    for (field, value) in wrong() {
        let error = read(json!({field: value})).expect_err(&format!("{field}: {value}"));
        assert!(error.contains(field), "{field}: {value}: {error}");
        let error = HookResult::from_map(map(json!({field: value}))).unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn e_93_a_duplicate_field_is_an_error_that_names_the_field() {
    for field in known() {
        let text = format!(r#"{{"{field}": null, "user": 1, "{field}": null}}"#);
        let error = serde_json::from_str::<HookResult>(&text).unwrap_err();
        let expected = format!("field `{field}` is there twice");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn e_93_the_error_names_the_only_invalid_field() {
    for (field, value) in wrong() {
        let mut given = map(full());
        given.insert(field.to_owned(), value);
        assert_eq!(HookResult::from_map(given).unwrap_err().field, field);
    }
}

#[test]
fn e_93_a_wrong_type_is_an_error_with_any_action() {
    for action in ACTIONS.map(Action::name) {
        for (field, value) in wrong().into_iter().filter(|(field, _)| *field != "action") {
            let error = HookResult::from_map(map(json!({"action": action, field: value})));
            assert_eq!(error.unwrap_err().field, field, "{action}");
        }
    }
}

#[test]
fn e_93_enum_names_are_matched_exactly() {
    for name in [
        "Deny",
        "DENY",
        " deny",
        "injectContext",
        "inject-context",
        "ask",
    ] {
        let error = read(json!({"action": name})).unwrap_err();
        assert!(error.contains("action"), "{error}");
    }
}

#[test]
fn e_93_json_other_than_an_object_is_an_error() {
    for value in [json!(null), json!([]), json!("deny"), json!(true), json!(1)] {
        assert!(read(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn e_93_null_is_none_for_optional_fields() {
    let fields = [
        "data",
        "reason",
        "context_injection",
        "approval_prompt",
        "approval_options",
        "user_message",
        "changes",
    ];
    for field in fields {
        assert_eq!(
            read(json!({field: null})).unwrap(),
            HookResult::default(),
            "{field}"
        );
    }
}

#[test]
fn e_94_fields_of_other_actions_are_accepted_and_ignored() {
    let odd = json!({
        "action": "continue",
        "approval_prompt": "Sure?",
        "approval_options": ["Yes"],
        "context_injection": "text",
        "data": {"b": 2},
        "append_to_last_tool_result": true,
    });
    let registry = HookRegistry::new();
    registry.register("e", returning(read(odd).unwrap()), plain());
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(emission.action, Action::Continue);
    assert!(emission.injections.is_empty());
    assert_eq!(Value::Object(Map::clone(&emission.data)), json!({"a": 1}));
}

#[test]
fn e_95_a_negative_timeout_is_rejected() {
    for seconds in [json!(-1), json!(-0.001), json!(f64::MIN)] {
        let error = read(json!({"approval_timeout": seconds})).unwrap_err();
        assert!(error.contains("approval_timeout"), "{error}");
    }
}

#[test]
fn e_95_an_infinite_timeout_is_rejected() {
    assert!(serde_json::from_str::<HookResult>(r#"{"approval_timeout": 1e999}"#).is_err());
    assert!(serde_json::from_str::<HookResult>(r#"{"approval_timeout": NaN}"#).is_err());
    assert!(serde_json::from_str::<HookResult>(r#"{"approval_timeout": Infinity}"#).is_err());
}

#[test]
fn e_95_integer_and_zero_timeouts_are_accepted() {
    assert_eq!(
        read(json!({"approval_timeout": 30}))
            .unwrap()
            .approval_timeout,
        30.0
    );
    assert_eq!(
        read(json!({"approval_timeout": 0}))
            .unwrap()
            .approval_timeout,
        0.0
    );
}

#[test]
fn e_95_an_invalid_timeout_is_not_serialized_as_a_valid_one() {
    for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        let result = HookResult::ask_user("Sure?").approval_timeout(seconds);
        let back = serde_json::to_value(result)
            .ok()
            .and_then(|value| read(value).ok());
        assert_eq!(back, None, "{seconds}");
    }
}

#[test]
fn e_95_an_output_with_an_invalid_timeout_is_a_failure() {
    for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        let registry = HookRegistry::new();
        let asks = HookResult::ask_user("Sure?").approval_timeout(seconds);
        registry.register("e", returning(asks), plain());
        let emission = block_on(emit(&registry, "e", ()));
        assert_eq!(emission.failures[0].failure.kind(), "invalid", "{seconds}");
        let text = emission.failures[0].failure.to_string();
        assert!(text.contains("approval_timeout"), "{text}");
    }
}

#[test]
fn e_95_the_result_of_an_emission_has_a_valid_timeout() {
    for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        let registry = HookRegistry::new();
        let asks = HookResult::ask_user("Sure?").approval_timeout(seconds);
        registry.register("e", returning(asks), plain());
        let emission = block_on(emit(&registry, "e", ()));
        let given = emission.result().approval_timeout;
        assert!(
            given.is_finite() && given >= 0.0,
            "{seconds} came through as {given}"
        );
    }
}

#[test]
fn e_96_unknown_keys_round_trip() {
    let mut value = full();
    value["user_message_source"] = json!("linter");
    value["extensions"] = json!({"a": [1, {"b": null}]});
    value["nothing"] = json!(null);
    let result = read(value.clone()).unwrap();
    let extra = result.extra.as_deref().unwrap();
    assert_eq!(extra["user_message_source"], "linter");
    assert_eq!(serde_json::to_value(result).unwrap(), value);
}

#[test]
fn e_96_unknown_keys_can_have_any_name() {
    for key in ["extra", "Changes", "", "Action", "action ", "type"] {
        let value = json!({"action": "modify", key: {"a": 1}});
        let result = read(value).unwrap_or_else(|error| panic!("{key:?}: {error}"));
        let written = serde_json::to_value(result).unwrap();
        assert_eq!(written.get(key), Some(&json!({"a": 1})), "{key:?}");
    }
}

#[test]
fn e_96_changes_of_single_fields_round_trip() {
    let result = HookResult::set("a", 1)
        .and_set("b", json!([null]))
        .reason("why");
    for action in ACTIONS {
        let result = HookResult {
            action,
            ..result.clone()
        };
        let written = serde_json::to_string(&result).unwrap();
        let back: HookResult = serde_json::from_str(&written).unwrap();
        assert_eq!(back, result);
        assert_eq!(back.extra, None, "{action}");
    }
}

#[test]
fn e_53_deserialized_changes_are_collected_like_native_changes() {
    for action in ACTIONS {
        let answer = HookResult {
            action,
            ..HookResult::set("a", 1)
        };
        let answer_read = read(json!({"action": action, "changes": {"a": 1}})).unwrap();
        for answer in [answer, answer_read] {
            let registry = HookRegistry::new();
            registry.register("e", returning(answer), plain());
            let all = block_on(registry.emit_and_collect("e", (), HookRegistry::COLLECT_TIMEOUT));
            assert_eq!(all, [map(json!({"a": 1}))], "{action}");
        }
    }
}

#[test]
fn e_94_changes_apply_to_an_emission_only_with_modify() {
    for action in ACTIONS {
        let registry = HookRegistry::new();
        let answer = read(json!({"action": action, "changes": {"a": 1}})).unwrap();
        registry.register("e", returning(answer), plain());
        let emission = block_on(emit(&registry, "e", json!({"a": 0})));
        let a = i32::from(action == Action::Modify);
        assert_eq!(emission.data["a"], a, "{action}");
        assert_eq!(emission.failures.len(), 0, "{action}");
    }
}

#[test]
fn e_97_every_action_can_have_a_reason() {
    for action in ["continue", "deny", "modify", "inject_context", "ask_user"] {
        let result = read(json!({"action": action, "reason": "why"})).unwrap();
        assert_eq!(
            (result.action.name(), result.reason.as_deref()),
            (action, Some("why"))
        );
    }
}

#[test]
fn e_97_an_emission_contains_the_reason_of_a_denial() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::deny("Security policy violation")),
        plain(),
    );
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.reason(), Some("Security policy violation"));
    assert_eq!(
        emission.result().reason.as_deref(),
        Some("Security policy violation")
    );
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner).prop_map(Value::Object),
        ]
    })
}

fn fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map> {
    prop::collection::vec((any::<String>(), value), 0..4).prop_map(|all| all.into_iter().collect())
}

fn text() -> impl Strategy<Value = Option<String>> {
    prop::option::of(any::<String>())
}

fn hook_result() -> impl Strategy<Value = HookResult> {
    let roles = vec![
        ContextRole::System,
        ContextRole::User,
        ContextRole::Assistant,
    ];
    let levels = vec![
        MessageLevel::Info,
        MessageLevel::Warning,
        MessageLevel::Error,
    ];
    let defaults = vec![ApprovalDefault::Allow, ApprovalDefault::Deny];
    let core = (
        prop::sample::select(ACTIONS.to_vec()),
        prop::option::of(fields(json_value())),
        text(),
        text(),
        prop::sample::select(roles),
        any::<[bool; 3]>(),
    );
    let rest = (
        text(),
        prop::option::of(prop::collection::vec(any::<String>(), 0..4)),
        (0u32..=4_000_000).prop_map(|quarters| f64::from(quarters) / 4.0),
        prop::sample::select(defaults),
        text(),
        prop::sample::select(levels),
        prop::collection::vec(("x_[a-z]{1,6}", json_value()), 0..3),
        prop::collection::vec((any::<String>(), json_value()), 0..4),
    );
    (core, rest).prop_map(|(core, rest)| {
        let extra: Map = rest.6.into_iter().collect();
        let mut changes = Changes::new();
        for (field, value) in rest.7 {
            changes.set(field, value);
        }
        HookResult {
            action: core.0,
            data: core.1,
            reason: core.2,
            context_injection: core.3,
            context_injection_role: core.4,
            ephemeral: core.5[0],
            append_to_last_tool_result: core.5[1],
            suppress_output: core.5[2],
            approval_prompt: rest.0,
            approval_options: rest.1,
            approval_timeout: rest.2,
            approval_default: rest.3,
            user_message: rest.4,
            user_message_level: rest.5,
            changes,
            extra: (!extra.is_empty()).then(|| Box::new(extra)),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_96_arbitrary_results_round_trip_through_json(result in hook_result()) {
        let written = serde_json::to_string(&result).unwrap();
        let back: HookResult = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&back, &result);
        let value = serde_json::to_value(&result).unwrap();
        prop_assert_eq!(HookResult::from_map(map(value)).unwrap(), result);
    }

    #[test]
    fn e_93_accepted_fields_round_trip_and_errors_name_a_given_field(
        given in prop::collection::vec((prop::sample::select(known()), json_value()), 0..4),
    ) {
        let given: Map = given.into_iter().map(|(field, value)| (field.to_owned(), value)).collect();
        match HookResult::from_map(given.clone()) {
            Ok(result) => {
                let written = serde_json::to_value(&result).unwrap();
                prop_assert_eq!(read(written).unwrap(), result);
            }
            Err(error) => prop_assert!(given.contains_key(error.field), "{}", error),
        }
    }
}

#[test]
fn e_96_an_extra_key_cannot_override_a_field() {
    let mut result = HookResult::deny("no");
    let extra = serde_json::json!({"action": "continue", "changes": {"a": 1}, "more": 1});
    result.extra = extra.as_object().cloned().map(Box::new);
    let json = serde_json::to_string(&result).unwrap();
    let back: HookResult = serde_json::from_str(&json).unwrap();
    assert_eq!(back.action, Action::Deny);
    assert!(back.changes.is_empty());
    assert_eq!(back.extra.unwrap()["more"], 1);
}
