use hooks_core::hooks;

struct Pipe;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom = Pipe)]
    async fn run(call: u8) -> u8 {
        call
    }
}

fn main() {}
