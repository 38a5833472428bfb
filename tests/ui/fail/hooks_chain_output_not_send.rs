use hooks_core::{ShortCircuit, hooks};
use std::error::Error;

#[hooks]
trait AppHooks {
    #[hook(always, chain = ShortCircuit<(), Box<dyn Error>>)]
    async fn check(prompt: &str) -> Result<(), Box<dyn Error>> {
        let _ = prompt;
        Ok(())
    }
}

fn main() {}
