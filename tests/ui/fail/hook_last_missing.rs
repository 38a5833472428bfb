use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;
impl Check for Policy {
    async fn call(&self, _: String) -> bool { true }
}

fn main() {}
