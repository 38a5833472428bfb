use hooks_core::hooks;
#[derive(Default)]
struct Count;
#[hooks]
trait AppHooks {
    #[hook(singleton, aggregate = Count, output = usize)]
    async fn route(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {}
