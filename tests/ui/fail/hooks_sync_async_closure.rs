use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton, sync)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}

fn main() {
    AppHooksSet::new().with_check(async |_: String| true);
}
