use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, chain = &hooks_core::FirstSuccess<u8>)]
    async fn check(number: u8) -> u8 {
        number
    }
}

fn main() {}
