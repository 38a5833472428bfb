use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: str) -> bool {
        x.is_empty()
    }
}

fn main() {}
