use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton, sync)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

struct Short;
impl StatefulCheck for Short {
    async fn call_mut(&mut self, prompt: String) -> bool { prompt.len() < 9 }
}

fn main() {}
