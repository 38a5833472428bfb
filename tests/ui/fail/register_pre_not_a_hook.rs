use hooks_runtime::{PhaseRegistry, RegisterOptions};

struct Budget;

fn main() {
    let registry = PhaseRegistry::<str, str>::new();
    registry.register_pre(Budget, RegisterOptions::new());
}
