//! A plugin: hooks in a separate crate. The example `loading_a_plugin` is a host for it.
//!
//! A plugin and its host agree on three things: the names of events, the fields of their data, and
//! the signature of one function, [`register`]. Neither needs a type of the other.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hooks_runtime::{
    Event, FailurePolicy, HookRegistry, HookResult, Map, RegisterOptions, Registration,
};

/// Name under which a host offers this plugin.
pub const NAME: &str = "quota";

/// Registers the hooks of the plugin. The returned registrations remove them.
///
/// # Errors
/// Returns an error if `calls` is not a positive number; then nothing is registered.
pub fn register(hooks: &HookRegistry, config: &Map) -> Result<Vec<Registration>, String> {
    let calls = match config.get("calls") {
        None => 3,
        Some(calls) => calls
            .as_u64()
            .filter(|calls| *calls > 0)
            .ok_or_else(|| format!("`calls` is {calls}; use a number above zero"))?,
    };
    let quota = Quota::new(calls);
    let limit = hooks.register(
        HookRegistry::TOOL_PRE,
        move |event: Event<'_>| quota.judge(&event),
        RegisterOptions::new()
            .name("quota.limit")
            // A failing limit must fail closed.
            .on_failure(FailurePolicy::FailClosed),
    );
    let trim = hooks.register(
        HookRegistry::PROMPT_SUBMIT,
        trim,
        RegisterOptions::new().name("quota.trim").priority(-10),
    );
    Ok(vec![limit, trim])
}

/// Number of calls left, shared by all calls of the hook.
struct Quota {
    left: AtomicU64,
}

impl Quota {
    fn new(calls: u64) -> Self {
        Quota { left: calls.into() }
    }

    fn judge(&self, event: &Event<'_>) -> HookResult {
        let taken = self
            .left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        match (taken, event.str("tool_name")) {
            (Ok(_), _) => HookResult::proceed(),
            (Err(_), tool) => HookResult::deny(format!(
                "no calls left for `{}`",
                tool.unwrap_or("unnamed tool")
            )),
        }
    }
}

/// Trims blanks from a prompt.
fn trim(event: Event<'_>) -> HookResult {
    match event.str("prompt") {
        Some(prompt) if prompt.trim() != prompt => HookResult::set("prompt", prompt.trim()),
        _ => HookResult::proceed(),
    }
}
