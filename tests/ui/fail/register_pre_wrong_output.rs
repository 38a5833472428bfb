use hooks_runtime::{PhaseRegistry, RegisterOptions, phases::PreFn};

fn main() {
    let registry = PhaseRegistry::<str, str>::new();
    let budget = PreFn::new("budget", |_: &str| true);
    registry.register_pre(budget, RegisterOptions::new());
}
