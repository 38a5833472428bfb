use hooks_core::{hooks, impl_hook};
pub struct Price;
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost(of: &Price) -> u32 { let _ = of; 0 }
}
#[impl_hook(Cost)]
async fn price(of: &Price) -> u32 { let _ = of; 1 }

fn main() {}
