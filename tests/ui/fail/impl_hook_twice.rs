use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> u32 { 0 }
    #[hook(singleton)]
    async fn price() -> u32 { 0 }
}
#[impl_hook(Cost)]
#[impl_hook(Price)]
async fn nothing() -> u32 { 1 }

fn main() {}
