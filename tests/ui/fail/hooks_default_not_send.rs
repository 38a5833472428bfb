use hooks_core::hooks;
use std::rc::Rc;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check() -> usize {
        let count = Rc::new(1);
        std::future::ready(()).await;
        *count
    }
}

fn main() {}
