use hooks_core::{Next, hooks};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(_prompt: &str) -> bool {
        true
    }
}

async fn logged(prompt: &str, next: Next<'_, dyn Check>) -> bool {
    next.call((prompt,)).await
}

fn main() {}
