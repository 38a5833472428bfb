use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback, finalize = Shorten, output = str)]
    async fn check(number: u8) -> u8 {
        number
    }
}

fn main() {}
