use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};

async fn check(_event: Event<'_>) -> HookResult {
    HookResult::proceed()
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
