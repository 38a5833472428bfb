use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn _1() {}
}

fn main() {}
