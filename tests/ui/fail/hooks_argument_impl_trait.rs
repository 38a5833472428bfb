use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: impl ToString) -> bool {
        prompt.to_string().is_empty()
    }
}

fn main() {}
