use std::sync::Arc;
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};

fn main() {
    let name = String::from("no");
    let check = |_event: Arc<str>, _data: Arc<Map>| HookResult::deny(&*name);
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
