use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(Check)]
async fn no_keys(prompt: &str) -> bool {
    prompt.is_empty()
}

fn main() {}
