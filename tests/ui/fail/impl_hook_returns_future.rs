use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> u32 { 0 }
}
#[impl_hook(Cost)]
fn nothing() -> impl Future<Output = u32> { async { 1 } }

fn main() {}
