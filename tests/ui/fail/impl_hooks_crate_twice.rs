use hooks_core::{hooks, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}
struct Policy;

#[impl_hooks(AppHooksSet, crate = hooks_core, crate = ::hooks_core)]
impl AppHooks for Policy {
    async fn check(&self) {}
}

fn main() {}
