use hooks_core::{Chain, hooks};
use std::ops::ControlFlow;
struct Stop;
impl Chain<bool> for Stop {
    async fn call(&self, _: &bool) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}
#[hooks]
trait AppHooks {
    #[hook(always, chain = Stop)]
    async fn check() -> bool { true }
}

fn main() {}
