use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn notify(text: &str) { let _ = text; }
}
#[impl_hook(Notify)]
async fn count(text: &str) { text.len() }

fn main() {}
