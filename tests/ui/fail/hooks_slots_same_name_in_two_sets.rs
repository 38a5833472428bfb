use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}
#[hooks]
trait OtherHooks {
    #[hook(singleton)]
    async fn check() {}
}

fn main() {}
