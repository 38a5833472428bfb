use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton, sync)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self, prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {}
