//! Around hooks, phases, relative order, filters, switches, schemas and copies for one call, in
//! combination, and when a run is dropped, panics, times out or runs the registry again.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use hooks_runtime::around::Next;
use hooks_runtime::events::{EventCall, EventField, EventNameProblem, EventPhase, EventSchema};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserverFn, PreResult};
use hooks_runtime::toolset::{
    ExecuteTool, ToolCall, ToolCallContext, ToolCallOutput, ToolDecision, ToolError, ToolFailure,
    ToolRunner, ToolSet,
};
use hooks_runtime::transform::{
    TransformError, TransformFn, TransformInput, TransformRegistry, Transformed,
};
use hooks_runtime::{
    Action, Around, Emission, EmitError, EmitOptions, Entry, Event, FailurePolicy, HookError,
    HookRegistry, HookResponse, HookResult, HookStatus, Phase, PhaseRegistry, RegisterOptions,
    ResponseAction,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kit::{
    Dropped, Log, at, capture_logs, emit, has_line, named, plain, refusal, yield_once,
};

type Outcome = Result<Emission, EmitError>;

fn proceed(_: Event<'_>) -> HookResult {
    HookResult::proceed()
}

fn deny(_: Event<'_>) -> HookResult {
    HookResult::deny("closed")
}

fn adds(log: &Log, line: &'static str) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |_: Event<'_>| {
        log.add(line);
        HookResult::proceed()
    }
}

/// Logs the outcome that an observer receives.
fn observes(log: &Log) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |event: Event<'_>| {
        match event.outcome().expect("an observer receives the outcome") {
            Ok(emission) => log.add(format!("observed {}", emission.action)),
            Err(error) => log.add(format!("observed {error}")),
        }
        HookResult::proceed()
    }
}

fn keyed(key: &'static str) -> RegisterOptions {
    named(key).key(key)
}

fn names(hooks: &HookRegistry, event: &str) -> Vec<String> {
    hooks.list_handlers(Some(event)).remove(event).unwrap()
}

/// Logs before and after the rest of an emission, with a local value.
struct Bracket(Log, &'static str, Dropped);

impl Around<EventCall> for Bracket {
    async fn call<'a>(&'a self, (call,): (EventCall,), next: Next<'a, EventCall>) -> Outcome {
        let _local = self.2.guard();
        self.0.add(format!("before {}", self.1));
        let outcome = next.call((call,)).await;
        self.0.add(format!("after {}", self.1));
        outcome
    }
}

fn bracket(log: &Log, name: &'static str) -> Bracket {
    Bracket(log.clone(), name, Dropped::default())
}

// Around events

#[tokio::test]
async fn around_hooks_of_events_nest_and_are_switched_and_filtered() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register("e", adds(&log, "hook"), plain());
    hooks.register("e", adds(&log, "check"), plain().phase(EventPhase::Decide));
    hooks.register("e", observes(&log), plain().phase(EventPhase::Observe));
    hooks.around("e", Entry::new(bracket(&log, "inner")).key("inner"));
    hooks.around(
        "e",
        Entry::new(bracket(&log, "outer"))
            .key("outer")
            .priority(9)
            .before("inner"),
    );
    hooks.around(
        "e",
        Entry::new(bracket(&log, "conditional"))
            .priority(-1)
            .when(|call: &EventCall| call.data.contains_key("wide")),
    );

    emit(&hooks, "e", ()).await;
    let inside = ["before inner", "hook", "check", "after inner"];
    assert_eq!(
        log.take(),
        [
            &["before outer"][..],
            &inside,
            &["after outer", "observed continue"]
        ]
        .concat()
    );
    assert!(hooks.set_around_enabled("e", "outer", false));
    assert!(!hooks.set_around_enabled("other", "outer", false));
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), [&inside[..], &["observed continue"]].concat());
    emit(&hooks, "e", json!({"wide": 1})).await;
    assert_eq!(log.take()[..2], ["before conditional", "before inner"]);

    let unknown = refusal(|| {
        hooks.around(
            "e",
            Entry::new(bracket(&log, "x")).name("mine").after("outr"),
        )
    });
    assert!(
        unknown.contains("mine") && unknown.contains("outr"),
        "{unknown}"
    );
}

#[tokio::test]
async fn an_around_hook_replaces_and_retries_an_emission_for_the_observers() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let calls = AtomicU32::new(0);
    hooks.register(
        "e",
        move |_: Event<'_>| match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Err("busy"),
            _ => Ok(HookResult::set("done", true)),
        },
        named("busy").on_failure(FailurePolicy::Propagate),
    );
    hooks.register("e", observes(&log), plain().phase(EventPhase::Observe));
    hooks.around(
        "e",
        Entry::new(async |call: EventCall, next: Next<'_, EventCall>| {
            match next.call((call.clone(),)).await {
                Err(EmitError::Hook { .. }) => next.call((call,)).await,
                outcome => outcome,
            }
        })
        .key("retry"),
    );
    let emission = hooks.emit("e", ()).await.unwrap();
    assert_eq!(emission.data["done"], true);
    assert_eq!(
        log.take(),
        ["observed modify"],
        "observers run once, after the last attempt"
    );

    hooks.around(
        "e",
        Entry::new(async |call: EventCall, _next: Next<'_, EventCall>| {
            Ok(Emission::deny(call.data, "closed_door", "nothing is sent"))
        })
        .priority(-1)
        .key("closed"),
    );
    let emission = hooks.emit("e", json!({"a": 1})).await.unwrap();
    assert!(emission.is_denied());
    assert_eq!(emission.decided_by.as_deref(), Some("closed_door"));
    assert_eq!(emission.reason(), Some("nothing is sent"));
    assert_eq!(emission.data["a"], 1);
    assert_eq!(log.take(), ["observed deny"]);
}

#[tokio::test]
async fn a_panic_of_an_around_hook_propagates_and_the_registry_works_afterwards() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register("e", adds(&log, "hook"), plain());
    let registration = hooks.around("e", async |call: EventCall, next: Next<'_, EventCall>| {
        let outcome: Outcome = next.call((call,)).await;
        assert!(outcome.is_err(), "around");
        outcome
    });
    let payload = AssertUnwindSafe(hooks.emit("e", ())).catch_unwind().await;
    assert!(payload.is_err());
    assert_eq!(log.take(), ["hook"]);
    assert!(registration.unregister());
    assert!(!registration.unregister());
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), ["hook"]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_cancels_around_hooks_and_observers_still_run() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let dropped = Dropped::default();
    let guarded = dropped.clone();
    hooks.register(
        "e",
        move |_: Arc<str>, _: Arc<hooks_runtime::Map>| {
            let guard = guarded.guard();
            async move {
                let _guard = guard;
                std::future::pending::<HookResult>().await
            }
        },
        plain(),
    );
    let around = Bracket(log.clone(), "around", Dropped::default());
    let around_dropped = around.2.clone();
    hooks.around("e", around);
    hooks.register("e", observes(&log), plain().phase(EventPhase::Observe));
    let options = EmitOptions::new().deadline(Duration::from_millis(10));
    let error = hooks.emit_with("e", (), options).await.unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }), "{error}");
    assert!(dropped.is_set() && around_dropped.is_set());
    let lines = log.take();
    assert_eq!(lines[0], "before around");
    assert!(lines[1].starts_with("observed "), "{lines:?}");
    assert_eq!(lines.len(), 2);
}

#[tokio::test]
async fn a_dropped_emission_drops_around_hooks_and_starts_no_observer() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register(
        "e",
        async |_: Arc<str>, _: Arc<hooks_runtime::Map>| std::future::pending::<HookResult>().await,
        named("stuck"),
    );
    let around = Bracket(log.clone(), "around", Dropped::default());
    let dropped = around.2.clone();
    hooks.around("e", around);
    hooks.register("e", observes(&log), plain().phase(EventPhase::Observe));
    assert!(hooks.emit("e", ()).now_or_never().is_none());
    assert!(dropped.is_set());
    assert_eq!(log.take(), ["before around"]);
    assert_eq!(hooks.set_enabled("stuck", false), 1);
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take().len(), 3);
}

#[tokio::test]
async fn hooks_and_around_hooks_emit_their_own_event() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let depth = |event: &hooks_runtime::Map| event["depth"].as_u64().unwrap();
    let (weak, lines) = (hooks.downgrade(), log.clone());
    hooks.register(
        "e",
        move |_: Arc<str>, data: Arc<hooks_runtime::Map>| {
            let (hooks, lines) = (weak.upgrade().unwrap(), lines.clone());
            async move {
                let level = depth(&data);
                lines.add(format!("hook {level}"));
                if level > 0 {
                    yield_once().await;
                    emit(&hooks, "e", json!({"depth": level - 1})).await;
                }
                HookResult::proceed()
            }
        },
        plain(),
    );
    struct Inner(hooks_runtime::WeakHookRegistry);

    impl Around<EventCall> for Inner {
        async fn call<'a>(&'a self, (call,): (EventCall,), next: Next<'a, EventCall>) -> Outcome {
            if call.data.contains_key("again") {
                let hooks = self.0.upgrade().unwrap();
                Box::pin(hooks.emit("e", json!({"depth": 0}))).await?;
            }
            next.call((call,)).await
        }
    }

    hooks.around("e", Inner(hooks.downgrade()));
    emit(&hooks, "e", json!({"depth": 2, "again": true})).await;
    assert_eq!(log.take(), ["hook 0", "hook 2", "hook 1", "hook 0"]);
}

// Phases of events

#[tokio::test]
async fn hooks_of_decide_judge_the_final_data_whatever_the_order_of_registration() {
    let hooks = HookRegistry::new();
    hooks.register(
        "e",
        |event: Event<'_>| match event.get("path").and_then(Value::as_str) {
            Some("/etc/passwd") => HookResult::deny("system file"),
            _ => HookResult::proceed(),
        },
        named("check").phase(EventPhase::Decide).priority(-100),
    );
    hooks.register(
        "e",
        |_: Event<'_>| HookResult::set("path", "/etc/passwd"),
        at(100),
    );
    assert!(emit(&hooks, "e", json!({"path": "a"})).await.is_denied());

    // The change of an around hook is a change before the check, too.
    let around = HookRegistry::new();
    around.register(
        "e",
        |event: Event<'_>| match event.get("around") {
            Some(_) => HookResult::deny("changed by an around hook"),
            None => HookResult::proceed(),
        },
        plain().phase(EventPhase::Decide),
    );
    around.around("e", async |call: EventCall, next: Next<'_, EventCall>| {
        let mut data = (*call.data).clone();
        data.insert("around".into(), json!(true));
        next.call((call.with_data(data),)).await
    });
    assert!(emit(&around, "e", ()).await.is_denied());

    // A change in `Decide` is a failure, which denies by default.
    let changed = HookRegistry::new();
    changed.register(
        "e",
        |_: Event<'_>| HookResult::set("a", 1),
        named("late").phase(EventPhase::Decide),
    );
    let emission = emit(&changed, "e", ()).await;
    assert!(emission.is_denied());
    assert!(!emission.data.contains_key("a"));
    assert_eq!(emission.failures.len(), 1);
}

#[tokio::test]
async fn observers_run_after_every_outcome() {
    type Build = fn(&HookRegistry);
    let cases: [(&str, Build); 6] = [
        ("observed continue", |_| {}),
        ("observed deny", |hooks| {
            _ = hooks.register("e", deny, plain())
        }),
        ("observed deny", |hooks| {
            hooks.register("e", deny, plain().phase(EventPhase::Decide));
        }),
        ("observed deny", |hooks| {
            let panics = |_: Event<'_>| -> HookResult { panic!("no rules") };
            hooks.register(
                "e",
                panics,
                named("p").on_failure(FailurePolicy::FailClosed),
            );
        }),
        ("observed hook `p`", |hooks| {
            let fails = |_: Event<'_>| Err::<HookResult, _>("no rules");
            hooks.register("e", fails, named("p").on_failure(FailurePolicy::Propagate));
        }),
        ("observed after the changes by hooks", |hooks| {
            hooks.declare(EventSchema::new("e").field(EventField::string("a").optional()));
            hooks.register("e", |_: Event<'_>| HookResult::set("a", 1), plain());
        }),
    ];
    for (expected, build) in cases {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        hooks.register("e", observes(&log), plain().phase(EventPhase::Observe));
        build(&hooks);
        let outcome = hooks.emit("e", ()).await;
        let lines = log.take();
        assert_eq!(lines.len(), 1, "{expected}: {outcome:?}");
        assert!(lines[0].starts_with(expected), "{expected}: {lines:?}");
    }
}

#[tokio::test]
async fn observers_cannot_change_the_outcome_and_do_not_stop_each_other() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let observer = |name: &'static str| named(name).phase(EventPhase::Observe);
    hooks.register("e", |_: Event<'_>| HookResult::set("a", 1), plain());
    hooks.register("e", deny, observer("denies"));
    hooks.register(
        "e",
        |_: Event<'_>| HookResult::set("a", 2),
        observer("changes"),
    );
    hooks.register(
        "e",
        |_: Event<'_>| -> HookResult { panic!("audit") },
        observer("panics"),
    );
    hooks.register(
        "e",
        |_: Event<'_>| HookResult::proceed().user_message("recorded"),
        observer("speaks"),
    );
    hooks.register("e", observes(&log), observer("last"));
    let emission = emit(&hooks, "e", ()).await;
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(emission.data["a"], 1);
    let failed: Vec<_> = emission
        .failures
        .iter()
        .map(|failure| &*failure.hook)
        .collect();
    assert_eq!(failed, ["denies", "changes", "panics"]);
    assert_eq!(emission.messages[0].text, "recorded");
    assert_eq!(log.take(), ["observed modify"]);
    let refused = refusal(|| {
        hooks.register(
            "e",
            proceed,
            observer("strict").on_failure(FailurePolicy::FailClosed),
        )
    });
    assert!(refused.contains("strict"), "{refused}");
}

// Relative order in registries

#[tokio::test]
async fn constraints_of_event_hooks_survive_removal_replacement_and_switches() {
    let hooks = HookRegistry::new();
    hooks.register("e", proceed, keyed("x"));
    let sign = hooks.register("e", proceed, keyed("sign").priority(5));
    hooks.register("e", proceed, keyed("send").after("sign"));
    hooks.register("e", proceed, keyed("check").priority(9).before("sign"));
    assert_eq!(names(&hooks, "e"), ["x", "check", "sign", "send"]);
    hooks.set_enabled("sign", false);
    assert_eq!(names(&hooks, "e"), ["x", "check", "sign", "send"]);
    assert!(sign.unregister());
    assert_eq!(names(&hooks, "e"), ["x", "send", "check"]);
    hooks.register("e", proceed, keyed("sign").priority(7));
    assert_eq!(names(&hooks, "e"), ["x", "check", "sign", "send"]);
    hooks.register("e", proceed, named("signed").key("sign").priority(7));
    assert_eq!(names(&hooks, "e"), ["x", "check", "signed", "send"]);

    let described = hooks.descriptors();
    let send = described
        .iter()
        .find(|hook| hook.key.as_deref() == Some("send"))
        .unwrap();
    assert_eq!(send.after, ["sign"], "the list shows why");
    assert!(send.before.is_empty());
    let check = described
        .iter()
        .find(|hook| hook.key.as_deref() == Some("check"))
        .unwrap();
    assert_eq!(check.before, ["sign"]);
}

#[tokio::test]
async fn invalid_constraints_of_registries_name_both_hooks_and_change_nothing() {
    let hooks = HookRegistry::new();
    hooks.register("e", proceed, keyed("a"));
    hooks.register("e", proceed, keyed("b").after("a"));
    hooks.register("other", proceed, keyed("elsewhere"));
    hooks.register("e", proceed, keyed("later").phase(EventPhase::Decide));
    let before = hooks.descriptors();
    for (key, words) in [
        ("missing", ["new", "missing"]),
        ("elsewhere", ["new", "elsewhere"]),
        ("later", ["new", "later"]),
    ] {
        let message = refusal(|| hooks.register("e", proceed, named("new").before(key)));
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    let cycle = refusal(|| hooks.register("e", proceed, keyed("a").after("b")));
    assert!(cycle.contains("`a`") && cycle.contains("`b`"), "{cycle}");
    assert_eq!(hooks.descriptors(), before);

    let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
    let pre = |id: &str| PreFn::new(id, |_: &str| HookResponse::default());
    let post = |id: &str| PostFn::new(id, |_: &str, _: Option<&str>| {});
    phases.register_pre(pre("a"), plain());
    phases.register_pre(pre("b"), plain().after("a"));
    phases.register_post(post("a"), plain());
    phases.register_post(post("b"), plain().after("a"));
    let before = phases.registered_hooks(Phase::Pre);
    for message in [
        refusal(|| phases.register_pre(pre("new"), plain().before("missing"))),
        refusal(|| phases.register_post(post("new"), plain().before("missing"))),
    ] {
        assert!(
            message.contains("new") && message.contains("missing"),
            "{message}"
        );
    }
    for cycle in [
        refusal(|| phases.register_pre(pre("a"), plain().after("b"))),
        refusal(|| phases.register_post(post("a"), plain().after("b"))),
    ] {
        assert!(cycle.contains("`a`") && cycle.contains("`b`"), "{cycle}");
    }
    assert_eq!(phases.registered_hooks(Phase::Pre), before);

    let values: TransformRegistry<str> = TransformRegistry::new();
    let same = |id: &str| TransformFn::new(id, |_: TransformInput<'_, str>| Transformed::Unchanged);
    values.register(same("a"), plain());
    values.register(same("b"), plain().after("a"));
    let cycle = refusal(|| values.register(same("a"), plain().after("b")));
    assert!(cycle.contains("`a`") && cycle.contains("`b`"), "{cycle}");
    assert_eq!(values.hooks().len(), 2);
}

#[tokio::test]
async fn pre_and_post_hooks_are_ordered_by_id_and_their_lists_show_why() {
    let (hooks, log) = (PhaseRegistry::<str, str>::new(), Log::new());
    let pre = |id: &'static str| {
        let log = log.clone();
        PreFn::new(id, move |_: &str| {
            log.add(id);
            HookResponse::default()
        })
    };
    let post = |id: &'static str| {
        let log = log.clone();
        PostFn::new(id, move |_: &str, _: Option<&str>| log.add(id))
    };
    hooks.register_pre(pre("scope"), at(10));
    hooks.register_pre(pre("late"), at(500).before("scope"));
    hooks.register_pre(pre("early"), at(-500).after("scope"));
    hooks.execute_pre("").await.unwrap();
    assert_eq!(log.take(), ["late", "scope", "early"]);
    hooks.replace_pre(pre("late"));
    hooks.execute_pre("").await.unwrap();
    assert_eq!(log.take(), ["late", "scope", "early"]);
    hooks.deregister(Phase::Pre, "scope");
    hooks.execute_pre("").await.unwrap();
    assert_eq!(log.take(), ["early", "late"]);

    hooks.register_post(post("trace"), plain());
    hooks.register_post(post("first"), plain().before("trace"));
    hooks.execute_post("", None).await;
    assert_eq!(log.take(), ["first", "trace"]);

    let described = hooks.registered_hooks(Phase::Pre);
    assert_eq!(described[0].after, ["scope"]);
    assert_eq!(described[1].before, ["scope"]);
    assert_eq!(hooks.registered_hooks(Phase::Post)[0].before, ["trace"]);

    let values: TransformRegistry<str> = TransformRegistry::new();
    let same = |id: &str| TransformFn::new(id, |_: TransformInput<'_, str>| Transformed::Unchanged);
    values.register(same("a"), plain());
    values.register(same("b"), plain().before("a"));
    assert_eq!(values.hooks()[0].id, "b");
    assert_eq!(values.hooks()[0].before, ["a"]);
}

// Filters, matchers and switches

#[tokio::test]
async fn matchers_compare_the_whole_name_of_the_tool() {
    let cases = [
        ("bash", "bash", true),
        ("bash", "bash2", false),
        ("write_*", "write_file", true),
        ("write_*", "write_", true),
        ("write_*", "overwrite_file", false),
        ("*", "anything", true),
        ("?ead", "read", true),
        ("?ead", "ead", false),
        ("r?*d", "read", true),
        ("a*b*c", "aXbYbZc", true),
        ("mcp__*__delete", "mcp__files__delete", true),
        ("mcp__*__delete", "mcp__files__deleted", false),
        ("Bash", "bash", false),
        ("[a]", "a", false),
        ("gr??", "grüß", true),
    ];
    for (pattern, tool, expected) in cases {
        let hooks = HookRegistry::new();
        hooks.register("tool:pre", deny, plain().tools([pattern]));
        let denied = emit(&hooks, "tool:pre", json!({"tool_name": tool}))
            .await
            .is_denied();
        assert_eq!(denied, expected, "{pattern} {tool}");
    }
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", deny, plain().tools(["read", "write"]));
    assert!(
        emit(&hooks, "tool:pre", json!({"tool_name": "write"}))
            .await
            .is_denied()
    );
    // Without the name of a tool, a check runs.
    assert!(emit(&hooks, "tool:pre", ()).await.is_denied());
    assert!(
        emit(&hooks, "tool:pre", json!({"tool_name": 7}))
            .await
            .is_denied()
    );
}

#[tokio::test]
async fn filters_are_called_once_before_their_phase_and_not_for_disabled_hooks() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let lines = log.clone();
    hooks.register(
        "e",
        |_: Event<'_>| HookResult::set("changed", true),
        named("changes"),
    );
    hooks.register(
        "e",
        adds(&log, "transform"),
        named("same phase").when(move |event| {
            lines.add(format!("filter 1 {}", event.get("changed").is_some()));
            true
        }),
    );
    let lines = log.clone();
    hooks.register(
        "e",
        adds(&log, "decide"),
        named("next phase")
            .phase(EventPhase::Decide)
            .when(move |event| {
                lines.add(format!("filter 2 {}", event.get("changed").is_some()));
                true
            }),
    );
    let lines = log.clone();
    hooks.register(
        "e",
        observes(&log),
        named("denials")
            .phase(EventPhase::Observe)
            .when(move |event| {
                let is_denied = event
                    .outcome()
                    .is_some_and(|outcome| outcome.as_ref().is_ok_and(Emission::is_denied));
                lines.add(format!("filter 3 {is_denied}"));
                is_denied
            }),
    );
    emit(&hooks, "e", ()).await;
    assert_eq!(
        log.take(),
        [
            "filter 1 false",
            "transform",
            "filter 2 true",
            "decide",
            "filter 3 false"
        ]
    );
    for name in ["same phase", "next phase", "denials"] {
        assert_eq!(hooks.set_enabled(name, false), 1);
    }
    emit(&hooks, "e", ()).await;
    assert!(log.take().is_empty());
    hooks.set_enabled("denials", true);
    hooks.register("e", deny, plain().phase(EventPhase::Decide));
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), ["filter 3 true", "observed deny"]);
}

#[tokio::test]
async fn a_filter_may_let_a_hook_run_once_and_several_filters_have_to_hold() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let used = AtomicBool::new(false);
    hooks.register(
        "e",
        adds(&log, "once"),
        plain()
            .tools(["read*"])
            .when(|event| event.str("mode") == Some("plan"))
            .when(move |_| !used.swap(true, Ordering::Relaxed)),
    );
    let call = |tool: &str, mode: &str| json!({"tool_name": tool, "mode": mode});
    emit(&hooks, "e", call("write", "plan")).await;
    emit(&hooks, "e", call("read", "act")).await;
    assert!(log.take().is_empty());
    emit(&hooks, "e", call("read", "plan")).await;
    emit(&hooks, "e", call("read", "plan")).await;
    assert_eq!(log.take(), ["once"]);

    // A filter that panics does not skip a check.
    let hooks = HookRegistry::new();
    hooks.register("e", deny, plain().when(|_| panic!("filter")));
    assert!(emit(&hooks, "e", ()).await.is_denied());
}

#[tokio::test]
async fn failures_in_succession_disable_a_hook_until_it_is_enabled_again() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let works = Arc::new(AtomicBool::new(false));
    let (lines, working) = (log.clone(), works.clone());
    hooks.register(
        "e",
        move |_: Event<'_>| {
            lines.add("ran");
            match working.load(Ordering::Relaxed) {
                true => Ok(HookResult::proceed()),
                false => Err("broken"),
            }
        },
        named("flaky").disable_after(2),
    );
    let state = |hooks: &HookRegistry| {
        let hook = &hooks.descriptors()[0];
        (hook.enabled, hook.failures)
    };
    emit(&hooks, "e", ()).await;
    assert_eq!(state(&hooks), (true, 1));
    works.store(true, Ordering::Relaxed);
    emit(&hooks, "e", ()).await;
    assert_eq!(state(&hooks), (true, 0), "a success resets the number");
    works.store(false, Ordering::Relaxed);

    let (emission, lines) = capture_logs(async {
        emit(&hooks, "e", ()).await;
        emit(&hooks, "e", ()).await
    })
    .await;
    assert_eq!(
        emission.failures.len(),
        1,
        "the emission that disables reports the failure"
    );
    assert!(
        has_line(&lines, "WARN", &["flaky", "disabled"]),
        "{lines:?}"
    );
    assert!(!state(&hooks).0);
    log.take();
    emit(&hooks, "e", ()).await;
    assert!(log.take().is_empty());

    works.store(true, Ordering::Relaxed);
    assert_eq!(hooks.set_enabled("flaky", true), 1);
    assert_eq!(state(&hooks), (true, 0));
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), ["ran"]);

    // In a copy for one call, failures do not disable the hook of the registry.
    works.store(false, Ordering::Relaxed);
    let call = hooks.for_call(|_| {});
    emit(&call, "e", ()).await;
    emit(&call, "e", ()).await;
    assert!(!state(&call).0);
    assert!(state(&hooks).0);

    for options in [
        named("gate")
            .on_failure(FailurePolicy::FailClosed)
            .disable_after(3),
        named("gate")
            .on_failure(FailurePolicy::Propagate)
            .disable_after(3),
        named("gate").phase(EventPhase::Decide).disable_after(3),
    ] {
        let refused = refusal(|| hooks.register("e", deny, options));
        assert!(refused.contains("gate"), "{refused}");
    }
    refusal(|| plain().disable_after(0));
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_failure_counts_and_only_failures_in_succession() {
    type Hook = fn(
        Arc<str>,
        Arc<hooks_runtime::Map>,
    ) -> futures::future::BoxFuture<'static, Result<HookResult, HookError>>;
    let kinds: [(&str, Hook); 4] = [
        ("error", |_, _| {
            Box::pin(async { Err(HookError::new("broken")) })
        }),
        ("panic", |_, _| Box::pin(async { panic!("broken") })),
        ("timeout", |_, _| Box::pin(std::future::pending())),
        ("invalid", |_, _| {
            Box::pin(async { Ok(HookResult::set("a", 1)) })
        }),
    ];
    for (kind, hook) in kinds {
        let hooks = HookRegistry::new();
        // A change of the data is an invalid result of the phase `Decide`.
        let options = named(kind)
            .phase(EventPhase::Decide)
            .on_failure(FailurePolicy::Isolate);
        let options = options.timeout(Duration::from_millis(5)).disable_after(2);
        hooks.register("e", hook, options);
        emit(&hooks, "e", ()).await;
        assert!(hooks.descriptors()[0].enabled, "{kind}");
        emit(&hooks, "e", ()).await;
        assert!(!hooks.descriptors()[0].enabled, "{kind}");
        assert!(emit(&hooks, "e", ()).await.failures.is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_hook_that_failed_in_a_dropped_emission_is_disabled_by_its_next_failure() {
    let hooks = HookRegistry::new();
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    hooks.register("e", fails, named("broken").disable_after(2));
    hooks.register(
        "e",
        async |_: Arc<str>, data: Arc<hooks_runtime::Map>| {
            if data.contains_key("wait") {
                std::future::pending::<()>().await;
            }
            HookResult::proceed()
        },
        named("slow"),
    );
    for _ in 0..3 {
        assert!(
            hooks
                .emit("e", json!({"wait": true}))
                .now_or_never()
                .is_none()
        );
    }
    let (_, lines) = capture_logs(emit(&hooks, "e", ())).await;
    assert!(!hooks.descriptors()[0].enabled);
    assert!(
        has_line(&lines, "WARN", &["disabled", "broken"]),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_requested_report_is_there_also_if_an_around_hook_replaces_the_emission() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register("e", proceed, named("never"));
    hooks.register(
        "e",
        observes(&log),
        named("audit").phase(EventPhase::Observe),
    );
    hooks.around("e", async |call: EventCall, _next: Next<'_, EventCall>| {
        Ok(Emission::deny(call.data, "closed", "closed"))
    });
    let emission = hooks
        .emit_with("e", (), EmitOptions::new().report())
        .await
        .unwrap();
    let report = emission.report().expect("requested");
    let ran: Vec<_> = report.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(ran, ["audit"]);
}

#[tokio::test]
async fn around_hooks_of_events_are_listed_in_their_order() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.around("e", Entry::new(bracket(&log, "inner")).key("inner"));
    hooks.around(
        "e",
        Entry::new(bracket(&log, "outer"))
            .key("outer")
            .before("inner"),
    );
    hooks.set_around_enabled("e", "inner", false);
    let listed = hooks.around_hooks("e");
    let keys: Vec<_> = listed.iter().map(|entry| entry.key().unwrap()).collect();
    assert_eq!(keys, ["outer", "inner"]);
    assert_eq!(listed[0].before().collect::<Vec<_>>(), ["inner"]);
    assert!(!listed[1].is_enabled());
    assert!(hooks.around_hooks("other").is_empty());
}

#[tokio::test]
async fn pre_post_hooks_observers_and_transforms_are_disabled_after_failures() {
    let hooks: PhaseRegistry<str, str> = PhaseRegistry::new();
    let isolated = || plain().on_failure(FailurePolicy::Isolate).disable_after(2);
    let runs = Arc::new(AtomicU32::new(0));
    let count = |runs: &Arc<AtomicU32>| {
        let runs = runs.clone();
        move || runs.fetch_add(1, Ordering::Relaxed)
    };
    let ran = count(&runs);
    hooks.register_pre(
        PreFn::new("pre", move |_: &str| {
            ran();
            Err::<HookResponse, _>("broken")
        }),
        isolated(),
    );
    let ran = count(&runs);
    hooks.register_post(
        PostFn::new("post", move |_: &str, _: Option<&str>| {
            ran();
            Err::<(), _>("broken")
        }),
        plain().disable_after(2),
    );
    let ran = count(&runs);
    hooks.register_observer(
        PreObserverFn::new("observer", move |_: &str, _: PreResult<'_>| {
            ran();
            Err::<(), _>("broken")
        }),
        plain().disable_after(2),
    );
    for _ in 0..4 {
        assert!(hooks.execute_pre("").await.unwrap().is_continue());
        hooks.execute_post("", None).await;
    }
    assert_eq!(runs.load(Ordering::Relaxed), 6);
    for (phase, id) in [
        (Phase::Pre, "pre"),
        (Phase::Post, "post"),
        (Phase::Observe, "observer"),
    ] {
        let hook = hooks.registered_hooks(phase).remove(0);
        assert_eq!((&*hook.id, hook.enabled, hook.failures), (id, false, 2));
        assert!(hooks.set_enabled(phase, id, true));
        let hook = hooks.registered_hooks(phase).remove(0);
        assert_eq!((hook.enabled, hook.failures), (true, 0));
    }
    let gate = PreFn::new("gate", |_: &str| HookResponse::default());
    let refused = refusal(|| hooks.register_pre(gate, plain().disable_after(2)));
    assert!(refused.contains("gate"), "{refused}");

    let values: TransformRegistry<str> = TransformRegistry::new();
    let broken = |_: TransformInput<'_, str>| Err::<Transformed<str>, _>("broken");
    values.register(TransformFn::new("broken", broken), isolated());
    for _ in 0..3 {
        assert_eq!(&*values.apply(Arc::from("x")).await.unwrap().value, "x");
    }
    assert!(!values.hooks()[0].enabled);
}

struct Call {
    tool: &'static str,
    cost: u32,
}

/// A registry of calls that knows the names of tools, and its log.
fn calls() -> (PhaseRegistry<Call, Call>, Log) {
    let hooks: PhaseRegistry<Call, Call> = PhaseRegistry::new();
    let name: fn(&Call) -> Option<&str> = |call| (!call.tool.is_empty()).then_some(call.tool);
    hooks.set_tool_names(name, name);
    (hooks, Log::new())
}

#[tokio::test]
async fn pre_and_post_hooks_observers_and_transforms_run_for_some_inputs_and_tools() {
    let (hooks, log) = calls();
    let some = || {
        plain()
            .tools(["write_*", "bash"])
            .when_input(|call: &Call| call.cost > 10)
    };
    let lines = log.clone();
    hooks.register_pre(
        PreFn::new("pre", move |_: &Call| {
            lines.add("pre");
            HookResponse::new(ResponseAction::Deny)
        }),
        some(),
    );
    let lines = log.clone();
    hooks.register_observer(
        PreObserverFn::new("observer", move |_: &Call, _: PreResult<'_>| {
            lines.add("observer")
        }),
        some(),
    );
    let lines = log.clone();
    hooks.register_post(
        PostFn::new("post", move |_: &Call, _: Option<&str>| lines.add("post")),
        some(),
    );
    for transforms in [hooks.requests(), hooks.results()] {
        let lines = log.clone();
        transforms.register(
            TransformFn::new("transform", move |_: TransformInput<'_, Call>| {
                lines.add("transform");
                Transformed::<Call>::Unchanged
            }),
            some(),
        );
    }
    for (tool, cost, is_matched) in [
        ("write_file", 11, true),
        ("bash", 11, true),
        ("bash", 10, false),
        ("read_file", 11, false),
        ("", 11, true),
    ] {
        let run = hooks.run_pre(Call { tool, cost }).await;
        assert_eq!(
            run.response.unwrap().is_continue(),
            !is_matched,
            "{tool} {cost}"
        );
        hooks.results().apply(Call { tool, cost }).await.unwrap();
        hooks.execute_post(&Call { tool, cost }, None).await;
        let all = ["transform", "pre", "observer", "transform", "post"];
        assert_eq!(
            log.take(),
            if is_matched { &all[..] } else { &[] },
            "{tool} {cost}"
        );
    }
    for phase in [Phase::Pre, Phase::Post, Phase::Observe] {
        assert!(hooks.registered_hooks(phase)[0].conditional);
    }
    assert!(hooks.requests().hooks()[0].conditional);

    // A hook that is left out does not replace the last response, and the report lists it.
    hooks.register_pre(
        PreFn::new("first", |_: &Call| HookResponse::default().reason("first")),
        at(-1),
    );
    let (response, report) = hooks
        .execute_pre_reported(&Call {
            tool: "read",
            cost: 0,
        })
        .await;
    assert_eq!(response.unwrap().reason.as_deref(), Some("first"));
    let status = |name: &str| {
        let mut entries = report.entries.iter();
        entries
            .find(|entry| &*entry.name == name)
            .map(|entry| entry.status.clone())
    };
    assert!(
        matches!(status("pre"), Some(HookStatus::Excluded)),
        "{report}"
    );

    // A replacement keeps the filters; a copy for one call has the names of tools.
    hooks.replace_pre(PreFn::new("pre", |_: &Call| {
        HookResponse::new(ResponseAction::Halt)
    }));
    assert!(
        hooks
            .execute_pre(&Call {
                tool: "read",
                cost: 99
            })
            .await
            .unwrap()
            .is_continue()
    );
    let halted = hooks
        .execute_pre(&Call {
            tool: "bash",
            cost: 99,
        })
        .await
        .unwrap();
    assert_eq!(halted.action, ResponseAction::Halt);
    let call = hooks.for_call(|call| {
        let closed = |_: &Call| HookResponse::new(ResponseAction::Deny);
        call.register_pre(PreFn::new("closed", closed), at(-9).tools(["read"]));
    });
    assert!(
        !call
            .execute_pre(&Call {
                tool: "read",
                cost: 0
            })
            .await
            .unwrap()
            .is_continue()
    );
    assert!(
        hooks
            .execute_pre(&Call {
                tool: "read",
                cost: 0
            })
            .await
            .unwrap()
            .is_continue()
    );
}

#[tokio::test]
async fn a_filter_of_an_input_that_panics_does_not_skip_a_check() {
    let (hooks, _) = calls();
    let closed = |_: &Call| HookResponse::new(ResponseAction::Deny);
    hooks.register_pre(
        PreFn::new("closed", closed),
        plain().when_input(|_: &Call| panic!("filter")),
    );
    let (response, lines) = capture_logs(hooks.execute_pre(&Call { tool: "x", cost: 0 })).await;
    assert_eq!(response.unwrap().action, ResponseAction::Deny);
    assert!(has_line(&lines, "WARN", &["closed", "filter"]), "{lines:?}");
}

#[test]
fn filters_of_another_front_end_are_refused_with_the_remedy() {
    let (hooks, _) = calls();
    let pre = || PreFn::new("check", |_: &Call| HookResponse::default());
    let message = refusal(|| hooks.register_pre(pre(), plain().when(|_| true)));
    assert!(
        message.contains("check") && message.contains("use `when_input`"),
        "{message}"
    );
    let message = refusal(|| hooks.register_pre(pre(), plain().when_input(|_: &str| true)));
    assert!(
        message.contains("`str`") && message.contains("Call`"),
        "{message}"
    );
    assert!(hooks.registered_hooks(Phase::Pre).is_empty());

    let nameless: PhaseRegistry<str, str> = PhaseRegistry::new();
    let check = PreFn::new("check", |_: &str| HookResponse::default());
    let message = refusal(|| nameless.register_pre(check, plain().tools(["bash"])));
    assert!(
        message.contains("check") && message.contains("set_tool_names"),
        "{message}"
    );

    let events = HookRegistry::new();
    let message = refusal(|| events.register("e", proceed, named("x").when_input(|_: &str| true)));
    assert!(
        message.contains("`x`") && message.contains("use `when`"),
        "{message}"
    );
    assert!(events.descriptors().is_empty());
}

#[tokio::test]
async fn the_engine_and_a_tool_runner_know_the_names_of_tools() {
    let engine = hooks_runtime::HookEngine::new();
    let hooks = engine.registry();
    let log = Log::new();
    for phase in [Phase::Pre, Phase::Post] {
        for hook in hooks.registered_hooks(phase) {
            hooks.deregister(phase, &hook.id);
        }
    }
    hooks.register_pre(
        PreFn::new("closed", |_: &hooks_runtime::ToolRequest| {
            HookResponse::new(ResponseAction::Deny)
        }),
        plain().tools(["write_*"]),
    );
    let lines = log.clone();
    hooks.register_post(
        PostFn::new(
            "log",
            move |result: &hooks_runtime::ToolResult, _: Option<&str>| {
                lines.add(&result.request.tool);
            },
        ),
        plain().tools(["read_*"]),
    );
    for tool in ["write_file", "read_file"] {
        let request = hooks_runtime::ToolRequest::new(tool);
        let response = engine.pre_tool_use(&request).await.unwrap();
        assert_eq!(response.is_continue(), tool == "read_file");
        engine
            .post_tool_use(&hooks_runtime::ToolResult::of(request), None)
            .await;
    }
    assert_eq!(log.take(), ["read_file"]);

    let runner = ToolRunner::<WebTools, _>::new(Web(log, AtomicU32::new(1)));
    for (pattern, text) in [("fet??", "[1]"), ("other", "[2]")] {
        runner.results().register(
            TransformFn::new(
                pattern,
                move |result: TransformInput<'_, ToolCallOutput>| {
                    let output = format!("{}{text}", result.current().output.as_str().unwrap());
                    Transformed::changed(result.current().with_output(output))
                },
            ),
            plain().tools([pattern]),
        );
    }
    assert_eq!(runner.execute(fetch("/")).await.unwrap(), "secret of /[1]");
}

#[tokio::test]
async fn a_replaced_pre_hook_keeps_every_option() {
    let hooks: PhaseRegistry<str, str> = PhaseRegistry::new();
    let passes = |id: &str| PreFn::new(id, |_: &str| HookResponse::default());
    hooks.register_pre(passes("scope"), at(3));
    hooks.register_pre(
        passes("flaky"),
        plain()
            .name("displayed")
            .before("scope")
            .enabled(false)
            .timeout(Duration::from_secs(1))
            .on_failure(FailurePolicy::Isolate)
            .disable_after(1),
    );
    let before = hooks.registered_hooks(Phase::Pre);
    hooks.replace_pre(PreFn::new("flaky", |_: &str| {
        Err::<HookResponse, _>("broken")
    }));
    assert_eq!(hooks.registered_hooks(Phase::Pre), before);
    hooks.set_enabled(Phase::Pre, "flaky", true);
    hooks.execute_pre("").await.unwrap();
    assert!(
        !hooks.registered_hooks(Phase::Pre)[0].enabled,
        "the limit of failures is kept"
    );
}

// For one call

#[tokio::test]
async fn a_copy_of_a_registry_for_one_call_changes_only_the_copy() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.set_default_fields(json!({"session": 1}).as_object().unwrap().clone());
    hooks.declare(EventSchema::new("e").field(EventField::integer("session")));
    hooks.register("e", adds(&log, "kept"), keyed("kept"));
    let removed = hooks.register("e", adds(&log, "removed"), keyed("removed"));
    hooks.around("e", Entry::new(bracket(&log, "around")).key("around"));

    let call = hooks.for_call(|call| {
        call.register("e", adds(&log, "added"), keyed("added").before("kept"));
        call.set_enabled("removed", false);
        call.set_around_enabled("e", "around", false);
        call.register("e", observes(&log), plain().phase(EventPhase::Observe));
    });
    let emission = emit(&call, "e", ()).await;
    assert_eq!(emission.data["session"], 1);
    assert_eq!(log.take(), ["added", "kept", "observed continue"]);
    assert!(
        call.emit("e", json!({"session": "two"})).await.is_err(),
        "the copy has the schemas"
    );
    log.take();
    emit(&hooks, "e", ()).await;
    assert_eq!(
        log.take(),
        ["before around", "kept", "removed", "after around"]
    );
    assert!(removed.unregister());
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), ["before around", "kept", "after around"]);
}

#[tokio::test]
async fn a_copy_of_pre_and_post_for_one_call_changes_only_the_copy() {
    let (hooks, log) = (PhaseRegistry::<String, String>::new(), Log::new());
    let closed = |_: &String| HookResponse::new(ResponseAction::Deny);
    hooks.register_pre(PreFn::new("closed", closed), plain());
    hooks.requests().register(
        TransformFn::new("upper", |text: TransformInput<'_, String>| {
            Transformed::changed(text.current().to_uppercase())
        }),
        plain(),
    );
    let lines = log.clone();
    hooks.register_observer(
        PreObserverFn::new("audit", move |request: &String, response: PreResult<'_>| {
            lines.add(format!("{request} {}", response.unwrap().action));
        }),
        plain(),
    );
    struct Logged(Log);

    impl Around<PreCall<String>> for Logged {
        async fn call<'a>(
            &'a self,
            (request,): (&'a String,),
            next: Next<'a, PreCall<String>>,
        ) -> Result<HookResponse, HookError> {
            self.0.add("around");
            next.call((request,)).await
        }
    }

    hooks
        .around_pre()
        .register(Entry::new(Logged(log.clone())).key("log"));
    let call = hooks.for_call(|call| {
        call.set_enabled(Phase::Pre, "closed", false);
        call.around_pre().set_enabled("log", false);
        assert!(call.requests().deregister("upper"));
        call.results().register(
            TransformFn::new("short", |_: TransformInput<'_, String>| {
                Transformed::changed(String::new())
            }),
            plain(),
        );
    });
    let run = call.run_pre("a".to_owned()).await;
    assert!(run.response.unwrap().is_continue());
    assert_eq!(*run.request, "a");
    assert_eq!(log.take(), ["a CONTINUE"]);
    assert_eq!(
        *call.results().apply("long".to_owned()).await.unwrap().value,
        ""
    );

    let run = hooks.run_pre("a".to_owned()).await;
    assert_eq!(run.response.unwrap().action, ResponseAction::Deny);
    assert_eq!((&**run.request, &**run.raw), ("A", "a"));
    assert_eq!(&*run.changed_by[0], "upper");
    assert_eq!(log.take(), ["around", "A DENY"]);
    assert!(hooks.results().is_empty());
}

// PRE and POST

#[tokio::test(start_paused = true)]
async fn observers_of_pre_run_after_every_response() {
    let cases: [(&str, fn() -> PreFn<fn(&str) -> HookResponse, HookResponse>); 2] = [
        ("DENY", || {
            let deny: fn(&str) -> HookResponse = |_| HookResponse::new(ResponseAction::Deny);
            PreFn::new("hook", deny)
        }),
        ("error", || {
            let panics: fn(&str) -> HookResponse = |_| panic!("no rules");
            PreFn::new("hook", panics)
        }),
    ];
    let observer = |log: &Log| {
        let log = log.clone();
        PreObserverFn::new("audit", move |_: &str, response: PreResult<'_>| {
            let action = response.map(|response| response.action.to_string());
            log.add(action.unwrap_or_else(|_| "error".to_owned()));
        })
    };
    for (expected, hook) in cases {
        let (hooks, log) = (PhaseRegistry::<str, str>::new(), Log::new());
        hooks.register_observer(observer(&log), plain());
        hooks.register_pre(hook(), plain());
        let _ = hooks.execute_pre("").await;
        assert_eq!(log.take(), [expected]);
    }

    struct Stuck;

    impl hooks_runtime::PreHook<str> for Stuck {
        fn id(&self) -> &str {
            "stuck"
        }

        async fn execute(&self, _: &str) -> Result<HookResponse, HookError> {
            std::future::pending().await
        }
    }

    let (hooks, log) = (PhaseRegistry::<str, str>::new(), Log::new());
    hooks.register_observer(observer(&log), plain());
    hooks.register_pre(Stuck, plain().timeout(Duration::from_millis(1)));
    assert!(hooks.execute_pre("").await.is_err());
    assert_eq!(log.take(), ["error"]);

    // Dropped: no observer starts. Replaced by an around hook: the observers see the replacement.
    hooks.register_pre(Stuck, plain());
    assert!(hooks.execute_pre("").now_or_never().is_none());
    assert!(log.take().is_empty());
    hooks
        .around_pre()
        .register(async |_: &str, _: Next<'_, PreCall<str>>| {
            Ok::<_, HookError>(HookResponse::new(ResponseAction::Halt))
        });
    assert_eq!(
        hooks.execute_pre("").await.unwrap().action,
        ResponseAction::Halt
    );
    assert_eq!(log.take(), ["HALT"]);
}

#[tokio::test]
async fn around_hooks_of_pre_and_post_retry_replace_and_pass_panics_on() {
    let (hooks, log) = (PhaseRegistry::<str, str>::new(), Log::new());
    let calls = AtomicU32::new(0);
    hooks.register_pre(
        PreFn::new("busy", move |_: &str| {
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 => Err("busy"),
                _ => Ok(HookResponse::default()),
            }
        }),
        plain(),
    );
    hooks.around_pre().register(
        Entry::new(async |request: &str, next: Next<'_, PreCall<str>>| {
            match next.call((request,)).await {
                Err(_) => next.call((request,)).await,
                response => response,
            }
        })
        .key("retry")
        .when(|request: &&str| !request.is_empty()),
    );
    assert!(
        hooks.execute_pre("").await.is_err(),
        "the condition does not hold"
    );
    assert!(hooks.execute_pre("x").await.unwrap().is_continue());

    let lines = log.clone();
    hooks.register_post(
        PostFn::new("post", move |result: &str, id: Option<&str>| {
            lines.add(format!("{result} {id:?}"));
        }),
        plain(),
    );
    let twice = hooks.around_post().register(
        async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
            next.call((result, id)).await;
            next.call(("redacted", None)).await;
        },
    );
    hooks.execute_post("raw", Some("1")).await;
    assert_eq!(log.take(), [r#"raw Some("1")"#, "redacted None"]);
    assert!(twice.unregister());

    let panics = hooks.around_pre().register(
        async |request: &str, next: Next<'_, PreCall<str>>| -> Result<HookResponse, HookError> {
            let _ = next.call((request,)).await;
            panic!("around")
        },
    );
    assert!(
        AssertUnwindSafe(hooks.execute_pre("x"))
            .catch_unwind()
            .await
            .is_err()
    );
    panics.unregister();
    assert!(hooks.execute_pre("x").await.is_ok());

    let (_, report) = hooks.execute_pre_reported("x").await;
    assert!(
        matches!(report.entries[0].status, HookStatus::Completed),
        "{report}"
    );
}

// Tools

#[derive(Deserialize)]
struct Fetch {
    url: String,
}

#[derive(ToolSet)]
enum WebTools {
    #[tool(output = String, hook = FetchPageHook)]
    Fetch(Fetch),
}

struct Web(Log, AtomicU32);

impl ExecuteTool<Fetch, String> for Web {
    async fn execute(&self, input: Fetch, _: ToolCallContext) -> Result<String, ToolFailure> {
        self.0.add(format!("fetch {}", input.url));
        yield_once().await;
        match (self.1.fetch_add(1, Ordering::Relaxed), &*input.url) {
            (0, _) => Err("busy".into()),
            (_, "panic!") => panic!("the tool"),
            (_, url) => Ok(format!("secret of {url}")),
        }
    }
}

/// Logs the result of each call, and calls again after a failure of the tool.
struct Again(Log, &'static str);

impl Around<ToolCall> for Again {
    async fn call<'a>(
        &'a self,
        (call,): (ToolCall,),
        next: Next<'a, ToolCall>,
    ) -> Result<Value, ToolError> {
        let mut result = next.call((call.clone(),)).await;
        if let Err(ToolError::Failed { .. }) = result {
            result = next.call((call,)).await;
        }
        self.0.add(match &result {
            Ok(output) => format!("{}: {output}", self.1),
            Err(error) => format!("{}: {error}", self.1),
        });
        result
    }
}

fn fetch(url: &str) -> ToolCall {
    ToolCall::new("1", "fetch", json!({"url": url}))
}

#[tokio::test]
async fn around_hooks_of_tools_enclose_hooks_the_tool_and_result_hooks() {
    let log = Log::new();
    let hooks = WebToolsHooksSet::new().with_fetch(async |mut input: Fetch, _: ToolCallContext| {
        if input.url == "forbidden" {
            return ToolDecision::reject("no");
        }
        input.url.push('!');
        ToolDecision::<Fetch, String>::Run(input)
    });
    let runner = ToolRunner::<WebTools, _>::with_hooks(Web(log.clone(), AtomicU32::new(0)), hooks);
    runner
        .around()
        .register(Entry::new(Again(log.clone(), "inner")).key("inner"));
    runner.around().register(
        Entry::new(Again(log.clone(), "outer"))
            .priority(5)
            .before("inner"),
    );
    let raw = Arc::new(Mutex::new(String::new()));
    let seen = raw.clone();
    runner.results().register(
        TransformFn::new("redact", |result: TransformInput<'_, ToolCallOutput>| {
            let text = result
                .current()
                .output
                .as_str()
                .unwrap()
                .replace("secret", "[redacted]");
            Transformed::changed(result.current().with_output(text))
        }),
        plain(),
    );
    runner.results().register(
        TransformFn::new(
            "see raw",
            move |result: TransformInput<'_, ToolCallOutput>| {
                *seen.lock().unwrap() =
                    format!("{} -> {}", result.raw().output, result.current().output);
                Transformed::Unchanged
            },
        ),
        plain().after("redact"),
    );
    assert_eq!(
        runner.execute(fetch("/")).await.unwrap(),
        "[redacted] of /!"
    );
    assert_eq!(
        log.take(),
        [
            "fetch /!",
            "fetch /!",
            r#"inner: "[redacted] of /!""#,
            r#"outer: "[redacted] of /!""#
        ]
    );
    assert_eq!(
        *raw.lock().unwrap(),
        r#""secret of /!" -> "[redacted] of /!""#
    );

    assert!(matches!(
        runner.execute(fetch("forbidden")).await,
        Err(ToolError::Rejected { .. })
    ));
    assert_eq!(log.take().len(), 2, "around hooks see the rejection");
    let unknown = ToolCall::new("2", "unknown", json!({}));
    assert!(matches!(
        runner.execute(unknown).await,
        Err(ToolError::Unknown { .. })
    ));
    assert_eq!(log.take().len(), 2, "and an unknown tool");
    assert!(
        AssertUnwindSafe(runner.execute(fetch("panic")))
            .catch_unwind()
            .await
            .is_err()
    );
    assert_eq!(log.take(), ["fetch panic!"]);
    assert!(
        runner.execute(fetch("/")).now_or_never().is_none(),
        "the tool is pending, and dropped"
    );
    assert_eq!(log.take(), ["fetch /!"]);

    // Withheld: no value, also no raw value.
    runner.results().register(
        TransformFn::new("withhold", |_: TransformInput<'_, ToolCallOutput>| {
            Transformed::denied("a key")
        }),
        plain().before("redact"),
    );
    let error = runner.execute(fetch("/")).await.unwrap_err();
    assert!(matches!(error, ToolError::Withheld { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_copy_of_a_tool_runner_for_one_call_changes_only_the_copy() {
    let log = Log::new();
    let runner = ToolRunner::<WebTools, _>::new(Web(log.clone(), AtomicU32::new(1)));
    runner
        .around()
        .register(Entry::new(Again(log.clone(), "around")).key("around"));
    let append = |text: &'static str| {
        TransformFn::new(text, move |result: TransformInput<'_, ToolCallOutput>| {
            let output = format!("{}{text}", result.current().output.as_str().unwrap());
            Transformed::changed(result.current().with_output(output))
        })
    };
    runner.results().register(append(" [all]"), plain());
    let call = runner.for_call(|call| {
        call.around().remove("around");
        call.results()
            .register(append(" [one]"), plain().before(" [all]").tools(["fetch"]));
        call.hooks_mut()
            .register_fetch(async |mut input: Fetch, _: ToolCallContext| {
                input.url.push('?');
                ToolDecision::<Fetch, String>::Run(input)
            });
    });
    assert_eq!(
        call.execute(fetch("/")).await.unwrap(),
        "secret of /? [one] [all]"
    );
    assert_eq!(log.take(), ["fetch /?"]);
    assert_eq!(
        runner.execute(fetch("/")).await.unwrap(),
        "secret of / [all]"
    );
    assert_eq!(log.take().len(), 2);

    let values = runner
        .results()
        .for_call(|values| _ = values.deregister(" [all]"));
    assert!(values.is_empty() && !runner.results().is_empty());
    let around = runner
        .around()
        .for_call(|around| _ = around.remove("around"));
    assert!(around.is_empty() && !runner.around().is_empty());
}

// Declarations

#[tokio::test]
async fn a_misspelled_event_is_reported_at_registration_and_its_data_are_compared() {
    let hooks = HookRegistry::new();
    // A misspelled standard event is reported without any declaration.
    let (_, lines) = capture_logs(async { hooks.register("tool:pree", proceed, plain()) }).await;
    assert!(
        has_line(&lines, "WARN", &["tool:pree", "tool:pre"]),
        "{lines:?}"
    );
    hooks.declare_events(["deploy:done"]);
    hooks.declare(
        EventSchema::new("deploy:start")
            .field(EventField::string("target").one_of(["staging", "production"]))
            .field(EventField::integer("attempt").optional())
            .deny_unknown_fields(),
    );
    let (_, lines) = capture_logs(async { hooks.register("deploy:dnoe", proceed, plain()) }).await;
    assert!(
        has_line(&lines, "WARN", &["deploy:dnoe", "deploy:done"]),
        "{lines:?}"
    );
    let problems: Vec<_> = hooks
        .event_name_warnings()
        .iter()
        .map(|warning| warning.problem)
        .collect();
    assert!(problems.contains(&EventNameProblem::Undeclared));
    for (data, problem) in [
        (json!({"target": "staging"}), None),
        (json!({"target": "staging", "attempt": 2}), None),
        (json!({"target": "home"}), Some("target")),
        (
            json!({"target": "staging", "attempt": 1.5}),
            Some("attempt"),
        ),
        (json!({"target": "staging", "extra": 1}), Some("extra")),
        (json!({}), Some("target")),
    ] {
        let outcome = hooks.emit("deploy:start", data.clone()).await;
        match problem {
            None => assert!(outcome.is_ok(), "{data}: {outcome:?}"),
            Some(field) => {
                let error = outcome.unwrap_err();
                assert!(
                    matches!(error, EmitError::Schema { emission: None, .. }),
                    "{error}"
                );
                assert!(error.to_string().contains(field), "{error}");
            }
        }
    }
    // A change by a hook is compared, too; a denial is a denial whatever the data are.
    hooks.register(
        "deploy:start",
        |_: Event<'_>| HookResult::set("target", 7),
        keyed("breaks"),
    );
    let error = hooks
        .emit("deploy:start", json!({"target": "staging"}))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            EmitError::Schema {
                emission: Some(_),
                ..
            }
        ),
        "{error}"
    );
    hooks.register("deploy:start", deny, plain().phase(EventPhase::Decide));
    assert!(
        emit(&hooks, "deploy:start", json!({"target": "staging"}))
            .await
            .is_denied()
    );
}

// Threads

#[test]
fn registrations_switches_and_emissions_on_several_threads_use_whole_lists() {
    let hooks = HookRegistry::new();
    let append = |name: &'static str| {
        move |event: Event<'_>| {
            let ran = event.str("ran").unwrap_or_default();
            HookResult::set("ran", format!("{ran} {name}"))
        }
    };
    hooks.register("e", append("sign"), keyed("sign"));
    hooks.register(
        "e",
        append("check"),
        keyed("check").priority(50).before("sign"),
    );
    hooks.around(
        "e",
        Entry::new(async |call: EventCall, next: Next<'_, EventCall>| next.call((call,)).await)
            .key("around"),
    );
    let rounds = 400;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let emission = futures::executor::block_on(emit(&hooks, "e", ()));
                    let ran = emission
                        .data
                        .get("ran")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    if let (Some(check), Some(sign)) = (ran.find("check"), ran.find("sign")) {
                        assert!(check < sign, "{ran}");
                    }
                    assert_eq!(ran.matches("check").count().max(1), 1, "{ran}");
                }
            });
        }
        scope.spawn(|| {
            for round in 0..rounds {
                match round % 5 {
                    0 => _ = hooks.register("e", append("sign"), keyed("sign").priority(-9)),
                    1 => _ = hooks.set_enabled("check", false),
                    2 => _ = hooks.set_around_enabled("e", "around", round % 2 == 0),
                    3 => _ = hooks.set_enabled("check", true),
                    _ => _ = hooks.register("e", append("x"), plain()).unregister(),
                }
            }
        });
    });
    assert_eq!(hooks.descriptors().len(), 2);
}

#[tokio::test]
async fn transforms_deny_fail_and_isolate_as_their_options_say() {
    let values: TransformRegistry<String> = TransformRegistry::new();
    let append = |id: &'static str| {
        TransformFn::new(id, move |value: TransformInput<'_, String>| {
            Transformed::changed(format!("{} {id}", value.current()))
        })
    };
    values.register(append("b"), plain());
    values.register(append("a"), at(9).before("b"));
    let outcome = values.apply("raw".to_owned()).await.unwrap();
    assert_eq!((&**outcome.value, &**outcome.raw), ("raw a b", "raw"));
    let fails = |_: TransformInput<'_, String>| Err::<Transformed<String>, _>("broken");
    values.register(TransformFn::new("fails", fails), at(99));
    assert!(matches!(
        values.apply("raw".to_owned()).await,
        Err(TransformError::Failed { .. })
    ));
    values.register(
        TransformFn::new("fails", fails),
        at(99).on_failure(FailurePolicy::FailClosed),
    );
    assert!(matches!(
        values.apply("raw".to_owned()).await,
        Err(TransformError::Denied { .. })
    ));
    values.register(
        TransformFn::new("fails", fails),
        at(99).on_failure(FailurePolicy::Isolate),
    );
    assert_eq!(
        *values.apply("raw".to_owned()).await.unwrap().value,
        "raw a b"
    );
    assert!(values.set_enabled("a", false));
    assert_eq!(
        *values.apply("raw".to_owned()).await.unwrap().value,
        "raw b"
    );
}

// Changes during a run

#[tokio::test]
async fn changes_by_hooks_during_an_emission_affect_later_emissions() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let (weak, lines) = (hooks.downgrade(), log.clone());
    hooks.register(
        "e",
        move |_: Event<'_>| {
            let hooks = weak.upgrade().unwrap();
            lines.add("changes");
            hooks.set_enabled("second", false);
            hooks.set_enabled("changes", false);
            hooks.set_around_enabled("e", "around", false);
            hooks.register("e", adds(&lines, "new"), keyed("new").before("second"));
            hooks.register(
                "e",
                adds(&lines, "check"),
                named("check").phase(EventPhase::Decide),
            );
            HookResult::proceed()
        },
        named("changes").priority(-1),
    );
    hooks.register("e", adds(&log, "second"), keyed("second"));
    hooks.around("e", Entry::new(bracket(&log, "around")).key("around"));
    emit(&hooks, "e", ()).await;
    assert_eq!(
        log.take(),
        ["before around", "changes", "second", "after around"]
    );
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), ["new", "check"]);
    hooks.set_enabled("second", true);
    emit(&hooks, "e", ()).await;
    assert_eq!(log.take(), ["new", "second", "check"]);
}

#[tokio::test]
async fn a_replaced_registration_does_not_remove_its_replacement_and_counts_anew() {
    let hooks = HookRegistry::new();
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let old = hooks.register("e", fails, keyed("k").disable_after(2));
    hooks.register("e", proceed, keyed("k").phase(EventPhase::Decide));
    assert_eq!(
        hooks.descriptors().len(),
        2,
        "a key is unique within its phase"
    );
    emit(&hooks, "e", ()).await;
    let new = hooks.register("e", fails, keyed("k").disable_after(2));
    assert!(!old.unregister());
    emit(&hooks, "e", ()).await;
    assert!(
        hooks.descriptors()[0].enabled,
        "one failure of the new hook"
    );
    emit(&hooks, "e", ()).await;
    assert!(!hooks.descriptors()[0].enabled);
    assert!(new.unregister());
    assert_eq!(hooks.descriptors().len(), 1);
}

#[tokio::test]
async fn concurrent_emissions_count_every_failure() {
    let hooks = HookRegistry::new();
    hooks.register(
        "e",
        async |_: Arc<str>, _: Arc<hooks_runtime::Map>| {
            yield_once().await;
            Err::<HookResult, _>(HookError::new("broken"))
        },
        named("broken").disable_after(3),
    );
    let (_, lines) = capture_logs(async {
        futures::join!(
            emit(&hooks, "e", ()),
            emit(&hooks, "e", ()),
            emit(&hooks, "e", ()),
            emit(&hooks, "e", ()),
        )
    })
    .await;
    assert!(!hooks.descriptors()[0].enabled);
    let warnings = lines
        .iter()
        .filter(|line| line.contains("disabled hook"))
        .count();
    assert_eq!(warnings, 1, "{lines:?}");
}

#[tokio::test]
async fn a_collection_uses_order_filters_and_switches_and_runs_one_phase() {
    let hooks = HookRegistry::new();
    let tagged = |tag: &'static str| move |_: Event<'_>| HookResult::set("tag", tag);
    hooks.register("e", tagged("b"), keyed("b"));
    hooks.register("e", tagged("a"), keyed("a").before("b").priority(7));
    hooks.register("e", tagged("off"), keyed("off").enabled(false));
    hooks.register("e", tagged("filtered"), keyed("filtered").tools(["other"]));
    hooks.register("e", deny, plain().phase(EventPhase::Decide));
    hooks.register("e", proceed, plain().phase(EventPhase::Observe));
    let data = json!({"tool_name": "bash"});
    let collected = hooks
        .emit_and_collect("e", data, HookRegistry::COLLECT_TIMEOUT)
        .await;
    let tags: Vec<_> = collected
        .iter()
        .map(|data| data["tag"].as_str().unwrap())
        .collect();
    assert_eq!(tags, ["a", "b"]);
}

#[tokio::test]
async fn messages_of_observers_are_in_the_order_of_their_constraints() {
    let hooks = HookRegistry::new();
    let speaks = |text: &'static str| {
        move |_: Arc<str>, _: Arc<hooks_runtime::Map>| async move {
            if text == "a" {
                yield_once().await;
            }
            HookResult::proceed().user_message(text)
        }
    };
    let observer = |key| keyed(key).phase(EventPhase::Observe);
    hooks.register("e", speaks("b"), observer("b"));
    hooks.register("e", speaks("a"), observer("a").before("b"));
    let emission = emit(&hooks, "e", ()).await;
    let texts: Vec<_> = emission
        .messages
        .iter()
        .map(|message| &*message.text)
        .collect();
    assert_eq!(texts, ["a", "b"]);
}

#[tokio::test]
async fn a_pre_hook_runs_its_registry_again_and_a_dropped_run_leaves_nothing_locked() {
    struct Nested(hooks_runtime::phases::WeakPhaseRegistry<str, str>, Log);

    impl hooks_runtime::PreHook<str> for Nested {
        fn id(&self) -> &str {
            "nested"
        }

        async fn execute(&self, request: &str) -> Result<HookResponse, HookError> {
            self.1.add(request);
            yield_once().await;
            match request.strip_prefix('>') {
                Some(rest) => {
                    let hooks = self.0.upgrade().unwrap();
                    Box::pin(hooks.execute_pre(rest)).await
                }
                None => Ok(HookResponse::default()),
            }
        }
    }

    let (hooks, log) = (PhaseRegistry::<str, str>::new(), Log::new());
    hooks.register_pre(Nested(hooks.downgrade(), log.clone()), plain());
    hooks.around_pre().register(
        Entry::new(async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await)
            .key("around"),
    );
    let lines = log.clone();
    hooks.register_observer(
        PreObserverFn::new("audit", move |request: &str, _: PreResult<'_>| {
            lines.add(format!("observed {request}"));
        }),
        plain(),
    );
    assert!(hooks.execute_pre(">>a").await.unwrap().is_continue());
    assert_eq!(
        log.take(),
        [
            ">>a",
            ">a",
            "a",
            "observed a",
            "observed >a",
            "observed >>a"
        ]
    );
    assert!(hooks.execute_pre("a").now_or_never().is_none());
    assert_eq!(log.take(), ["a"], "no observer starts");
    assert!(hooks.around_pre().remove("around"));
    assert!(hooks.deregister(Phase::Pre, "nested"));
    assert!(hooks.execute_pre("a").await.unwrap().is_continue());
    assert_eq!(log.take(), ["observed a"]);
}

#[tokio::test]
async fn a_detached_post_run_has_around_hooks_and_filters() {
    let (hooks, log) = (PhaseRegistry::<String, String>::new(), Log::new());
    for (id, filter) in [("all", ""), ("a only", "a")] {
        let lines = log.clone();
        hooks.register_post(
            PostFn::new(id, move |result: &String, _: Option<&str>| {
                lines.add(format!("{id}: {result}"));
            }),
            plain().when_input(move |result: &String| result.starts_with(filter)),
        );
    }
    hooks.around_post().register(
        async |result: &String, id: Option<&str>, next: Next<'_, PostCall<String>>| {
            next.call((&format!("{result}{}", id.unwrap_or_default()), id))
                .await;
        },
    );
    hooks
        .execute_post_detached("a".to_owned(), Some("1".to_owned()))
        .await
        .unwrap();
    hooks
        .execute_post_detached("b".to_owned(), None)
        .await
        .unwrap();
    assert_eq!(log.take(), ["all: a1", "a only: a1", "all: b"]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_zero_still_polls_observers_once() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register(
        "e",
        async |_: Arc<str>, _: Arc<hooks_runtime::Map>| {
            yield_once().await;
            HookResult::proceed()
        },
        named("slow"),
    );
    hooks.register("e", observes(&log), plain().phase(EventPhase::Observe));
    let options = EmitOptions::new().deadline(Duration::ZERO).report();
    let error = hooks.emit_with("e", (), options).await.unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }), "{error}");
    assert_eq!(log.take().len(), 1);
}

#[tokio::test]
async fn an_event_without_hooks_is_compared_with_its_schema() {
    let hooks = HookRegistry::new();
    hooks.declare(EventSchema::new("e").field(EventField::boolean("dry_run")));
    assert!(hooks.emit("e", ()).await.is_err());
    assert!(hooks.emit("e", json!({"dry_run": true})).await.is_ok());
    hooks.set_default_fields(json!({"dry_run": false}).as_object().unwrap().clone());
    assert!(
        hooks.emit("e", ()).await.is_ok(),
        "default fields are part of the data"
    );
    hooks.declare(
        EventSchema::new("e")
            .field(EventField::string("dry_run"))
            .warn_only(),
    );
    let (outcomes, lines) = capture_logs(async {
        [
            hooks.emit("e", ()).await.is_ok(),
            hooks.emit("e", ()).await.is_ok(),
        ]
    })
    .await;
    assert_eq!(outcomes, [true, true]);
    assert_eq!(
        lines.iter().filter(|line| line.contains("dry_run")).count(),
        1,
        "{lines:?}"
    );
}
