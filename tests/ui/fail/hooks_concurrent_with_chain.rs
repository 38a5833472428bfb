use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, chain = hooks_core::ShortCircuit<(), String>, concurrent)]
    async fn check(_prompt: &str) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}
