use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> Option<u32> { None }
}
#[impl_hook(Cost)]
async fn none() -> Option<u32> { None }

fn main() {}
