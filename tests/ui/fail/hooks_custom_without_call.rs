use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom = Pipe)]
    async fn run() -> u8 {
        0
    }
}

fn main() {}
