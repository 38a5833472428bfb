use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(Check, crate = "hooks_core")]
async fn no_keys(prompt: &str) -> bool { !prompt.contains("sk-") }

fn main() {}
