use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;

fn main() {
    let _ = AppHooksSet::new().with_hooks(Policy);
}
