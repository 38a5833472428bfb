use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(number: u8) -> u8 { number }
}
struct Verify;

#[impl_hook(Check)]
async fn verify(number: u8) -> u8 {
    number
}
fn main() {}
