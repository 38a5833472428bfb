//! PRE and POST hooks, observers and transforms.

use super::*;

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
async fn the_functions_for_the_names_of_tools_that_a_copy_sets_are_its_own() {
    let hooks = PhaseRegistry::<Call, Call>::new();
    hooks.set_tool_names(|_| Some("registry"), |_| Some("registry"));
    let other: fn(&Call) -> Option<&str> = |_| Some("copy");
    let denies = |tools: &'static str| {
        let deny = |_: &Call| HookResponse::new(ResponseAction::Deny);
        (PreFn::new(tools, deny), plain().tools([tools]))
    };
    let copy = hooks.for_call(|copy| {
        copy.set_tool_names(other, other);
        let (hook, options) = denies("copy");
        copy.register_pre(hook, options);
    });
    let call = Call { tool: "", cost: 0 };
    assert!(!copy.execute_pre(&call).await.unwrap().is_continue());
    let (hook, options) = denies("copy");
    hooks.register_pre(hook, options);
    assert!(hooks.execute_pre(&call).await.unwrap().is_continue());
    let (hook, options) = denies("registry");
    hooks.register_pre(hook, options);
    assert!(!hooks.execute_pre(&call).await.unwrap().is_continue());
    // As for PRE, for the hooks that change results.
    let values = hooks.results().for_call(|copy| copy.set_tool_name(other));
    for (registry, name) in [(&values, "copy"), (hooks.results(), "registry")] {
        let deny = |_: TransformInput<'_, Call>| Transformed::<Call>::denied("no");
        registry.register(TransformFn::new("denies", deny), plain().tools([name]));
        let call = Call { tool: "", cost: 0 };
        assert!(registry.apply(call).await.is_err());
    }
}

/// Panics, with a payload that panics when it is dropped if the tool has no name.
fn panicking_name(call: &Call) -> Option<&str> {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("the payload");
        }
    }
    if call.tool.is_empty() {
        std::panic::panic_any(Payload);
    }
    panic!("no name of `{}`", call.tool);
}

#[tokio::test]
async fn every_hook_runs_if_the_function_for_the_name_of_its_tool_panics() {
    let (hooks, log) = (PhaseRegistry::<Call, Call>::new(), Log::new());
    hooks.set_tool_names(panicking_name, panicking_name);
    let rm = || plain().tools(["rm*"]);
    let lines = log.clone();
    hooks.register_pre(
        PreFn::new("guard", move |_: &Call| {
            lines.add("guard");
            HookResponse::new(ResponseAction::Deny)
        }),
        rm(),
    );
    let lines = log.clone();
    let observe = move |_: &Call, _: PreResult<'_>| lines.add("observer");
    hooks.register_observer(PreObserverFn::new("observer", observe), rm());
    let lines = log.clone();
    let post = move |_: &Call, _: Option<&str>| lines.add("post");
    hooks.register_post(PostFn::new("post", post), rm());
    for (transforms, line) in [(hooks.requests(), "request"), (hooks.results(), "result")] {
        let lines = log.clone();
        let transform = move |_: TransformInput<'_, Call>| {
            lines.add(line);
            Transformed::<Call>::Unchanged
        };
        transforms.register(TransformFn::new(line, transform), rm());
    }
    for tool in ["ls", ""] {
        let call = || Call { tool, cost: 1 };
        let run = async {
            let run = hooks.run_pre(call()).await;
            assert_eq!(run.response.unwrap().action, ResponseAction::Deny);
            let (response, report) = hooks.execute_pre_reported(&call()).await;
            assert_eq!(response.unwrap().action, ResponseAction::Deny);
            assert_eq!(&*report.stopped_by().unwrap().name, "guard");
            hooks.execute_post(&call(), None).await;
            hooks.results().apply(call()).await.unwrap();
            let copy = hooks.for_call(|_| {});
            assert!(!copy.execute_pre(&call()).await.unwrap().is_continue());
        };
        let ((), lines) = capture_logs(run).await;
        let pre = ["guard", "observer"];
        let expected = [&["request"][..], &pre, &pre, &["post", "result"], &pre].concat();
        assert_eq!(log.take(), expected);
        for hook in [
            "hook=guard",
            "hook=observer",
            "hook=post",
            "hook=request",
            "hook=result",
        ] {
            let words = [
                hook,
                "the function for the name of the tool panicked",
                "the hook runs",
            ];
            assert!(has_line(&lines, "WARN", &words), "{hook}: {lines:?}");
        }
    }
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
    let read = Call {
        tool: "read",
        cost: 0,
    };
    assert!(!call.execute_pre(&read).await.unwrap().is_continue());
    assert!(hooks.execute_pre(&read).await.unwrap().is_continue());
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

#[tokio::test(start_paused = true)]
async fn observers_of_pre_run_after_every_response() {
    type Build = fn() -> PreFn<fn(&str) -> HookResponse, HookResponse>;
    let cases: [(&str, Build); 2] = [
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
