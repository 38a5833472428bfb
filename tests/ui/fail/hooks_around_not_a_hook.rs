use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, around)]
    async fn check(_prompt: &str) -> bool {
        true
    }
}

fn main() {
    let _ = AppHooksSet::new().with_check_around("text");
}
