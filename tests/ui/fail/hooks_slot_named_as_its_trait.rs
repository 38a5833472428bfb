use std::error::Error;
#[hooks_core::hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn error(_source: Box<dyn Error + Send + Sync>) {}
}

fn main() {}
