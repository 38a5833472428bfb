use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    pub async fn check(x: u8) -> u8 {
        x
    }
}

fn main() {}
