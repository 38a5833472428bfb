use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(waterfall)]
    async fn changed(text: String) -> usize { text.len() }
}

fn main() {}
