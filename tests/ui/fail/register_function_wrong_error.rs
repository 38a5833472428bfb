use std::sync::Arc;
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};

fn check(_event: Arc<str>, _data: Arc<Map>) -> Result<HookResult, u32> {
    Err(1)
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
