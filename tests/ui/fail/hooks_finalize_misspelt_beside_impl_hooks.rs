use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(always, finalise = Shorten)]
    async fn count(number: u8) -> u8 { number }
}
struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn count(&self, number: u8, last: Option<u8>) -> u8 { number.max(last.unwrap_or(0)) }
}

fn main() {}
