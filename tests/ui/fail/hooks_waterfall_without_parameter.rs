use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(waterfall)]
    async fn changed() -> String { String::new() }
}

fn main() {}
