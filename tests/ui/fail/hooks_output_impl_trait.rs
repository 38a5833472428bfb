use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> impl ToString {
        prompt.len()
    }
}

fn main() {}
