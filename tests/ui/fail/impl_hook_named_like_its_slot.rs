use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> u32 { 0 }
}
#[impl_hook(Cost)]
async fn cost() -> u32 { 1 }

fn main() {}
