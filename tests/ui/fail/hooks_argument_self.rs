use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: &Self) -> bool {
        true
    }
}

fn main() {}
