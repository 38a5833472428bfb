use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn countdown(from: u8) -> u8 {
        next(from).await
    }
}
async fn next(from: u8) -> u8 {
    if from == 0 { 0 } else { AppHooksSet::new().countdown(from - 1).await }
}

fn main() {}
