use std::sync::Arc;
use hooks_runtime::{HookRegistry, Map, RegisterOptions};

fn check(_event: Arc<str>, _data: Arc<Map>) -> bool {
    true
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
