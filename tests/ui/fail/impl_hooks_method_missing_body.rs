use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self, _: &str, _: Option<bool>) -> bool;
}

fn main() {}
