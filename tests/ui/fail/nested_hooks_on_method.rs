use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[nested_hooks(app = AppSet)]
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
