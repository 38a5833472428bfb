use hooks_core::{Aggregate, hooks};

struct Any;
impl Aggregate<bool> for Any {
    async fn call(&self, outputs: Vec<bool>) -> bool {
        outputs.contains(&true)
    }
}
#[hooks]
trait AppHooks {
    #[hook(always, aggregate = Any)]
    async fn check() -> bool { true }
}

fn main() {}
