use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks<'a> {
    #[hook(always)]
    async fn check(prompt: &'a str) -> bool { prompt.is_empty() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks<'_> for Policy {
    async fn check(&self, prompt: &str, _: Option<bool>) -> bool { prompt.is_empty() }
}

fn main() {}
