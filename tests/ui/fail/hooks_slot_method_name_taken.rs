use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn extend(prompt: &str) -> bool {
        true
    }
}

fn main() {}
