use hooks_core::hooks;
#[hooks]
#[hooks_core::hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> u32 { 0 }
}

fn main() {
    let _ = AppHooksSet::new();
}
