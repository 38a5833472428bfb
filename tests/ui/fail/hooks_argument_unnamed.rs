use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(_: u8) -> bool {
        true
    }
}

fn main() {}
