use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> u32 { 0 }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn cost(&self) -> u32 { 1 }
    async fn cost(&self) -> u32 { 2 }
}

fn main() {}
