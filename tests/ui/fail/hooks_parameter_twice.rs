use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn add(count: u8, count: u8) -> u8 {
        count
    }
}

fn main() {}
