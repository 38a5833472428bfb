use std::sync::Arc;
use hooks_runtime::{HookRegistry, RegisterOptions};

struct Audit;

fn main() {
    HookRegistry::new().register("tool:pre", Arc::new(Audit), RegisterOptions::new());
}
