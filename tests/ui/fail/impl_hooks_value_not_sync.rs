use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}
struct Policy(std::cell::Cell<u8>);
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self) {}
}

fn main() {}
