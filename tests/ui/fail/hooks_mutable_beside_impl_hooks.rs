use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn fill(buffer: &mut String) -> usize { buffer.len() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn fill(&self, buffer: &mut String) -> usize { buffer.len() }
}

fn main() {}
