use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {
    let _ = AppHooksSet::new().with_check(async |prompt: String| prompt.contains("sk-"));
}
