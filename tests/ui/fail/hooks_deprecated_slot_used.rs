#![deny(deprecated)]
use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[deprecated = "use another"]
    #[hook(singleton)]
    async fn check() {}
}

fn main() {
    drop(AppHooksSet::new().check());
}
