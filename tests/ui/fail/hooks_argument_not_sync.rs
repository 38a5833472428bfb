use hooks_core::hooks;
use std::cell::Cell;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn counted(count: &Cell<usize>) { count.set(count.get() + 1); }
}

fn main() {}
