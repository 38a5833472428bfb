use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
async fn no_keys(prompt: String) -> bool { prompt.contains("sk-") }

fn main() {
    let _ = AppHooksSet::new().with_check(no_keys);
}
