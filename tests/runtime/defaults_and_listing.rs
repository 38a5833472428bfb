//! Default fields, listing, and the standard events (E-65 to E-80).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::phases::PostFn;
use hooks_runtime::{
    Event, FailurePolicy, HookRegistry, HookResult, Map, Phase, PhaseRegistry, events,
};
use serde_json::{Value, json};

use crate::kit::{Log, at, emit, map, named, plain, recording_data, returning, yield_once};

fn data(registry: &HookRegistry, given: Value) -> Value {
    let emission = block_on(emit(registry, "e", given));
    Value::Object(Map::clone(&emission.data))
}

fn listed(registry: &HookRegistry, event: Option<&str>) -> Vec<(String, Vec<String>)> {
    registry.list_handlers(event).into_iter().collect()
}

fn entry(event: &str, names: &[&str]) -> (String, Vec<String>) {
    (
        event.to_owned(),
        names.iter().map(|name| name.to_string()).collect(),
    )
}

#[test]
fn e_65_set_default_fields_replaces_earlier_defaults() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"a": 1, "b": 1})));
    registry.set_default_fields(map(json!({"b": 2})));
    assert_eq!(data(&registry, json!({})), json!({"b": 2}));
}

#[test]
fn e_66_setting_unit_or_an_empty_map_clears_the_defaults() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"a": 1})));
    registry.set_default_fields(());
    assert_eq!(data(&registry, json!({})), json!({}));
    registry.set_default_fields(map(json!({"a": 1})));
    registry.set_default_fields(Map::new());
    assert_eq!(data(&registry, json!({})), json!({}));
}

#[test]
fn e_66_new_defaults_apply_to_later_emissions_only() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(map(json!({"a": 1})));
    let waits = |_: Arc<str>, _: Arc<Map>| async {
        yield_once().await;
        HookResult::proceed()
    };
    registry.register("e", waits, at(1));
    registry.register("e", recording_data(&log), at(2));
    let changes = async { registry.set_default_fields(map(json!({"a": 2}))) };
    block_on(async { futures::join!(emit(&registry, "e", ()), changes) });
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), [r#"{"a":1}"#, r#"{"a":2}"#]);
}

#[test]
fn e_66_a_hook_can_set_the_defaults() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let inner = registry.clone();
    let sets = move |_: Arc<str>, _: Arc<Map>| {
        inner.set_default_fields(map(json!({"set": true})));
        HookResult::proceed()
    };
    registry.register("e", sets, at(1));
    registry.register("e", recording_data(&log), at(2));
    block_on(emit(&registry, "e", ()));
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.lines(), ["{}", r#"{"set":true}"#]);
}

#[test]
fn e_67_defaults_live_as_long_as_the_registry() {
    let registry = HookRegistry::new();
    registry.clone().set_default_fields(map(json!({"a": 1})));
    for _ in 0..3 {
        registry
            .register("e", returning(HookResult::proceed()), plain())
            .unregister();
        assert_eq!(data(&registry, json!({})), json!({"a": 1}));
    }
    assert_eq!(data(&HookRegistry::new(), json!({})), json!({}));
}

#[test]
fn e_70_names_are_listed_in_execution_order() {
    let registry = HookRegistry::new();
    registry.register(
        "tool:pre",
        returning(HookResult::proceed()),
        at(2).name("logger"),
    );
    registry.register(
        "tool:pre",
        returning(HookResult::proceed()),
        at(-1).name("validator"),
    );
    registry.register(
        "tool:pre",
        returning(HookResult::proceed()),
        at(2).name("second"),
    );
    registry.register(
        "session:start",
        returning(HookResult::proceed()),
        named("auth_check"),
    );
    let expected = BTreeMap::from([
        entry("tool:pre", &["validator", "logger", "second"]),
        entry("session:start", &["auth_check"]),
    ]);
    assert_eq!(registry.list_handlers(None), expected);
}

#[test]
fn e_71_listing_with_a_filter_returns_exactly_one_key() {
    let registry = HookRegistry::new();
    registry.register("a", returning(HookResult::proceed()), named("x"));
    registry.register("b", returning(HookResult::proceed()), named("y"));
    assert_eq!(listed(&registry, Some("a")), [entry("a", &["x"])]);
    assert_eq!(listed(&registry, Some("unknown")), [entry("unknown", &[])]);
    assert_eq!(
        listed(&HookRegistry::new(), Some("any")),
        [entry("any", &[])]
    );
}

#[test]
fn e_71_an_event_with_all_hooks_unregistered_has_an_empty_list() {
    let registry = HookRegistry::new();
    registry
        .register("a", returning(HookResult::proceed()), named("x"))
        .unregister();
    assert_eq!(listed(&registry, Some("a")), [entry("a", &[])]);
}

#[test]
fn e_72_anonymous_handlers_are_in_descriptors_but_not_in_the_list() {
    let registry = HookRegistry::new();
    registry.register("a", |_: Event<'_>| HookResult::proceed(), plain());
    registry.register("a", |_: Event<'_>| HookResult::proceed(), named("named"));
    assert_eq!(registry.list_handlers(None)["a"], ["named"]);
    let names: Vec<_> = registry
        .descriptors()
        .into_iter()
        .map(|item| item.name)
        .collect();
    assert_eq!(names, [None, Some("named".to_owned())]);
}

#[test]
fn serialised_descriptors_contain_the_fields_of_their_entries() {
    let events = HookRegistry::new();
    let options = named("named").key("k").trusted(false).enabled(false);
    events.register("a", |_: Event<'_>| HookResult::proceed(), options);
    let event = serde_json::to_value(&events.descriptors()[0]).unwrap();
    assert_eq!(event["event"], "a");
    assert_eq!(
        (&event["name"], &event["key"]),
        (&json!("named"), &json!("k"))
    );
    assert_eq!(
        (&event["trusted"], &event["disabled"]),
        (&json!(false), &json!(true))
    );
    assert_eq!((event.get("before"), event.get("enabled")), (None, None));

    let phases = PhaseRegistry::<str, str>::new();
    phases.register_post(PostFn::new("p", |_: &str, _: Option<&str>| ()), plain());
    let post = serde_json::to_value(&phases.registered_hooks(Phase::Post)[0]).unwrap();
    let expected = json!({
        "id": "p", "key": "p", "name": "p", "phase": "POST", "priority": 0,
        "on_failure": "isolate", "failures": 0,
    });
    assert_eq!(post, expected);
}

#[test]
fn e_72_an_event_with_only_anonymous_handlers_is_listed() {
    let registry = HookRegistry::new();
    registry.register(
        "custom:event",
        |_: Event<'_>| HookResult::proceed(),
        plain(),
    );
    assert_eq!(
        listed(&registry, Some("custom:event")),
        [entry("custom:event", &[])]
    );
    assert!(registry.list_handlers(None).contains_key("custom:event"));
}

#[test]
fn e_73_an_event_without_hooks_is_not_listed() {
    let registry = HookRegistry::new();
    assert!(registry.list_handlers(None).is_empty());
    let first = registry.register("custom:event", returning(HookResult::proceed()), named("x"));
    let second = registry.register("custom:event", returning(HookResult::proceed()), named("y"));
    assert!(registry.list_handlers(None).contains_key("custom:event"));
    first.unregister();
    assert!(registry.list_handlers(None).contains_key("custom:event"));
    second.unregister();
    assert!(!registry.list_handlers(None).contains_key("custom:event"));
}

#[test]
fn e_73_listing_or_emitting_an_event_does_not_create_it() {
    let registry = HookRegistry::new();
    registry.list_handlers(Some("e"));
    block_on(emit(&registry, "e", ()));
    assert!(registry.list_handlers(None).is_empty());
}

#[test]
fn e_74_an_empty_event_name_is_a_filter() {
    let registry = HookRegistry::new();
    registry.register("a", returning(HookResult::proceed()), named("x"));
    assert_eq!(listed(&registry, Some("")), [entry("", &[])]);
    registry.register("", returning(HookResult::proceed()), named("empty"));
    assert_eq!(listed(&registry, Some("")), [entry("", &["empty"])]);
}

#[test]
fn x_9_descriptors_contain_every_registration_in_execution_order() {
    let registry = HookRegistry::new();
    let second = registry.register("a", returning(HookResult::proceed()), at(2).name("second"));
    let options = at(-1).name("first").timeout(Duration::from_secs(3));
    let options = options.on_failure(FailurePolicy::FailClosed);
    let first = registry.register("a", returning(HookResult::proceed()), options);
    let all = registry.descriptors();
    assert_eq!([all[0].id, all[1].id], [first.id(), second.id()]);
    assert_eq!((&*all[0].event, all[0].priority), ("a", -1));
    assert_eq!(all[0].timeout, Some(Duration::from_secs(3)));
    assert_eq!(all[0].on_failure, FailurePolicy::FailClosed);
    assert_eq!(
        (all[1].timeout, all[1].on_failure),
        (None, FailurePolicy::Isolate)
    );
}

#[test]
fn e_80_the_standard_events_have_the_specified_names() {
    let all = [
        (
            HookRegistry::SESSION_START,
            events::SESSION_START,
            "session:start",
        ),
        (
            HookRegistry::SESSION_END,
            events::SESSION_END,
            "session:end",
        ),
        (
            HookRegistry::PROMPT_SUBMIT,
            events::PROMPT_SUBMIT,
            "prompt:submit",
        ),
        (HookRegistry::TOOL_PRE, events::TOOL_PRE, "tool:pre"),
        (HookRegistry::TOOL_POST, events::TOOL_POST, "tool:post"),
        (
            HookRegistry::CONTEXT_PRE_COMPACT,
            events::CONTEXT_PRE_COMPACT,
            "context:pre-compact",
        ),
        (
            HookRegistry::AGENT_SPAWN,
            events::AGENT_SPAWN,
            "agent:spawn",
        ),
        (
            HookRegistry::AGENT_COMPLETE,
            events::AGENT_COMPLETE,
            "agent:complete",
        ),
        (
            HookRegistry::ORCHESTRATOR_COMPLETE,
            events::ORCHESTRATOR_COMPLETE,
            "orchestrator:complete",
        ),
        (
            HookRegistry::USER_NOTIFICATION,
            events::USER_NOTIFICATION,
            "user:notification",
        ),
        (
            HookRegistry::DECISION_TOOL_RESOLUTION,
            events::DECISION_TOOL_RESOLUTION,
            "decision:tool_resolution",
        ),
        (
            HookRegistry::DECISION_AGENT_RESOLUTION,
            events::DECISION_AGENT_RESOLUTION,
            "decision:agent_resolution",
        ),
        (
            HookRegistry::DECISION_CONTEXT_RESOLUTION,
            events::DECISION_CONTEXT_RESOLUTION,
            "decision:context_resolution",
        ),
        (HookRegistry::ERROR_TOOL, events::ERROR_TOOL, "error:tool"),
        (
            HookRegistry::ERROR_PROVIDER,
            events::ERROR_PROVIDER,
            "error:provider",
        ),
        (
            HookRegistry::ERROR_ORCHESTRATION,
            events::ERROR_ORCHESTRATION,
            "error:orchestration",
        ),
    ];
    assert_eq!(all.map(|(_, _, name)| name), events::STANDARD);
    for (of_the_registry, of_the_module, name) in all {
        assert_eq!((of_the_registry, of_the_module), (name, name));
    }
}
