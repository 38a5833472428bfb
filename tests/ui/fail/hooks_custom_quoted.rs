use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom = "a b")]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
