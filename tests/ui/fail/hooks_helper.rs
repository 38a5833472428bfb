use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(number: u8) -> u8 {
        number
    }

    fn helper(&self) -> u8 {
        1
    }
}

fn main() {}
