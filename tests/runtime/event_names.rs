//! Warnings about names of events that are probably mistakes. Registering for any name works, as
//! `E-11` requires.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_runtime::events::{EventNameProblem, EventSchema, STANDARD};
use hooks_runtime::{Action, EmitOptions, Event, HookRegistry, HookResult};
use serde_json::json;

use crate::kit::{capture_logs, emit, has_line, plain};

fn proceed(_: Event<'_>) -> HookResult {
    HookResult::proceed()
}

fn deny(_: Event<'_>) -> HookResult {
    HookResult::deny("by the hook")
}

/// Returns the warnings that `act` logs.
fn warnings_of<R>(act: impl FnOnce() -> R) -> Vec<String> {
    // `act` may block on other futures, which an executor does not allow.
    let logs = capture_logs(async { act() }).now_or_never();
    let (_, lines) = logs.expect("no future is pending");
    let warnings = lines.into_iter().filter(|line| line.starts_with("WARN"));
    warnings.collect()
}

/// Returns a registry with a hook for each of these events.
fn registry_with(events: &[&str]) -> HookRegistry {
    let registry = HookRegistry::new();
    for event in events {
        registry.register(*event, proceed, plain());
    }
    registry
}

/// Returns the name, the problem and the similar name of each warning.
fn listed(registry: &HookRegistry) -> Vec<(Arc<str>, EventNameProblem, Option<Arc<str>>)> {
    let warnings = registry.event_name_warnings().into_iter();
    warnings
        .map(|warning| (warning.event, warning.problem, warning.similar))
        .collect()
}

#[test]
fn a_hook_for_a_pattern_is_warned_of_and_runs_for_the_exact_name() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| registry.register("ticket:*", deny, plain()));
    assert!(
        has_line(
            &warnings,
            "WARN",
            &[
                "event=ticket:*",
                "`*` in the event name `ticket:*` matches only itself; register"
            ]
        ),
        "{warnings:?}"
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        block_on(emit(&registry, "ticket:*", ())).action,
        Action::Deny
    );
    assert_eq!(
        block_on(emit(&registry, "ticket:open", ())).action,
        Action::Continue
    );
}

#[test]
fn an_empty_name_and_white_space_are_warned_of() {
    for (event, problem, words) in [
        ("", EventNameProblem::Empty, "empty event name; register"),
        (
            " ",
            EventNameProblem::WhiteSpace,
            "white space in the event name ` `; remove it",
        ),
        (
            "tool:pre ",
            EventNameProblem::WhiteSpace,
            "white space in the event name `tool:pre `; remove it",
        ),
        (
            "tool:\npre",
            EventNameProblem::WhiteSpace,
            r"white space in the event name `tool:\npre`; remove it",
        ),
        (
            "tool:\0",
            EventNameProblem::WhiteSpace,
            r"white space in the event name `tool:\0`; remove it",
        ),
    ] {
        let registry = HookRegistry::new();
        let warnings = warnings_of(|| registry.register(event, deny, plain()));
        assert!(has_line(&warnings, "WARN", &[words]), "{warnings:?}");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(listed(&registry), [(event.into(), problem, None)]);
        assert_eq!(block_on(emit(&registry, event, ())).action, Action::Deny);
    }
}

#[test]
fn a_misspelled_standard_event_is_warned_of_at_registration() {
    for (event, meant) in [
        ("tool:per", "tool:pre"),
        ("tool:pots", "tool:post"),
        ("tool_pre", "tool:pre"),
        ("Tool:Pre", "tool:pre"),
        ("sesion:strat", "session:start"),
        ("context:pre_compact", "context:pre-compact"),
        ("decision:tool-resolution", "decision:tool_resolution"),
    ] {
        let registry = HookRegistry::new();
        let warnings = warnings_of(|| registry.register(event, proceed, plain()));
        let words = format!("unknown event `{event}`, similar to `{meant}`; correct the name");
        assert!(has_line(&warnings, "WARN", &[&words]), "{warnings:?}");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}

#[test]
fn standard_events_and_other_names_cause_no_warning() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        let custom = [
            "e",
            "a",
            "tool",
            "deploy:start",
            "step:1",
            "step:2",
            "größe",
        ];
        for event in STANDARD.into_iter().chain(custom) {
            registry.register(event, proceed, plain());
        }
        for event in STANDARD.into_iter().chain(["other", "step:3", "x", ""]) {
            block_on(emit(&registry, event, ()));
        }
    });
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(registry.event_name_warnings().is_empty());
}

/// The events of amplifier-core 2.0.2: `amplifier_core.events.ALL_EVENTS` of its package.
const AMPLIFIER: [&str; 43] = [
    "approval:denied",
    "approval:granted",
    "approval:required",
    "artifact:read",
    "artifact:write",
    "cancel:completed",
    "cancel:requested",
    "content_block:delta",
    "content_block:end",
    "content_block:start",
    "context:compaction",
    "context:include",
    "context:post_compact",
    "context:pre_compact",
    "execution:end",
    "execution:start",
    "llm:request",
    "llm:response",
    "module:load_failed",
    "module:on_session_ready_failed",
    "orchestrator:complete",
    "plan:end",
    "plan:start",
    "policy:violation",
    "prompt:complete",
    "prompt:submit",
    "provider:error",
    "provider:request",
    "provider:resolve",
    "provider:response",
    "provider:retry",
    "provider:throttle",
    "provider:tool_sequence_repaired",
    "session:end",
    "session:fork",
    "session:resume",
    "session:start",
    "thinking:delta",
    "thinking:final",
    "tool:error",
    "tool:post",
    "tool:pre",
    "user:notification",
];

#[test]
fn of_the_events_of_amplifier_only_the_one_with_another_separator_is_warned_of() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        for event in AMPLIFIER {
            registry.register(event, proceed, plain());
        }
        for event in AMPLIFIER.into_iter().chain(STANDARD) {
            block_on(emit(&registry, event, ()));
        }
    });
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let misspelled = "context:pre_compact";
    let meant = Some("context:pre-compact".into());
    let expected = (misspelled.into(), EventNameProblem::Unknown, meant);
    assert_eq!(listed(&registry), [expected]);
    // Seven names are equal; the names of errors have their parts in the other order.
    let shared: Vec<_> = STANDARD
        .into_iter()
        .filter(|event| AMPLIFIER.contains(event))
        .collect();
    assert_eq!(shared.len(), 7, "{shared:?}");
    for event in ["error:tool", "error:provider"] {
        let (first, second) = event.split_once(':').unwrap();
        assert!(STANDARD.contains(&event));
        assert!(AMPLIFIER.contains(&&*format!("{second}:{first}")));
    }
}

#[test]
fn the_events_of_amplifier_are_not_taken_for_each_other() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        for event in AMPLIFIER {
            if event != "context:pre_compact" {
                block_on(emit(&registry, event, ()));
            }
        }
        for event in AMPLIFIER.into_iter().rev() {
            let registration = registry.register(event, proceed, plain());
            registration.unregister();
        }
    });
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn a_name_is_warned_of_once() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        for _ in 0..3 {
            let registration = registry.register("tool:per", proceed, plain());
            registry.register("tool:per", proceed, plain());
            registration.unregister();
        }
        registry.register("tool:pr", proceed, plain());
    });
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let registry = registry_with(&["order:placed"]);
    let warnings = warnings_of(|| {
        for _ in 0..3 {
            block_on(emit(&registry, "order:plcaed", ()));
        }
    });
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn an_emission_without_hooks_beside_a_similar_event_with_hooks_is_warned_of() {
    let emit_sync = |registry: &HookRegistry| drop(block_on(registry.emit("order:plcaed", ())));
    let emit_with = |registry: &HookRegistry| {
        let options = EmitOptions::new().report();
        drop(block_on(registry.emit_with("order:plcaed", (), options)));
    };
    let collect = |registry: &HookRegistry| {
        drop(block_on(registry.collect(
            "order:plcaed",
            (),
            Duration::ZERO,
        )));
    };
    let with_defaults = |registry: &HookRegistry| {
        registry.set_default_fields(json!({"a": 1}).as_object().cloned().unwrap_or_default());
        emit_sync(registry);
    };
    let many = |registry: &HookRegistry| {
        for at in 0..100 {
            registry.register(format!("event:{at}"), proceed, plain());
        }
        emit_sync(registry);
    };
    let emissions: [&dyn Fn(&HookRegistry); 5] =
        [&emit_sync, &emit_with, &collect, &with_defaults, &many];
    for emission in emissions {
        let registry = registry_with(&["order:placed"]);
        let warnings = warnings_of(|| emission(&registry));
        assert!(
            has_line(
                &warnings,
                "WARN",
                &["event `order:plcaed` has no hooks, but the similar event `order:placed` has;"]
            ),
            "{warnings:?}"
        );
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(
            listed(&registry),
            [(
                "order:plcaed".into(),
                EventNameProblem::NoHooks,
                Some("order:placed".into())
            )]
        );
    }
}

#[test]
fn an_event_whose_hooks_were_removed_causes_no_warning() {
    let registry = registry_with(&["order:placed"]);
    let other = registry.register("order:plaed", proceed, plain());
    other.unregister();
    let warnings = warnings_of(|| block_on(emit(&registry, "order:plaed", ())));
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_hook_that_is_similar_to_an_emitted_event_is_warned_of() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        block_on(emit(&registry, "order:placed", ()));
        registry.register("order:plcaed", proceed, plain());
        registry.register("order:placed", proceed, plain());
    });
    assert!(
        has_line(
            &warnings,
            "WARN",
            &["unknown event `order:plcaed`, similar to `order:placed`; correct the name"]
        ),
        "{warnings:?}"
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        listed(&registry),
        [(
            "order:plcaed".into(),
            EventNameProblem::Unknown,
            Some("order:placed".into())
        )]
    );
}

#[test]
fn declared_events_cause_no_warning() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        registry.declare_events(["tool:per", "ticket:*", "message:send"]);
        registry.declare_events(vec![String::from("message:sent")]);
        registry.register("tool:per", proceed, plain());
        registry.register("ticket:*", proceed, plain());
        registry.register("message:sent", proceed, plain());
        registry.register("tool:pre", proceed, plain());
        block_on(emit(&registry, "message:send", ()));
    });
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(registry.event_name_warnings().is_empty());
}

#[test]
fn a_registry_with_declared_events_warns_of_undeclared_events() {
    let registry = HookRegistry::new();
    registry.declare_events(["order:placed", "order:shipped"]);
    let warnings = warnings_of(|| {
        registry.register("order:palced", proceed, plain());
        registry.register("invoice", proceed, plain());
        registry.register("order:shipped", proceed, plain());
        block_on(emit(&registry, "order:cancelled", ()));
        block_on(emit(&registry, "order:shiped", ()));
        block_on(emit(&registry, "order:placed", ()));
        block_on(emit(&registry, "tool:post", ()));
    });
    for words in [
        "undeclared event `order:palced`, similar to `order:placed`; correct the name",
        "undeclared event `invoice`; declare it with `declare_events`",
        "undeclared event `order:cancelled`; declare it with `declare_events`",
        "undeclared event `order:shiped`, similar to `order:shipped`; correct the name",
    ] {
        assert!(has_line(&warnings, "WARN", &[words]), "{warnings:?}");
    }
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    let undeclared = registry.event_name_warnings();
    let undeclared: Vec<_> = undeclared.iter().map(|warning| &*warning.event).collect();
    assert_eq!(
        undeclared,
        ["invoice", "order:cancelled", "order:palced", "order:shiped"]
    );
}

#[test]
fn a_declaration_warns_of_misspelled_hooks_that_were_registered_before() {
    let registry = registry_with(&["order:palced", "invoice"]);
    let warnings = warnings_of(|| registry.declare_events(["order:placed"]));
    assert!(
        has_line(
            &warnings,
            "WARN",
            &["undeclared event `order:palced`, similar to `order:placed`; correct the name"]
        ),
        "{warnings:?}"
    );
    // The next declaration may contain the other event.
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let warnings = warnings_of(|| registry.declare_events(["invoice", "order:paid"]));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(registry.event_name_warnings().len(), 1);
}

#[test]
fn the_list_omits_hooks_that_were_removed_and_names_that_were_declared() {
    let registry = HookRegistry::new();
    let registration = registry.register("tool:per", proceed, plain());
    registry.register("session:edn", proceed, plain());
    assert_eq!(registry.event_name_warnings().len(), 2);
    registration.unregister();
    registry.declare_events(["session:edn"]);
    assert!(registry.event_name_warnings().is_empty());
}

/// The names share their first and last four bytes and their length, and therefore their hash.
#[test]
fn names_are_checked_until_their_hash_repeats() {
    let registry = registry_with(&["tick:open:done"]);
    let emit = |event| block_on(emit(&registry, event, ()));
    let warnings = warnings_of(|| {
        for _ in 0..31 {
            emit("tick:shut:done");
        }
        emit("tick:opne:done");
        for _ in 0..40 {
            emit("tick:shut:done");
        }
        emit("tick:oepn:done");
    });
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("tick:opne:done"), "{warnings:?}");
}

#[test]
fn names_that_are_data_end_the_checks() {
    let registry = registry_with(&["order:placed"]);
    let warnings = warnings_of(|| {
        for at in 0..2_000 {
            block_on(emit(&registry, &format!("session:{at}:tick"), ()));
        }
        block_on(emit(&registry, "order:plcaed", ()));
    });
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn what_a_copy_declares_is_declared_in_the_copy_only() {
    let declare: [fn(&HookRegistry); 2] = [
        |copy| copy.declare_events(["deploy:start"]),
        |copy| copy.declare(EventSchema::new("deploy:start")),
    ];
    for declare in declare {
        let registry = registry_with(&["deploy:strat", "my:own"]);
        let copy = registry.for_call(declare);
        let undeclared = |event: &str, similar: Option<&str>| {
            (
                event.into(),
                EventNameProblem::Undeclared,
                similar.map(Into::into),
            )
        };
        let expected = [
            undeclared("deploy:strat", Some("deploy:start")),
            undeclared("my:own", None),
        ];
        assert_eq!(listed(&copy), expected);
        assert_eq!(listed(&registry), []);
        // A hook of an undeclared name is no mistake in the registry.
        assert!(warnings_of(|| registry.register("another:name", proceed, plain())).is_empty());
        // A copy of the copy has its declarations.
        assert_eq!(listed(&copy.for_call(|_| {})), expected);
        // Later declarations of the registry do not reach the copy.
        registry.declare_events(["my:own"]);
        assert_eq!(listed(&copy), expected);
    }
}

#[test]
fn a_name_that_a_copy_declares_or_registers_is_checked_in_the_registry() {
    let registry = HookRegistry::new();
    registry.register("deploy:start", proceed, plain());
    let copy = registry.for_call(|copy| copy.declare_events(["deploy:strat", "tool:pree"]));
    let warnings = warnings_of(|| {
        copy.register("tool:pree", proceed, plain());
        copy.register("deploy:strat", proceed, plain());
    });
    assert!(warnings.is_empty(), "{warnings:?}");
    let warnings = warnings_of(|| registry.register("tool:pree", proceed, plain()));
    assert!(has_line(&warnings, "WARN", &["tool:pree"]), "{warnings:?}");
    // The registry has no hook for this name, although the copy has one.
    let warnings = warnings_of(|| block_on(emit(&registry, "deploy:strat", ())));
    let words = ["deploy:strat", "deploy:start"];
    assert!(has_line(&warnings, "WARN", &words), "{warnings:?}");
}

#[test]
fn a_warning_is_logged_once_for_a_registry_and_its_copies() {
    let registry = registry_with(&["deploy:start"]);
    let registered = |registry: &HookRegistry| {
        warnings_of(|| registry.register("tool:pree", proceed, plain())).len()
    };
    let emitted = |registry: &HookRegistry| {
        warnings_of(|| block_on(emit(registry, "deploy:strat", ()))).len()
    };
    let copies = [registry.for_call(|_| {}), registry.for_call(|_| {})];
    assert_eq!(copies.each_ref().map(registered), [1, 0]);
    assert_eq!(copies.each_ref().map(emitted), [1, 0]);
    assert_eq!((registered(&registry), emitted(&registry)), (0, 0));
    // A name that only copies emitted is in the list of the registry.
    let strat = |(event, problem, _): &(Arc<str>, EventNameProblem, _)| {
        &**event == "deploy:strat" && *problem == EventNameProblem::NoHooks
    };
    assert!(listed(&registry).iter().any(strat));
}
