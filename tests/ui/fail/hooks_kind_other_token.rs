use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(1)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
