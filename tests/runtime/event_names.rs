//! Warnings about names of events that are probably mistakes. Registering for any name works, as
//! `E-11` requires.

use std::sync::Arc;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_runtime::events::{EventNameProblem, EventSchema, STANDARD};
use hooks_runtime::{Action, Event, HookRegistry, HookResult};

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
}

/// A hook's name is compared with what is declared, not with what was emitted.
#[test]
fn emissions_are_not_checked() {
    let registry = registry_with(&["order:placed"]);
    let warnings = warnings_of(|| {
        block_on(emit(&registry, "order:plcaed", ()));
        registry.register("order:plcaed", proceed, plain());
        registry.declare_events(["invoice"]);
        block_on(emit(&registry, "invioce", ()));
    });
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn names_that_are_data_end_the_checks() {
    let registry = HookRegistry::new();
    let warnings = warnings_of(|| {
        for at in 0..2_000 {
            registry.register(format!("session:{at}:tick"), proceed, plain());
        }
        registry.register("tool:per", proceed, plain());
    });
    assert!(warnings.is_empty(), "{warnings:?}");
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
        registry.register("tool:post", proceed, plain());
    });
    for words in [
        "undeclared event `order:palced`, similar to `order:placed`; correct the name",
        "undeclared event `invoice`; declare it with `declare_events`",
    ] {
        assert!(has_line(&warnings, "WARN", &[words]), "{warnings:?}");
    }
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let undeclared = registry.event_name_warnings();
    let undeclared: Vec<_> = undeclared.iter().map(|warning| &*warning.event).collect();
    assert_eq!(undeclared, ["invoice", "order:palced"]);
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
}

#[test]
fn a_warning_is_logged_once_for_a_registry_and_its_copies() {
    let registry = HookRegistry::new();
    let registered = |registry: &HookRegistry| {
        warnings_of(|| registry.register("tool:pree", proceed, plain())).len()
    };
    let copies = [registry.for_call(|_| {}), registry.for_call(|_| {})];
    assert_eq!(copies.each_ref().map(registered), [1, 0]);
    assert_eq!(registered(&registry), 0);
    assert_eq!(listed(&registry).len(), 1);
}
