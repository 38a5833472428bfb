#[hooks_core::hooks(crate)]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {}
