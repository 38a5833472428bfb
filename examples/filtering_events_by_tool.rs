//! How does a hook run only for some tools, and how is it switched off?
//!
//! A registration may have a matcher for the name of a tool, a filter, and a limit of consecutive
//! failures, after which the registry disables the hook.

use hooks_runtime::events::EventPhase;
use hooks_runtime::{EmitError, Event, HookRegistry, HookResult, RegisterOptions};
use serde_json::json;

fn read_only(_: Event<'_>) -> HookResult {
    HookResult::deny("the session only reads")
}

fn statistics(_: Event<'_>) -> Result<HookResult, &'static str> {
    Err("the disk is full")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), EmitError> {
    let hooks = HookRegistry::new();
    let writing = RegisterOptions::new()
        .phase(EventPhase::Decide)
        .tools(["bash", "write_*"])
        .when(|event| event.str("path") != Some("plan.md"));
    hooks.register("tool:pre", read_only, writing);
    hooks.register(
        "tool:pre",
        statistics,
        RegisterOptions::new().disable_after(2),
    );

    for (tool, path) in [
        ("read_file", "main.rs"),
        ("write_file", "main.rs"),
        ("write_file", "plan.md"),
    ] {
        let call = json!({"tool_name": tool, "path": path});
        let emission = hooks.emit("tool:pre", call).await?;
        println!("{tool} {path}: {}", emission.action);
    }
    for hook in hooks.descriptors() {
        let name = hook.name.as_deref().unwrap_or_default();
        println!(
            "{name}: enabled {}, {} failures",
            hook.enabled, hook.failures
        );
    }

    assert_eq!(hooks.set_enabled("read_only", false), 1);
    let call = json!({"tool_name": "bash"});
    assert!(!hooks.emit("tool:pre", call).await?.is_denied());
    Ok(())
}
