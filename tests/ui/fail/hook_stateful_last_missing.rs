use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;
impl StatefulCheck for Policy {
    async fn call_mut(&mut self, _: String) -> bool { true }
}

fn main() {}
