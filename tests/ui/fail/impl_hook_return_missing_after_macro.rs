use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(text: &str) -> Result<u8, String> { Err(text.to_owned()) }
}
#[impl_hook(Check)]
async fn no_keys(text: String) { assert!(text.is_empty()) }

fn main() {
    drop(AppHooksSet::new().with_check(NoKeys));
}
