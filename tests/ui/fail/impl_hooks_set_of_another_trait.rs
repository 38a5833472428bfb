use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check() {}
}
#[hooks]
trait OtherHooks {}
struct Policy;
#[impl_hooks(OtherHooksSet)]
impl AppHooks for Policy {
    async fn check(&self) {}
}

fn main() {}
