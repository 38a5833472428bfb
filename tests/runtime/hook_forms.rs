//! The result of an emission does not depend on the forms of its hooks: functions that return at
//! once, futures that are ready, and futures that are pending first.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_runtime::events::EventPhase;
use hooks_runtime::{
    Action, ContextRole, Emission, EmitError, EmitOptions, Event, EventHook, FailurePolicy,
    HookError, HookRegistry, HookResult, HookStatus, Map, MessageLevel, RegisterOptions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{map, yield_once};

/// How a hook is written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// `fn(Event) -> R`.
    Borrowed,
    /// `fn(Arc<str>, Arc<Map>) -> R`.
    Shared,
    /// `async fn(Arc<str>, Arc<Map>) -> R` that is ready in the first poll.
    Ready,
    /// The same, pending in the first poll.
    Pending,
    /// An `EventHook` that is ready in the first poll.
    TypedReady,
    /// An `EventHook` that is pending in the first poll.
    TypedPending,
}

const FORMS: [Form; 6] = [
    Form::Borrowed,
    Form::Shared,
    Form::Ready,
    Form::Pending,
    Form::TypedReady,
    Form::TypedPending,
];

/// The forms that receive an `Event`, with which a hook can print.
const PRINTING_FORMS: [Form; 3] = [Form::Borrowed, Form::TypedReady, Form::TypedPending];

#[derive(Debug, Clone)]
struct Spec {
    output: Result<HookResult, String>,
    phase: EventPhase,
    policy: Option<FailurePolicy>,
    is_trusted: bool,
}

struct TypedHook {
    output: Result<HookResult, String>,
    is_pending: bool,
    prints: bool,
}

impl EventHook for TypedHook {
    async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        if self.is_pending {
            yield_once().await;
        }
        if self.prints {
            event.print("printed");
        }
        self.output.clone().map_err(HookError::new)
    }
}

fn register(registry: &HookRegistry, name: String, spec: &Spec, form: Form, prints: bool) {
    let mut options = RegisterOptions::new()
        .name(name)
        .phase(spec.phase)
        .trusted(spec.is_trusted);
    if let (Some(policy), true) = (spec.policy, spec.phase != EventPhase::Observe) {
        options = options.on_failure(policy);
    }
    let output = spec.output.clone();
    match form {
        Form::Borrowed => registry.register(
            "e",
            move |event: Event<'_>| {
                if prints {
                    event.print("printed");
                }
                output.clone()
            },
            options,
        ),
        Form::Shared => {
            registry.register("e", move |_: Arc<str>, _: Arc<Map>| output.clone(), options)
        }
        Form::Ready => registry.register(
            "e",
            move |_: Arc<str>, _: Arc<Map>| {
                let output = output.clone();
                async move { output }
            },
            options,
        ),
        Form::Pending => registry.register(
            "e",
            move |_: Arc<str>, _: Arc<Map>| {
                let output = output.clone();
                async move {
                    yield_once().await;
                    output
                }
            },
            options,
        ),
        Form::TypedReady | Form::TypedPending => {
            let is_pending = form == Form::TypedPending;
            let hook = TypedHook {
                output,
                is_pending,
                prints,
            };
            registry.register("e", hook, options)
        }
    };
}

/// Everything that an emission has, as text; injections without their times.
fn parts(outcome: Result<Emission, EmitError>) -> Vec<String> {
    let error = outcome.as_ref().err().map(ToString::to_string);
    let emission = match &outcome {
        Ok(emission) => emission,
        Err(error) => error.emission().expect("a hook failed"),
    };
    let statuses = emission.report().map(|report| {
        let entries = report.entries.iter();
        let status = |status: &HookStatus| status.to_string();
        let lines = entries.map(|entry| format!("{}: {}", entry.name, status(&entry.status)));
        lines.collect::<Vec<_>>()
    });
    let injections = emission.injections.iter().map(|item| {
        let mut item = json!(item);
        item["provenance"]["at"] = Value::Null;
        item
    });
    let mut parts = vec![
        format!("error {error:?}"),
        format!("action {}", emission.action),
        // With the order of the fields.
        format!("data {}", json!(*emission.data)),
        format!("injections {}", injections.collect::<Value>()),
        format!("messages {}", json!(emission.messages.as_slice())),
        format!("decided by {:?}", emission.decided_by),
        format!("failures {:?}", emission.failures),
        format!("decision {:?}", emission.decision()),
        format!("reason {:?}", emission.reason()),
        format!("output {:?}", emission.output()),
        format!("result {:?}", emission.result()),
        format!("report {statuses:?}"),
    ];
    // The parts without accessors, too. A report has times, and the origin of a question has the type
    // of its hook.
    if statuses.is_none() && emission.action != Action::AskUser {
        let mut bare = emission.clone();
        bare.injections.clear();
        parts.push(format!("{bare:?}"));
    }
    parts
}

/// How an emission is made.
#[derive(Debug, Clone, Copy)]
struct Setting {
    /// `true` if the caller keeps the data, so that changes are stored beside the map.
    keeps_data: bool,
    has_defaults: bool,
    has_report: bool,
    prints: bool,
}

fn emitted(specs: &[Spec], form: impl Fn(usize) -> Form, setting: Setting) -> Vec<String> {
    let registry = HookRegistry::new();
    if setting.has_defaults {
        registry.set_default_fields(map(json!({"a": "default", "z": 0})));
    }
    for (at, spec) in specs.iter().enumerate() {
        register(
            &registry,
            format!("hook {at}"),
            spec,
            form(at),
            setting.prints,
        );
    }
    let data = Arc::new(map(json!({"a": 1, "b": 2})));
    let kept = setting.keeps_data.then(|| Arc::clone(&data));
    let options = EmitOptions::new();
    let outcome = block_on(async {
        if setting.has_report {
            registry.emit_with("e", data, options.report()).await
        } else {
            registry.emit("e", data).await
        }
    });
    drop(kept);
    parts(outcome)
}

fn field() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["a", "b", "c", "d"][..])
}

/// A result with one of the actions.
fn acting() -> impl Strategy<Value = HookResult> {
    let data = || {
        prop::collection::vec((field(), any::<u8>()), 0..3).prop_map(|fields| {
            let field = |(name, value): (&str, u8)| (name.to_owned(), value.into());
            fields.into_iter().map(field).collect::<Map>()
        })
    };
    let text = || prop::sample::select(&["", "text"][..]);
    prop_oneof![
        2 => Just(HookResult::proceed()),
        4 => (field(), any::<u8>()).prop_map(|(name, value)| HookResult::set(name, value)),
        1 => (field(), field()).prop_map(|(one, two)| HookResult::set(one, 1).and_set(two, 2)),
        2 => data().prop_map(HookResult::modify),
        1 => data().prop_map(|data| HookResult::modify(data).and_set("d", "both")),
        1 => Just(HookResult { action: Action::Modify, ..HookResult::default() }),
        // Changes have no effect with another action.
        1 => Just(HookResult { action: Action::Continue, ..HookResult::set("a", 9) }),
        1 => text().prop_map(HookResult::inject_context),
        1 => text().prop_map(HookResult::ask_user),
        1 => text().prop_map(HookResult::deny),
    ]
}

/// A result with further fields.
fn result() -> impl Strategy<Value = HookResult> {
    let setters: [fn(HookResult) -> HookResult; 12] = [
        |result| result,
        |result| result.user_message("message"),
        |result| result.user_message_level(MessageLevel::Error),
        |result| result.suppress_output(true),
        |result| result.reason("reason"),
        |result| result.ephemeral(true),
        |result| result.append_to_last_tool_result(true),
        |result| result.context_injection_role(ContextRole::User),
        |result| result.approval_options(["Yes"]),
        |result| result.approval_timeout(1.5),
        |result| result.approval_timeout(-1.0),
        |result| result.approval_key("key"),
    ];
    let setters = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(prop::sample::select(setters.to_vec()), 1..3),
    ];
    (acting(), setters).prop_map(|(result, setters)| {
        let apply = |result, set: fn(HookResult) -> HookResult| set(result);
        setters.into_iter().fold(result, apply)
    })
}

fn spec() -> impl Strategy<Value = Spec> {
    let output = prop_oneof![
        9 => result().prop_map(Ok),
        1 => Just(Err("broken".to_owned())),
    ];
    let phase = prop_oneof![
        6 => Just(EventPhase::Transform),
        1 => Just(EventPhase::Decide),
        1 => Just(EventPhase::Observe),
    ];
    let policy = prop::option::of(prop::sample::select(vec![
        FailurePolicy::Isolate,
        FailurePolicy::FailClosed,
        FailurePolicy::Propagate,
    ]));
    (output, phase, policy, any::<bool>()).prop_map(|(output, phase, policy, is_trusted)| Spec {
        output,
        phase,
        policy,
        is_trusted,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_part_of_an_emission_is_equal_for_all_forms_of_its_hooks(
        specs in prop::collection::vec(spec(), 1..6),
        mixed in prop::collection::vec(0..FORMS.len(), 6),
        (keeps_data, has_defaults, has_report) in any::<(bool, bool, bool)>(),
    ) {
        let setting = Setting { keeps_data, has_defaults, has_report, prints: false };
        let expected = emitted(&specs, |_| Form::Borrowed, setting);
        for form in FORMS {
            prop_assert_eq!(&emitted(&specs, |_| form, setting), &expected, "{:?}", form);
        }
        let form = |at: usize| FORMS[mixed[at]];
        prop_assert_eq!(&emitted(&specs, form, setting), &expected, "{:?}", mixed);

        let setting = Setting { prints: true, ..setting };
        let expected = emitted(&specs, |_| Form::Borrowed, setting);
        for form in PRINTING_FORMS {
            prop_assert_eq!(&emitted(&specs, |_| form, setting), &expected, "{:?}", form);
        }
    }
}

#[test]
fn a_last_hook_that_only_sets_fields_leaves_no_decision_in_any_form() {
    let earlier = [
        None,
        Some(HookResult::set("m", 1)),
        Some(HookResult::modify(Map::new())),
        Some(HookResult::modify(Map::new()).suppress_output(true)),
        Some(HookResult::set("m", 1).user_message("set")),
        Some(HookResult::proceed().suppress_output(true)),
        Some(HookResult::proceed().user_message("hello")),
    ];
    let spec = |result: HookResult| Spec {
        output: Ok(result),
        phase: EventPhase::Transform,
        policy: None,
        is_trusted: true,
    };
    for earlier in earlier {
        for (before, last) in FORMS
            .into_iter()
            .flat_map(|one| FORMS.map(|two| (one, two)))
        {
            let registry = HookRegistry::new();
            if let Some(result) = &earlier {
                register(
                    &registry,
                    "earlier".to_owned(),
                    &spec(result.clone()),
                    before,
                    false,
                );
            }
            let sets = spec(HookResult::set("n", 1).and_set("o", 2).ephemeral(true));
            register(&registry, "last".to_owned(), &sets, last, false);
            let emission = block_on(registry.emit("e", ())).unwrap();
            assert_eq!(emission.decided_by.as_deref(), Some("last"));
            assert_eq!(
                emission.decision(),
                None,
                "{earlier:?}, {before:?}, {last:?}"
            );
        }
    }
}
