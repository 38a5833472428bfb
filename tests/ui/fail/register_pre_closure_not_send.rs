use std::rc::Rc;
use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, phases::PreFn};

fn main() {
    let registry = PhaseRegistry::<str, str>::new();
    let name = Rc::new(String::new());
    let check = PreFn::new("check", move |_: &str| HookResponse::default().reason(name.as_str()));
    registry.register_pre(check, RegisterOptions::new());
}
