use hooks_runtime::{HookRegistry, RegisterOptions};

struct Audit;

fn main() {
    HookRegistry::new().register("tool:pre", Audit, RegisterOptions::new());
}
