use std::{error::Error, sync::Arc};
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};

fn check(_event: Arc<str>, _data: Arc<Map>) -> Result<HookResult, Box<dyn Error>> {
    Ok(HookResult::proceed())
}

fn main() {
    HookRegistry::new().register("tool:pre", check, RegisterOptions::new());
}
