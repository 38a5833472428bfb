use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(number: u8) -> u8 { number }
}

#[impl_hook(Check)]
async fn one(#[cfg(not(test))] number: u8) -> u8 {
    number
}

fn main() {}
