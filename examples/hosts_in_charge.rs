//! How does a host decide for all hooks of its plugins?
//!
//! A default timeout and failure policy, a deadline of each emission, a log of every event, plugins that are
//! disabled and removed as a whole, and a registry of each session that follows the one of the program.

use std::time::Duration;

use hooks_runtime::{
    EmitError, Event, FailurePolicy, HookRegistry, HookResult, RegisterOptions, RegistryOptions,
};

/// Registers two hooks that are its own.
fn load_linter(hooks: &HookRegistry) {
    let of_linter = || RegisterOptions::new().owner("linter");
    let check = |event: Event<'_>| match event.str("text") {
        Some(text) if text.contains("TODO") => HookResult::deny("an open task"),
        _ => HookResult::proceed(),
    };
    hooks.register("file:write", check, of_linter().name("tasks"));
    // A service that does not answer: the default timeout ends the call, and the default policy denies.
    let ask_service = |_: Event<'_>| async {
        std::future::pending::<()>().await;
        HookResult::proceed()
    };
    hooks.register("file:publish", ask_service, of_linter().name("service"));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), EmitError> {
    let options = RegistryOptions::new()
        .timeout(Duration::from_millis(20))
        .on_failure(FailurePolicy::FailClosed)
        .deadline(Duration::from_secs(1));
    let hooks = HookRegistry::with_options(options);
    hooks.set_on_disabled(|hook| println!("disabled {}", hook.name));
    let log = |event: Event<'_>| {
        println!("event {}", event.name());
        HookResult::proceed()
    };
    hooks.register_any(log, RegisterOptions::new().priority(-100).name("log"));

    // The session follows: plugins that are loaded later are in it, too.
    let session = hooks.child();
    let mark = |_: Event<'_>| HookResult::set("session", "s-1");
    session.register("file:write", mark, RegisterOptions::new());
    load_linter(&hooks);

    let task = || serde_json::json!({ "text": "TODO" });
    println!(
        "denied: {}",
        session.emit("file:write", task()).await?.is_denied()
    );
    let published = session.emit("file:publish", ()).await?;
    println!("{}", published.reason().unwrap_or_default());

    println!(
        "{} hooks of the plugin",
        hooks.set_owner_enabled("linter", false)
    );
    let written = session.emit("file:write", task()).await?;
    println!("{} {}", written.is_denied(), written.data["session"]);
    println!("{} removed", hooks.remove_owner("linter"));
    println!("{:?}", session.list_handlers(Some("file:publish")));
    Ok(())
}
