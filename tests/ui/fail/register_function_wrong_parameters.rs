use hooks_runtime::{HookRegistry, HookResult, RegisterOptions};

fn check(_event: &str, _count: u32) -> HookResult {
    HookResult::proceed()
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
