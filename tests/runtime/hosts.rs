//! Decisions of hosts for all hooks of a registry: plugins in any order, defaults and deadlines
//! owners, hooks for every event, and registries that follow another one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::HookEngine;
use hooks_runtime::around::Next;
use hooks_runtime::engine::ToolRequest;
use hooks_runtime::events::{EventCall, EventField, EventPhase, EventSchema};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserver, PreResult};
use hooks_runtime::transform::{
    TransformError, TransformFn, TransformHook, TransformInput, TransformRegistry, Transformed,
};
use hooks_runtime::{
    Around, DeadlineExceeded, Emission, EmitError, EmitOptions, Entry, Event, FailurePolicy,
    HookError, HookRegistry, HookResponse, HookResult, Map, Phase, PhaseRegistry, PostHook,
    PreHook, RegisterOptions, RegistrationError, RegistryOptions, ResponseAction,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::kit::{
    Dropped, Log, at, capture_logs, emit, has_line, logging, map, named, plain, returning,
};

const SECOND: Duration = Duration::from_secs(1);

type Registry = PhaseRegistry<str, str>;

/// A hook that waits for this number of seconds, and then logs its id.
struct Waits(&'static str, u32, Log);

impl Waits {
    async fn wait(&self) {
        sleep(self.1 * SECOND).await;
        self.2.add(self.0);
    }
}

impl PreHook<str> for Waits {
    fn id(&self) -> &str {
        self.0
    }

    async fn execute(&self, _: &str) -> Result<HookResponse, HookError> {
        self.wait().await;
        Ok(HookResponse::default())
    }
}

impl PostHook<str> for Waits {
    fn id(&self) -> &str {
        self.0
    }

    async fn execute(&self, _: &str, _: Option<&str>) -> Result<(), HookError> {
        self.wait().await;
        Ok(())
    }
}

impl PreObserver<str> for Waits {
    fn id(&self) -> &str {
        self.0
    }

    async fn observe(&self, _: &str, response: PreResult<'_>) -> Result<(), HookError> {
        self.2.add(format!("{}: {}", self.0, response.is_ok()));
        self.wait().await;
        Ok(())
    }
}

impl TransformHook<str> for Waits {
    fn id(&self) -> &str {
        self.0
    }

    async fn transform(&self, _: TransformInput<'_, str>) -> Result<Transformed<str>, HookError> {
        self.wait().await;
        Ok(Transformed::Unchanged)
    }
}

/// Returns an event hook that waits for this number of seconds, and then logs its name.
fn waits(
    name: &'static str,
    seconds: u32,
    log: &Log,
) -> impl Fn(Arc<str>, Arc<Map>) -> futures::future::BoxFuture<'static, HookResult> + Send + Sync + 'static
{
    let log = log.clone();
    move |_: Arc<str>, _: Arc<Map>| {
        let log = log.clone();
        Box::pin(async move {
            sleep(seconds * SECOND).await;
            log.add(name);
            HookResult::proceed()
        })
    }
}

/// An around hook that logs the name of the event.
struct Encloses(Log);

impl Around<EventCall> for Encloses {
    async fn call<'a>(
        &'a self,
        (call,): (EventCall,),
        next: Next<'a, EventCall>,
    ) -> Result<Emission, EmitError> {
        self.0.add(format!("around {}", call.event));
        next.call((call,)).await
    }
}

fn in_phase(phase: EventPhase) -> RegisterOptions {
    plain().phase(phase)
}

fn after(error: &HookError) -> Option<Duration> {
    error
        .downcast_ref::<DeadlineExceeded>()
        .map(|error| error.after)
}

const PHASES: [EventPhase; 3] = [
    EventPhase::Transform,
    EventPhase::Decide,
    EventPhase::Observe,
];

// Plugins in any order.

#[test]
fn x_11_plugins_that_name_each_other_are_loaded_in_any_order() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let load = |name: &'static str| {
        let options = plain().key(name).name(name);
        let options = match name {
            "audit" => options.before_if_present("formatter"),
            "sign" => options.after_if_present("formatter"),
            _ => options,
        };
        registry.register(
            "tool:pre",
            logging(&log, name, HookResult::proceed()),
            options,
        )
    };
    let order = || {
        block_on(emit(&registry, "tool:pre", ()));
        log.take()
    };
    let all = ["audit", "formatter", "sign"];
    for at in 0..6 {
        let mut names = all;
        names.rotate_left(at % 3);
        if at >= 3 {
            names.swap(0, 1);
        }
        let loaded = names.map(load);
        assert_eq!(order(), all, "{names:?}");
        let [first, second, third] = loaded;
        second.unregister();
        let left: Vec<_> = all.into_iter().filter(|name| *name != names[1]).collect();
        assert_eq!(order().len(), 2);
        // The plugin is loaded again, after the others.
        let again = load(names[1]);
        assert_eq!(order(), all, "{names:?}, without {left:?} before");
        for registration in [first, third, again] {
            registration.unregister();
        }
    }
    let alone = load("audit");
    assert_eq!(order(), ["audit"]);
    alone.unregister();
    // A plain constraint on a key that is not registered stays refused.
    let options = plain().key("audit").before("formatter");
    let refused = registry.try_register("tool:pre", returning(HookResult::proceed()), options);
    assert!(matches!(refused, Err(RegistrationError::UnknownKey { .. })));

    let registry = Registry::new();
    let pre = |id: &'static str| PreFn::new(id, |_: &str| HookResponse::default());
    let ids = || {
        let hooks = registry.registered_hooks(Phase::Pre).into_iter();
        hooks.map(|hook| hook.id).collect::<Vec<_>>()
    };
    let b = || registry.register_pre(pre("b"), plain().before_if_present("a"));
    let a = || registry.register_pre(pre("a"), plain());
    for (first, second) in [(&a as &dyn Fn() -> _, &b as &dyn Fn() -> _), (&b, &a)] {
        let loaded = [first(), second()];
        assert_eq!(ids(), ["b", "a"]);
        for registration in loaded {
            registration.unregister();
        }
    }
}

// Defaults.

#[tokio::test(start_paused = true)]
async fn x_13_a_default_timeout_applies_to_every_registration_without_one() {
    let options = RegistryOptions::new().timeout(SECOND);
    let log = Log::new();
    for phase in PHASES {
        let registry = HookRegistry::with_options(options.clone());
        registry.register("e", waits("slow", 9, &log), in_phase(phase).name("slow"));
        let own = in_phase(phase).name("own").timeout(10 * SECOND);
        registry.register("e", waits("own", 9, &log), own);
        let unlimited = in_phase(phase).name("unlimited").timeout(Duration::MAX);
        registry.register("e", waits("unlimited", 20, &log), unlimited);
        let emission = emit(&registry, "e", ()).await;
        let failed: Vec<_> = emission.failures.iter().map(|item| &*item.hook).collect();
        assert_eq!(failed, ["slow"], "{phase:?}");
        let expected: &[_] = match phase {
            // The denial of the failed check ends the phase.
            EventPhase::Decide => &[],
            _ => &["own", "unlimited"],
        };
        assert_eq!(log.take(), expected, "{phase:?}");
        assert_eq!(registry.descriptors()[0].timeout, Some(SECOND));
    }

    let registry = Registry::with_options(options.clone());
    registry.register_pre(Waits("pre", 9, log.clone()), plain());
    registry.register_post(Waits("post", 9, log.clone()), plain());
    registry.register_observer(Waits("observer", 9, log.clone()), plain());
    let error = registry.execute_pre("").await.unwrap_err();
    assert_eq!(error.to_string(), "hook `pre` timed out after 1s");
    registry.execute_post("", None).await;
    assert_eq!(log.take(), ["observer: false"]);

    let texts: TransformRegistry<str> = TransformRegistry::with_options(options);
    texts.register(Waits("text", 9, log.clone()), plain());
    let error = texts.apply("raw").await.unwrap_err();
    assert_eq!(error.to_string(), "hook `text` timed out after 1s");
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn x_13_a_default_failure_policy_applies_to_hooks_that_can_have_an_effect() {
    let options = |policy| RegistryOptions::new().on_failure(policy);
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");

    // The default of events is replaced in both phases: `Isolate` of `Transform`, `FailClosed` of `Decide`.
    let registry = HookRegistry::with_options(options(FailurePolicy::FailClosed));
    registry.register("e", fails, plain());
    assert!(emit(&registry, "e", ()).await.is_denied());
    let registry = HookRegistry::with_options(options(FailurePolicy::FailClosed));
    registry.register("e", fails, plain().on_failure(FailurePolicy::Isolate));
    registry.register("e", fails, in_phase(EventPhase::Observe));
    let emission = emit(&registry, "e", ()).await;
    assert!(!emission.is_denied());
    assert_eq!(emission.failures.len(), 2);
    let registry = HookRegistry::with_options(options(FailurePolicy::Isolate));
    registry.register("e", fails, in_phase(EventPhase::Decide));
    assert!(!emit(&registry, "e", ()).await.is_denied());

    // PRE returns a denial instead of the error. Failures of POST hooks and observers stay isolated.
    let registry = Registry::with_options(options(FailurePolicy::FailClosed));
    let pre = |_: &str| Err::<HookResponse, _>(HookError::new("broken"));
    registry.register_pre(PreFn::new("pre", pre), plain());
    let post = |_: &str, _: Option<&str>| Err::<(), _>(HookError::new("broken"));
    registry.register_post(PostFn::new("post", post), plain());
    let response = registry.execute_pre("").await.unwrap();
    assert_eq!(response.action, ResponseAction::Deny);
    registry.execute_post("", None).await;
    // A replacement without a hook to replace has the default, too.
    registry.replace_pre(PreFn::new("other", pre));
    let hooks = registry.registered_hooks(Phase::Pre);
    let policies: Vec<_> = hooks.iter().map(|hook| hook.on_failure).collect();
    assert_eq!(policies, [FailurePolicy::FailClosed; 2]);

    let options = options(FailurePolicy::Isolate);
    let texts: TransformRegistry<str> = TransformRegistry::with_options(options);
    let fails = |_: TransformInput<'_, str>| Err::<Transformed<str>, _>(HookError::new("broken"));
    // Isolated failures can be counted.
    texts.register(TransformFn::new("text", fails), plain().disable_after(1));
    assert_eq!(&*texts.apply("raw").await.unwrap().value, "raw");
    assert!(!texts.hooks()[0].enabled);
}

// Deadlines.

#[tokio::test(start_paused = true)]
async fn x_13_the_deadline_of_a_registry_ends_an_emission() {
    let options = RegistryOptions::new().deadline(2 * SECOND);
    for phase in [EventPhase::Transform, EventPhase::Decide] {
        let (registry, log) = (HookRegistry::with_options(options.clone()), Log::new());
        registry.register("e", waits("first", 1, &log), in_phase(phase));
        registry.register("e", waits("second", 9, &log), in_phase(phase));
        let start = Instant::now();
        let error = registry.emit("e", ()).await.unwrap_err();
        assert!(matches!(error, EmitError::Deadline { after, .. } if after == 2 * SECOND));
        assert_eq!(start.elapsed(), 2 * SECOND);
        assert_eq!(log.take(), ["first"]);

        // The deadline of an emission replaces that of the registry.
        let options = EmitOptions::new().deadline(20 * SECOND);
        assert!(registry.emit_with("e", (), options).await.is_ok());
        assert_eq!(log.take(), ["first", "second"]);
        let call = registry.for_call(|_| {});
        assert!(call.emit("e", ()).await.is_err());
        assert!(registry.child().emit("e", ()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn x_13_the_deadline_of_a_registry_limits_around_hooks_observers_and_collected_hooks() {
    let options = RegistryOptions::new().deadline(2 * SECOND);
    let (registry, log) = (HookRegistry::with_options(options), Log::new());
    registry.around(
        "around",
        async |call: EventCall, next: Next<'_, EventCall>| {
            sleep(9 * SECOND).await;
            next.call((call,)).await
        },
    );
    let error = registry.emit("around", ()).await.unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }));

    let observer = in_phase(EventPhase::Observe).name("observer");
    registry.register("observed", waits("observer", 9, &log), observer);
    let emission = emit(&registry, "observed", ()).await;
    assert_eq!(emission.failures[0].failure.kind(), "timeout");

    registry.register("e", waits("slow", 9, &log), named("slow"));
    registry.register("e", returning(HookResult::set("a", 1)), named("quick"));
    let start = Instant::now();
    let collected = registry.collect("e", (), 60 * SECOND).await.unwrap();
    assert_eq!(start.elapsed(), 2 * SECOND);
    assert_eq!(collected.failures[0].hook.as_ref(), "slow");
    assert_eq!(collected.into_data(), [map(json!({"a": 1}))]);
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn x_13_the_deadline_of_pre_is_an_error_whatever_was_answered_before() {
    let options = RegistryOptions::new().deadline(2 * SECOND);
    let (registry, log) = (Registry::with_options(options), Log::new());
    registry.register_pre(Waits("first", 1, log.clone()), plain());
    registry.register_pre(Waits("second", 9, log.clone()), plain());
    registry.register_observer(Waits("observer", 0, log.clone()), plain());
    registry.register_observer(Waits("late", 9, log.clone()), plain());
    let (result, lines) = capture_logs(registry.execute_pre("")).await;
    assert_eq!(after(&result.unwrap_err()), Some(2 * SECOND));
    // The observers start after the deadline: each is polled once.
    assert_eq!(
        log.take(),
        ["first", "observer: false", "observer", "late: false"]
    );
    assert!(has_line(
        &lines,
        "WARN",
        &["OBSERVE", "cancelled at the deadline"]
    ));

    let (result, report) = registry.execute_pre_reported("").await;
    assert!(after(&result.unwrap_err()).is_some());
    let statuses = report
        .entries
        .iter()
        .map(|entry| format!("{:?}", entry.status));
    let statuses: Vec<_> = statuses.collect();
    assert_eq!(statuses[..2], ["Completed", "Cancelled"]);
    log.take();

    // Isolation does not apply to the deadline.
    registry.register_pre(
        Waits("second", 9, log.clone()),
        plain().on_failure(FailurePolicy::Isolate),
    );
    assert!(registry.execute_pre("").await.is_err());

    // An around hook and what it encloses are cancelled together.
    log.take();
    registry.around_pre().register(Entry::new(
        async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await,
    ));
    let start = Instant::now();
    assert!(registry.child().execute_pre("").await.is_err());
    assert_eq!(start.elapsed(), 2 * SECOND);
    assert_eq!(
        log.take(),
        ["first", "observer: false", "observer", "late: false"]
    );
}

#[tokio::test(start_paused = true)]
async fn x_13_a_run_of_requests_and_pre_has_one_deadline() {
    let options = RegistryOptions::new().deadline(3 * SECOND);
    let (registry, log) = (Registry::with_options(options), Log::new());
    registry
        .requests()
        .register(Waits("request", 2, log.clone()), plain());
    registry.register_pre(Waits("pre", 2, log.clone()), plain());
    let run = registry.run_pre("raw").await;
    assert_eq!(after(&run.response.unwrap_err()), Some(3 * SECOND));
    assert_eq!(log.take(), ["request"]);
    // Each alone is within the deadline.
    assert!(registry.execute_pre("").await.is_ok());
    assert!(registry.requests().apply("raw").await.is_ok());
    log.take();

    registry
        .requests()
        .register(Waits("slow", 9, log.clone()), plain());
    let run = registry.run_pre("raw").await;
    assert!(after(&run.response.unwrap_err()).is_some());
    assert_eq!(log.take(), ["request"]);
    let error = registry.requests().apply("raw").await.unwrap_err();
    match error {
        TransformError::Failed(error) => assert_eq!(after(&error), Some(3 * SECOND)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn x_13_the_deadline_of_post_cancels_its_hooks_and_is_logged() {
    let options = RegistryOptions::new().deadline(2 * SECOND);
    let (registry, log) = (Registry::with_options(options), Log::new());
    registry.register_post(Waits("first", 1, log.clone()), plain());
    registry.register_post(Waits("second", 9, log.clone()), plain());
    registry.register_post(Waits("third", 0, log.clone()), plain());
    let start = Instant::now();
    let (_, lines) = capture_logs(registry.execute_post("", None)).await;
    assert_eq!(start.elapsed(), 2 * SECOND);
    assert_eq!(log.take(), ["first"]);
    assert!(has_line(
        &lines,
        "WARN",
        &["POST", "cancelled at the deadline"]
    ));

    registry.around_post().register(Entry::new(
        async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
            next.call((result, id)).await;
        },
    ));
    registry.execute_post("", None).await;
    assert_eq!(log.take(), ["first"]);
}

// Owners.

#[test]
fn x_12_everything_of_an_owner_is_removed_and_disabled_at_once() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let of = |owner: &'static str| plain().owner(owner);
    for phase in PHASES {
        let hook = logging(&log, format!("{phase:?}"), HookResult::proceed());
        registry.register("e", hook, of("plugin").phase(phase));
    }
    registry.register_any(logging(&log, "any", HookResult::proceed()), of("plugin"));
    registry.around("e", Entry::new(Encloses(log.clone())).owner("plugin"));
    registry.register(
        "e",
        logging(&log, "other", HookResult::proceed()),
        of("other"),
    );
    registry.register("e", logging(&log, "host", HookResult::proceed()), plain());
    let all = [
        "around e",
        "Transform",
        "any",
        "other",
        "host",
        "Decide",
        "Observe",
    ];
    let run = || {
        block_on(emit(&registry, "e", ()));
        log.take()
    };
    assert_eq!(run(), all);
    assert_eq!(registry.set_owner_enabled("plugin", false), 5);
    assert_eq!(run(), ["other", "host"]);
    let late = logging(&log, "late", HookResult::proceed());
    registry.register("late", late, of("plugin"));
    block_on(emit(&registry, "late", ()));
    assert_eq!(log.take(), ["late"], "later registrations are enabled");
    assert_eq!(registry.set_owner_enabled("plugin", true), 6);
    assert_eq!(run(), all);
    let owners: Vec<_> = registry
        .descriptors()
        .into_iter()
        .map(|hook| hook.entry.owner)
        .collect();
    assert_eq!(
        owners
            .iter()
            .flatten()
            .filter(|owner| *owner == "plugin")
            .count(),
        5
    );
    assert_eq!(registry.remove_owner("plugin"), 6);
    assert_eq!(registry.remove_owner("plugin"), 0);
    assert_eq!(run(), ["other", "host"]);
    assert_eq!(registry.set_owner_enabled("unknown", true), 0);
}

#[test]
fn x_12_an_owner_has_hooks_in_every_phase_of_a_call() {
    let (registry, log) = (Registry::new(), Log::new());
    let of = || plain().owner("plugin");
    let pre = |id: &'static str| {
        let log = log.clone();
        PreFn::new(id, move |_: &str| {
            log.add(id);
            HookResponse::default()
        })
    };
    registry.register_pre(pre("pre"), of());
    registry.register_pre(pre("host"), plain());
    let noted = log.clone();
    registry.register_post(
        PostFn::new("post", move |_: &str, _: Option<&str>| noted.add("post")),
        of(),
    );
    registry.register_observer(Waits("observer", 0, log.clone()), of());
    registry
        .requests()
        .register(Waits("request", 0, log.clone()), of());
    registry
        .results()
        .register(Waits("result", 0, log.clone()), of());
    registry.around_pre().register(
        Entry::new(async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await)
            .owner("plugin"),
    );
    registry.around_post().register(
        Entry::new(
            async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
                next.call((result, id)).await;
            },
        )
        .owner("plugin"),
    );
    assert_eq!(registry.set_owner_enabled("plugin", false), 7);
    block_on(registry.execute_pre("")).unwrap();
    block_on(registry.execute_post("", None));
    assert_eq!(log.take(), ["host"]);
    assert_eq!(registry.set_owner_enabled("plugin", true), 7);
    assert_eq!(registry.requests().remove_owner("plugin"), 1);
    assert_eq!(registry.remove_owner("plugin"), 6);
    assert!(registry.around_pre().is_empty());
    assert_eq!(registry.registered_hooks(Phase::Pre).len(), 1);
    // A hook that replaces another keeps its owner.
    registry.register_pre(pre("kept"), of());
    registry.replace_pre(pre("kept"));
    assert_eq!(registry.remove_owner("plugin"), 1);
}

// Hooks for every event.

#[test]
fn x_14_a_hook_for_every_event_runs_among_the_hooks_of_each_event() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let proceeds = |line: &'static str| logging(&log, line, HookResult::proceed());
    registry.register("e", proceeds("own, first"), at(-1).name("own, first"));
    let any = registry.register_any(proceeds("any"), named("any"));
    registry.register("e", proceeds("own"), named("own"));
    for phase in [EventPhase::Decide, EventPhase::Observe] {
        let name = format!("any {phase:?}");
        let hook = logging(&log, name.clone(), HookResult::proceed());
        registry.register_any(hook, in_phase(phase).name(name));
    }
    let emits = |event: &str| {
        block_on(emit(&registry, event, ()));
        log.take()
    };
    let of_e = ["own, first", "any", "own", "any Decide", "any Observe"];
    let of_others = ["any", "any Decide", "any Observe"];
    assert_eq!(emits("e"), of_e);
    for event in ["other", "", "*"] {
        assert_eq!(emits(event), of_others);
        assert_eq!(registry.list_handlers(Some(event))[event], of_others);
    }
    let listed = registry.list_handlers(None);
    assert_eq!(listed.keys().collect::<Vec<_>>(), ["*", "e"]);
    assert_eq!(listed["e"], of_e);
    let descriptors = registry.descriptors();
    let listed: Vec<_> = descriptors
        .iter()
        .map(|hook| (&*hook.event, hook.every_event, hook.entry.name.as_str()))
        .collect();
    assert_eq!(
        listed,
        [
            ("*", true, "any"),
            ("*", true, "any Decide"),
            ("*", true, "any Observe"),
            ("e", false, "own, first"),
            ("e", false, "own"),
        ]
    );
    assert_eq!(json!(descriptors[0])["every_event"], true);
    assert!(json!(descriptors[4]).get("every_event").is_none());

    assert_eq!(registry.set_enabled("any", false), 1);
    assert_eq!(emits("e")[..2], ["own, first", "own"]);
    assert_eq!(emits("other")[..1], ["any Decide"]);
    assert!(registry.set_entry_enabled(any.id(), true));
    assert_eq!(emits("e"), of_e);
    assert!(any.unregister());
    assert!(!any.unregister());
    assert_eq!(emits("other")[..1], ["any Decide"]);
    // An event that has lost its own hooks still runs the others.
    assert_eq!(registry.set_enabled("own", false), 1);
    assert_eq!(emits("e")[0], "own, first");
}

#[test]
fn x_14_the_hooks_of_an_event_come_and_go_beside_those_for_every_event() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let proceeds = |line: &'static str| logging(&log, line, HookResult::proceed());
    registry.register_any(proceeds("any"), in_phase(EventPhase::Decide));
    // More events than a snapshot copies.
    for event in 0..200 {
        let event = format!("event:{event}");
        let own = registry.register(
            event.as_str(),
            proceeds("own"),
            in_phase(EventPhase::Decide),
        );
        let around = registry.around(
            event.as_str(),
            async |call: EventCall, next: Next<'_, EventCall>| next.call((call,)).await,
        );
        block_on(emit(&registry, &event, ()));
        assert_eq!(log.take(), ["any", "own"]);
        if event.ends_with('3') {
            assert!(own.unregister());
            assert_eq!(registry.around_hooks(&event).len(), 1);
            assert!(around.unregister());
            block_on(emit(&registry, &event, ()));
            assert_eq!(log.take(), ["any"]);
            registry.register(event.as_str(), proceeds("again"), at(-1));
            block_on(emit(&registry, &event, ()));
            assert_eq!(log.take(), ["again", "any"]);
        }
    }
    let copy = registry.for_call(|call| {
        call.register_any(proceeds("copied"), plain());
    });
    block_on(emit(&copy, "event:7", ()));
    assert_eq!(log.take(), ["copied", "any", "own"]);
    block_on(emit(&registry, "event:7", ()));
    assert_eq!(log.take(), ["any", "own"]);
}

#[test]
fn x_14_a_key_of_the_other_kind_and_a_cycle_are_refused_and_change_nothing() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let proceeds = |line: &'static str| logging(&log, line, HookResult::proceed());
    let keyed = |key: &'static str| plain().key(key).name(key);
    registry.register("e", proceeds("own"), keyed("own"));
    registry.register_any(proceeds("any"), keyed("any"));
    let listed = registry.list_handlers(None);

    let refused = registry.try_register_any(proceeds("x"), keyed("own"));
    assert!(matches!(refused, Err(RegistrationError::TakenKey { key, .. }) if key == "own"));
    for event in ["e", "other"] {
        let refused = registry.try_register(event, proceeds("x"), keyed("any"));
        assert!(matches!(refused, Err(RegistrationError::TakenKey { key, .. }) if key == "any"));
    }
    // A key is unique within its phase.
    let elsewhere = registry.register("e", proceeds("x"), keyed("any").phase(EventPhase::Decide));
    assert!(elsewhere.unregister());
    let unknown = registry.try_register_any(proceeds("x"), plain().before("own"));
    assert!(matches!(unknown, Err(RegistrationError::UnknownKey { .. })));
    assert_eq!(registry.list_handlers(None), listed);

    // Hooks of both kinds name each other.
    registry.register("e", proceeds("first"), keyed("first").before("any"));
    registry.register("f", proceeds("f"), keyed("f"));
    let dropped = Dropped::default();
    let guard = dropped.guard();
    let closes = move |_: Event<'_>| {
        let _ = &guard;
        HookResult::proceed()
    };
    let options = keyed("last")
        .before_if_present("first")
        .after_if_present("own")
        .after("any");
    let cycle = registry.try_register_any(closes, options);
    assert!(
        matches!(cycle, Err(RegistrationError::Cycle { .. })),
        "{cycle:?}"
    );
    assert!(dropped.is_set());
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["own", "first", "any"]);
    let replaced = keyed("any")
        .before_if_present("own")
        .after_if_present("first");
    registry.register_any(proceeds("replaced"), replaced);
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["first", "replaced", "own"]);
    block_on(emit(&registry, "f", ()));
    assert_eq!(log.take(), ["replaced", "f"]);
    let cycle = registry.try_register("e", proceeds("x"), keyed("own").before("first"));
    assert!(cycle.is_err());
    block_on(emit(&registry, "e", ()));
    assert_eq!(log.take(), ["first", "replaced", "own"]);
}

#[test]
fn x_14_hooks_for_every_event_are_reported_collected_counted_and_enclose() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.around_any(Entry::new(Encloses(log.clone())).key("around"));
    registry.register_any(returning(HookResult::set("a", 1)), named("any"));
    let options = EmitOptions::new().report();
    let emission = block_on(registry.emit_with("e", (), options)).unwrap();
    assert_eq!(log.take(), ["around e"]);
    assert_eq!(emission.data["a"], 1);
    let names: Vec<_> = emission
        .report()
        .unwrap()
        .entries
        .iter()
        .map(|entry| &*entry.name)
        .collect();
    assert_eq!(names[1..], ["any"]);
    let collected = block_on(registry.collect("e", (), SECOND)).unwrap();
    assert_eq!(collected.into_data(), [map(json!({"a": 1}))]);
    assert!(registry.set_around_enabled("whichever", "around", false));
    block_on(emit(&registry, "f", ()));
    assert_eq!(log.take(), [""; 0]);

    // Failures of all events count, and disable the hook for all.
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let fails = move |_: Event<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        Err::<HookResult, _>("broken")
    };
    registry.register("own", returning(HookResult::proceed()), plain());
    registry.register_any(fails, named("fails").disable_after(2));
    let disabled = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&disabled);
    registry.set_on_disabled(move |hook| noted.lock().unwrap().push(hook.clone()));
    for event in ["own", "e", "own", "f"] {
        block_on(emit(&registry, event, ()));
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let disabled = disabled.lock().unwrap().clone();
    assert_eq!(
        (&*disabled[0].name, &*disabled[0].place, disabled.len()),
        ("fails", "e", 1)
    );
    assert_eq!(registry.set_enabled("fails", true), 1);
    block_on(emit(&registry, "f", ()));
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

// Registries that follow another one.

#[test]
fn x_15_a_child_sees_later_changes_of_its_parent() {
    let (parent, log) = (HookRegistry::new(), Log::new());
    let proceeds = |line: &'static str| logging(&log, line, HookResult::proceed());
    let child = parent.child();
    let last = child.child();
    let emits = |registry: &HookRegistry| {
        block_on(emit(registry, "e", ()));
        log.take()
    };
    assert_eq!(emits(&child), [""; 0]);
    let of_parent = parent.register("e", proceeds("parent"), named("parent"));
    assert_eq!(emits(&child), ["parent"]);
    child.register("e", proceeds("child"), at(-1).name("child"));
    last.register("e", proceeds("last"), named("last"));
    assert_eq!(emits(&parent), ["parent"]);
    assert_eq!(emits(&child), ["child", "parent"]);
    assert_eq!(emits(&last), ["child", "parent", "last"]);
    assert_eq!(
        last.list_handlers(Some("e"))["e"],
        ["child", "parent", "last"]
    );

    // A switch in the child applies to the child and its followers.
    assert_eq!(child.set_enabled("parent", false), 1);
    assert_eq!(emits(&last), ["child", "last"]);
    assert_eq!(emits(&parent), ["parent"]);
    parent.register_any(proceeds("any"), named("any"));
    assert_eq!(emits(&last), ["child", "any", "last"]);
    assert_eq!(child.set_enabled("parent", true), 1);
    assert_eq!(emits(&child), ["child", "parent", "any"]);
    assert!(of_parent.unregister());
    assert_eq!(emits(&last), ["child", "any", "last"]);

    // The child keeps its parent alive.
    let weak = parent.downgrade();
    drop(parent);
    assert_eq!(emits(&last), ["child", "any", "last"]);
    drop(child);
    assert!(weak.upgrade().is_some());
    drop(last);
    assert!(weak.upgrade().is_none());
}

#[test]
fn x_15_a_child_has_the_settings_of_its_parent_unless_it_has_its_own() {
    let parent = HookRegistry::new();
    let child = parent.child();
    parent.set_default_fields(map(json!({"from": "parent"})));
    parent.set_timestamps(true);
    parent.declare(EventSchema::new("e").field(EventField::string("text")));
    parent.register("e", returning(HookResult::proceed()), plain());
    assert!(block_on(child.emit("e", ())).is_err(), "the schema");
    let emission = block_on(emit(&child, "e", json!({"text": "a"})));
    assert_eq!(emission.data["from"], "parent");
    assert!(emission.data.contains_key("timestamp"));

    child.set_default_fields(map(json!({"from": "child"})));
    child.set_timestamps(false);
    child.declare(EventSchema::new("e"));
    parent.set_default_fields(map(json!({"from": "parent", "more": true})));
    let emission = block_on(emit(&child, "e", ()));
    assert_eq!(*emission.data, map(json!({"from": "child"})));
    assert_eq!(parent.schemas().len(), 1);
    child.set_default_fields(());
    parent.register("f", returning(HookResult::proceed()), plain());
    assert_eq!(*block_on(emit(&child, "f", ())).data, Map::new());
}

#[test]
fn x_15_a_hook_that_fails_too_often_is_disabled_where_it_is_registered() {
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let parent = HookRegistry::new();
    let (one, two) = (parent.child(), parent.child());
    parent.register("e", fails, named("shared").disable_after(2));
    one.register("e", fails, named("own").disable_after(1));
    block_on(emit(&one, "e", ()));
    let enabled = |registry: &HookRegistry| -> Vec<_> {
        let hooks = registry.descriptors().into_iter();
        hooks
            .map(|hook| (hook.entry.name, hook.entry.enabled, hook.failures))
            .collect()
    };
    assert_eq!(enabled(&parent), [("shared".into(), true, 1)]);
    assert_eq!(
        enabled(&one),
        [("shared".into(), true, 1), ("own".into(), false, 1)]
    );
    block_on(emit(&two, "e", ()));
    for registry in [&parent, &two] {
        assert_eq!(enabled(registry), [("shared".into(), false, 2)]);
    }
    assert_eq!(
        enabled(&one),
        [("shared".into(), false, 2), ("own".into(), false, 1)]
    );
    // The switch outlasts a change of the parent.
    parent.register("f", fails, plain());
    assert!(!enabled(&one)[1].1);
    assert_eq!(one.set_enabled("own", true), 1);
    assert!(enabled(&one)[1].1);

    let registry = Registry::new();
    let child = registry.child();
    let fails = |_: &str, _: Option<&str>| Err::<(), _>(HookError::new("broken"));
    registry.register_post(PostFn::new("post", fails), plain().disable_after(1));
    block_on(child.execute_post("", None));
    assert!(!registry.registered_hooks(Phase::Post)[0].enabled);
}

#[test]
fn x_15_what_a_child_removes_and_replaces_is_still_counted_in_the_parent() {
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let parent = HookRegistry::new();
    let counted = |key: &'static str| named(key).key(key).owner("plugin").disable_after(2);
    for key in ["removed", "replaced", "kept"] {
        parent.register("e", fails, counted(key));
    }
    let child = parent.child();
    child.register(
        "e",
        returning(HookResult::proceed()),
        plain().key("replaced"),
    );
    assert_eq!(child.remove_owner("plugin"), 2);
    assert_eq!(child.descriptors().len(), 1);
    drop(child);
    for _ in 0..2 {
        block_on(emit(&parent, "e", ()));
    }
    let hooks = parent.descriptors();
    assert!(
        hooks.iter().all(|hook| !hook.enabled && hook.failures == 2),
        "{hooks:?}"
    );

    let registry = Registry::new();
    let fails = |_: &str, _: Option<&str>| Err::<(), _>(HookError::new("broken"));
    for id in ["removed", "replaced", "owned"] {
        let options = plain().owner(id).disable_after(1);
        registry.register_post(PostFn::new(id, fails), options);
    }
    let child = registry.child();
    assert!(child.deregister(Phase::Post, "removed"));
    child.register_post(
        PostFn::new("replaced", |_: &str, _: Option<&str>| ()),
        plain(),
    );
    assert_eq!(child.remove_owner("owned"), 1);
    block_on(registry.execute_post("", None));
    let hooks = registry.registered_hooks(Phase::Post);
    assert!(hooks.iter().all(|hook| !hook.enabled), "{hooks:?}");
}

#[test]
fn x_15_a_hook_that_a_child_enables_again_follows_the_parent() {
    let (parent, log) = (HookRegistry::new(), Log::new());
    parent.register("e", logging(&log, "x", HookResult::proceed()), named("x"));
    let child = parent.child();
    let runs = |registry: &HookRegistry| {
        block_on(emit(registry, "e", ()));
        !log.take().is_empty()
    };
    child.set_enabled("x", false);
    assert!(!runs(&child));
    child.set_enabled("x", true);
    assert!(runs(&child));
    parent.set_enabled("x", false);
    assert!(!runs(&child), "the child has no switch of its own");
    // The child may enable what the parent has disabled, until the hook fails too often.
    child.set_enabled("x", true);
    assert!(runs(&child));
    assert!(!runs(&parent));
    parent.set_enabled("x", true);
    assert!(runs(&child));
    parent.set_enabled("x", false);
    assert!(!runs(&child));

    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    parent.register("f", fails, named("fails").disable_after(2).enabled(false));
    child.set_enabled("fails", true);
    for _ in 0..2 {
        block_on(emit(&child, "f", ()));
    }
    assert!(
        !child.descriptors().iter().any(|hook| hook.enabled),
        "{:?}",
        child.descriptors()
    );
}

#[test]
fn x_15_a_child_may_have_a_callback_of_its_own() {
    let fails = |_: Event<'_>| Err::<HookResult, _>("broken");
    let (parent, log) = (HookRegistry::new(), Log::new());
    let calls = |name: &'static str| {
        let log = log.clone();
        move |hook: &hooks_runtime::DisabledHook| log.add(format!("{name}: {}", hook.name))
    };
    let (one, two) = (parent.child(), parent.child());
    parent.set_on_disabled(calls("parent"));
    one.set_on_disabled(calls("one"));
    for name in ["a", "b", "c"] {
        parent.register(name, fails, named(name).disable_after(1));
    }
    block_on(emit(&one, "a", ()));
    block_on(emit(&two, "b", ()));
    block_on(emit(&parent, "c", ()));
    assert_eq!(
        log.take(),
        ["one: a", "parent: a", "parent: b", "parent: c"]
    );
}

#[test]
fn x_15_an_own_hook_never_replaces_an_own_hook_of_the_other_kind_of_place() {
    let denies = || returning(HookResult::deny("closed"));
    let keyed = || plain().key("k");
    let parent = HookRegistry::new();
    let child = parent.child();
    child.register_any(denies(), keyed().name("every"));
    let of_parent = parent.register(
        "e",
        returning(HookResult::proceed()),
        keyed().name("parent"),
    );
    assert!(block_on(emit(&child, "e", ())).is_denied());
    child.register("e", returning(HookResult::proceed()), keyed().name("own"));
    of_parent.unregister();
    assert!(block_on(emit(&child, "e", ())).is_denied());
    assert_eq!(child.list_handlers(Some("e"))["e"], ["every", "own"]);
    child.set_enabled("own", false);
    child.set_enabled("own", true);
    assert_eq!(child.list_handlers(Some("e"))["e"], ["every", "own"]);
    assert!(block_on(emit(&child, "other", ())).is_denied());
}

#[test]
fn x_15_hooks_of_a_child_keep_the_order_of_their_registration() {
    let parent = HookRegistry::new();
    let child = parent.child();
    let proceeds = || returning(HookResult::proceed());
    child.register("e", proceeds(), named("first"));
    child.register_any(proceeds(), named("second"));
    child.register("e", proceeds(), named("third"));
    let order = || child.list_handlers(Some("e")).remove("e").unwrap();
    assert_eq!(order(), ["first", "second", "third"]);
    parent.register("f", proceeds(), named("f"));
    assert_eq!(order(), ["first", "second", "third"]);
    assert_eq!(child.list_handlers(Some("f"))["f"], ["f", "second"]);
}

#[test]
fn x_15_a_switch_outlasts_a_registry_between_that_covers_the_hook() {
    let first = HookRegistry::new();
    let denies = || returning(HookResult::deny("closed"));
    first.register("e", denies(), plain().key("k").name("k"));
    let between = first.child();
    let last = between.child();
    assert_eq!(last.set_enabled("k", false), 1);
    assert!(!block_on(emit(&last, "e", ())).is_denied());
    let covers = between.register("e", returning(HookResult::proceed()), plain().key("k"));
    assert!(!block_on(emit(&last, "e", ())).is_denied());
    covers.unregister();
    assert!(block_on(emit(&between, "e", ())).is_denied());
    assert!(!block_on(emit(&last, "e", ())).is_denied());
}

#[test]
fn x_15_an_uncovered_hook_of_the_parent_runs_at_once() {
    let (parent, stop) = (Registry::new(), AtomicBool::new(false));
    let gate = || PreFn::new("gate", |_: &str| HookResponse::new(ResponseAction::Deny));
    parent.register_pre(gate(), plain());
    let child = parent.child();
    thread::scope(|scope| {
        scope.spawn(|| {
            let _stops = Stops(&stop);
            for _ in 0..3000 {
                child.register_pre(gate(), plain());
                assert!(child.deregister(Phase::Pre, "gate"));
            }
        });
        while !stop.load(Ordering::Relaxed) {
            let response = block_on(child.execute_pre("")).unwrap();
            assert_eq!(response.action, ResponseAction::Deny);
        }
    });
}

#[test]
fn x_15_an_engine_has_hooks_of_a_session() {
    let engine = HookEngine::new();
    let session = engine.child();
    let gate = |id: &'static str| {
        PreFn::new(id, |request: &ToolRequest| match &*request.tool {
            "read_file" => HookResponse::new(ResponseAction::Deny),
            _ => HookResponse::default(),
        })
    };
    let calls = AtomicUsize::new(0);
    let is_allowed = |engine: &HookEngine| {
        // Another call each time: the engine stops identical calls in a row.
        let call = calls.fetch_add(1, Ordering::Relaxed);
        let read = ToolRequest::new("read_file").param("path", call.to_string());
        let response = block_on(engine.pre_tool_use(&read)).unwrap();
        response.is_continue()
    };
    assert!(is_allowed(&engine) && is_allowed(&session));
    let own = session.registry().register_pre(gate("own"), plain());
    assert!(is_allowed(&engine) && !is_allowed(&session));
    own.unregister();
    engine.registry().register_pre(gate("all"), plain());
    assert!(!is_allowed(&engine) && !is_allowed(&session));
}

#[test]
fn x_15_a_copy_of_a_child_no_longer_follows() {
    let (parent, log) = (HookRegistry::new(), Log::new());
    let proceeds = |line: &'static str| logging(&log, line, HookResult::proceed());
    let child = parent.child();
    parent.register("e", proceeds("parent"), plain());
    let copy = child.for_call(|_| {});
    parent.register("e", proceeds("later"), plain());
    block_on(emit(&copy, "e", ()));
    assert_eq!(log.take(), ["parent"]);
    block_on(emit(&child, "e", ()));
    assert_eq!(log.take(), ["parent", "later"]);
}

#[test]
fn x_15_contradicting_constraints_have_no_effect_in_the_child_and_are_logged() {
    let (parent, log) = (HookRegistry::new(), Log::new());
    let proceeds = |line: &'static str| logging(&log, line, HookResult::proceed());
    let child = parent.child();
    let own = plain().key("own").before_if_present("parent");
    child.register("e", proceeds("own"), own);
    let contradicts = plain().key("parent").before_if_present("own");
    let registration = parent.register("e", proceeds("parent"), contradicts);
    let (_, lines) = block_on(capture_logs(emit(&child, "e", ())));
    assert_eq!(log.take(), ["parent", "own"]);
    assert!(
        has_line(&lines, "WARN", &["contradict each other", "cycle"]),
        "{lines:?}"
    );
    registration.unregister();
    parent.register("e", proceeds("parent"), plain().key("parent"));
    block_on(emit(&child, "e", ()));
    assert_eq!(log.take(), ["own", "parent"], "the constraint is back");

    // A key of the other kind of place: both hooks run.
    child.register("e", proceeds("keyed"), plain().key("any"));
    parent.register_any(proceeds("any"), plain().key("any"));
    let (_, lines) = block_on(capture_logs(emit(&child, "e", ())));
    assert_eq!(log.take(), ["own", "parent", "any", "keyed"]);
    assert!(has_line(&lines, "WARN", &["any"]), "{lines:?}");
}

/// A hook whose destructor uses the registries: no lock may be held then.
struct Leaves(HookRegistry, HookRegistry);

impl Drop for Leaves {
    fn drop(&mut self) {
        for registry in [&self.0, &self.1] {
            registry.register("left", returning(HookResult::proceed()), plain());
            registry.descriptors();
        }
    }
}

#[test]
fn x_15_destructors_of_hooks_may_use_both_registries() {
    let (host, other) = (HookRegistry::new(), HookRegistry::new());
    let (parent, other_child) = (HookRegistry::new(), other.child());
    let child = parent.child();
    let leaving = |registry: &HookRegistry, key: &'static str| {
        let leaves = Leaves(host.clone(), other_child.clone());
        let hook = move |_: Event<'_>| {
            let _ = &leaves;
            HookResult::proceed()
        };
        registry.register("e", hook, plain().key(key).owner("plugin"))
    };
    // A destructor that uses the registry from which its hook is removed.
    let used = Leaves(parent.clone(), child.clone());
    let own = child.register(
        "e",
        move |_: Event<'_>| {
            let _ = &used;
            HookResult::proceed()
        },
        plain().key("own"),
    );
    leaving(&parent, "parent");
    block_on(emit(&child, "e", ()));
    own.unregister();
    leaving(&child, "parent");
    parent.remove_owner("plugin");
    block_on(emit(&child, "e", ()));
    child.remove_owner("plugin");
    block_on(emit(&child, "e", ()));
    assert_eq!(host.list_handlers(None).len(), 1);
    assert!(block_on(child.emit("left", ())).is_ok());
    let hooks = |registry: &HookRegistry| registry.descriptors().len();
    assert_eq!(
        (hooks(&host), hooks(&other_child), hooks(&child)),
        (2, 2, 2)
    );
}

#[test]
fn x_15_registrations_of_many_threads_are_in_every_follower() {
    const HOOKS: usize = 60;
    let parent = HookRegistry::new();
    let children: Vec<_> = (0..4).map(|_| parent.child()).collect();
    let last = children[0].child();
    thread::scope(|scope| {
        for thread in 0..2 {
            let parent = &parent;
            scope.spawn(move || {
                for hook in 0..HOOKS {
                    let name = format!("parent {thread} {hook}");
                    let registered =
                        parent.register("e", returning(HookResult::proceed()), named(name.clone()));
                    // What a registration returned before is in every follower.
                    if hook % 3 == 0 {
                        registered.unregister();
                    }
                }
            });
        }
        for (number, child) in children.iter().enumerate() {
            let last = &last;
            scope.spawn(move || {
                for hook in 0..HOOKS {
                    let name = format!("child {number} {hook}");
                    let registered =
                        child.register("e", returning(HookResult::proceed()), named(&name));
                    assert!(child.list_handlers(Some("e"))["e"].contains(&name));
                    block_on(emit(last, "e", ()));
                    if hook % 2 == 0 {
                        registered.unregister();
                    }
                }
            });
        }
    });
    let of_parent: Vec<_> = parent.list_handlers(Some("e")).remove("e").unwrap();
    assert_eq!(of_parent.len(), 2 * (HOOKS - HOOKS / 3));
    for child in children.iter().chain([&last]) {
        let mut names = child.list_handlers(Some("e")).remove("e").unwrap();
        assert_eq!(names.len(), of_parent.len() + HOOKS / 2);
        names.retain(|name| name.starts_with("parent"));
        assert_eq!(names, of_parent);
    }
}

/// Ends the loops of other threads, also if an assertion fails.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn x_15_a_registration_is_in_a_follower_when_it_returns() {
    let parent = HookRegistry::new();
    let child = parent.child();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    block_on(emit(&child, "e", ()));
                    child
                        .register("f", returning(HookResult::proceed()), plain())
                        .unregister();
                }
            });
        }
        let _stops = Stops(&stop);
        for _ in 0..500 {
            let hook = parent.register("e", returning(HookResult::deny("closed")), plain());
            assert!(block_on(emit(&child, "e", ())).is_denied());
            hook.unregister();
            assert!(!block_on(emit(&child, "e", ())).is_denied());
        }
    });
}

#[test]
fn x_15_phases_transforms_and_around_hooks_follow() {
    let (registry, log) = (Registry::new(), Log::new());
    let session = registry.child();
    registry.register_pre(Waits("pre", 0, log.clone()), plain());
    registry.register_post(Waits("post", 0, log.clone()), plain());
    registry.register_observer(Waits("observer", 0, log.clone()), plain());
    registry
        .requests()
        .register(Waits("request", 0, log.clone()), plain());
    registry.around_pre().register(Entry::new(
        async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await,
    ));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        assert!(session.run_pre("").await.response.unwrap().is_continue());
        session.execute_post("", None).await;
    });
    assert_eq!(
        log.take(),
        ["request", "pre", "observer: true", "observer", "post"]
    );
    assert!(!session.around_pre().is_empty());
    assert!(session.deregister(Phase::Pre, "pre"));
    assert!(!session.deregister(Phase::Pre, "pre"));
    assert_eq!(registry.registered_hooks(Phase::Pre).len(), 1);
    registry.register_pre(Waits("other", 0, log.clone()), plain());
    let listed = session.registered_hooks(Phase::Pre);
    assert_eq!(
        listed.iter().map(|hook| &*hook.id).collect::<Vec<_>>(),
        ["other"]
    );
}
