use hooks_core::{Chain, hooks};

#[derive(Default)]
struct Slow;
impl Chain<bool> for Slow {
    async fn call(&self, _: &bool) -> std::ops::ControlFlow<()> { std::ops::ControlFlow::Break(()) }
}

#[hooks]
trait AppHooks {
    #[hook(always, sync, chain = Slow)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {}
