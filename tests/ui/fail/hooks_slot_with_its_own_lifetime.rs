use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check<'a>(prompt: &'a str) -> bool { prompt.is_empty() }
}

fn main() {}
