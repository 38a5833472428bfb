use std::sync::Arc;
use hooks_runtime::{HookRegistry, Map, RegisterOptions};

fn main() {
    let check = |_event: Arc<str>, _data: Arc<Map>| "no";
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
