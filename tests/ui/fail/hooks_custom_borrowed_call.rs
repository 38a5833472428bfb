use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom = Pipe)]
    async fn run(call: &str) -> u8 {
        call.len() as u8
    }
}

fn main() {}
