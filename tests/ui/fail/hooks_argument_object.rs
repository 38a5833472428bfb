use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: dyn Fn() + Send) -> bool {
        true
    }
}

fn main() {}
