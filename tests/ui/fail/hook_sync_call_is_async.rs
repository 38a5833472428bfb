use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton, sync)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

struct Short;
impl Check for Short {
    async fn call(&self, prompt: String) -> bool { prompt.len() < 9 }
}

fn main() {}
