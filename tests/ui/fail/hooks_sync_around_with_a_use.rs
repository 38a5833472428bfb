use hooks_core::{Next, hooks};

#[hooks]
trait AppHooks {
    #[hook(singleton, sync, around)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

async fn timed(prompt: &str, next: Next<'_, dyn Check>) -> bool { next.call((prompt,)).await }

fn main() {
    AppHooksSet::new().with_check_around(timed);
}
