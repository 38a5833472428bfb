use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(waterfall)]
    async fn changed(text: String) -> String { text }
}

#[impl_hook(Changed)]
async fn count(text: String) -> usize { text.len() }

fn main() {}
