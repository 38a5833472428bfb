use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(#[cfg(test)] prompt: &str, number: u8) -> u8 {
        number
    }
}

fn main() {}
