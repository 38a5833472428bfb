use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, aggregate = "Vote", output = u8)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
