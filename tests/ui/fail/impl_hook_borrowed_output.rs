use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> Option<String> { None }
}

#[impl_hook(Check)]
async fn first(prompt: &str) -> Option<&str> {
    prompt.split(' ').next()
}

fn main() {}
