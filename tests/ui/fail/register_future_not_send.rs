use std::{future::ready, rc::Rc, sync::Arc};
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};

async fn check(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
    let name = Rc::new("no");
    ready(()).await;
    HookResult::deny(*name)
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
