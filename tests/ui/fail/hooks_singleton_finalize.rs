use hooks_core::hooks;

#[derive(Default)]
struct Any;

#[hooks]
trait AppHooks {
    #[hook(singleton, finalize = Any)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
