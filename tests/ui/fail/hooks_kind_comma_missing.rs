use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(always fallback)]
    async fn cost() -> u32 { 0 }
}

fn main() {}
