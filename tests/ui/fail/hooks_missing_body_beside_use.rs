use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(fallback)]
    async fn check(prompt: &str) -> bool;
}
#[impl_hook(Check)]
async fn no_keys(prompt: &str, _: Option<bool>) -> bool { !prompt.contains("sk-") }

fn main() {
    let _ = AppHooksSet::new().with_check(NoKeys).check("");
}
