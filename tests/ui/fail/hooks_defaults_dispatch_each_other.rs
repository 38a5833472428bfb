use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn countdown(from: u8) -> u8 { ClockHooksSet::new().tick(from).await }
}
#[hooks]
trait ClockHooks {
    #[hook(fallback)]
    async fn tick(from: u8) -> u8 { AppHooksSet::new().countdown(from - 1).await }
}

fn main() {}
