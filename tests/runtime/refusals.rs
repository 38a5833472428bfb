//! Refused registrations: they change nothing, blame the line of the caller, hold no lock while the
//! hook is dropped, and have a fallible form (R-06, E-07, E-43).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use hooks_core::hooks;
use hooks_runtime::events::{EventCall, EventPhase};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserverFn, PreResult};
use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
use hooks_runtime::{
    Entry, Event, FailurePolicy, HookError, HookRegistry, HookResponse, HookResult, Next, Phase,
    PhaseRegistry, RegisterOptions, Registration, RegistrationError, ResponseAction,
};
use serde_json::json;

use hooks_tests::panic_of;

use crate::kit::{capture_logs, plain};

#[hooks]
trait Enclosed {
    #[hook(fallback, around, name = EnclosedRun)]
    async fn run(_n: u8) -> u8 {
        0
    }
    #[hook(singleton, name = EnclosedOne)]
    async fn one(_n: u8) -> u8 {
        0
    }
}

fn proceed(_: Event<'_>) -> HookResult {
    HookResult::proceed()
}

fn pre(id: &str) -> impl hooks_runtime::PreHook<str> + use<> {
    PreFn::new(id, |_: &str| HookResponse::default())
}

fn post(id: &str) -> impl hooks_runtime::PostHook<str> + use<> {
    PostFn::new(id, |_: &str, _: Option<&str>| {})
}

fn observer(id: &str) -> impl hooks_runtime::phases::PreObserver<str> + use<> {
    PreObserverFn::new(id, |_: &str, _: PreResult<'_>| {})
}

fn transform(id: &str) -> impl hooks_runtime::transform::TransformHook<str> + use<> {
    TransformFn::new(id, |_: TransformInput<'_, str>| Transformed::Unchanged)
}

fn around_event() -> Entry<Holds<()>> {
    Entry::new(Holds(()))
}

/// Everything that can be listed, of registries with one hook of each kind.
struct Subject {
    events: HookRegistry,
    phases: PhaseRegistry<str, str>,
    transforms: TransformRegistry<str>,
    set: EnclosedSet<'static>,
}

impl Subject {
    fn new() -> Self {
        let events = HookRegistry::new();
        for phase in [
            EventPhase::Transform,
            EventPhase::Decide,
            EventPhase::Observe,
        ] {
            for key in ["a", "b"] {
                events.register("e", proceed, plain().key(key).phase(phase));
            }
        }
        events.around(
            "e",
            Entry::new(async |call: EventCall, next: Next<'_, EventCall>| next.call((call,)).await)
                .key("a"),
        );
        let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
        for id in ["a", "b"] {
            phases.register_pre(pre(id), plain());
            phases.register_post(post(id), plain());
            phases.register_observer(observer(id), plain());
            phases.requests().register(transform(id), plain());
            phases.results().register(transform(id), plain());
        }
        phases.around_pre().register(
            Entry::new(async |request: &str, next: Next<'_, PreCall<str>>| {
                next.call((request,)).await
            })
            .key("a"),
        );
        phases.around_post().register(
            Entry::new(
                async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
                    next.call((result, id)).await;
                },
            )
            .key("a"),
        );
        let transforms = TransformRegistry::new();
        transforms.register(transform("a"), plain());
        transforms.register(transform("b"), plain());
        let set = EnclosedSet::new()
            .with_run(Entry::new(async |_: u8, _: Option<u8>| 1).key("a"))
            .with_run(Entry::new(async |_: u8, _: Option<u8>| 1).key("b"))
            .with_one(Entry::new(async |_: u8| 1).key("a"))
            .with_run_around(
                Entry::new(async |n: u8, next: Next<'_, dyn EnclosedRun>| next.call((n,)).await)
                    .key("a"),
            );
        Subject {
            events,
            phases,
            transforms,
            set,
        }
    }

    fn list(&self) -> Vec<String> {
        let mut list = Vec::new();
        for hook in self.events.descriptors() {
            list.push(format!("{} {:?} {:?}", hook.event, hook.phase, hook.id));
        }
        let around = |hooks: Vec<hooks_core::EntryMeta>| {
            format!(
                "{:?}",
                hooks
                    .iter()
                    .map(hooks_core::EntryMeta::id)
                    .collect::<Vec<_>>()
            )
        };
        list.push(around(self.events.around_hooks("e")));
        list.push(around(self.events.around_hooks("new")));
        list.push(format!("{:?}", self.events.list_handlers(None)));
        for phase in [Phase::Pre, Phase::Post, Phase::Observe] {
            let hooks = self.phases.registered_hooks(phase);
            list.extend(hooks.iter().map(|hook| format!("{phase} {}", hook.id)));
        }
        for transforms in [
            self.phases.requests(),
            self.phases.results(),
            &self.transforms,
        ] {
            list.extend(transforms.hooks().iter().map(|hook| hook.id.clone()));
        }
        list.push(around(self.phases.around_pre().hooks()));
        list.push(around(self.phases.around_post().hooks()));
        list.push(self.set.describe().to_string());
        list
    }

    /// Changes every registry, so that each publishes its hooks anew.
    fn publish(&mut self) {
        for is_enabled in [false, true] {
            for phase in [Phase::Pre, Phase::Post, Phase::Observe] {
                self.phases.set_enabled(phase, "a", is_enabled);
            }
            for transforms in [
                self.phases.requests(),
                self.phases.results(),
                &self.transforms,
            ] {
                transforms.set_enabled("a", is_enabled);
            }
            self.phases.around_pre().set_enabled("a", is_enabled);
            self.phases.around_post().set_enabled("a", is_enabled);
            self.events.set_around_enabled("e", "a", is_enabled);
            self.set.run_mut().set_enabled("a", is_enabled);
            self.set.run_around_mut().set_enabled("a", is_enabled);
        }
        self.events.register("other", proceed, plain()).unregister();
    }
}

type Attempt = fn(&mut Subject);

/// Refused registrations of every front end and of every reason.
const PANICKING: &[(&str, Attempt)] = &[
    ("event, unknown key", |s| {
        _ = s.events.register("e", proceed, plain().before("x"))
    }),
    ("event, unknown key, by `on`", |s| {
        _ = s.events.on("e", proceed, plain().after("x"))
    }),
    ("new event, unknown key", |s| {
        _ = s.events.register("new", proceed, plain().before("x"))
    }),
    ("event, own key", |s| {
        _ = s
            .events
            .register("e", proceed, plain().key("x").before("x"))
    }),
    ("event, cycle", |s| {
        s.events
            .register("e", proceed, plain().key("a").after("b").before("b"));
    }),
    ("decide, unknown key", |s| {
        s.events
            .register("e", proceed, plain().phase(EventPhase::Decide).before("x"));
    }),
    ("decide of a new event, unknown key", |s| {
        s.events.register(
            "new",
            proceed,
            plain().phase(EventPhase::Decide).before("x"),
        );
    }),
    ("observe, cycle", |s| {
        let options = plain().phase(EventPhase::Observe);
        s.events
            .register("e", proceed, options.key("a").after("b").before("b"));
    }),
    ("observe, failure policy", |s| {
        let options = plain().phase(EventPhase::Observe);
        s.events
            .register("e", proceed, options.on_failure(FailurePolicy::FailClosed));
    }),
    ("event, filter of inputs", |s| {
        s.events
            .register("e", proceed, plain().when_input(|_: &str| true));
    }),
    ("event, disabled after failures that deny", |s| {
        let options = plain()
            .disable_after(1)
            .on_failure(FailurePolicy::FailClosed);
        s.events.register("e", proceed, options);
    }),
    ("options, no failures", |_| {
        _ = RegisterOptions::new().disable_after(0)
    }),
    ("around an event, unknown key", |s| {
        _ = s.events.around("e", around_event().before("x"))
    }),
    ("around a new event, unknown key", |s| {
        _ = s.events.around("new", around_event().before("x"))
    }),
    ("around an event, timeout", |s| {
        s.events
            .around("e", around_event().timeout(Duration::from_secs(1)));
    }),
    ("around an event, failure policy", |s| {
        s.events
            .around("e", around_event().on_failure(FailurePolicy::Isolate));
    }),
    ("PRE, unknown id", |s| {
        _ = s.phases.register_pre(pre("new"), plain().before("x"))
    }),
    ("PRE, cycle", |s| {
        s.phases
            .register_pre(pre("a"), plain().before("b").after("b"));
    }),
    ("PRE, key", |s| {
        _ = s.phases.register_pre(pre("new"), plain().key("x"))
    }),
    ("PRE, phase", |s| {
        s.phases
            .register_pre(pre("new"), plain().phase(EventPhase::Decide));
    }),
    ("PRE, filter of events", |s| {
        s.phases.register_pre(pre("new"), plain().when(|_| true));
    }),
    ("PRE, tools without names", |s| {
        s.phases.register_pre(pre("new"), plain().tools(["x"]));
    }),
    ("PRE, filter of another type", |s| {
        s.phases
            .register_pre(pre("new"), plain().when_input(|_: &u8| true));
    }),
    ("PRE, disabled after failures that propagate", |s| {
        s.phases.register_pre(pre("new"), plain().disable_after(3));
    }),
    ("POST, unknown id", |s| {
        _ = s.phases.register_post(post("new"), plain().before("x"))
    }),
    ("POST, cycle", |s| {
        s.phases
            .register_post(post("a"), plain().before("b").after("b"));
    }),
    ("POST, failure policy", |s| {
        s.phases
            .register_post(post("new"), plain().on_failure(FailurePolicy::FailClosed));
    }),
    ("observer, unknown id", |s| {
        s.phases
            .register_observer(observer("new"), plain().before("x"));
    }),
    ("observer, own id", |s| {
        s.phases
            .register_observer(observer("new"), plain().after("new"));
    }),
    ("observer, failure policy", |s| {
        s.phases.register_observer(
            observer("new"),
            plain().on_failure(FailurePolicy::Propagate),
        );
    }),
    ("around PRE, unknown key", |s| {
        let hook = async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await;
        s.phases.around_pre().register(Entry::new(hook).before("x"));
    }),
    ("around PRE, timeout", |s| {
        let hook = async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await;
        s.phases
            .around_pre()
            .register(Entry::new(hook).timeout(Duration::from_secs(1)));
    }),
    ("around POST, unknown key", |s| {
        let hook = async |result: &str, id: Option<&str>, next: Next<'_, PostCall<str>>| {
            next.call((result, id)).await;
        };
        s.phases
            .around_post()
            .register(Entry::new(hook).before("x"));
    }),
    ("request, unknown id", |s| {
        s.phases
            .requests()
            .register(transform("new"), plain().after("x"));
    }),
    ("result, unknown id", |s| {
        s.phases
            .results()
            .register(transform("new"), plain().after("x"));
    }),
    ("transform, unknown id", |s| {
        s.transforms.register(transform("new"), plain().before("x"));
    }),
    ("transform, cycle", |s| {
        s.transforms
            .register(transform("a"), plain().before("b").after("b"));
    }),
    ("transform, key", |s| {
        _ = s.transforms.register(transform("new"), plain().key("x"))
    }),
    ("transform, disabled after failures that propagate", |s| {
        s.transforms
            .register(transform("new"), plain().disable_after(1));
    }),
    ("set, unknown key", |s| {
        s.set
            .register_run(Entry::new(async |_: u8, _: Option<u8>| 1).before("x"));
    }),
    ("set, unknown key, of a copy", |s| {
        let hook = Entry::new(async |_: u8, _: Option<u8>| 1).before("x");
        _ = s.set.clone().with_run(hook);
    }),
    ("set, unknown key, by its registrations", |s| {
        s.set
            .run_mut()
            .register(Entry::new(async |_: u8, _: Option<u8>| 1).before("x"));
    }),
    ("set, timeout", |s| {
        let hook = Entry::new(async |_: u8, _: Option<u8>| 1);
        s.set.register_run(hook.timeout(Duration::from_secs(1)));
    }),
    ("set, failure policy", |s| {
        let hook = Entry::new(async |_: u8, _: Option<u8>| 1);
        s.set.register_run(hook.on_failure(FailurePolicy::Isolate));
    }),
    ("set, order of a singleton", |s| {
        s.set.register_one(Entry::new(async |_: u8| 1).before("a"));
    }),
    ("around a slot, unknown key", |s| {
        let hook = async |n: u8, next: Next<'_, dyn EnclosedRun>| next.call((n,)).await;
        s.set.register_run_around(Entry::new(hook).before("x"));
    }),
    ("around a slot, unknown key, by its registrations", |s| {
        let hook = async |n: u8, next: Next<'_, dyn EnclosedRun>| next.call((n,)).await;
        s.set.run_around_mut().register(Entry::new(hook).after("x"));
    }),
];

#[test]
fn a_refused_registration_blames_the_line_of_the_caller_and_changes_nothing() {
    for (what, register) in PANICKING {
        let mut subject = Subject::new();
        let before = subject.list();
        let (file, message) = panic_of(|| register(&mut subject));
        assert!(file.ends_with("refusals.rs"), "{what}: {file}: {message}");
        assert_eq!(subject.list(), before, "{what}");
        subject.publish();
        assert_eq!(subject.list(), before, "{what}, after the next change");
    }
}

#[test]
fn observers_run_after_a_refused_observer() {
    let (phases, log) = (PhaseRegistry::<str, str>::new(), crate::kit::Log::new());
    let audit = {
        let log = log.clone();
        PreObserverFn::new("audit", move |request: &str, _: PreResult<'_>| {
            log.add(request)
        })
    };
    phases.register_observer(audit, plain());
    for (number, options) in [plain().before("x"), plain().after("late").after("audit")]
        .into_iter()
        .enumerate()
    {
        assert!(
            phases
                .try_register_observer(observer("late"), options)
                .is_err()
        );
        block_on(phases.execute_pre(&number.to_string())).unwrap();
        phases.register_pre(pre("any"), plain());
        block_on(phases.execute_pre(&format!("{number} again"))).unwrap();
    }
    assert_eq!(log.take(), ["0", "0 again", "1", "1 again"]);
}

#[test]
fn fallible_registrations_return_the_reason() {
    let mut subject = Subject::new();
    let before = subject.list();
    let Subject {
        events,
        phases,
        transforms,
        set,
    } = &mut subject;
    let unknown = || plain().before("x");
    let around_pre =
        async |request: &str, next: Next<'_, PreCall<str>>| next.call((request,)).await;
    let around_set = async |n: u8, next: Next<'_, dyn EnclosedRun>| next.call((n,)).await;
    let errors = [
        events.try_register("e", proceed, unknown()).map(drop),
        events.try_around("e", around_event().before("x")).map(drop),
        phases.try_register_pre(pre("new"), unknown()).map(drop),
        phases.try_register_post(post("new"), unknown()).map(drop),
        phases
            .try_register_observer(observer("new"), unknown())
            .map(drop),
        phases
            .around_pre()
            .try_register(Entry::new(around_pre).before("x"))
            .map(drop),
        transforms
            .try_register(transform("new"), unknown())
            .map(drop),
        set.run_mut()
            .try_register(Entry::new(async |_: u8, _: Option<u8>| 1).before("x"))
            .map(drop),
        set.run_around_mut()
            .try_register(Entry::new(around_set).before("x"))
            .map(drop),
    ];
    for error in errors.map(Result::unwrap_err) {
        let message = error.to_string();
        match error {
            RegistrationError::UnknownKey { key, option, .. } => {
                assert_eq!((&*key, option), ("x", "before"));
            }
            other => panic!("{other:?}"),
        }
        assert!(message.contains("register `x` first"), "{message}");
    }
    let cycle = transforms.try_register(transform("a"), plain().after("b").before("b"));
    match cycle {
        Err(RegistrationError::Cycle { hooks, .. }) => assert_eq!(hooks.len(), 2, "{hooks:?}"),
        other => panic!("{other:?}"),
    }
    let option = phases.try_register_pre(pre("a"), plain().key("x"));
    assert!(
        matches!(option, Err(RegistrationError::InvalidOption { .. })),
        "{option:?}"
    );
    assert_eq!(subject.list(), before);

    // What is accepted, is registered.
    let registered: Registration = subject
        .events
        .try_register("new", proceed, plain())
        .unwrap();
    assert!(registered.unregister());
    let id = subject
        .set
        .run_mut()
        .try_register(async |_: u8, _: Option<u8>| 1)
        .unwrap();
    assert!(subject.set.run_mut().remove_entry(id));
    assert_eq!(subject.list(), before);
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Fails if `act` does not end, and names it.
fn ends(what: &str, act: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let run = thread::spawn(move || {
        act();
        let _ = done.send(());
    });
    let ended = is_done.recv_timeout(Duration::from_secs(60));
    assert!(
        ended != Err(mpsc::RecvTimeoutError::Timeout),
        "{what} does not end"
    );
    run.join().unwrap();
}

/// A destructor that uses a registry of each kind.
fn using(
    events: &HookRegistry,
    phases: &PhaseRegistry<str, str>,
) -> OnDrop<impl FnMut() + Send + Sync + use<>> {
    let (events, phases) = (events.downgrade(), phases.downgrade());
    OnDrop(move || {
        if let Some(events) = events.upgrade() {
            events.declare_events(["x:y"]);
            events.on("x:y", proceed, plain());
        }
        if let Some(phases) = phases.upgrade() {
            phases.register_pre(pre("of a destructor"), plain());
            phases.register_post(post("of a destructor"), plain());
            phases.register_observer(observer("of a destructor"), plain());
            phases
                .requests()
                .register(transform("of a destructor"), plain());
            phases.around_pre().remove("x");
            phases.around_post().remove("x");
        }
    })
}

/// What a step does, and its name.
type Step = (&'static str, fn(&HookRegistry, &PhaseRegistry<str, str>));

#[test]
fn a_refused_hook_is_dropped_after_the_lock_is_released() {
    let refuse: [Step; 8] = [
        ("event", |events, phases| {
            let held = using(events, phases);
            let hook = move |_: Event<'_>| {
                let _ = &held;
                HookResult::proceed()
            };
            assert!(events.try_register("e", hook, plain().before("x")).is_err());
        }),
        ("decide", |events, phases| {
            let held = using(events, phases);
            let hook = move |_: Event<'_>| {
                let _ = &held;
                HookResult::proceed()
            };
            let options = plain().phase(EventPhase::Decide).key("k").before("k");
            assert!(events.try_register("e", hook, options).is_err());
        }),
        ("around an event", |events, phases| {
            let held = using(events, phases);
            assert!(
                events
                    .try_around("e", Entry::new(Holds(held)).before("x"))
                    .is_err()
            );
        }),
        ("PRE", |events, phases| {
            let held = using(events, phases);
            let hook = PreFn::new("new", move |_: &str| {
                let _ = &held;
                HookResponse::default()
            });
            assert!(phases.try_register_pre(hook, plain().before("x")).is_err());
        }),
        ("POST", |events, phases| {
            let held = using(events, phases);
            let hook = PostFn::new("new", move |_: &str, _: Option<&str>| {
                let _ = &held;
            });
            assert!(phases.try_register_post(hook, plain().before("x")).is_err());
        }),
        ("observer", |events, phases| {
            let held = using(events, phases);
            let hook = PreObserverFn::new("new", move |_: &str, _: PreResult<'_>| {
                let _ = &held;
            });
            assert!(
                phases
                    .try_register_observer(hook, plain().before("x"))
                    .is_err()
            );
        }),
        ("transform", |events, phases| {
            let held = using(events, phases);
            let hook = TransformFn::new("new", move |_: TransformInput<'_, str>| {
                let _ = &held;
                Transformed::<str>::Unchanged
            });
            assert!(
                phases
                    .requests()
                    .try_register(hook, plain().before("x"))
                    .is_err()
            );
        }),
        ("around PRE", |events, phases| {
            let held = using(events, phases);
            assert!(
                phases
                    .around_pre()
                    .try_register(Entry::new(Holds(held)).before("x"))
                    .is_err()
            );
        }),
    ];
    for (what, refuse) in refuse {
        ends(what, move || {
            let (events, phases) = (HookRegistry::new(), PhaseRegistry::<str, str>::new());
            refuse(&events, &phases);
            // The destructor has run.
            assert_eq!(events.list_handlers(None).len(), 1, "{what}");
            assert_eq!(phases.registered_hooks(Phase::Pre).len(), 1, "{what}");
        });
    }
}

/// An around hook that owns a value.
struct Holds<T>(T);

impl<T: Send + Sync> hooks_runtime::Around<EventCall> for Holds<T> {
    async fn call<'a>(
        &'a self,
        args: (EventCall,),
        next: Next<'a, EventCall>,
    ) -> Result<hooks_runtime::Emission, hooks_runtime::EmitError> {
        next.call(args).await
    }
}

impl<T: Send + Sync> hooks_runtime::Around<PreCall<str>> for Holds<T> {
    async fn call<'a>(
        &'a self,
        args: (&'a str,),
        next: Next<'a, PreCall<str>>,
    ) -> Result<HookResponse, HookError> {
        next.call(args).await
    }
}

#[test]
fn a_refused_hook_may_own_the_guards_of_other_hooks() {
    ends("the refusal", || {
        let hooks = HookRegistry::new();
        let helper = hooks
            .register("tool:post", proceed, plain())
            .unregister_on_drop();
        let hook = move |_: Event<'_>| {
            let _ = &helper;
            HookResult::proceed()
        };
        assert!(
            hooks
                .try_register("tool:pre", hook, plain().before("formatter"))
                .is_err()
        );
        assert!(hooks.descriptors().is_empty());
    });
}

#[test]
fn a_panic_of_a_refused_hooks_destructor_does_not_hide_the_refusal() {
    let hooks = HookRegistry::new();
    let held = OnDrop(|| panic!("in a destructor"));
    let hook = move |_: Event<'_>| {
        let _ = &held;
        HookResult::proceed()
    };
    let refused = catch_unwind(AssertUnwindSafe(|| {
        hooks.try_register("e", hook, plain().before("x"))
    }));
    assert!(
        matches!(refused, Ok(Err(RegistrationError::UnknownKey { .. }))),
        "{refused:?}"
    );
}

#[test]
fn a_removed_hook_is_dropped_after_the_lock_is_released() {
    let remove: [Step; 6] = [
        ("event", |events, phases| {
            let held = using(events, phases);
            let hook = move |_: Event<'_>| {
                let _ = &held;
                HookResult::proceed()
            };
            assert!(events.register("e", hook, plain()).unregister());
        }),
        ("decide", |events, phases| {
            let held = using(events, phases);
            let hook = move |_: Event<'_>| {
                let _ = &held;
                HookResult::proceed()
            };
            assert!(
                events
                    .register("e", hook, plain().phase(EventPhase::Decide))
                    .unregister()
            );
        }),
        ("PRE", |events, phases| {
            let held = using(events, phases);
            let hook = PreFn::new("new", move |_: &str| {
                let _ = &held;
                HookResponse::default()
            });
            phases.register_pre(hook, plain());
            phases.replace_pre(pre("new"));
            phases.deregister(Phase::Pre, "new");
        }),
        ("observer", |events, phases| {
            let held = using(events, phases);
            let hook = PreObserverFn::new("new", move |_: &str, _: PreResult<'_>| {
                let _ = &held;
            });
            assert!(phases.register_observer(hook, plain()).unregister());
        }),
        ("copy", |events, phases| {
            let held = using(events, phases);
            let hook = PreFn::new("new", move |_: &str| {
                let _ = &held;
                HookResponse::default()
            });
            let registration = phases.register_pre(hook, plain());
            let copy = phases.for_call(|copy| _ = copy.set_enabled(Phase::Pre, "new", false));
            assert!(registration.unregister());
            drop(copy);
        }),
        ("around PRE", |events, phases| {
            let held = using(events, phases);
            phases
                .around_pre()
                .register(Entry::new(Holds(held)).key("k"));
            assert!(phases.around_pre().remove("k"));
        }),
    ];
    for (what, remove) in remove {
        ends(what, move || {
            let (events, phases) = (HookRegistry::new(), PhaseRegistry::<str, str>::new());
            remove(&events, &phases);
            assert_eq!(events.list_handlers(None).len(), 1, "{what}");
        });
    }
}

#[test]
fn guards_of_a_plugin_roll_back_if_a_later_registration_is_refused() {
    let hooks = HookRegistry::new();
    let plugin = |hooks: &HookRegistry| {
        let first = hooks.register("a:b", proceed, plain()).unregister_on_drop();
        let second = hooks.try_register("a:c", proceed, plain().after("x"))?;
        Ok::<_, RegistrationError>([first, second.unregister_on_drop()])
    };
    assert!(plugin(&hooks).is_err());
    assert!(hooks.descriptors().is_empty());
}

#[test]
fn a_hook_is_replaced_after_the_hook_that_it_names_was_removed() {
    let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
    phases.register_pre(pre("anchor"), plain());
    phases.register_pre(pre("other"), plain());
    let guard = |action: ResponseAction| {
        PreFn::new("guard", move |_: &str| HookResponse::new(action.clone()))
    };
    phases.register_pre(
        guard(ResponseAction::Deny),
        plain().before("anchor").after("other"),
    );
    assert!(phases.deregister(Phase::Pre, "anchor"));
    assert!(phases.deregister(Phase::Pre, "other"));

    // With the options of the replaced hook, and with the same options again.
    phases.replace_pre(guard(ResponseAction::Continue));
    assert!(block_on(phases.execute_pre("")).unwrap().is_continue());
    let again = plain().after("other").before("anchor");
    phases.register_pre(guard(ResponseAction::Deny), again);
    assert!(!block_on(phases.execute_pre("")).unwrap().is_continue());

    // A key that the replaced hook does not name is unknown.
    let unknown = phases.try_register_pre(guard(ResponseAction::Continue), plain().after("anchor"));
    assert!(
        matches!(unknown, Err(RegistrationError::UnknownKey { .. })),
        "{unknown:?}"
    );
    assert_eq!(phases.registered_hooks(Phase::Pre)[0].before, ["anchor"]);

    // The order holds again when the hook returns.
    phases.register_pre(pre("anchor"), plain().priority(-1));
    let order = phases.registered_hooks(Phase::Pre);
    assert_eq!(order[0].id, "guard");
}

#[tokio::test]
async fn an_empty_list_of_tools_matches_every_tool_and_is_warned_of() {
    let hooks = HookRegistry::new();
    let deny = |_: Event<'_>| HookResult::deny("closed");
    let options = || plain().tools(Vec::<String>::new()).name("gate");
    let (_, logs) = capture_logs(async { hooks.register("tool:pre", deny, options()) }).await;
    assert_eq!(
        logs.iter()
            .filter(|line| line.contains("runs for every tool"))
            .count(),
        1,
        "{logs:?}"
    );
    assert!(
        logs.iter()
            .any(|line| line.contains("hook `gate` of event `tool:pre`")),
        "{logs:?}"
    );
    for data in [json!({"tool_name": "bash"}), json!({})] {
        assert!(hooks.emit("tool:pre", data).await.unwrap().is_denied());
    }
    // Another list has to match, too.
    let both = options().tools(["read"]);
    hooks.register("tool:post", deny, both);
    let emission = hooks
        .emit("tool:post", json!({"tool_name": "bash"}))
        .await
        .unwrap();
    assert!(!emission.is_denied());

    let phases: PhaseRegistry<str, str> = PhaseRegistry::new();
    phases.set_tool_names(|_| Some("bash"), |_| None);
    let deny = PreFn::new("gate", |_: &str| HookResponse::new(ResponseAction::Deny));
    let (_, logs) = capture_logs(async { phases.register_pre(deny, options()) }).await;
    assert!(
        logs.iter().any(|line| line.contains("PRE hook `gate`")),
        "{logs:?}"
    );
    assert!(!phases.execute_pre("").await.unwrap().is_continue());
}
