use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(waterfall, concurrent)]
    async fn changed(text: String) -> String { text }
}

fn main() {}
