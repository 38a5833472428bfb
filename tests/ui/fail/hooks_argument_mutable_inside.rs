use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(x: Option<&mut u8>) -> bool {
        x.is_some()
    }
}

fn main() {}
