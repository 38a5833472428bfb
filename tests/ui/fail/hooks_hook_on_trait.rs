use hooks_core::hooks;

#[hooks]
#[hook(always)]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
