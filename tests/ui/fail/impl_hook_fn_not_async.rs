use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(Check)]
fn no_keys(prompt: &str, _last: Option<bool>) -> bool {
    prompt.is_empty()
}

fn main() {}
