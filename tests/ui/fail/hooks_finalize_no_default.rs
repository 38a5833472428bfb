use hooks_core::{Finalize, hooks};

struct Not;
impl Finalize<bool> for Not {
    async fn call(&self, result: bool) -> bool {
        !result
    }
}
#[hooks]
trait AppHooks {
    #[hook(fallback, finalize = Not)]
    async fn check() -> bool { true }
}

fn main() {}
