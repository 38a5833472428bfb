use hooks_runtime::{HookRegistry, HookResult, RegisterOptions};

fn main() {
    HookRegistry::new().register(
        "tool:pre",
        |_event, data| match data.is_empty() {
            true => HookResult::deny("nothing to do"),
            false => HookResult::proceed(),
        },
        RegisterOptions::new(),
    );
}
