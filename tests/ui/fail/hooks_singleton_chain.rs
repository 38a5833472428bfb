use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton, chain = hooks_core::ShortCircuit<(), ()>)]
    async fn check(prompt: &str) -> Result<(), ()> {
        if prompt.is_empty() { Err(()) } else { Ok(()) }
    }
}

fn main() {}
