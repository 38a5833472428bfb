use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, custom = Pipe)]
    async fn run(call: u8) -> u8 {
        call
    }
}

fn main() {}
