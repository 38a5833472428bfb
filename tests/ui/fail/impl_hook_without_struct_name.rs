use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check() {}
}

#[impl_hook(Check)]
async fn _1() {}

fn main() {}
