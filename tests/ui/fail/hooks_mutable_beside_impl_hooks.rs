use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(always, concurrent)]
    async fn fill(buffer: &mut String) { buffer.clear() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn fill(&self, buffer: &mut String) { buffer.clear() }
}

fn main() {}
