use hooks_runtime::phases::PreFn;
use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions};

fn check(_call: &String) -> Result<HookResponse, Box<dyn std::error::Error>> {
    Ok(HookResponse::default())
}

fn main() {
    let registry: PhaseRegistry<String, u8> = PhaseRegistry::new();
    registry.register_pre(PreFn::new("check", check), RegisterOptions::new());
}
