use std::{rc::Rc, sync::Arc};
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};

fn main() {
    let name = Rc::new(String::new());
    let check = move |_event: Arc<str>, _data: Arc<Map>| {
        HookResult::deny(name.as_str())
    };
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
