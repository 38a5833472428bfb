use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: Vec<dyn Send>) -> bool {
        x.is_empty()
    }
}

fn main() {}
