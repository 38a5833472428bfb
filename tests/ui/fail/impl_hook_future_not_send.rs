use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(Check)]
async fn no_keys(_: &str, _: Option<bool>) -> bool {
    let held = std::rc::Rc::new(true);
    std::future::ready(()).await;
    *held
}

fn main() {}
