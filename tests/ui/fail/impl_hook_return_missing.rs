use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(text: &str) -> bool { text.is_empty() }
}
#[impl_hook(Check)]
async fn no_keys(text: &str, _last: Option<bool>) { text.is_empty() }

fn main() {}
