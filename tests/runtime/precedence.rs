//! Which output wins, and that contributions of the others are kept (the questions of section 0;
//! E-34, E-35).
//!
//! Of section 0, approval options, slots that return `()` and the classifier's timeout are tested
//! elsewhere.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    Action, ContextRole, Emission, HookError, HookRegistry, HookResponse, HookResult, Map,
    MessageLevel, PhaseRegistry, ResponseAction,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{Log, at, emit, map, named, plain, returning};

fn contents(emission: &Emission) -> Vec<&str> {
    emission
        .injections
        .iter()
        .map(|item| &*item.content)
        .collect()
}

fn messages(emission: &Emission) -> Vec<(&str, MessageLevel, &str)> {
    let messages = emission.messages.iter();
    messages
        .map(|item| (&*item.text, item.level, &*item.hook))
        .collect()
}

#[test]
fn section_0_1_a_modify_chain_ends_as_modify_with_the_final_data() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), at(1).name("one"));
    registry.register("e", returning(HookResult::set("b", 2)), at(2).name("two"));
    registry.register("e", returning(HookResult::proceed()), at(3).name("three"));
    let emission = block_on(emit(&registry, "e", ()));
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(emission.decided_by.as_deref(), Some("two"));
    assert_eq!(emission.result().data, Some(map(json!({"a": 1, "b": 2}))));
}

#[tokio::test(start_paused = true)]
async fn section_0_2_a_collection_is_concurrent_with_defaults_and_in_priority_order() {
    let registry = HookRegistry::new();
    registry.set_default_fields(map(json!({"d": 1})));
    for (priority, seconds) in [(1, 3), (2, 2), (3, 1)] {
        let handler = move |_: Arc<str>, data: Arc<Map>| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            let mut data = Map::clone(&data);
            data.insert("priority".to_owned(), priority.into());
            HookResult::modify(data)
        };
        registry.register("e", handler, at(priority));
    }
    let begin = tokio::time::Instant::now();
    let all = registry
        .emit_and_collect("e", (), Duration::from_secs(10))
        .await;
    assert!(
        begin.elapsed() < Duration::from_secs(6),
        "{:?}",
        begin.elapsed()
    );
    let expected = [1, 2, 3].map(|priority| map(json!({"d": 1, "priority": priority})));
    assert_eq!(all, expected);
}

/// Changes, injects, asks and sends a message, then returns the strongest action last.
fn all_contributions(strongest: HookResult) -> HookRegistry {
    let registry = HookRegistry::new();
    let change = HookResult::modify(map(json!({"changed": 1}))).user_message("changed");
    registry.register("e", returning(change), at(1).name("changes"));
    let injection = HookResult::inject_context("first").user_message("injected");
    registry.register("e", returning(injection), at(2).name("injects"));
    let told = HookResult::proceed().user_message("went on");
    let told = told.user_message_level(MessageLevel::Warning);
    registry.register("e", returning(told), at(3).name("proceeds"));
    registry.register(
        "e",
        returning(HookResult::inject_context("second")),
        at(4).name("injects"),
    );
    registry.register("e", returning(strongest), at(5).name("strongest"));
    registry
}

#[test]
fn section_0_3_a_stronger_action_keeps_data_injections_and_messages() {
    let info = MessageLevel::Info;
    for strongest in [
        HookResult::deny("no").user_message("strongest"),
        HookResult::ask_user("Sure?").user_message("strongest"),
        HookResult::inject_context("third").user_message("strongest"),
    ] {
        let emission = block_on(emit(
            &all_contributions(strongest.clone()),
            "e",
            json!({"a": 1}),
        ));
        assert_eq!(emission.action, strongest.action);
        assert_eq!(
            Value::Object(Map::clone(&emission.data)),
            json!({"changed": 1})
        );
        assert_eq!(contents(&emission)[..2], ["first", "second"]);
        let expected = [
            ("changed", info, "changes"),
            ("injected", info, "injects"),
            ("went on", MessageLevel::Warning, "proceeds"),
            ("strongest", info, "strongest"),
        ];
        assert_eq!(messages(&emission), expected);
    }
}

#[test]
fn section_0_3_outputs_after_ask_user_are_kept() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::ask_user("Sure?")),
        at(1).name("asks"),
    );
    registry.register(
        "e",
        returning(HookResult::set("a", 2).user_message("m")),
        at(2).name("sets"),
    );
    registry.register(
        "e",
        returning(HookResult::inject_context("i")),
        at(3).name("injects"),
    );
    let emission = block_on(emit(&registry, "e", json!({"a": 1})));
    assert_eq!(emission.action, Action::AskUser);
    assert_eq!(emission.data["a"], 2);
    assert_eq!(contents(&emission), ["i"]);
    assert_eq!(messages(&emission), [("m", MessageLevel::Info, "sets")]);
}

#[test]
fn section_0_4_injections_keep_role_lifetime_placement_and_provenance() {
    let registry = HookRegistry::new();
    let first = HookResult::inject_context("one").context_injection_role(ContextRole::User);
    registry.register("e", returning(first), at(1).name("first"));
    let second = HookResult::inject_context("two").ephemeral(true);
    registry.register(
        "e",
        returning(second.append_to_last_tool_result(true)),
        at(2).name("second"),
    );
    let emission = block_on(emit(&registry, "e", ()));
    let [one, two] = &emission.injections[..] else {
        panic!("two injections")
    };
    assert_eq!((one.role, one.ephemeral), (ContextRole::User, false));
    assert!(!one.append_to_last_tool_result);
    assert_eq!(
        (&*one.provenance.hook, &*one.provenance.event),
        ("first", "e")
    );
    assert_eq!((two.role, two.ephemeral), (ContextRole::System, true));
    assert!(two.append_to_last_tool_result);
    assert_eq!(
        (&*two.provenance.hook, &*two.provenance.event),
        ("second", "e")
    );
    let result = emission.result();
    assert_eq!(result.context_injection_role, ContextRole::User);
    assert!(!result.ephemeral && !result.append_to_last_tool_result);
}

#[test]
fn section_0_6_a_pre_hook_failure_is_an_error() {
    let (registry, log) = (PhaseRegistry::<str, str>::new(), Log::new());
    let fails = |_: &str| Err::<HookResponse, _>(HookError::new("broken"));
    registry.register_pre(PreFn::new("fails", fails), at(1));
    let writing = log.clone();
    let later = move |_: &str| {
        writing.add("later");
        HookResponse::default()
    };
    registry.register_pre(PreFn::new("later", later), at(2));
    assert!(block_on(registry.execute_pre("r")).is_err());
    assert!(log.lines().is_empty());
}

#[test]
fn section_0_7_the_last_response_is_returned_and_unknown_actions_stop() {
    let registry = PhaseRegistry::<str, str>::new();
    let continues = |reason: &'static str| move |_: &str| HookResponse::default().reason(reason);
    registry.register_pre(PreFn::new("a", continues("a")), at(1));
    registry.register_pre(PreFn::new("b", continues("b")), at(2));
    assert_eq!(
        block_on(registry.execute_pre("r"))
            .unwrap()
            .reason
            .as_deref(),
        Some("b")
    );
    let other = |_: &str| HookResponse::new(ResponseAction::Other("WAIT".to_owned()));
    registry.register_pre(PreFn::new("other", other), at(1));
    let response = block_on(registry.execute_pre("r")).unwrap();
    assert_eq!(response.action, ResponseAction::Other("WAIT".to_owned()));
}

#[test]
fn section_0_8_post_hooks_run_in_registration_order() {
    let (registry, log) = (PhaseRegistry::<str, str>::new(), Log::new());
    for (id, priority) in [("a", 30), ("b", 10), ("c", 20)] {
        let log = log.clone();
        let hook = PostFn::new(id, move |_: &str, _: Option<&str>| log.add(id));
        registry.register_post(hook, at(priority));
    }
    block_on(registry.execute_post("done", None));
    assert_eq!(log.lines(), ["a", "b", "c"]);
}

/// Returns one result of each strength, the strongest first.
fn by_strength() -> [HookResult; 5] {
    [
        HookResult::deny("no"),
        HookResult::ask_user("Sure?"),
        HookResult::inject_context("note"),
        HookResult::set("a", 1),
        HookResult::proceed(),
    ]
}

#[test]
fn e_34_the_stronger_of_two_actions_wins_in_either_order() {
    let all = by_strength();
    for (at_strong, strong) in all.iter().enumerate() {
        for weak in &all[at_strong + 1..] {
            for (first, second) in [(strong, weak), (weak, strong)] {
                let registry = HookRegistry::new();
                registry.register("e", returning(first.clone()), named("x"));
                registry.register("e", returning(second.clone()), named("y"));
                let action = block_on(emit(&registry, "e", ())).action;
                assert_eq!(
                    action, strong.action,
                    "{} then {}",
                    first.action, second.action
                );
            }
        }
    }
}

#[test]
fn e_34_the_strongest_action_wins_in_any_rotation() {
    let all = by_strength();
    for skip in 0..5 {
        for shift in 0..5 {
            let mut kept = all[skip..].to_vec();
            let len = kept.len();
            kept.rotate_left(shift % len);
            let registry = HookRegistry::new();
            for result in kept {
                registry.register("e", returning(result), plain());
            }
            assert_eq!(block_on(emit(&registry, "e", ())).action, all[skip].action);
        }
    }
}

#[test]
fn e_35_messages_of_every_action_are_kept() {
    for result in by_strength() {
        let registry = HookRegistry::new();
        let told = result
            .clone()
            .user_message("told")
            .user_message_level(MessageLevel::Error);
        registry.register("e", returning(told), named("tells"));
        let emission = block_on(emit(&registry, "e", ()));
        let expected = [("told", MessageLevel::Error, "tells")];
        assert_eq!(messages(&emission), expected, "{}", result.action);
        assert_eq!(
            emission.result().user_message.as_deref(),
            Some("told"),
            "{}",
            result.action
        );
    }
}

#[test]
fn e_35_the_user_message_of_a_result_joins_all_messages() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::set("a", 1).user_message("one")),
        plain(),
    );
    let second = HookResult::proceed().user_message("two");
    let second = second.user_message_level(MessageLevel::Error);
    registry.register("e", returning(second), plain());
    let result = block_on(emit(&registry, "e", ())).result();
    let message = result.user_message.unwrap();
    assert!(
        message.contains("one") && message.contains("two"),
        "{message}"
    );
    assert_eq!(result.user_message_level, MessageLevel::Error);
}

/// Behaviour of a hook of the model.
#[derive(Clone, Debug)]
enum Does {
    Proceed,
    Fail,
    Deny,
    Ask,
    Inject(Option<&'static str>),
    Replace(&'static str, u8),
    ReplaceByNothing,
    Set(&'static str, u8),
}

#[derive(Clone, Debug)]
struct Hook {
    priority: i32,
    does: Does,
    message: Option<MessageLevel>,
    waits: bool,
}

fn field() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c"])
}

fn hook() -> impl Strategy<Value = Hook> {
    let does = prop_oneof![
        3 => Just(Does::Proceed),
        1 => Just(Does::Fail),
        1 => Just(Does::Deny),
        1 => Just(Does::Ask),
        2 => prop::sample::select(vec![None, Some(""), Some("x"), Some("y\nz")])
            .prop_map(Does::Inject),
        2 => (field(), any::<u8>()).prop_map(|(field, value)| Does::Replace(field, value)),
        1 => Just(Does::ReplaceByNothing),
        3 => (field(), any::<u8>()).prop_map(|(field, value)| Does::Set(field, value)),
    ];
    let level = prop::sample::select(vec![
        MessageLevel::Info,
        MessageLevel::Warning,
        MessageLevel::Error,
    ]);
    let message = prop::option::of(level);
    (-2..3, does, message, any::<bool>()).prop_map(|(priority, does, message, waits)| Hook {
        priority,
        does,
        message,
        waits,
    })
}

impl Hook {
    fn answer(&self, name: &str) -> Result<HookResult, HookError> {
        let bare = |action| HookResult {
            action,
            ..HookResult::default()
        };
        let mut result = match &self.does {
            Does::Proceed => HookResult::proceed(),
            Does::Fail => return Err(HookError::new("fails")),
            Does::Deny => HookResult::deny(name),
            Does::Ask => HookResult::ask_user(name),
            Does::Inject(None) => bare(Action::InjectContext),
            Does::Inject(Some(text)) => HookResult::inject_context(*text),
            Does::Replace(field, value) => HookResult::modify(map(json!({*field: value}))),
            Does::ReplaceByNothing => bare(Action::Modify),
            Does::Set(field, value) => HookResult::set(*field, *value),
        };
        if let Some(level) = self.message {
            result = result.user_message(name).user_message_level(level);
        }
        Ok(result)
    }
}

/// Expected result by the rules.
#[derive(Debug, PartialEq)]
struct Expected {
    action: Action,
    data: Value,
    injections: Vec<(String, String)>,
    messages: Vec<(String, MessageLevel)>,
    decided_by: Option<String>,
    ran: Vec<String>,
    failures: Vec<String>,
}

fn expected(hooks: &[Hook], data: Map) -> Expected {
    let mut order: Vec<_> = hooks.iter().enumerate().collect();
    order.sort_by_key(|(_, hook)| hook.priority);
    let mut outcome = Expected {
        action: Action::Continue,
        data: Value::Null,
        injections: Vec::new(),
        messages: Vec::new(),
        decided_by: None,
        ran: Vec::new(),
        failures: Vec::new(),
    };
    let (mut data, mut denied, mut asked, mut modified) = (data, None, None, None);
    for (index, hook) in order {
        let name = format!("h{index}");
        outcome.ran.push(name.clone());
        if matches!(hook.does, Does::Fail) {
            outcome.failures.push(name);
            continue;
        }
        if let Some(level) = hook.message {
            outcome.messages.push((name.clone(), level));
        }
        match &hook.does {
            Does::Deny => {
                denied = Some(name);
                break;
            }
            Does::Ask => {
                asked.get_or_insert(name);
            }
            Does::Inject(Some(text)) if !text.is_empty() => {
                outcome.injections.push((text.to_string(), name));
            }
            Does::Replace(field, value) => {
                data = map(json!({*field: value}));
                modified = Some(name);
            }
            Does::Set(field, value) => {
                data.insert(field.to_string(), (*value).into());
                modified = Some(name);
            }
            _ => {}
        }
    }
    let injected = outcome.injections.first().map(|(_, name)| name.clone());
    (outcome.action, outcome.decided_by) = match (denied, asked, injected, modified) {
        (Some(name), ..) => (Action::Deny, Some(name)),
        (_, Some(name), ..) => (Action::AskUser, Some(name)),
        (_, _, Some(name), _) => (Action::InjectContext, Some(name)),
        (.., Some(name)) => (Action::Modify, Some(name)),
        _ => (Action::Continue, None),
    };
    outcome.data = Value::Object(data);
    outcome
}

fn actual(hooks: &[Hook], defaults: Map, data: Map) -> (Expected, HookResult) {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.set_default_fields(defaults);
    for (index, hook) in hooks.iter().enumerate() {
        let (name, log, hook) = (format!("h{index}"), log.clone(), hook.clone());
        let options = at(hook.priority).name(name.clone());
        let handler = move |_: Arc<str>, _: Arc<Map>| {
            let (name, log, hook) = (name.clone(), log.clone(), hook.clone());
            async move {
                log.add(&name);
                if hook.waits {
                    crate::kit::yield_once().await;
                }
                hook.answer(&name)
            }
        };
        registry.register("e", handler, options);
    }
    let emission = block_on(emit(&registry, "e", data));
    let injections = emission.injections.iter();
    let messages = emission.messages.iter();
    let outcome = Expected {
        action: emission.action,
        data: Value::Object(Map::clone(&emission.data)),
        injections: injections
            .map(|item| (item.content.clone(), item.provenance.hook.to_string()))
            .collect(),
        messages: messages
            .map(|item| (item.hook.to_string(), item.level))
            .collect(),
        decided_by: emission.decided_by.as_ref().map(ToString::to_string),
        ran: log.lines(),
        failures: emission
            .failures
            .iter()
            .map(|failure| failure.hook.to_string())
            .collect(),
    };
    (outcome, emission.result())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_34_e_35_emissions_match_the_reference_model(
        hooks in prop::collection::vec(hook(), 0..9),
        defaults in prop::option::of(any::<u8>()),
        own in prop::option::of(any::<u8>()),
    ) {
        let one = |value: Option<u8>| match value {
            Some(value) => map(json!({"a": value})),
            None => Map::new(),
        };
        let mut merged = one(defaults);
        merged.extend(one(own));
        let predicted = expected(&hooks, merged);
        let (outcome, result) = actual(&hooks, one(defaults), one(own));
        prop_assert_eq!(result.action, predicted.action);
        match predicted.action {
            Action::Deny => prop_assert_eq!(&result.reason, &predicted.decided_by),
            Action::AskUser => prop_assert_eq!(&result.approval_prompt, &predicted.decided_by),
            Action::InjectContext => {
                let texts: Vec<_> =
                    predicted.injections.iter().map(|(text, _)| &**text).collect();
                prop_assert_eq!(result.context_injection, Some(texts.join("\n\n")));
            }
            Action::Modify | Action::Continue => {
                prop_assert_eq!(result.data.map(Value::Object), Some(predicted.data.clone()));
            }
        }
        prop_assert_eq!(outcome, predicted);
    }
}
