use hooks_core::hooks;

#[hooks]
trait AppHooks {
    const LIMIT: usize = 1;
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
