//! Events in combinations.

use super::*;

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

    // Failures in copies for one call count for the registry, and disable the hook in it.
    works.store(false, Ordering::Relaxed);
    emit(&hooks.for_call(|_| {}), "e", ()).await;
    assert_eq!(state(&hooks), (true, 1));
    let call = hooks.for_call(|_| {}).for_call(|_| {});
    let (_, lines) = capture_logs(async { emit(&call, "e", ()).await }).await;
    assert!(!state(&call).0);
    assert!(!state(&hooks).0);
    assert!(
        has_line(&lines, "WARN", &["flaky", "disabled"]),
        "{lines:?}"
    );

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
    let rows: Vec<_> = report.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(rows, ["closure", "never", "audit"]);
    assert!(matches!(report.entries[1].status, HookStatus::Skipped));
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
