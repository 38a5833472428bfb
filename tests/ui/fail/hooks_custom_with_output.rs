use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom = Pipe, output = u8)]
    async fn run(call: u8) -> u8 {
        call
    }
}

fn main() {}
