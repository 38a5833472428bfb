use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, concurrent)]
    async fn check(_prompt: &str) -> bool {
        true
    }
}

fn main() {}
