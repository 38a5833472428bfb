use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, chain = Stopp)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
