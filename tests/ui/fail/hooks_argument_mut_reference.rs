use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &mut String) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
