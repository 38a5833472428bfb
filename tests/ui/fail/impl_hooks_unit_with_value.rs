use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn notify(text: &str) { let _ = text; }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn notify(&self, text: &str) { text.len() }
}

fn main() {}
