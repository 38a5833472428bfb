use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}

#[impl_hook(AppHooks)]
async fn nothing() {}

fn main() {
    let _ = AppHooksSet::new().with_check(Nothing);
}
