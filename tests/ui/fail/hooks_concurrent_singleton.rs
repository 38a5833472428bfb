use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton, concurrent)]
    async fn check(_prompt: &str) -> bool {
        true
    }
}

fn main() {}
