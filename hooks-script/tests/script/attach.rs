//! Script hooks in the registries of `hooks-runtime`.

use futures_executor::block_on;
use hooks_runtime::{
    Action, FailurePolicy, HookRegistry, HookResult, PhaseRegistry, RegisterOptions, ResponseAction,
};
use hooks_script::{ContextData, Field, Manifest, PublicFields, ScriptEngine, ScriptHook};
use serde_json::{Value, json};

use crate::support::{engine, register};

const STOPS: &str = "class Toxic extends HookStopException {}
    export default () => { throw new Toxic('language'); };";
const FAILS: &str = "export default () => { throw new Error('broken'); };";
const SHOUTS: &str =
    "export default ({ in: m }) => ({ out: { ...m, text: m.text.toUpperCase() } });";

fn hook(source: &str) -> ScriptHook {
    register(&engine(), source)
}

fn events(hook: &ScriptHook, options: RegisterOptions) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register("e", hook.as_event_hook(), options);
    hooks
}

fn pre(hook: &ScriptHook, options: RegisterOptions) -> PhaseRegistry<Value, Value> {
    let registry = PhaseRegistry::new();
    registry.register_pre(hook.as_phase_hook("script"), options);
    registry
}

#[test]
fn s_11_e_25_the_output_of_a_hook_replaces_the_event_data() {
    let hooks = events(&hook(SHOUTS), RegisterOptions::new());
    let emission = block_on(hooks.emit("e", json!({"text": "hi", "n": 1}))).unwrap();
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(
        Value::Object((*emission.data).clone()),
        json!({"text": "HI", "n": 1})
    );
    assert_eq!(emission.decided_by.as_deref(), Some("A hook"));
}

#[test]
fn s_11_e_27_an_output_equal_to_the_event_data_continues() {
    let hooks = events(&hook(SHOUTS), RegisterOptions::new());
    let emission = block_on(hooks.emit("e", json!({"text": "HI"}))).unwrap();
    assert_eq!(emission.action, Action::Continue);
}

#[test]
fn s_15_s_19_a_stop_denies_the_event_with_class_and_message() {
    let hooks = events(&hook(STOPS), RegisterOptions::new());
    let emission = block_on(hooks.emit("e", json!({}))).unwrap();
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.result().reason.as_deref(), Some("Toxic: language"));
}

#[test]
fn s_16_e_36_a_failure_is_isolated_unless_hook_or_options_fail_closed() {
    let failing = hook(FAILS);
    let emit = |hooks: HookRegistry| block_on(hooks.emit("e", json!({}))).unwrap();

    let emission = emit(events(&failing, RegisterOptions::new()));
    assert_eq!(emission.action, Action::Continue);
    assert_eq!(emission.failures.len(), 1);

    let options = RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
    assert_eq!(emit(events(&failing, options)).action, Action::Deny);

    let closed = failing.fail_closed(true);
    let emission = emit(events(&closed, RegisterOptions::new()));
    assert_eq!(
        emission.action,
        Action::Deny,
        "the registration needs no option"
    );
}

const CHECKS: &str = "export default ({ in: m }) => {
    if (m.text.includes('bad')) throw new HookStopException('language');
    return m.returned;
};";

#[test]
fn s_16_e_36_a_check_denies_only_the_event_that_it_cannot_process() {
    let hooks = events(&hook(CHECKS), RegisterOptions::new());
    let emit = |data: Value| block_on(hooks.emit("e", data)).unwrap();
    for _ in 0..10 {
        let emission = emit(json!({"image": "cat.png"}));
        assert_eq!(emission.action, Action::Deny);
        let emission = emit(json!({"text": "good"}));
        assert_eq!(emission.action, Action::Continue);
        assert!(emission.failures.is_empty(), "{emission:?}");
        let emission = emit(json!({"text": "good", "returned": "a text"}));
        assert_eq!(emission.action, Action::Continue);
        assert_eq!(emission.failures.len(), 1, "an invalid return value");
        assert_eq!(emit(json!({"text": "bad"})).action, Action::Deny);
    }
    let open = events(&hook(CHECKS).fail_closed(false), RegisterOptions::new());
    let emission = block_on(open.emit("e", json!({}))).unwrap();
    assert_eq!(emission.action, Action::Continue);
    assert_eq!(emission.failures.len(), 1);
}

#[test]
fn s_16_r_13_a_check_denies_only_the_call_that_it_cannot_process() {
    let registry = pre(&hook(CHECKS), RegisterOptions::new());
    let execute = |request: Value| block_on(registry.execute_pre(&request));
    for request in [json!({}), json!({"text": null}), json!("no object")] {
        let response = execute(request).unwrap();
        assert_eq!(response.action, ResponseAction::Deny);
        assert_eq!(response.error_type.as_deref(), Some("HookFailure"));
    }
    assert!(execute(json!({"text": "good"})).unwrap().is_continue());
    execute(json!({"text": "good", "returned": {}})).unwrap_err();
    let response = execute(json!({"text": "bad"})).unwrap();
    assert_eq!(response.error_type.as_deref(), Some("HookStopException"));
}

#[test]
fn s_01_a_script_cannot_override_another_hooks_denial_or_question() {
    let allows = hook(
        "export default ({ in: m }) => ({ action: 'continue', approval_default: 'allow',
            out: { ...m, action: 'continue', approval_default: 'allow' } });",
    );
    for (other, action) in [
        (HookResult::deny("no"), Action::Deny),
        (HookResult::ask_user("really?"), Action::AskUser),
    ] {
        for priority in [-1, 1] {
            let hooks = events(&allows, RegisterOptions::new().priority(priority));
            let other = other.clone();
            hooks.register(
                "e",
                move |_: hooks_runtime::Event<'_>| other.clone(),
                RegisterOptions::new(),
            );
            let emission = block_on(hooks.emit("e", json!({}))).unwrap();
            assert_eq!(emission.action, action);
            if action == Action::AskUser {
                let default = emission.result().approval_default;
                assert_eq!(default, hooks_runtime::ApprovalDefault::Deny);
            }
        }
    }
}

#[test]
fn e_133_a_script_hook_is_registered_as_untrusted() {
    let hooks = events(&hook(SHOUTS), RegisterOptions::new());
    assert!(!hooks.descriptors()[0].trusted);
}

#[test]
fn s_10_an_event_hook_receives_data_that_the_host_derives_from_the_event() {
    let engine = ScriptEngine::builder()
        .public_fields(PublicFields::new().user([Field::text("id")]))
        .build()
        .unwrap();
    let manifest = Manifest::new("text:", "Who", [hooks_script::ContextKey::User]).unwrap();
    let source = "export default ({ data }) => ({ out: data });";
    let hook = engine.register(manifest, source).unwrap();
    let event_hook = hook.as_event_hook().with_data(|event| {
        let user = json!({"id": event["by"], "email": "private"});
        ContextData::new().user(&user).unwrap()
    });
    let hooks = HookRegistry::new();
    hooks.register("e", event_hook, RegisterOptions::new());
    let emission = block_on(hooks.emit("e", json!({"by": "7"}))).unwrap();
    assert_eq!(emission.data["user"], json!({"id": "7"}));
}

#[test]
fn r_11_a_stop_denies_the_call_with_class_and_message() {
    let registry = pre(&hook(STOPS), RegisterOptions::new());
    let response = block_on(registry.execute_pre(&json!({}))).unwrap();
    assert_eq!(response.action, ResponseAction::Deny);
    assert_eq!(response.error_type.as_deref(), Some("Toxic"));
    assert_eq!(response.reason.as_deref(), Some("language"));
}

#[test]
fn r_12_the_output_of_a_pre_hook_has_no_effect() {
    let registry = pre(
        &hook("export default () => ({ out: { action: 'DENY' } });"),
        RegisterOptions::new(),
    );
    let response = block_on(registry.execute_pre(&json!({}))).unwrap();
    assert!(response.is_continue());
}

#[test]
fn r_13_a_failure_is_an_error_unless_isolated_or_fail_closed() {
    let failing = hook(FAILS);
    let execute =
        |registry: PhaseRegistry<Value, Value>| block_on(registry.execute_pre(&json!({})));

    let error = execute(pre(&failing, RegisterOptions::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hook `script` failed: threw Error: broken"
    );

    let options = RegisterOptions::new().on_failure(FailurePolicy::Isolate);
    assert!(
        execute(pre(&failing, options.clone()))
            .unwrap()
            .is_continue()
    );

    let closed = failing.fail_closed(true);
    let response = execute(pre(&closed, options)).unwrap();
    assert_eq!(response.error_type.as_deref(), Some("HookFailure"));
}

#[test]
fn r_13_a_call_that_is_not_an_object_is_an_error_or_a_denial() {
    let registry = pre(&hook(SHOUTS), RegisterOptions::new());
    block_on(registry.execute_pre(&json!("text"))).unwrap_err();
    let registry = pre(&hook(SHOUTS).fail_closed(true), RegisterOptions::new());
    let response = block_on(registry.execute_pre(&json!("text"))).unwrap();
    assert_eq!(response.action, ResponseAction::Deny);
}

#[test]
fn r_14_s_18_stops_and_failures_of_post_hooks_are_ignored() {
    let registry: PhaseRegistry<Value, Value> = PhaseRegistry::new();
    for (id, source) in [("stops", STOPS), ("fails", FAILS), ("shouts", SHOUTS)] {
        registry.register_post(hook(source).as_phase_hook(id), RegisterOptions::new());
    }
    let report = block_on(registry.execute_post_reported(&json!({"text": "hi"}), Some("r-1")));
    let runs: Vec<_> = report
        .entries
        .iter()
        .map(|entry| entry.status.to_string())
        .collect();
    assert_eq!(
        runs,
        [
            "completed",
            "failed: threw Error: broken; ignored",
            "completed"
        ]
    );
}
