use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(waterfall)]
    async fn changed(text: String, count: &mut usize) -> String { *count += 1; text }
}

fn main() {}
