use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check((a, b): (u8, u8)) -> bool {
        prompt.is_empty()
    }
}

fn main() {}
