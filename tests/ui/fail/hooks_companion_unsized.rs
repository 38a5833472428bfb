use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, chain = dyn hooks_core::Chain<u8>)]
    async fn check(number: u8) -> u8 {
        number
    }
}

fn main() {}
