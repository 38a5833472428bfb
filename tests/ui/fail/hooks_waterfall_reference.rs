use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(waterfall)]
    async fn changed(text: &str) -> String { text.to_owned() }
}

fn main() {}
