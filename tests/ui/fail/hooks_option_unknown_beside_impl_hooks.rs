use hooks_core::{hooks, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(always, chian = hooks_core::FirstSuccess<bool, ()>)]
    async fn check(number: u8) -> Result<bool, ()> { Ok(number > 0) }
}
struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self, number: u8) -> Result<bool, ()> { Ok(number > 1) }
}

fn main() {}
