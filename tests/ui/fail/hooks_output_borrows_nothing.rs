use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check() -> &str {
        "a"
    }
}

fn main() {}
