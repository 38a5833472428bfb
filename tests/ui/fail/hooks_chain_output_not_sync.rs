use hooks_core::{Chain, hooks};
use std::{cell::Cell, ops::ControlFlow};
#[derive(Default)]
struct Once;
impl Chain<Cell<u8>> for Once {
    async fn call(&self, _: &Cell<u8>) -> ControlFlow<()> { ControlFlow::Break(()) }
}
#[hooks]
trait AppHooks {
    #[hook(always, chain = Once)]
    async fn count() -> Cell<u8> { Cell::new(1) }
}

fn main() {}
