use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: u8) -> u8 {
        Self::check(x).await
    }
}

fn main() {}
