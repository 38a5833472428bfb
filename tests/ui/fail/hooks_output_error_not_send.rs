use hooks_core::hooks;
use std::error::Error;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> Result<(), Box<dyn Error>> {
        let _ = prompt;
        Ok(())
    }
}

fn main() {}
