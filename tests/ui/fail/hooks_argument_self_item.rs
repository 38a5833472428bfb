use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: Option<Self::Item>) -> bool {
        true
    }
}

fn main() {}
