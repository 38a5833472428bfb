//! Logs: exceptions of hooks are logged with or without a history (`S-15` to `S-17`).

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Once;

use futures_executor::block_on;
use hooks_runtime::{FailurePolicy, HookRegistry, PhaseRegistry, RegisterOptions};
use hooks_script::{ContextData, RunContext, RunHistory, RunQuery, ScriptStack};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{body, engine, engine_with, map, register};

thread_local! {
    static LOGGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct LogSubscriber;

impl Subscriber for LogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "hooks_script"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        LOGGED.with_borrow_mut(|logged| logged.push(line.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A message that is padded beyond the input limit is logged.
fn check_log_of_a_skipped_hook() {
    let engine = engine_with(|limits| limits.input = 10);
    let stack = ScriptStack::builder().build();
    stack.insert(
        "guard",
        register(&engine, &body("return { out: context.in };")),
    );
    let message = map(json!({ "text": "x".repeat(100) }));
    block_on(stack.run_pre(message, &ContextData::new())).unwrap();
    let logged = LOGGED.take();
    let [line] = &logged[..] else {
        panic!("{logged:#?}")
    };
    assert!(line.starts_with("WARN"), "{line}");
    assert!(
        line.contains("a hook did not run: the context has "),
        "{line}"
    );
}

/// A check that keeps failing is logged once more, and stays enabled.
fn check_log_of_a_failing_check() {
    let stack = ScriptStack::builder()
        .disable_after(NonZeroU32::new(2))
        .build();
    let check = "if (context.in.text.length > 9) throw new HookStopException('long');";
    stack.insert("check", register(&engine_with(|_| ()), &body(check)));
    for _ in 0..5 {
        block_on(stack.run_pre(map(json!({})), &ContextData::new())).unwrap_err();
    }
    let logged = LOGGED.take();
    let warnings = logged.iter().filter(|line| line.contains("keeps failing"));
    let warnings: Vec<_> = warnings.collect();
    assert_eq!((logged.len(), warnings.len()), (6, 1), "{logged:#?}");
    for part in ["WARN", "check", "failures=2", "it stays enabled"] {
        assert!(warnings[0].contains(part), "{warnings:?}");
    }
}

/// Hooks in a registry, without a stack.
fn check_log_of_attached_hooks() {
    let engine = engine();
    let throws = |code: &str| register(&engine, &body(code));
    let (stops, fails) = (
        throws("throw new (class Spam extends HookStopException {})('links');"),
        throws("throw new TypeError('about ' + context.in.text);"),
    );
    let history = RunHistory::in_memory(NonZeroUsize::new(10).unwrap());
    let hooks = HookRegistry::new();
    let phases: PhaseRegistry<Value, Value> = PhaseRegistry::new();
    let options = RegisterOptions::new;
    for (hook, id) in [(&fails, "fails"), (&stops, "stops")] {
        let event = hook.as_event_hook().with_history(history.clone());
        hooks.register("message:send", event, options());
        let phase = || hook.as_phase_hook(id).with_history(history.clone());
        let isolated = options().on_failure(FailurePolicy::Isolate);
        phases.register_pre(phase(), isolated.trusted(false));
        phases.register_post(phase(), options());
    }
    let message = json!({ "text": "Xylophone meets Quagmire" });
    drop(block_on(hooks.emit("message:send", message.clone())).unwrap());
    drop(block_on(phases.execute_pre(&message)).unwrap());
    block_on(phases.execute_post(&message, None));

    let logged = LOGGED.take();
    let page = block_on(history.query(&RunQuery::new())).unwrap();
    let mut records = page.records.iter().rev();
    for (action, stage) in [
        (["message:send", "message:send"], "pre"),
        (["fails", "stops"], "pre"),
        (["fails", "stops"], "post"),
    ] {
        for (action, level, class) in [
            (action[0], "WARN", "TypeError"),
            (action[1], "INFO", "Spam"),
        ] {
            let is_of = |line: &&String| {
                [
                    level,
                    class,
                    &format!("stage={stage}"),
                    &format!("{action:?}"),
                ]
                .iter()
                .all(|part| line.contains(*part))
            };
            let line = logged.iter().find(is_of);
            let line = line.unwrap_or_else(|| panic!("{action}, {stage}: {logged:#?}"));
            assert!(line.contains("hook.js:2:"), "its trace: {line}");
            assert!(!line.contains("Xylophone"), "{line}");
            let record = records.next().expect("one a run");
            assert_eq!(
                (&*record.action, record.stage.to_string()),
                (action, stage.to_owned())
            );
        }
    }
    assert!(records.next().is_none());
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

#[test]
fn s_15_exceptions_of_hooks_are_logged_with_their_trace() {
    static SUBSCRIBED: Once = Once::new();
    SUBSCRIBED.call_once(|| tracing::subscriber::set_global_default(LogSubscriber).unwrap());
    let engine = engine();
    let stack = ScriptStack::builder().build();
    let throws = |code: &str| register(&engine, &body(code));
    stack.insert("good", throws("return { out: context.in };"));
    stack.insert(
        "fails",
        throws("throw new TypeError('about ' + context.in.text);"),
    );
    stack.insert(
        "stops",
        throws("throw new (class Spam extends HookStopException {})('call 1234567');"),
    );
    let message = map(json!({ "text": "Xylophone meets Quagmire" }));
    let occasion = RunContext::new().action("message.send");
    let data = ContextData::new();

    block_on(stack.run_pre_on(&occasion, message.clone(), &data)).unwrap_err();
    block_on(stack.run_post_on(&occasion, message, &data));
    let logged = LOGGED.take();
    check_log_of_a_skipped_hook();
    check_log_of_a_failing_check();
    check_log_of_attached_hooks();
    let [failed, stopped, failed_after, annotated] = &logged[..] else {
        panic!("{logged:#?}")
    };
    for (line, level, parts) in [
        (
            failed,
            "WARN",
            ["stage=pre", "TypeError", "a hook failed: about [input]"],
        ),
        (
            stopped,
            "INFO",
            ["stage=pre", "Spam", "a hook stopped: call [number]"],
        ),
        (
            failed_after,
            "WARN",
            ["stage=post", "TypeError", "a hook failed: about [input]"],
        ),
        (
            annotated,
            "INFO",
            ["stage=post", "Spam", "a hook stopped: call [number]"],
        ),
    ] {
        assert!(line.starts_with(level), "{line}");
        for part in parts.into_iter().chain(["message.send", "hook.js:"]) {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(!line.contains("Xylophone"), "{line}");
    }
}
