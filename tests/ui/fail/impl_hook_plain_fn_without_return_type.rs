use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(singleton, sync)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(Check)]
fn short(prompt: &str) { prompt.len() < 9 }

fn main() {}
