use hooks_core::{Finalize, hooks};

#[derive(Default)]
struct Slow;
impl Finalize<bool> for Slow {
    async fn call(&self, result: bool) -> bool { result }
}

#[hooks]
trait AppHooks {
    #[hook(always, sync, finalize = Slow)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {}
