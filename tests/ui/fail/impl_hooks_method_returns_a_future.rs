use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    fn check(&self, prompt: &str) -> impl Future<Output = bool> { std::future::ready(prompt.is_empty()) }
}
fn main() {}
