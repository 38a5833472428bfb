use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, sync)]
    fn check(prompt: &str) -> bool {
        std::future::ready(prompt.is_empty()).await
    }
}

fn main() {}
