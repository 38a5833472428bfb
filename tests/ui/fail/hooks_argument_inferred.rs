use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: _) -> bool {
        true
    }
}

fn main() {}
