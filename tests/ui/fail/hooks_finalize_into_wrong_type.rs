use hooks_core::hooks;

#[derive(Default)]
struct Any;

#[hooks]
trait AppHooks {
    #[hook(always, finalize = Any, output = String)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
