use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton, output = String)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
