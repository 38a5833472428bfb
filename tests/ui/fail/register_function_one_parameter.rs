use std::sync::Arc;
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};

async fn check(_data: Arc<Map>) -> HookResult {
    HookResult::proceed()
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
