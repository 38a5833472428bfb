use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str, last: Option<bool>) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
