use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[cfg_attr(all(), hook(always))]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
