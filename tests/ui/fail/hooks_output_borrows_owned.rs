use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: u8) -> &str {
        "a"
    }
}

fn main() {}
