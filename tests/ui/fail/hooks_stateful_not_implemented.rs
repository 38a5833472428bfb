use hooks_core::{Stateful, hooks};

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;

fn main() {
    let _ = AppHooksSet::new().with_check(Stateful::new(Policy));
}
