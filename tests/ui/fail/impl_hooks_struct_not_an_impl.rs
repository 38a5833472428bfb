use hooks_core::impl_hooks;

#[impl_hooks(AppHooksSet)]
struct Policy;

fn main() {}
