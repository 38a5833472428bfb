use hooks_core::{hooks, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(always, chain = "hooks_core::FirstSuccess")]
    async fn check(_prompt: &str) -> Option<u8> {
        None
    }
}
struct All;
#[impl_hooks(AppHooksSet)]
impl AppHooks for All {
    async fn check(&self, _prompt: &str) -> Option<u8> { None }
}
fn main() {}
