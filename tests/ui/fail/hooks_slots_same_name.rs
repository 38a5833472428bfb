use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check() {}
    #[hook(always)]
    async fn check() {}
}

fn main() {}
