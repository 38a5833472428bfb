use hooks_core::{Entry, hooks};

#[hooks]
trait AppHooks {
    #[hook(always, chain = hooks_core::ShortCircuit<(), ()>)]
    async fn check(_prompt: &str) -> Result<(), ()> {
        Ok(())
    }
}

fn main() {
    let hook = Entry::new(async |_: String| Ok(())).when(|_: &usize| true);
    let _ = AppHooksSet::new().with_check(hook);
}
