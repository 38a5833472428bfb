use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(Chek)]
async fn no_keys(prompt: &str) -> bool { prompt.is_empty() }

fn main() {}
