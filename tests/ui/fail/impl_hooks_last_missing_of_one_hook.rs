use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn accept(prompt: &str) -> bool { prompt.is_empty() }
    #[hook(fallback)]
    async fn price(item: &str) -> Option<u8> { item.bytes().next() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn accept(&self, prompt: &str) -> bool { !prompt.is_empty() }
    async fn price(&self, _: &str) -> Option<u8> { Some(0) }
}
fn main() { let _ = AppHooksSet::new().with_hooks(Policy); }
