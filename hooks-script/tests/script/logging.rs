//! `S-15` to `S-17`: what a hook throws is logged, with or without a history.

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::sync::Once;

use futures_executor::block_on;
use hooks_script::{ContextData, Occasion, ScriptStack};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{body, engine, engine_with, map, register};

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Listener;

impl Subscriber for Listener {
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
        HEARD.with_borrow_mut(|heard| heard.push(line.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Whoever pads a message past what a hook is given is heard of.
fn log_of_what_did_not_run() {
    let engine = engine_with(|limits| limits.input = 10);
    let stack = ScriptStack::builder().build();
    stack.insert(
        "guard",
        register(&engine, &body("return { out: context.in };")),
    );
    let message = map(json!({ "text": "x".repeat(100) }));
    block_on(stack.run_pre(message, &ContextData::new())).unwrap();
    let heard = HEARD.take();
    let [line] = &heard[..] else {
        panic!("{heard:#?}")
    };
    assert!(line.starts_with("WARN"), "{line}");
    assert!(
        line.contains("a hook did not run: the context has "),
        "{line}"
    );
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

#[test]
fn s_15_what_a_hook_throws_is_logged_with_its_trace() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
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
    let occasion = Occasion::new().action("message.send");
    let data = ContextData::new();

    block_on(stack.run_pre_on(&occasion, message.clone(), &data)).unwrap_err();
    block_on(stack.run_post_on(&occasion, message, &data));
    let heard = HEARD.take();
    log_of_what_did_not_run();
    let [failed, stopped, failed_after, annotated] = &heard[..] else {
        panic!("{heard:#?}")
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
            ["stage=pre", "Spam", "a hook says stop: call [number]"],
        ),
        (
            failed_after,
            "WARN",
            ["stage=post", "TypeError", "a hook failed: about [input]"],
        ),
        (
            annotated,
            "INFO",
            ["stage=post", "Spam", "a hook says stop: call [number]"],
        ),
    ] {
        assert!(line.starts_with(level), "{line}");
        for part in parts.into_iter().chain(["message.send", "hook.js:"]) {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(!line.contains("Xylophone"), "{line}");
    }
}
