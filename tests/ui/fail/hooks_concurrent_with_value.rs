use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, concurrent = true)]
    async fn notify(_prompt: &str) {}
}

fn main() {}
