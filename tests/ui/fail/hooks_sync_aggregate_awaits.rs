use hooks_core::{Aggregate, hooks};

#[derive(Default)]
struct Slow;
impl Aggregate<bool> for Slow {
    async fn call(&self, _: Vec<bool>) -> bool { true }
}

#[hooks]
trait AppHooks {
    #[hook(always, sync, aggregate = Slow)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {}
