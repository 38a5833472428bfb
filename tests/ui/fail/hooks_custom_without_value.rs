use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom)]
    async fn run(call: u8) -> u8 {
        call
    }
}

fn main() {}
