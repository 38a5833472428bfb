//! The rules of the registries on typed slots: companions, the pipeline, and registries and sets as
//! hooks of each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::executor::block_on;
use hooks_runtime::events::EventPhase;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::slots::{
    DenyFailures, EventOutput, EventPipeline, FirstDecision, LogFailures, ScalarResult, SlotEvent,
    StopAtDenial, StrictestResult,
};
use hooks_runtime::{
    Action, ContextRole, Emission, EmitError, Entry, Event, FailurePolicy, HookError, HookRegistry,
    HookResponse, HookResult, Map, MessageLevel, PhaseRegistry, PreHook, ResponseAction, hooks,
    impl_hook,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{Log, emit, map, named, plain, yield_once};

#[hooks]
trait AgentHooks {
    #[hook(fallback, custom = EventPipeline)]
    async fn flows(_event: SlotEvent) -> EventOutput {
        HookResult::proceed().into()
    }

    #[hook(always, chain = StopAtDenial, aggregate = StrictestResult, output = HookResult)]
    async fn strictest(_tool: &str) -> Result<HookResult, HookError> {
        Ok(HookResult::proceed())
    }

    #[hook(always, chain = FirstDecision)]
    async fn pre(_request: &u8) -> Result<HookResponse, HookError> {
        Ok(HookResponse::proceed())
    }

    #[hook(fallback, chain = FirstDecision, finalize = DenyFailures, output = HookResponse)]
    async fn pre_closed(_request: &u8) -> Result<HookResponse, HookError> {
        Ok(HookResponse::new(ResponseAction::Halt).reason("default"))
    }

    #[hook(always, aggregate = LogFailures, output = ())]
    async fn post(_result: &u8, _request_id: Option<&str>) -> Result<(), HookError> {
        Ok(())
    }
}

/// A hook with a fixed output.
#[derive(Debug, Clone)]
struct Plan {
    output: Result<HookResult, String>,
    is_pending: bool,
    is_trusted: bool,
    priority: i32,
}

impl Plan {
    async fn run(self) -> Result<HookResult, HookError> {
        if self.is_pending {
            yield_once().await;
        }
        self.output.map_err(HookError::new)
    }
}

fn fields() -> impl Strategy<Value = Map> {
    let values = prop::sample::select(vec![json!(null), json!(1), json!("x"), json!([2])]);
    let names = prop::sample::select(vec!["a", "b", "c", "d"]);
    prop::collection::vec((names, values), 0..4).prop_map(|fields| {
        let fields = fields.into_iter();
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    })
}

fn text() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop::sample::select(vec!["", "one", "two\nlines"]).prop_map(str::to_owned))
}

fn results() -> impl Strategy<Value = HookResult> {
    let action = prop_oneof![
        4 => Just(Action::Continue),
        4 => Just(Action::Modify),
        3 => Just(Action::InjectContext),
        2 => Just(Action::AskUser),
        1 => Just(Action::Deny),
    ];
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
    let settings = (
        prop::sample::select(roles),
        prop::sample::select(levels),
        any::<(bool, bool, bool)>(),
        prop::sample::select(vec![300.0, 0.0, 7.5, -1.0, f64::NAN]),
    );
    let extra = prop::sample::select(vec![
        json!({}),
        json!({"user_message_source": "tool"}),
        json!({"user_message_source": 3}),
        json!({"context_injections": [{"content": "listed", "role": "user"}, {"content": ""}]}),
        json!({"unknown": 1}),
    ]);
    let texts = (text(), text(), text(), text());
    (
        action,
        prop::option::of(fields()),
        fields(),
        texts,
        settings,
        extra,
    )
        .prop_map(
            |(action, data, changes, texts, (role, level, flags, timeout), extra)| {
                let mut result = HookResult::default()
                    .context_injection_role(role)
                    .user_message_level(level)
                    .ephemeral(flags.0)
                    .append_to_last_tool_result(flags.1)
                    .suppress_output(flags.2);
                (result.action, result.data, result.changes) = (action, data, changes.into());
                (result.reason, result.context_injection) = (texts.0, texts.1);
                (result.approval_prompt, result.user_message) = (texts.2, texts.3);
                // Most are valid, and most of the invalid ones are no question.
                if action != Action::AskUser || timeout.is_nan() {
                    result.approval_timeout = timeout;
                }
                let extra = map(extra);
                result.extra = (!extra.is_empty()).then(|| Box::new(extra));
                result
            },
        )
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let output = prop_oneof![
        9 => results().prop_map(Ok),
        1 => Just(Err("broken".to_owned())),
    ];
    let plan = (output, any::<bool>(), prop::bool::weighted(0.8), -1..=1_i32);
    let plan = plan.prop_map(|(output, is_pending, is_trusted, priority)| Plan {
        output,
        is_pending,
        is_trusted,
        priority,
    });
    prop::collection::vec(plan, 0..7)
}

/// Returns a registry with these hooks, which log their data.
fn registry_of(plans: &[Plan], log: &Log) -> HookRegistry {
    let registry = HookRegistry::new();
    for (at, plan) in plans.iter().cloned().enumerate() {
        let log = log.clone();
        let options = named(format!("hook {at}"))
            .priority(plan.priority)
            .trusted(plan.is_trusted);
        let hook = move |_: Arc<str>, data: Arc<Map>| {
            log.add(format!("{at}: {}", Value::from((*data).clone())));
            plan.clone().run()
        };
        registry.register("tool:pre", hook, options);
    }
    registry
}

/// Every field of an emission, private ones included, except the time of an injection and the Rust
/// type of the hook that asks.
fn shown(emission: &Emission) -> String {
    let mut text = format!("{emission:?}");
    for (start, end) in [("at: ", " }"), ("hook_type: ", ",")] {
        let mut parts = text.split(start);
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            kept.push_str(part.split_once(end).map_or("", |(_, rest)| rest));
        }
        text = kept;
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// E-20 to E-37, E-42: order, data flow, denial, precedence, injections, messages, failures.
    #[test]
    fn e_21_to_e_36_the_pipeline_has_every_field_of_the_emission_of_a_registry(
        plans in plans(),
        data in fields(),
    ) {
        let (log, typed_log) = (Log::new(), Log::new());
        let expected = block_on(emit(&registry_of(&plans, &log), "tool:pre", data.clone()));
        let mut hooks = AgentHooksSet::new();
        for (at, plan) in plans.iter().cloned().enumerate() {
            let log = typed_log.clone();
            let (priority, is_trusted) = (plan.priority, plan.is_trusted);
            let hook = move |event: SlotEvent| {
                log.add(format!("{at}: {}", Value::from((*event.data()).clone())));
                let plan = plan.clone();
                async move { EventOutput::from(plan.run().await) }
            };
            let entry = Entry::new(hook).name(format!("hook {at}"));
            hooks.register_flows(entry.priority(priority).trusted(is_trusted));
        }
        let event = SlotEvent::new("tool:pre", data).unwrap();
        let emission = block_on(hooks.flows(event)).emission().unwrap();
        prop_assert_eq!(typed_log.take(), log.take());
        prop_assert_eq!(shown(&emission), shown(&expected));
        prop_assert_eq!(
            format!("{:?}", emission.result()),
            format!("{:?}", expected.result())
        );
    }

    /// E-23 to E-35, of hooks that do not read the data.
    #[test]
    fn e_23_to_e_35_the_chain_and_the_aggregate_have_the_summary_of_a_registry(
        plans in plans(),
        mut data in fields(),
    ) {
        let plans: Vec<_> = plans
            .into_iter()
            .map(|plan| Plan { is_trusted: true, ..plan })
            .collect();
        let (log, typed_log) = (Log::new(), Log::new());
        let expected = block_on(emit(&registry_of(&plans, &log), "tool:pre", data.clone()));
        let mut hooks = AgentHooksSet::new();
        for (at, plan) in plans.iter().cloned().enumerate() {
            let (log, priority) = (typed_log.clone(), plan.priority);
            let hook = move |_: String| {
                log.add(at.to_string());
                plan.clone().run()
            };
            hooks.register_strictest(Entry::new(hook).priority(priority));
        }
        let result = block_on(hooks.strictest("shell"));
        let ran: Vec<_> = log.take().into_iter().map(|line| line[..1].to_owned()).collect();
        prop_assert_eq!(typed_log.take(), ran);
        let without_data = |result: HookResult| HookResult {
            data: None,
            changes: Map::new().into(),
            ..result
        };
        prop_assert_eq!(
            format!("{:?}", without_data(result.clone())),
            format!("{:?}", without_data(expected.result()))
        );
        result.apply_to(&mut data);
        prop_assert_eq!(&data, &*expected.data);
    }

    /// R-03, R-09 to R-14.
    #[test]
    fn r_09_to_r_14_pre_and_post_slots_have_the_results_of_a_registry(
        plans in prop::collection::vec(
            (prop::sample::select(vec!["CONTINUE", "CONTINUE", "CONTINUE", "DENY", "HALT", "WAIT", "fails"]), 0..3),
            0..6,
        ),
    ) {
        let (log, typed_log) = (Log::new(), Log::new());
        let registry: PhaseRegistry<u8, u8> = PhaseRegistry::new();
        let mut hooks = AgentHooksSet::new();
        for (at, (action, priority)) in plans.iter().copied().enumerate() {
            let respond = move |log: &Log| {
                log.add(format!("pre {at}"));
                match action {
                    "fails" => Err(HookError::new("broken")),
                    action => Ok(HookResponse::new(action.to_owned().into())
                        .reason(at.to_string())
                        .details("details")),
                }
            };
            let complete = move |log: &Log| {
                log.add(format!("post {at}"));
                if action == "fails" { Err(HookError::new("broken")) } else { Ok(()) }
            };
            let id = at.to_string();
            let seen = log.clone();
            let pre = PreFn::new(&*id, move |_: &u8| respond(&seen));
            registry.register_pre(pre, plain().priority(priority));
            let seen = log.clone();
            registry.register_post(PostFn::new(&*id, move |_: &u8, _: Option<&str>| {
                complete(&seen).map_err(|_| "broken")
            }), plain());
            let seen = typed_log.clone();
            let hook = move |_: &u8| std::future::ready(respond(&seen));
            hooks.register_pre(Entry::new(hook).priority(priority));
            let seen = typed_log.clone();
            hooks.register_post(move |_: &u8, _: Option<&str>| std::future::ready(complete(&seen)));
        }
        let failure = |error: HookError| error.failure().to_string();
        prop_assert_eq!(
            block_on(hooks.pre(&1)).map_err(failure),
            block_on(registry.execute_pre(&1)).map_err(failure)
        );
        block_on(hooks.post(&1, None));
        block_on(registry.execute_post(&1, None));
        prop_assert_eq!(typed_log.take(), log.take());
    }
}

/// Returns a set whose only hook of `flows`, named `plugins`, emits the event in this registry.
fn with_plugins(registry: &HookRegistry) -> AgentHooksSet<'static> {
    AgentHooksSet::new().with_flows(Entry::new(registry.clone()).name("plugins"))
}

fn flows(hooks: &AgentHooksSet<'_>, data: Value) -> Result<Emission, EmitError> {
    let event = SlotEvent::new("tool:pre", data).unwrap();
    block_on(hooks.flows(event)).emission()
}

/// Returns a hook of `flows` that logs its data.
fn logs(
    log: &Log,
) -> impl Fn(SlotEvent) -> std::future::Ready<EventOutput> + Send + Sync + 'static {
    let log = log.clone();
    move |event: SlotEvent| {
        log.add(Value::from((*event.data()).clone()).to_string());
        std::future::ready(HookResult::proceed().into())
    }
}

#[test]
fn e_35_a_registry_as_a_hook_of_a_slot_passes_every_part_of_its_emission() {
    let (plugins, log) = (HookRegistry::new(), Log::new());
    let hooks = AgentHooksSet::new()
        .with_flows(async |_: SlotEvent| HookResult::set("typed", 1).into())
        .with_extended(with_plugins(&plugins))
        .with_flows(logs(&log));
    assert_eq!(flows(&hooks, json!({})).unwrap().action, Action::Modify);
    assert_eq!(
        log.take(),
        [r#"{"typed":1}"#],
        "a registry without hooks changes nothing"
    );

    // Plugins register after the set was built.
    plugins.register(
        "tool:pre",
        |event: Event<'_>| {
            event.print("printed");
            assert_eq!(event.get("typed"), Some(&json!(1)));
            HookResult::set("plugin", 2).user_message("changed")
        },
        named("first"),
    );
    plugins.register(
        "tool:pre",
        |_: Event<'_>| HookResult::inject_context("note").ephemeral(true),
        named("second"),
    );
    plugins.register("tool:pre", |_: Event<'_>| Err("broken"), named("third"));
    let ask = |_: Event<'_>| HookResult::ask_user("Run?").reason("because");
    plugins.register("tool:pre", ask, named("fourth"));
    let emission = flows(&hooks, json!({"own": 0})).unwrap();
    assert_eq!(
        log.take(),
        [r#"{"own":0,"typed":1,"plugin":2}"#],
        "a question does not stop"
    );
    assert_eq!(emission.action, Action::AskUser);
    assert_eq!(emission.decided_by.as_deref(), Some("plugins"));
    assert_eq!(emission.reason(), Some("because"));
    assert_eq!(emission.data["plugin"], 2);
    assert_eq!(&*emission.injections[0].provenance.hook, "second");
    assert!(emission.injections[0].ephemeral);
    assert_eq!(&*emission.messages[0].hook, "first");
    assert_eq!(&*emission.failures[0].hook, "third");
    assert_eq!(emission.output()[0].text, "printed");
}

#[test]
fn e_23_a_denial_in_a_registry_ends_the_dispatch_of_the_slot() {
    let (plugins, log) = (HookRegistry::new(), Log::new());
    plugins.register(
        "tool:pre",
        |_: Event<'_>| HookResult::deny("frozen"),
        plain(),
    );
    let hooks = with_plugins(&plugins).with_flows(logs(&log));
    let emission = flows(&hooks, json!({})).unwrap();
    assert!(emission.is_denied());
    assert_eq!(emission.reason(), Some("frozen"));
    assert!(log.take().is_empty());
}

#[test]
fn x_2_an_error_of_a_registry_ends_the_dispatch_of_the_slot() {
    let (plugins, log) = (HookRegistry::new(), Log::new());
    let options = named("guard").on_failure(FailurePolicy::Propagate);
    plugins.register("tool:pre", |_: Event<'_>| Err("no policy"), options);
    let hooks = with_plugins(&plugins).with_flows(logs(&log));
    let error = flows(&hooks, json!({"a": 1})).unwrap_err();
    assert!(error.to_string().contains("no policy"), "{error}");
    assert_eq!(error.emission().unwrap().data["a"], 1);
    assert!(log.take().is_empty());
}

#[test]
fn e_32_an_untrusted_registry_cannot_hide_the_question_of_a_trusted_hook() {
    let plugins = HookRegistry::new();
    plugins.register(
        "tool:pre",
        |_: Event<'_>| HookResult::ask_user("Really?"),
        plain(),
    );
    let registry = plugins.clone();
    let hook = move |event: SlotEvent| {
        let registry = registry.clone();
        async move { event.emit_to(&registry).await }
    };
    let hooks = AgentHooksSet::new()
        .with_flows(Entry::new(hook).trusted(false))
        .with_flows(
            Entry::new(async |_: SlotEvent| HookResult::ask_user("Delete all?").into()).name("own"),
        );
    let emission = flows(&hooks, json!({})).unwrap();
    assert_eq!(emission.decided_by.as_deref(), Some("own"));
    let question = emission.decision().unwrap().approval_prompt.clone();
    assert_eq!(question.as_deref(), Some("Delete all?"));
}

#[test]
fn e_35_a_set_as_a_handler_passes_every_part_of_its_emission() {
    let log = Log::new();
    let hooks = AgentHooksSet::new()
        .with_flows(
            Entry::new(async |_: SlotEvent| HookResult::set("typed", 1).into()).name("sets"),
        )
        .with_flows(
            Entry::new(async |_: SlotEvent| {
                HookResult::inject_context("note")
                    .user_message("shown")
                    .into()
            })
            .name("injects"),
        );
    let hooks = Arc::new(hooks);
    let registry = HookRegistry::new();
    registry.register(
        "tool:pre",
        |_: Event<'_>| HookResult::set("before", 0),
        plain(),
    );
    registry.register(
        "tool:pre",
        move |event: Arc<str>, data: Arc<Map>| {
            let hooks = Arc::clone(&hooks);
            async move { hooks.flows(SlotEvent::new(event, data)?).await.emission() }
        },
        named("typed set"),
    );
    let seen = log.clone();
    registry.register(
        "tool:pre",
        move |event: Event<'_>| {
            seen.add(Value::from((*event.data()).clone()).to_string());
            HookResult::proceed()
        },
        plain(),
    );
    let emission = block_on(emit(&registry, "tool:pre", json!({})));
    assert_eq!(log.take(), [r#"{"before":0,"typed":1}"#]);
    assert_eq!(emission.action, Action::InjectContext);
    assert_eq!(emission.decided_by.as_deref(), Some("typed set"));
    assert_eq!(&*emission.injections[0].provenance.hook, "injects");
    assert_eq!(emission.messages[0].text, "shown");
    assert_eq!(emission.data["typed"], 1);

    let collected = block_on(registry.collect("tool:pre", (), HookRegistry::COLLECT_TIMEOUT));
    let collected = collected.unwrap();
    assert_eq!(collected.messages[0].text, "shown");
    let data = collected.into_data();
    assert_eq!(data[1]["typed"], 1, "E-53: data count for any action");
}

/// Registers a handler whose emission has an error, with this failure policy.
fn failing_set(policy: FailurePolicy) -> Result<Emission, EmitError> {
    let registry = HookRegistry::new();
    let fails = |_: Arc<str>, _: Arc<Map>| async {
        let inner = HookRegistry::new();
        let options = plain().on_failure(FailurePolicy::Propagate);
        inner.register("e", |_: Event<'_>| Err("broken"), options);
        with_plugins(&inner)
            .flows(SlotEvent::new("e", ())?)
            .await
            .emission()
    };
    registry.register("e", fails, named("set").on_failure(policy));
    block_on(registry.emit("e", ()))
}

#[test]
fn x_2_the_error_of_a_set_is_a_failure_of_its_handler() {
    let isolated = failing_set(FailurePolicy::Isolate).unwrap();
    assert_eq!(isolated.action, Action::Continue);
    assert_eq!(&*isolated.failures[0].hook, "set");
    assert!(failing_set(FailurePolicy::FailClosed).unwrap().is_denied());
    assert!(failing_set(FailurePolicy::Propagate).is_err());
}

#[test]
fn in_the_phase_decide_an_emission_with_changed_data_is_a_failure_and_denies() {
    for (changed, denied) in [(json!({"a": 1}), false), (json!({"a": 2}), true)] {
        let registry = HookRegistry::new();
        let hook = move |_: Arc<str>, _: Arc<Map>| Emission::proceed(map(changed.clone()));
        registry.register("e", hook, plain().phase(EventPhase::Decide));
        let emission = block_on(emit(&registry, "e", json!({"a": 1})));
        assert_eq!(emission.is_denied(), denied);
        assert_eq!(emission.data["a"], 1);
    }
}

#[test]
fn a_hook_that_returns_an_emission_without_a_slot_has_its_result() {
    let output = EventOutput::from(HookResult::deny("closed"));
    let emission = output.emission().unwrap();
    assert_eq!(emission.reason(), Some("closed"));
    let failed = EventOutput::from(Err::<HookResult, _>(HookError::new("broken")));
    assert_eq!(failed.emission().unwrap().failures.len(), 1);
}

#[test]
fn r_10_a_registry_of_pre_hooks_is_a_hook_of_a_slot() {
    let plugins: PhaseRegistry<u8, u8> = PhaseRegistry::new();
    let log = Log::new();
    let seen = log.clone();
    let hooks = AgentHooksSet::new()
        .with_pre(plugins.clone())
        .with_pre(move |_: &u8| {
            seen.add("later");
            std::future::ready(Ok(HookResponse::proceed()))
        });
    assert!(block_on(hooks.pre(&1)).unwrap().is_continue());
    assert_eq!(log.take(), ["later"]);

    let deny = PreFn::new("odd", |request: &u8| match request % 2 {
        0 => HookResponse::proceed(),
        _ => HookResponse::new(ResponseAction::Deny).recovery_hint("use an even one"),
    });
    plugins.register_pre(deny, plain());
    let response = block_on(hooks.pre(&1)).unwrap();
    assert_eq!(response.recovery_hint.as_deref(), Some("use an even one"));
    assert!(log.take().is_empty());

    // R-13
    plugins.register_pre(
        PreFn::new("odd", |_: &u8| Err::<HookResponse, _>("broken")),
        plain(),
    );
    let error = block_on(hooks.pre(&1)).unwrap_err();
    assert_eq!(error.hook(), Some("odd"));
    assert!(log.take().is_empty());
}

#[test]
fn r_14_a_registry_isolates_the_panics_of_post_hooks_in_a_slot() {
    let plugins: PhaseRegistry<u8, u8> = PhaseRegistry::new();
    plugins.register_post(
        PostFn::new("panics", |_: &u8, _: Option<&str>| -> () { panic!("bug") }),
        plain(),
    );
    let log = Log::new();
    let seen = log.clone();
    let hooks = AgentHooksSet::new().with_post(plugins.clone()).with_post(
        move |_: &u8, id: Option<&str>| {
            seen.add(id.unwrap_or_default());
            std::future::ready(Ok(()))
        },
    );
    block_on(hooks.post(&1, Some("r-1")));
    assert_eq!(log.take(), ["r-1"]);
}

/// A typed set as a PRE hook.
struct TypedPre(AgentHooksSet<'static>);

impl PreHook<u8> for TypedPre {
    fn id(&self) -> &str {
        "typed"
    }

    async fn execute(&self, request: &u8) -> Result<HookResponse, HookError> {
        self.0.pre(request).await
    }
}

#[test]
fn r_10_r_13_a_set_is_a_pre_hook_of_a_registry() {
    let set = AgentHooksSet::new().with_pre(async |request: &u8| match request {
        0 => Err(HookError::new("no request")),
        1 => Ok(HookResponse::new(ResponseAction::Halt)),
        _ => Ok(HookResponse::proceed()),
    });
    let registry: PhaseRegistry<u8, u8> = PhaseRegistry::new();
    registry.register_pre(TypedPre(set), plain());
    assert!(block_on(registry.execute_pre(&2)).unwrap().is_continue());
    let halted = block_on(registry.execute_pre(&1)).unwrap();
    assert_eq!(halted.action, ResponseAction::Halt);
    let error = block_on(registry.execute_pre(&0)).unwrap_err();
    assert_eq!(error.to_string(), "hook `typed` failed: no request");
}

#[test]
fn in_a_fallback_slot_the_default_decides_if_no_hook_does_and_an_error_denies() {
    let hooks = AgentHooksSet::new();
    assert_eq!(
        block_on(hooks.pre_closed(&1)).reason.as_deref(),
        Some("default")
    );
    let hooks = hooks.with_pre_closed(async |_: &u8| Ok(HookResponse::proceed()));
    assert_eq!(block_on(hooks.pre_closed(&1)).action, ResponseAction::Halt);
    let hooks = hooks.with_pre_closed(async |_: &u8| Err(HookError::new("broken")));
    let response = block_on(hooks.pre_closed(&1));
    assert_eq!(response.action, ResponseAction::Deny);
    assert_eq!(response.reason.as_deref(), Some("broken"));
    assert_eq!(response.error_type.as_deref(), Some("hook_failure"));
}

#[hooks]
trait ScalarHooks {
    #[hook(fallback, finalize = ScalarResult, output = Result<HookResult, EmitError>)]
    async fn summary(_data: &Map) -> Result<Emission, EmitError> {
        Ok(Emission::proceed(Map::new()))
    }

    #[hook(fallback, custom = EventPipeline)]
    async fn plain_flow(event: SlotEvent) -> HookResult {
        assert_eq!(event.name(), "tool:pre");
        HookResult::set("default", event.data().len())
    }

    #[hook(fallback, custom = EventPipeline)]
    async fn fallible_flow(_event: SlotEvent) -> Result<HookResult, HookError> {
        yield_once().await;
        Ok(HookResult::proceed())
    }
}

#[impl_hook(PlainFlow)]
async fn doubles(event: SlotEvent) -> HookResult {
    HookResult::set("n", event.get("n").and_then(Value::as_u64).unwrap_or(1) * 2)
}

#[test]
fn e_25_data_flow_from_hook_to_hook_and_to_the_default() {
    let hooks = ScalarHooksSet::new()
        .with_plain_flow(Doubles)
        .with_plain_flow(Doubles);
    let event = SlotEvent::new("tool:pre", json!({"n": 3})).unwrap();
    let result = block_on(hooks.plain_flow(event.clone()));
    assert_eq!(Value::from(result.data), json!({"n": 12, "default": 1}));
    assert_eq!(
        event.get("n"),
        Some(&json!(3)),
        "E-37: the caller's event is unchanged"
    );
    assert!(SlotEvent::new("tool:pre", json!([1])).is_err(), "E-41");
}

#[test]
fn e_36_an_error_is_left_out_and_a_denial_keeps_the_default_from_running() {
    let hooks = ScalarHooksSet::new()
        .with_fallible_flow(async |_: SlotEvent| Err(HookError::new("broken")))
        .with_fallible_flow(async |_: SlotEvent| Ok(HookResult::inject_context("a")))
        .with_fallible_flow(async |_: SlotEvent| Ok(HookResult::inject_context("b")));
    let event = SlotEvent::new("tool:pre", ()).unwrap();
    let result = block_on(hooks.fallible_flow(event)).unwrap();
    assert_eq!(result.context_injection.as_deref(), Some("a\n\nb"), "E-29");

    let hooks = ScalarHooksSet::new().with_plain_flow(async |_: SlotEvent| HookResult::deny("no"));
    let result = block_on(hooks.plain_flow(SlotEvent::new("other", ()).unwrap()));
    assert_eq!(result.action, Action::Deny);
}

#[test]
fn a_panic_in_a_pipeline_propagates() {
    let hooks = ScalarHooksSet::new().with_plain_flow(async |_: SlotEvent| panic!("bug"));
    let event = SlotEvent::new("tool:pre", ()).unwrap();
    let run = AssertUnwindSafe(|| block_on(hooks.plain_flow(event)));
    assert!(catch_unwind(run).is_err());
}

struct Plugins(HookRegistry);

impl Summary for Plugins {
    async fn call(
        &self,
        data: &Map,
        _last: Option<Result<Emission, EmitError>>,
    ) -> Result<Emission, EmitError> {
        self.0.emit("tool:pre", data.clone()).await
    }
}

#[test]
fn the_finalizer_summarizes_an_emission() {
    let plugins = HookRegistry::new();
    plugins.register("tool:pre", |_: Event<'_>| HookResult::set("a", 1), plain());
    let hooks = ScalarHooksSet::new().with_summary(Plugins(plugins));
    let result = block_on(hooks.summary(&Map::new())).unwrap();
    assert_eq!(
        (result.action, result.data.unwrap()["a"].as_u64()),
        (Action::Modify, Some(1))
    );
}
