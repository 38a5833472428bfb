use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(singleton, sync)]
    async fn check(prompt: &str) -> bool { std::future::ready(prompt.is_empty()).await }
}

#[impl_hook(Check)]
async fn short(prompt: &str) -> bool { prompt.len() < 9 }

fn main() {
    let hooks = AppHooksSet::new().with_check(Short);
    drop(hooks.check(""));
}
