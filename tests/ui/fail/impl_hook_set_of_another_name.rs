use hooks_core::{hooks, impl_hook};
#[hooks]
trait App {
    #[hook(singleton)]
    async fn check(prompt: &str) -> bool { prompt.is_empty() }
}

#[impl_hook(App)]
async fn no_keys(prompt: &str) -> bool { prompt.is_empty() }

fn main() {
    let _ = AppSet::new().with_check(NoKeys);
}
