use hooks_core::{Chain, ShortCircuit, hooks};

struct Slow;
impl Chain<Result<(), u8>> for Slow {
    async fn call(&self, _: &Result<(), u8>) -> std::ops::ControlFlow<()> { std::ops::ControlFlow::Break(()) }
}
#[hooks]
trait AppHooks {
    #[hook(always, sync, chain = ShortCircuit<(), u8>)]
    fn check() -> Result<(), u8> { Ok(()) }
}
fn main() {
    AppHooksSet::new().with_check_chain(Slow);
}
