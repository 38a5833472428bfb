use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}

#[impl_hook(AppHooksSet)]
async fn nothing() {}

fn main() {}
