use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, sync)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
