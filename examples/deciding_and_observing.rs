//! How does a check see the final data, and how does an audit hook see every decision?
//!
//! The phases of an event run one after the other: hooks of `Transform` change the data, hooks of
//! `Decide` check the final data, and hooks of `Observe` receive the outcome, also after a denial.

use hooks_runtime::events::EventPhase;
use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
use serde_json::json;

/// Replaces `~` by the home directory.
fn expand_home(event: Event<'_>) -> HookResult {
    match event.str("path").and_then(|path| path.strip_prefix("~/")) {
        Some(path) => HookResult::set("path", format!("/srv/ada/{path}")),
        None => HookResult::proceed(),
    }
}

/// Allows paths in the project.
fn project_only(event: Event<'_>) -> HookResult {
    match event.str("path") {
        Some(path) if path.starts_with("/srv/ada/project/") => HookResult::proceed(),
        _ => HookResult::deny("not in the project"),
    }
}

/// Prints each decision.
fn audit(event: Event<'_>) -> HookResult {
    let path = event.str("path").unwrap_or("no path");
    match event.outcome() {
        Some(Ok(emission)) => println!("{}: {path}", emission.action),
        Some(Err(error)) => println!("error: {error}"),
        None => {}
    }
    HookResult::proceed()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), hooks_runtime::EmitError> {
    let hooks = HookRegistry::new();
    // The phase, not the order of registration, determines the order.
    let in_phase = |phase| RegisterOptions::new().phase(phase);
    hooks.register("tool:pre", audit, in_phase(EventPhase::Observe));
    hooks.register("tool:pre", project_only, in_phase(EventPhase::Decide));
    hooks.register("tool:pre", expand_home, in_phase(EventPhase::Transform));

    let allowed = hooks
        .emit("tool:pre", json!({"path": "~/project/notes.md"}))
        .await?;
    assert!(!allowed.is_denied());
    let denied = hooks
        .emit("tool:pre", json!({"path": "~/.ssh/id_ed25519"}))
        .await?;
    assert_eq!(denied.decided_by.as_deref(), Some("project_only"));
    Ok(())
}
