//! How does a host declare its events, and the data that they have?
//!
//! A schema documents an event, makes the registry warn of hooks for undeclared events, and rejects
//! emissions whose data do not match.

use hooks_runtime::events::{EventField, EventSchema};
use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = HookRegistry::new();
    hooks.declare(
        EventSchema::new("deploy:start")
            .description("A deployment begins.")
            .field(EventField::string("target").one_of(["staging", "production"]))
            .field(EventField::integer("attempt").optional()),
    );
    for schema in hooks.schemas() {
        print!("{schema}");
    }

    // A misspelled event: the hook would never run.
    let proceed = |_: Event<'_>| HookResult::proceed();
    hooks.register("deploy:strat", proceed, RegisterOptions::new());
    for warning in hooks.event_name_warnings() {
        println!("warning: {warning}");
    }

    let started = hooks
        .emit("deploy:start", json!({"target": "staging"}))
        .await;
    assert!(started.is_ok());
    // A misspelled field: hooks that read `target` would miss it.
    let error = hooks
        .emit("deploy:start", json!({"tagret": "production"}))
        .await;
    println!("error: {}", error.expect_err("the field is missing"));
}
