use hooks_runtime::{PhaseRegistry, RegisterOptions, phases::PostFn};

fn main() {
    let registry = PhaseRegistry::<str, str>::new();
    let audit = PostFn::new("audit", |_: &str, _: Option<&str>| true);
    registry.register_post(audit, RegisterOptions::new());
}
