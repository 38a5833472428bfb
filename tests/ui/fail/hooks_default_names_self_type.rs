use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback)]
    async fn cheapest(task: &str) -> String { task.to_owned() }
    #[hook(fallback)]
    async fn choose(task: &str) -> String { Self::cheapest(task).await }
}

fn main() {}
