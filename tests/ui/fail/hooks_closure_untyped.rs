use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {
    let _ = AppHooksSet::new().with_check(async |prompt| prompt.contains("sk-"));
}
