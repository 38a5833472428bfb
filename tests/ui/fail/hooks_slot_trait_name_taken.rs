use hooks_core::hooks;

struct Check;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
