use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}

#[impl_hook(Check)]
async fn nothing(&self) {}

fn main() {}
